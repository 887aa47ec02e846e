import type { FastifyInstance } from 'fastify'
import type { RecordType } from '../../engine/definition/endpoints.ts'
import { DECIMAL_MAX, type Field, type ValueBounds } from '../../engine/definition/fields.ts'
import { INT32_MAX, INT32_MIN } from '../../foundation/values/int32.ts'
import { servedResources } from '../../shop/registry.ts'
import { sendTagged } from '../server/requests/compression.ts'
import { anyOrigin, sendOptions } from '../server/requests/headers.ts'
import { endpointsOf, typesOf } from './endpoints.ts'

/** Serves `GET /records.xsd` to anyone: the schema of all REST XML, which changes only with the program. */
export function recordSchema(app: FastifyInstance): void {
  const operations = servedResources.flatMap(endpointsOf).flatMap((endpoint) => Object.values(endpoint.operations))
  const text = recordSchemaText(operations.flatMap(typesOf))
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
  const texts = ['Key', 'Value', 'Status', 'Message'].map((name) => `<xs:element name="${name}" type="xs:string" />`)
  const code = '<xs:element name="Code" type="xs:string" minOccurs="0" />'
  addComplexType(types, 'ResponseInfo', 'sequence', [...texts, code])
  const results = addList(types, { typeName: 'ResponseInfo' })
  const count = addComplexType(types, 'CountOnly', 'sequence', ['<xs:element name="TotalCount" type="xs:int" />'])
  for (const name of [results, count]) roots.set(name, name)
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

function addType(types: Types, name: string, definition: readonly string[]): string {
  const text = definition.map((line) => `  ${line}`).join('\n')
  const known = types.get(name)
  if (known !== undefined && known !== text) throw new Error(`XML has two types named ${name}`)
  types.set(name, text)
  return name
}

function addComplexType(types: Types, name: string, group: 'all' | 'choice' | 'sequence', members: readonly string[]) {
  if (members.length === 0) return addType(types, name, [`<xs:complexType name="${name}" />`])
  const inside = [`<xs:${group}>`, ...members.map((member) => `  ${member}`), `</xs:${group}>`]
  const lines = inside.map((line) => `  ${line}`)
  return addType(types, name, [`<xs:complexType name="${name}">`, ...lines, '</xs:complexType>'])
}

function addRecord(types: Types, { typeName, fields }: RecordType): string {
  const members = fields.entries.map(([name, field]) => {
    const start = `<xs:element name="${name}" type="${typeOf(types, field)}" minOccurs="0"`
    const remark = remarkOn(field)
    if (remark === '') return `${start} />`
    return `${start}><xs:annotation><xs:documentation>${remark}</xs:documentation></xs:annotation></xs:element>`
  })
  return addComplexType(types, typeName, 'all', members)
}

function addList(types: Types, { typeName }: Pick<RecordType, 'typeName'>): string {
  const items = `<xs:element name="${typeName}" type="${typeName}" minOccurs="0" maxOccurs="unbounded" />`
  return addComplexType(types, `ArrayOf${typeName}`, 'sequence', [items])
}

/** Rules that the schema cannot express; code generators keep them as comments. */
function remarkOn(field: Field): string {
  if (field.kind === 'object') return ''
  if (field.access === 'ro' || field.access === 'derived') return 'Read only: ignored in requests.'
  const remarks = [
    field.access === 'wo' ? 'Write only: empty in answers.' : '',
    field.access === 'sent' || field.access === 'kept' ? 'Write only: in no answer.' : '',
    field.access === 'new' ? 'Ignored in updates.' : '',
    field.kind !== 'list' && field.required ? 'Required in a new record.' : '',
  ]
  return remarks.filter((remark) => remark !== '').join(' ')
}

/** Local time, or empty. */
const DATE_PATTERN = '([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})?'

/** Uses the types that programs map to int and decimal; `xs:integer` is unbounded and some map it to a string. */
function typeOf(types: Types, field: Field): string {
  switch (field.kind) {
    case 'object': {
      if (!field.variants) return addRecord(types, field)
      const whole = field.variants.types.filter(({ partName }) => partName === undefined)
      const choices = whole.map((type) => [type.typeName, addRecord(types, type)])
      const elements = choices.map(([name, type]) => `<xs:element name="${name}" type="${type}" />`)
      return addComplexType(types, field.typeName, 'choice', elements)
    }
    case 'list':
      addRecord(types, field)
      return addList(types, field)
    case 'boolean':
      return 'xs:boolean'
    case 'date':
      return addRestriction(types, 'date', 'string', { pattern: DATE_PATTERN })
    case 'text': {
      const { maxLength, values } = field.bounds
      if (values === undefined) return addRestriction(types, `text${maxLength}`, 'string', { maxLength })
      return addRestriction(types, `textOf${values.join('')}`, 'string', { enumeration: values })
    }
    case 'integer':
      return integerType(types, field.bounds)
    default: {
      // What is added up may go beyond the bounds of its parts.
      if (field.access === 'derived') return 'xs:decimal'
      const { min = 0, max = 0 } = field.bounds
      const to = max === DECIMAL_MAX ? '' : `To${max}`
      const name = min === -max ? 'decimal' : `decimalFrom${min}${to}`
      return addRestriction(types, name, 'decimal', { minInclusive: min, maxInclusive: max })
    }
  }
}

function integerType(types: Types, { min = INT32_MIN, max = INT32_MAX }: ValueBounds): string {
  const facets = { minInclusive: min, maxInclusive: max }
  if (max > INT32_MAX) return addRestriction(types, 'long', 'long', facets)
  if (min === INT32_MIN && max === INT32_MAX) return 'xs:int'
  const name = `int${min === INT32_MIN ? '' : `From${min}`}${max === INT32_MAX ? '' : `To${max}`}`
  return addRestriction(types, name.replaceAll('-', 'Minus'), 'int', facets)
}

/** A list repeats the facet for each value. */
type Facets = Readonly<Record<string, string | number | undefined | readonly string[]>>

function addRestriction(types: Types, name: string, base: string, facets: Facets): string {
  const lines = Object.entries(facets).flatMap(([facet, values]) =>
    [values].flat().map((value) => `    <xs:${facet} value="${value}" />`),
  )
  const restriction = [`  <xs:restriction base="xs:${base}">`, ...lines, '  </xs:restriction>']
  return addType(types, name, [`<xs:simpleType name="${name}">`, ...restriction, '</xs:simpleType>'])
}
