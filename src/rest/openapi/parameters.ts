import type { Resource } from '../../engine/define.ts'
import type { Endpoint, Given, Operation } from '../../engine/endpoints.ts'
import { DATE_LENGTH_MAX } from '../../engine/fields.ts'
import type { FilterKind } from '../../engine/filters.ts'
import type { JsonSchema } from '../../engine/json-schema.ts'
import { ITEMS_MAX } from '../../engine/nested.ts'
import { LIMIT_DEFAULT } from '../../engine/read.ts'
import { type Parameter, type Ref, ref } from '../../server/openapi.ts'
import { dateForms } from '../../values/dates.ts'

const int32 = { type: 'integer', format: 'int32' }
const entityTags = { type: 'string', maxLength: 8_000 }

/** Parameters that several operations share, by component name. */
export const sharedParameters = {
  Offset: {
    name: 'offset',
    in: 'query',
    description:
      'The place of the first record, counted from 1 (0 is 1 too). Past the last match: 400, `Offset amount exceeds the total number of records`.',
    schema: { ...int32, minimum: 0 },
  },
  ItemLimit: {
    name: 'limit',
    in: 'query',
    description: `The most items of the page. Without it, or 0: ${ITEMS_MAX}. More than ${ITEMS_MAX} is cut to ${ITEMS_MAX}.`,
    schema: { ...int32, default: ITEMS_MAX },
  },
  Cursor: {
    name: 'cursor',
    in: 'query',
    description:
      'Reads on behind a page, out of the address in its `Link`: every record that was there from the start comes exactly once, whatever is inserted and deleted meanwhile. Not together with `offset`.',
    schema: { type: 'string', maxLength: 20 },
  },
  ItemCursor: {
    name: 'cursor',
    in: 'query',
    description:
      'Reads on behind a page, out of the address in its `Link`: every item that was there from the start comes exactly once, whatever is inserted and deleted meanwhile. 400 where the place is lost: the last item of the page was removed from a list that is not in the order of its identifiers. Items without an identifier are counted instead. Not together with `offset`.',
    schema: { type: 'string', maxLength: 50 },
  },
  CountOnly: {
    name: 'countonly',
    in: 'query',
    description: '1: the number of matches instead of the records; 0 matches are an answer too. 0 and -1: the records.',
    schema: { type: 'integer', enum: [1, 0, -1] },
  },
  Select: {
    name: '$select',
    in: 'query',
    description:
      'Comma list of members to show, such as `Name` or `List/Name`. The others are left out, also those that the schema requires.',
    schema: { type: 'string', maxLength: 16_000 },
  },
  OrderBy: {
    name: '$orderby',
    in: 'query',
    description: 'Comma list of members, each with `asc` or `desc`. Sorts the page that was read, not the whole list.',
    schema: { type: 'string', maxLength: 16_000 },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description: '`count=exact` asks for X-Total-Count.',
    schema: { type: 'string', enum: ['count=exact'] },
  },
  ReadIfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'ETags that the caller has: with one of them the answer is 304, without a body.',
    schema: entityTags,
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The ETag that the record must still have, compared while it is locked; else 412. Of an item: that of the record around it. Only with a change of one record.',
    schema: entityTags,
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'ETags that the record must not have; else 412. Only with a change of one record.',
    schema: entityTags,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A text of the caller, new for every change, such as a UUID. For 24 hours a request that repeats it, from the same application to the same address, changes nothing again and gets the first answer.',
    schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
  },
} satisfies Readonly<Record<string, Parameter>>

function shared(...names: (keyof typeof sharedParameters)[]): Ref[] {
  return names.map((name) => ref('parameters', name))
}

/** The identifiers in an address, with their documented names. */
export function pathParameters({ params }: Endpoint): Parameter[] {
  return Object.values(params).map(({ name, min, max }) => ({
    name,
    in: 'path',
    description: min === null ? 'The code that names the item.' : 'The identifier.',
    required: true,
    schema: min === null ? { type: 'string', minLength: 1 } : { ...numberOf(max), minimum: min },
  }))
}

/** Integers above 32 bits are limited to those that every program represents exactly. */
function numberOf(max: number | undefined): JsonSchema {
  return max === undefined ? int32 : { type: 'integer', format: 'int64', maximum: max }
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
  { filters, maxRecords, hasNoId }: Extract<Given, { kind: 'list' }>,
) {
  if (filters === null) return shared('ItemLimit', 'Offset', 'ItemCursor', 'Select', 'OrderBy')
  return [
    limitParameter(maxRecords),
    ...shared('Offset', 'Cursor', 'CountOnly', 'Select', 'OrderBy', 'Prefer'),
    ...(hasNoId || isNamed(params, resource.idParam) ? [] : idFilter(resource, filters)),
    ...Object.entries(filters).map(([name, { kind }]) => filterParameter(name, kind)),
  ]
}

function limitParameter(maxRecords: number): Parameter {
  return {
    name: 'limit',
    in: 'query',
    description: `The most records of the page. More than ${maxRecords} is cut to ${maxRecords}.`,
    schema: { ...int32, default: LIMIT_DEFAULT },
  }
}

function isNamed(params: Endpoint['params'], name: string): boolean {
  return Object.values(params).some((parameter) => parameter.name === name)
}

/** The identifier is a filter of the list too (rest-resources §0.4). */
function idFilter({ idParam }: Resource, filters: object): Parameter[] {
  if (Object.hasOwn(filters, idParam)) return []
  return [{ name: idParam, in: 'query', description: 'The identifier.', schema: { ...int32, minimum: 1 } }]
}

function filterParameter(name: string, kind: FilterKind): Parameter {
  return { name, in: 'query', ...filterForms[kind] }
}

const dateInput: JsonSchema = { type: 'string', maxLength: DATE_LENGTH_MAX }

const filterForms: Readonly<Record<FilterKind, Pick<Parameter, 'description' | 'schema'>>> = {
  text: { description: 'The whole text, without regard to case.', schema: { type: 'string' } },
  part: { description: 'A part of the text, without regard to case.', schema: { type: 'string' } },
  integer: { description: 'A whole number.', schema: int32 },
  number: { description: 'A bound, inclusive.', schema: { type: 'number' } },
  flag: {
    description: '1 yes, 0 no, -1 either (also `true` and `false`).',
    schema: { type: 'integer', enum: [1, 0, -1] },
  },
  since: {
    description: `From this time on, inclusive, in the zone of the store: ${dateForms}. In the hour that autumn repeats, or spring skips, the earlier time counts.`,
    schema: dateInput,
  },
  until: {
    description: `To this time, its second included, or its day where it has no time, in the zone of the store: ${dateForms}. In the hour that autumn repeats, or spring skips, the later time counts.`,
    schema: dateInput,
  },
}
