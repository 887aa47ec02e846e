import type { Resource } from '../../engine/definition/define.ts'
import { DATE_LENGTH_MAX } from '../../engine/definition/fields.ts'
import { anyOfValues, type FilterKind } from '../../engine/definition/filters.ts'
import type { JsonSchema } from '../../engine/definition/json-schema.ts'
import type { Endpoint, Given, Operation } from '../../engine/reading/endpoints.ts'
import { ITEMS_MAX } from '../../engine/reading/nested.ts'
import { LIMIT_DEFAULT } from '../../engine/reading/paging.ts'
import { type Parameter, query, type Ref, ref } from '../../server/openapi.ts'
import { dateForms } from '../../values/dates.ts'

const int32 = { type: 'integer', format: 'int32' }
const entityTags = { type: 'string', maxLength: 8_000 }

function header(name: string, description: string, schema: JsonSchema): Parameter {
  return { name, in: 'header', description, schema }
}

/** Parameters that several operations share, by component name. */
export const sharedParameters = {
  Offset: query(
    'offset',
    'The place of the first record, counted from 1 (0 is 1 too). Past the last match: in v1 400, `Offset amount exceeds the total number of records`; in v2 404, without a body.',
    { ...int32, minimum: 0 },
  ),
  ItemLimit: query(
    'limit',
    `The most items of the page. Without it, or 0: ${ITEMS_MAX}. More than ${ITEMS_MAX} is cut to ${ITEMS_MAX}.`,
    { ...int32, default: ITEMS_MAX },
  ),
  Cursor: query(
    'cursor',
    'Continues after a page, by the address in its `Link`: every record that was there from the start comes exactly once, whatever is inserted and deleted meanwhile. Not together with `offset`.',
    { type: 'string', maxLength: 20 },
  ),
  ItemCursor: query(
    'cursor',
    'Continues after a page, by the address in its `Link`: every item that was there from the start comes exactly once, whatever is inserted and deleted meanwhile. 400 where the place is lost: the last item of the page was removed from a list that is not in the order of its identifiers. Items without an identifier are counted instead. Not together with `offset`.',
    { type: 'string', maxLength: 50 },
  ),
  CountOnly: query(
    'countonly',
    '1: the number of matches instead of the records; 0 matches are an answer too. 0 and -1: the records.',
    { type: 'integer', enum: [1, 0, -1] },
  ),
  Select: query(
    '$select',
    'Comma list of members to show, such as `Name` or `List/Name`. The others are left out, also those that the schema requires.',
    { type: 'string', maxLength: 16_000 },
  ),
  OrderBy: query(
    '$orderby',
    'Comma list of members, each with `asc` or `desc`. Sorts the page that was read, not the whole list.',
    { type: 'string', maxLength: 16_000 },
  ),
  Prefer: header('Prefer', '`count=exact` asks for X-Total-Count.', { type: 'string', enum: ['count=exact'] }),
  ReadIfNoneMatch: header(
    'If-None-Match',
    'ETags that the caller has: with one of them the answer is 304, without a body.',
    entityTags,
  ),
  IfMatch: header(
    'If-Match',
    'The ETag that the record must still have, compared while it is locked; else 412. Of an item: that of the record around it. Only with a change of one record.',
    entityTags,
  ),
  IfNoneMatch: header(
    'If-None-Match',
    'ETags that the record must not have; else 412. Only with a change of one record.',
    entityTags,
  ),
  IdempotencyKey: header(
    'Idempotency-Key',
    'A text of the caller, new for every change, such as a UUID. For 24 hours a request that repeats it, from the same caller to the same address, changes nothing again and gets the first answer.',
    { type: 'string', pattern: '^[!-~]{1,255}$' },
  ),
}

function shared(...names: (keyof typeof sharedParameters)[]): Ref[] {
  return names.map((name) => ref('parameters', name))
}

export function pathParameters({ params }: Endpoint): Parameter[] {
  return Object.values(params).map(({ name, min, max }) => {
    // Integers above 32 bits are limited to those that every program represents exactly.
    const number = max === undefined ? int32 : { type: 'integer', format: 'int64', maximum: max }
    return {
      name,
      in: 'path',
      description: min === null ? 'The code that names the item.' : 'The identifier.',
      required: true,
      schema: min === null ? { type: 'string', minLength: 1 } : { ...number, minimum: min },
    }
  })
}

/** The parameters of an operation. `resource` is the service whose records a list returns. */
export function operationParameters(
  resource: Resource,
  endpoint: Endpoint,
  { gives, named }: Operation,
  method: string,
) {
  if (gives.kind === 'own' && method === 'GET') {
    return [...gives.parameters, ...shared(...(gives.size === 'one' ? [] : (['OrderBy'] as const)), 'Select')]
  }
  if (named !== undefined && method === 'POST') return shared('IdempotencyKey')
  if (gives.kind === 'list') return listParameters(resource, endpoint, gives)
  if (gives.kind === 'record') return shared('Select', 'ReadIfNoneMatch')
  const isNew = method === 'POST' && endpoint.path === ''
  return shared(...(isNew ? [] : (['IfMatch', 'IfNoneMatch'] as const)), 'IdempotencyKey')
}

function listParameters(
  resource: Resource,
  { params }: Endpoint,
  { filters, maxRecords, limitDefault = LIMIT_DEFAULT, hasNoId }: Extract<Given, { kind: 'list' }>,
) {
  if (filters === null) return shared('ItemLimit', 'Offset', 'ItemCursor', 'Select', 'OrderBy')
  const limit = `The maximum number of records on the page. More than ${maxRecords} is cut to ${maxRecords}.`
  // The identifier is a filter of the list too (rest-resources §0.4).
  const { idParam } = resource
  const isNamed = Object.values(params).some(({ name }) => name === idParam) || Object.hasOwn(filters, idParam)
  return [
    query('limit', limit, { ...int32, default: limitDefault }),
    ...shared('Offset', 'Cursor', 'CountOnly', 'Select', 'OrderBy', 'Prefer'),
    ...(hasNoId || isNamed ? [] : [severalOf(idParam, 'integer', ['The identifier.', { ...int32, minimum: 1 }])]),
    ...Object.entries(filters).map(([name, { kind, readAny }]) => {
      return readAny ? severalOf(name, kind, filterForms[kind]) : query(name, ...filterForms[kind])
    }),
  ]
}

function severalOf(name: string, kind: FilterKind, [description, schema]: FilterForm): Parameter {
  const { listed, repeated, schema: schemaOf } = anyOfValues
  return query(name, `${description} ${kind === 'integer' ? listed : repeated}`, schemaOf(schema))
}

const dateInput: JsonSchema = { type: 'string', maxLength: DATE_LENGTH_MAX }

type FilterForm = readonly [description: string, schema: JsonSchema]

const filterForms: Readonly<Record<FilterKind, FilterForm>> = {
  text: ['The whole text, without regard to case.', { type: 'string' }],
  part: ['A part of the text, without regard to case.', { type: 'string' }],
  integer: ['A whole number.', int32],
  number: ['A bound, inclusive.', { type: 'number' }],
  flag: ['1 yes, 0 no, -1 either (also `true` and `false`).', { type: 'integer', enum: [1, 0, -1] }],
  since: [
    `From this time on, inclusive, in the zone of the store: ${dateForms}. In the hour that autumn repeats, or spring skips, the earlier time counts.`,
    dateInput,
  ],
  until: [
    `To this time, its second included, or its day where it has no time, in the zone of the store: ${dateForms}. In the hour that autumn repeats, or spring skips, the later time counts.`,
    dateInput,
  ],
}
