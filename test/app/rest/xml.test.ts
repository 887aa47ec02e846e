import fc from 'fast-check'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FieldSet, fieldSet, text } from '../../../src/engine/definition/fields.ts'
import { products } from '../../../src/resources/products/products.ts'
import { readXml, recordsToXml } from '../../../src/rest/xml.ts'
import { runAtOnce } from '../../../src/values/slices.ts'
import { isXmlCharacter } from '../../../src/xml/text.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'
import type { Result } from './fixture.ts'

let server: TestServer
let shop: TestStore
beforeAll(async () => {
  server = await openServer()
  shop = await server.openStore()
})
afterAll(() => server.close())

const declaration = '<?xml version="1.0" encoding="utf-8"?>'
const namespaces = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"'
const inXml = (path: string) => shop.call('GET', path, { accept: 'application/xml' })
const post = (path: string, body: string) => shop.call('POST', path, { body, contentType: 'application/xml' })
const put = (path: string, body: string) => shop.call('PUT', path, { body, contentType: 'text/xml; charset=utf-8' })

/** There are no products for these to name. */
const references = ['RelatedProductID', 'UpSellingItemID', 'OptionBundleCatalogId']

/** A value for every field, so that no member is compared by its default alone; text with everything that XML treats apart. */
function filled(fields: FieldSet, index: number): Record<string, unknown> {
  const values = {
    text: `<${index}>&ä\u{1F600}\r\n`,
    integer: index + 1,
    decimal: index + 0.25,
    boolean: index % 2 === 0,
    date: '2026-01-02T03:04:05',
  }
  return Object.fromEntries(
    fields.entries.map(([name, field]) => {
      if (field.kind === 'object') return [name, filled(field.fields, index)]
      if (field.kind === 'list') return [name, [0, 1].slice(index % 3).map((item) => filled(field.fields, item))]
      if (references.includes(name)) return [name, 0]
      return [name, name === 'TaxCode' ? '<&>' : values[field.kind]]
    }),
  )
}

/** The wire record that an XML element holds, its texts turned into values by the fields' kinds. */
function recordIn(element: unknown, fields: FieldSet): Record<string, unknown> {
  const members = element === '' ? {} : (element as Record<string, unknown>)
  return Object.fromEntries(
    Object.entries(members).map(([name, content]) => {
      const field = fields.get(name)
      if (field === undefined) throw new Error(`No field ${name}`)
      if (field.kind === 'object') return [name, recordIn(content, field.fields)]
      if (field.kind === 'list') {
        const items = content === '' ? [] : [(content as Record<string, unknown>)[field.typeName]].flat()
        return [name, items.map((item) => recordIn(item, field.fields))]
      }
      if (field.kind === 'boolean') return [name, content === 'true']
      return [name, field.kind === 'text' || field.kind === 'date' ? content : Number(content)]
    }),
  )
}

const parser = new XMLParser({ parseTagValue: false, trimValues: false, htmlEntities: true })

test('a page of 200 products is well-formed, and holds the same values as in JSON', async () => {
  for (let half = 0; half < 2; half++) {
    const body = Array.from({ length: 100 }, (_, index) => {
      const record = filled(products.fields, index)
      const SKUInfo = { ...(record.SKUInfo as object), SKU: `S-${half}-${index}`, OnSale: true }
      return {
        ...record,
        SKUInfo,
        ManufacturerID: 0,
        AllowAccessCustomerGroupID: 0,
        CategoryList: [],
        DistributorList: [],
        InventoryControl: 1,
      }
    })
    expect((await shop.call('POST', '/Products', { body })).statusCode).toBe(201)
  }
  const json = await shop.call('GET', '/Products?limit=200')
  const xml = await inXml('/Products?limit=200')
  expect(xml.headers['content-type']).toBe('application/xml; charset=utf-8')
  expect(XMLValidator.validate(xml.body)).toBe(true)
  const records = parser.parse(xml.body).ArrayOfProduct.Product as unknown[]
  expect(records).toHaveLength(200)
  expect(records.map((record) => recordIn(record, products.fields))).toEqual(json.json())
})

