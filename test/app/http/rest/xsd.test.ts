import { describe, expect, test } from 'vitest'
import { type FieldSet, fieldSet, integer, text, type ValueField } from '../../../../src/engine/definition/fields.ts'
import { sql } from '../../../../src/foundation/database/sql.ts'
import { recordSchemaText } from '../../../../src/http/rest/xsd.ts'
import { servedResources } from '../../../../src/shop/registry.ts'
import { sharedServer } from '../../../support/store.ts'
import { schemaFaults } from '../../../support/xml-schema.ts'

const server = await sharedServer()
const shop = await server.openStore()
const schema = (await server.app.inject('/records.xsd')).body

const contentType = 'application/xml'

describe('/records.xsd', () => {
  test('is given to anyone, may be kept for an hour, and is not sent again to who has it', async () => {
    const answer = await server.app.inject('/records.xsd')

    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/xml; charset=utf-8',
      'cache-control': 'public, max-age=3600',
      etag: expect.stringMatching(/^"[\w-]+"$/),
    })
    const headers = { 'if-none-match': String(answer.headers.etag) }
    const again = await server.app.inject({ url: '/records.xsd', headers })
    expect({ status: again.statusCode, body: again.body }).toEqual({ status: 304, body: '' })
    expect((await server.app.inject({ method: 'HEAD', url: '/records.xsd' })).statusCode).toBe(200)
  })

  test('has the roots of every type that has an address, alone and as a list, of results and of counts', () => {
    const types = servedResources.flatMap(({ typeName, fields, subResources }) => [
      typeName,
      ...Object.values(subResources).flatMap((sub) => {
        if (sub.kind === 'computed') return [sub.type.typeName]
        const field = sub.kind === 'related' ? undefined : fields.get(sub.kind === 'nested' ? sub.list : sub.object)
        return field !== undefined && 'typeName' in field ? [field.typeName] : []
      }),
    ])
    expect(types).toEqual(expect.arrayContaining(['Product', 'ProductSKU', 'Shipment']))
    const ofEndpoints = [
      ...['Event', 'WebhookSecret', 'WebhookStatus', 'Delivery', 'DeliveryDetail', 'Resume', 'FeedEvent'],
      ...['Refund', 'Call', 'Checkout', 'PlacedCheckout', 'Quote'],
    ]
    const inBothForms = [...types, ...ofEndpoints].flatMap((name) => [name, `ArrayOf${name}`])
    const roots = new Set([...inBothForms, 'WebhookPOST', 'WebhookPUT', 'ArrayOfResponseInfo', 'CountOnly'])

    const found = [...schema.matchAll(/^ {2}<xs:element name="(\w+)"/gm)].map(([, name]) => name)

    expect(found.toSorted()).toEqual([...roots].toSorted())
  })

  test('has the members in wire order', () => {
    for (const { typeName, fields } of servedResources) {
      const definition = schema.split(`<xs:complexType name="${typeName}">`)[1]?.split('</xs:complexType>')[0] ?? ''
      const names = [...definition.matchAll(/<xs:element name="(\w+)"/g)].map(([, name]) => name)

      expect(names).toEqual(fields.entries.map(([name]) => name))
    }
  })

  test('says which members are read only, write only, and required in a new record', () => {
    const fields = fieldSet({
      Id: integer({ column: 'id', access: 'key' }),
      Name: text(20, { column: 'name', required: true }),
      Secret: text(20, { access: 'wo', required: true }),
      Owner: text(20, { sql: sql`t."owner"` }),
    })

    const remarks = [
      ...recordSchemaText([{ typeName: 'Thing', fields }]).matchAll(/name="(\w+)" [^>]*>.*<xs:documentation>(.*?)</g),
    ]

    expect(remarks.map(([, name, remark]) => [name, remark])).toEqual([
      ['Name', 'Required in a new record.'],
      ['Secret', 'Write only: empty in answers. Required in a new record.'],
      ['Owner', 'Read only: ignored in requests.'],
    ])
  })

  test('is not made where two types share a name but not their members', () => {
    const types = [10, 20].map((length) => ({ typeName: 'Thing', fields: fieldSet({ Name: text(length) }) }))

    expect(() => recordSchemaText(types)).toThrow('XML has two types named Thing')
  })
})

