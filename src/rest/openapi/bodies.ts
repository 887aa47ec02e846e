import type { Given, RecordType, Taken } from '../../engine/endpoints.ts'
import type { JsonSchema } from '../../engine/json-schema.ts'
import { describeRecord, type Schemas } from '../../engine/json-schema.ts'
import type { Content, MediaType } from '../../server/openapi.ts'
import { RECORDS_MAX } from '../body.ts'
import { recordsToXml } from '../xml-write.ts'

/** Both formats share one schema; its `xml` members name the elements. */
export function inBothFormats(schema: JsonSchema): Content {
  return { 'application/json': { schema }, 'application/xml': { schema } }
}

/** The schema of an answer's body. */
export function givenSchema(schemas: Schemas, gives: Given): JsonSchema {
  if (gives.kind === 'results') return { $ref: '#/components/schemas/ArrayOfResponseInfo' }
  const record = describeRecord(schemas, gives.type, 'read')
  const list = listOf(schemas, record, gives.type)
  const isOne = gives.kind === 'record' || (gives.kind === 'own' && gives.size === 'one')
  if (isOne) return { ...list, type: 'array', minItems: 1, maxItems: 1 }
  if (gives.kind === 'own') return list
  return gives.filters === null ? list : { oneOf: [list, { $ref: '#/components/schemas/CountOnly' }] }
}

function listOf(schemas: Schemas, record: JsonSchema, { typeName }: RecordType): JsonSchema {
  const name = `ArrayOf${nameIn(record)}`
  schemas.set(name, {
    type: 'array',
    items: record,
    xml: { name: `ArrayOf${typeName}`, wrapped: true },
  })
  return { $ref: `#/components/schemas/${name}` }
}

function nameIn({ $ref }: JsonSchema): string {
  return String($ref).split('/').at(-1) ?? ''
}

/** The content of a request body: one record, or up to 100 in a list. */
export function takenContent(schemas: Schemas, { type, mode, many }: Taken, example: unknown): Content {
  const isItem = 'kind' in type
  const record = describeRecord(schemas, type, isItem ? 'item' : mode)
  const list = {
    type: 'array',
    items: record,
    minItems: 1,
    maxItems: RECORDS_MAX,
    xml: { name: `ArrayOf${type.typeName}`, wrapped: true },
  }
  const schema = many ? { oneOf: mode === 'create' ? [record, list] : [list, record] } : record
  return {
    'application/json': { schema, ...(example !== undefined && { example }) },
    'application/xml': { schema, ...(example !== undefined && { example: xmlExample(type, example) }) },
  }
}

/** The XML that answers have, with a line for each element. */
function xmlExample(type: RecordType, example: unknown): MediaType['example'] {
  const records = Array.isArray(example) ? example : [example]
  const texts = records.map((record) => JSON.stringify(record))
  const list = recordsToXml(texts, type).replace(/ xmlns:\w+="[^"]*"/g, '')
  const text = Array.isArray(example) ? list : list.replace(/<\/?ArrayOf\w+>/g, '')
  return text.replaceAll('><', '>\n<')
}