test('any text is read from XML as it was written, without the characters that XML does not know', () => {
  const type = { typeName: 'Thing', fields: fieldSet({ Text: text() }) }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (written) => {
      const [read] = runAtOnce(readXml(recordsToXml([JSON.stringify({ Text: written })], type), type)) as {
        Text: string
      }[]
      const known = [...written].filter((character) => isXmlCharacter(character.codePointAt(0) ?? 0)).join('')
      expect(read?.Text).toBe(known)
    }),
  )
})

describe('an answer in XML', () => {
  test('has the form of the documentation, elements in the order of the fields', async () => {
    await shop.call('POST', '/CustomerGroups', { body: { Name: 'A & B', Description: '' } })
    const { body } = await inXml('/CustomerGroups/1')
    const members = Object.entries((await shop.call('GET', '/CustomerGroups/1')).json()[0]).map(([name, value]) =>
      value === '' ? `<${name} />` : `<${name}>${String(value).replace('&', '&amp;')}</${name}>`,
    )
    expect(body).toBe(
      `${declaration}<ArrayOfCustomerGroup ${namespaces}><CustomerGroup>${members.join('')}</CustomerGroup></ArrayOfCustomerGroup>`,
    )
  })

  test('to a change is a list of results', async () => {
    const answer = await shop.call('PUT', '/CustomerGroups/1', { body: {}, accept: 'text/xml' })
    expect(answer.body).toBe(
      `${declaration}<ArrayOfResponseInfo ${namespaces}><ResponseInfo><Key>CustomerGroupID</Key><Value>1</Value><Status>200</Status><Message>updated successfully</Message></ResponseInfo></ArrayOfResponseInfo>`,
    )
  })

  test('to a refusal is the same list', async () => {
    const answer = await shop.call('GET', '/Products?offset=<abc>', { accept: 'text/xml' })
    expect(answer.statusCode).toBe(400)
    expect(answer.headers['content-type']).toBe('application/xml; charset=utf-8')
    expect(answer.body).toContain('<ResponseInfo><Key>Error</Key><Value>offset</Value><Status>400</Status><Message>')
    expect(answer.body).toContain('&lt;abc&gt;')
  })

  test('to a refusal for want of credentials too', async () => {
    const answer = await shop.call('GET', '/Products', { accept: 'text/xml', headers: { token: 'x' } })
    expect(answer.body).toContain('<Status>401</Status>')
  })

  test('of a number alone', async () => {
    const answer = await inXml('/CustomerGroups?countonly=1')
    expect(answer.body).toBe(`${declaration}<CountOnly ${namespaces}><TotalCount>1</TotalCount></CountOnly>`)
  })

  test('of nothing is empty', async () => {
    const answer = await inXml('/CustomerGroups/99')
    expect([answer.statusCode, answer.body]).toEqual([404, ''])
  })

  test('of a list inside a record, and of an object, is named after their types', async () => {
    expect((await inXml('/Products/1/Features')).body).toContain(`<ArrayOfFeature ${namespaces}><Feature><FeatureID>`)
    expect((await inXml('/Products/1/skuinfo')).body).toContain(
      `<ArrayOfProductSKU ${namespaces}><ProductSKU><CatalogID>`,
    )
  })

  test('leaves out characters that XML does not know', async () => {
    await shop.call('PUT', '/CustomerGroups/1', { body: { Name: 'a\u0001\u000b\uffffb\r\nc' } })
    const { body } = await inXml('/CustomerGroups/1?$select=Name')
    expect(body).toContain('<Name>ab&#13;\nc</Name>')
    expect((await shop.call('GET', '/CustomerGroups/1')).json()[0].Name).toBe('a\u0001\u000b\uffffb\r\nc')
  })
})

