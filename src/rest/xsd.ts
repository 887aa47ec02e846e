import type { FastifyInstance } from 'fastify'
import type { RecordType } from '../engine/endpoints.ts'
import type { Bounds, Field, FieldSet, ValueField } from '../engine/fields.ts'
import { servedResources } from '../registry.ts'
import { sendTagged } from '../server/compression.ts'
import { anyOrigin, sendOptions } from '../server/cors.ts'
import { INT32_MAX, INT32_MIN } from '../values/int32.ts'
import { endpointsOf } from './endpoints.ts'

/** Serves `GET /records.xsd` to anyone: the schema of all REST XML, which changes only with the program. */
export function recordSchema(app: FastifyInstance): void {
  const operations = servedResources.flatMap(endpointsOf).flatMap((endpoint) => Object.values(endpoint.operations))
  const addressed = operations.flatMap(({ takes, gives }) => [
    ...(takes === undefined ? [] : [takes.type]),
    ...(gives.kind === 'results' ? [] : [gives.type]),
  ])
  const text = recordSchemaText(addressed)
  app.options('/records.xsd', (_request, reply) => sendOptions(reply, 'GET, HEAD'))
  app.get('/records.xsd', (request, reply) => {
    reply.headers(anyOrigin)
    return sendTagged(request, reply, text, 'application/xml; charset=utf-8', 'public, max-age=3600')
  })
}

/**
 * The XML Schema 1.0 of all XML in REST requests and answers (rest-protocol §7), without a namespace. Its roots are
 * `{Type}` and `ArrayOf{Type}` for each type with an address, other element names that bodies may use,
 * `ArrayOfResponseInfo` and `CountOnly`. One type serves answers and requests: members are optional and in any order,
 * as `$select` and partial updates require. Answers are always valid; requests with a tolerated spelling (names in
 * another case, other date forms, unknown members) are accepted although invalid. Throws if two types with one name
 * have different members.
 */
export function recordSchemaText(addressed: readonly RecordType[]): string {
  const types: Types = new Map()
  const roots = new Map<string, string>()
  for (const type of addressed) {
    const [record, list] = [addRecord(types, type), addList(types, type)]
    roots.set(record, record).set(list, list)
    for (const name of type.inputTypeNames ?? []) roots.set(name, record)
  }
  addPlainTypes(types)
  for (const name of ['ArrayOfResponseInfo', 'CountOnly']) roots.set(name, name)
  const elements = [...roots].map(([name, type]) => `  <xs:element name="${name}" type="${type}" />`)
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">',
    ...elements,
    ...types.values(),
    '</xs:schema>\n',
  ].join('\n')
}

/** Definitions by type name. */
type Types = Map<string, string>

function addType(types: Types, name: string, definition: string): string {
  const known = types.get(name)
  if (known !== undefined && known !== definition) throw new Error(`XML has two types named ${name}`)
  types.set(name, definition)
  return name
}

function addRecord(types: Types, { typeName, fields }: RecordType): string {
  return addType(types, typeName, complexType(typeName, 'xs:all', membersOf(types, fields)))
}

function addList(types: Types, { typeName }: Pick<RecordType, 'typeName'>): string {
  const name = `ArrayOf${typeName}`
  const items = `<xs:element name="${typeName}" type="${typeName}" minOccurs="0" maxOccurs="unbounded" />`
  return addType(types, name, complexType(name, 'xs:sequence', [items]))
}

function addChoice(types: Types, name: string, variants: readonly RecordType[]): string {
  const elements = variants.map((type) => `<xs:element name="${type.typeName}" type="${addRecord(types, type)}" />`)
  return addType(types, name, complexType(name, 'xs:choice', elements))
}

function complexType(name: string, group: 'xs:all' | 'xs:choice' | 'xs:sequence', members: readonly string[]): string {
  if (members.length === 0) return `  <xs:complexType name="${name}" />`
  return [
    `  <xs:complexType name="${name}">`,
    `    <${group}>`,
    ...members.map((member) => `      ${member}`),
    `    </${group}>`,
    '  </xs:complexType>',
  ].join('\n')
}