test('a request that is valid by the schema is taken: members in any order, not all of them, one record or a list', async () => {
  const requests = [
    '<Manufacturer><Website>w</Website><ManufacturerName>M</ManufacturerName></Manufacturer>',
    '<ArrayOfManufacturer><Manufacturer><ManufacturerName>N</ManufacturerName></Manufacturer></ArrayOfManufacturer>',
  ]

  expect(await schemaFaults(schema, requests)).toEqual([[], []])
  for (const body of requests) {
    expect((await shop.call('POST', '/Manufacturers', { body, contentType })).statusCode).toBe(201)
  }
})

test.each([
  ['another root', '<Thing />'],
  ['a member that is none', '<Product><Nonsense /></Product>'],
  ['a name in another case', '<Product><skuinfo /></Product>'],
  ['a member twice', '<Product><SKUInfo /><SKUInfo /></Product>'],
  ['an item of another name', '<Product><FeatureList><Item /></FeatureList></Product>'],
  ['a list of other records', '<ArrayOfProduct><Order /></ArrayOfProduct>'],
  ['text beside the members', '<Product>text</Product>'],
  [
    'a result item of three texts',
    '<ArrayOfResponseInfo><ResponseInfo><Key /><Value /></ResponseInfo></ArrayOfResponseInfo>',
  ],
  ['a count that is none', '<CountOnly />'],
])('%s is not valid', async (_what, document) => {
  expect((await schemaFaults(schema, [document]))[0]?.length).toBeGreaterThan(0)
})

test('every member takes its bounds and nothing beyond them, at whatever depth it stands', async () => {
  const cases = servedResources.flatMap(({ typeName, fields }) =>
    valuesOf(fields).flatMap(({ name, field, within }) => {
      const document = (value: string) => `<${typeName}>${within(`<${name}>${value}</${name}>`)}</${typeName}>`
      return [
        ...takenBy(field).map((value) => ({ document: document(value), isTaken: true })),
        ...refusedBy(field).map((value) => ({ document: document(value), isTaken: false })),
      ]
    }),
  )
  expect(cases.length).toBeGreaterThan(1_000)

  const faults = await schemaFaults(
    schema,
    cases.map(({ document }) => document),
  )

  const wrong = cases.filter(({ isTaken }, index) => isTaken !== (faults[index]?.length === 0))
  expect(wrong.map(({ document, ...others }) => ({ ...others, document: document.slice(0, 200) }))).toEqual([])
})

interface Value {
  readonly name: string
  readonly field: ValueField
  /** Puts an element where the member stands in its record. */
  readonly within: (element: string) => string
}

function valuesOf(fields: FieldSet, within: Value['within'] = (element) => element): Value[] {
  return fields.entries.flatMap(([name, field]): Value[] => {
    if (field.kind === 'object') return valuesOf(field.fields, (inner) => within(`<${name}>${inner}</${name}>`))
    if (field.kind !== 'list') return [{ name, field, within }]
    const { typeName } = field
    return valuesOf(field.fields, (inner) => within(`<${name}><${typeName}>${inner}</${typeName}></${name}>`))
  })
}

function takenBy({ kind, bounds: { min, max, maxLength = 0, values } }: ValueField): string[] {
  if (values !== undefined) return [...values]
  if (kind === 'text') return ['', [...' \t\u{1F600}'].slice(0, maxLength).join(''), 'x'.repeat(maxLength)]
  if (kind === 'boolean') return ['true', 'false', '1', '0']
  return kind === 'date' ? ['', '2026-01-02T03:04:05', '9999-12-31T23:59:59'] : [String(min), String(max)]
}

function refusedBy({ kind, access, bounds: { min = 0, max = 0, maxLength = 0, values } }: ValueField): string[] {
  // What is added up has no bounds.
  if (kind === 'decimal' && access === 'derived') return ['x', '']
  if (values !== undefined) return ['', 'x', ...values.map((value) => value.toLowerCase())]
  if (kind === 'text') return ['x'.repeat(maxLength + 1)]
  if (kind === 'boolean') return ['', 'yes', '2']
  if (kind === 'date') return ['01/02/2026', '2026-01-02', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000']
  const neither = ['', 'x', '1,5', String(min - 1), String(max + 1)]
  return kind === 'integer' ? [...neither, '1.5'] : neither
}