describe('a body in XML', () => {
  const read = async (id: string | undefined) => (await shop.call('GET', `/Products/${id}`)).json()[0]

  test('creates the same record as in JSON', async () => {
    const answer = await post(
      '/Products',
      `<?xml version="1.0" encoding="utf-16"?>
      <!-- sent by a program -->
      <Product ${namespaces}>
        <SKUInfo><SKU>  x-1 </SKU><Name>A &amp; <![CDATA[<b>&amp;</b>]]> &#xE4;&#8364;</Name><Price>12.50</Price><OnSale>true</OnSale></SKUInfo>
        <hide>1</hide>
        <MFGID xsi:nil="true" />
        <GTIN>  x-1 </GTIN>
        <Unknown><Deep>1</Deep></Unknown>
        <Keywords />
        <FeatureList>
          <Feature><FeatureTitle>one</FeatureTitle></Feature>
          <feature><FeatureTitle>two</FeatureTitle></feature>
        </FeatureList>
        <OptionSetList><OptionSet><OptionSetName>Size</OptionSetName><OptionList><Options><OptionName>S</OptionName></Options></OptionList></OptionSet></OptionSetList>
      </Product>`,
    )
    expect(answer.statusCode).toBe(201)
    const record = await read(answer.json<Result[]>()[0]?.Value)
    expect(record).toMatchObject({
      SKUInfo: { SKU: 'x-1', Name: 'A & <b>&amp;</b> ä€', Price: 12.5, OnSale: true },
      Hide: true,
      MFGID: '',
      GTIN: '  x-1 ',
      FeatureList: [{ FeatureTitle: 'one' }, { FeatureTitle: 'two' }],
      OptionSetList: [{ OptionSetName: 'Size', OptionList: [{ OptionName: 'S' }] }],
    })
  })

  test('holds several records under an ArrayOf root', async () => {
    const list =
      '<ArrayOfManufacturer><Manufacturer><ManufacturerName>M</ManufacturerName></Manufacturer><Manufacturer /></ArrayOfManufacturer>'
    const answer = await post('/Manufacturers', list)
    expect(answer.statusCode).toBe(206)
    expect(answer.json<Result[]>().map(({ Value }) => Value)).toEqual(['1', 'ManufacturerName'])
    expect((await post('/Manufacturers', '<ArrayOfManufacturer />')).statusCode).toBe(400)
  })

  test('holds items of a list inside a record', async () => {
    const one = await post(
      '/Products/1/Images',
      '<ImageGallery><ImageGalleryFile>a.jpg</ImageGalleryFile></ImageGallery>',
    )
    expect(one.statusCode).toBe(201)
    const many = await put(
      '/Products/1/Images',
      `<ArrayOfImageGallery><ImageGallery><ImageGalleryID>${one.json<Result[]>()[0]?.Value}</ImageGalleryID><ImageGallerySorting>7</ImageGallerySorting></ImageGallery></ArrayOfImageGallery>`,
    )
    expect(many.statusCode).toBe(200)
    expect((await shop.call('GET', '/Products/1/Images')).json().at(-1)).toMatchObject({
      ImageGalleryFile: 'a.jpg',
      ImageGallerySorting: 7,
    })
  })

  test('that was answered can be sent back, and changes nothing', async () => {
    const before = (await shop.call('GET', '/Products/2')).body
    const { body } = await inXml('/Products/2')
    expect((await put('/Products/2', body)).statusCode).toBe(200)
    expect((await shop.call('GET', '/Products/2')).body).toBe(before)
  })

  test('of long texts with many references is read whole', async () => {
    const answer = await put(
      '/Products/2',
      `<Product><Description>${'&amp;&#10;'.repeat(30_000)}</Description></Product>`,
    )
    expect(answer.statusCode).toBe(200)
    expect((await read('2')).Description).toBe('&\n'.repeat(30_000))
  })
})