function membersOf(types: Types, fields: FieldSet): string[] {
  return fields.entries.map(([name, field]) => {
    const start = `<xs:element name="${name}" type="${typeOf(types, field)}" minOccurs="0"`
    const remark = remarkOn(field)
    if (remark === '') return `${start} />`
    return `${start}><xs:annotation><xs:documentation>${remark}</xs:documentation></xs:annotation></xs:element>`
  })
}

/** Rules that the schema cannot express; code generators keep them as comments. */
function remarkOn(field: Field): string {
  if (field.kind === 'object') return ''
  if (field.access === 'ro' || field.access === 'derived') return 'Read only: ignored in requests.'
  const remarks = [
    field.access === 'wo' ? 'Write only: empty in answers.' : '',
    field.access === 'new' ? 'Ignored in updates.' : '',
    field.kind !== 'list' && field.required ? 'Required in a new record.' : '',
  ]
  return remarks.filter((remark) => remark !== '').join(' ')
}

function typeOf(types: Types, field: Field): string {
  if (field.kind === 'object' && field.variants) return addChoice(types, field.typeName, field.variants.types)
  if (field.kind === 'object') return addRecord(types, field)
  if (field.kind !== 'list') return valueType(types, field)
  addRecord(types, field)
  return addList(types, field)
}

/** Uses the types that programs map to int and decimal; `xs:integer` is unbounded and some map it to a string. */
function valueType(types: Types, { kind, bounds }: ValueField): string {
  if (kind === 'boolean') return 'xs:boolean'
  if (kind === 'date') return addRestriction(types, 'date', 'string', { pattern: DATE_PATTERN })
  if (kind === 'text') return textType(types, bounds)
  return kind === 'integer' ? integerType(types, bounds) : decimalType(types, bounds)
}

/** Local time, or empty. */
const DATE_PATTERN = '([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})?'

function textType(types: Types, { maxLength, values }: Bounds): string {
  if (values === undefined) return addRestriction(types, `text${maxLength}`, 'string', { maxLength })
  return addRestriction(types, `textOf${values.join('')}`, 'string', { enumeration: values })
}

function integerType(types: Types, { min = INT32_MIN, max = INT32_MAX }: Bounds): string {
  if (max > INT32_MAX) return addRestriction(types, 'long', 'long', { minInclusive: min, maxInclusive: max })
  if (min === INT32_MIN && max === INT32_MAX) return 'xs:int'
  const name = `int${min === INT32_MIN ? '' : `From${min}`}${max === INT32_MAX ? '' : `To${max}`}`.replaceAll(
    '-',
    'Minus',
  )
  return addRestriction(types, name, 'int', { minInclusive: min, maxInclusive: max })
}

function decimalType(types: Types, { min = 0, max = 0 }: Bounds): string {
  const name = min === -max ? 'decimal' : `decimalFrom${min}`
  return addRestriction(types, name, 'decimal', { minInclusive: min, maxInclusive: max })
}

/** A list repeats the facet for each value. */
type Facets = Readonly<Record<string, string | number | undefined | readonly string[]>>

function addRestriction(
  types: Types,
  name: string,
  base: 'string' | 'int' | 'long' | 'decimal',
  facets: Facets,
): string {
  const definition = [
    `  <xs:simpleType name="${name}">`,
    `    <xs:restriction base="xs:${base}">`,
    ...Object.entries(facets).flatMap(([facet, values]) =>
      [values].flat().map((value) => `      <xs:${facet} value="${value}" />`),
    ),
    '    </xs:restriction>',
    '  </xs:simpleType>',
  ]
  return addType(types, name, definition.join('\n'))
}

function addPlainTypes(types: Types): void {
  const texts = ['Key', 'Value', 'Status', 'Message'].map((name) => `<xs:element name="${name}" type="xs:string" />`)
  addType(types, 'ResponseInfo', complexType('ResponseInfo', 'xs:sequence', texts))
  addList(types, { typeName: 'ResponseInfo' })
  const count = '<xs:element name="TotalCount" type="xs:int" />'
  addType(types, 'CountOnly', complexType('CountOnly', 'xs:sequence', [count]))
}
