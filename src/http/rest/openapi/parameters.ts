import type { Endpoint, Given, RecordType } from '../../../engine/definition/endpoints.ts'
import { DATE_LENGTH_MAX } from '../../../engine/definition/fields.ts'
import { anyOfValues, equalToId, type Filter, type FilterKind } from '../../../engine/definition/filters.ts'
import type { JsonSchema } from '../../../engine/definition/json-schema.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { ITEMS_MAX } from '../../../engine/reading/nested.ts'
import { LIMIT_DEFAULT } from '../../../engine/reading/paging.ts'
import { servedResources } from '../../../shop/registry.ts'
import { nameIn, type Parameter, query, type Ref, ref } from '../../server/json/openapi.ts'
import type { Place } from '../endpoints.ts'
import { filterDescription, filteredPath, identifierDescription, ownIdentifier } from './descriptions.ts'

const int32 = { type: 'integer', format: 'int32' }
const entityTags = { type: 'string', maxLength: 8_000, examples: ['"5f3b2a"'] }

function header(name: string, description: string, schema: JsonSchema): Parameter {
  return { name, in: 'header', description, schema }
}

function limit(what: 'records' | 'items', max: number, usual: number): Parameter {
  const description = `The most ${what} of the page. Without it, or 0 in a lenient request: ${usual}. Of a lenient request more than ${max} is cut to ${max}.`
  return query('limit', description, { ...int32, minimum: 1, maximum: max, default: usual })
}

const idempotencyKey = { type: 'string', pattern: '^[!-~]{1,255}$', examples: ['0b6f0f3c-2c1e-4b0e-9d0a-6a3f1c9d7e55'] }

/** Parameters that several operations share, by component name. */
export const sharedParameters = {
  Offset: query(
    'offset',
    'The place of the first record, counted from 1 (a lenient request may say 0). Past the last match: in v1 400, `Offset amount exceeds the total number of records`; in v2 404, without a body.',
    { ...int32, minimum: 1, examples: [11] },
  ),
  ItemLimit: limit('items', ITEMS_MAX, ITEMS_MAX),
  Cursor: query(
    'cursor',
    'Continues after a page, by the address in its `Link`: every record that was there from the start comes exactly once, whatever is inserted and deleted meanwhile. Not together with `offset`.',
    { type: 'string', maxLength: 20, examples: ['10'] },
  ),
  ItemCursor: query(
    'cursor',
    'Continues after a page, by the address in its `Link`: every item that was there from the start comes exactly once, whatever is inserted and deleted meanwhile. 400 where the place is lost: the last item of the page was removed from a list that is not in the order of its identifiers. Items without an identifier are counted instead. Not together with `offset`.',
    { type: 'string', maxLength: 50, examples: ['10'] },
  ),
  CountOnly: query(
    'countonly',
    '1: instead of the list the answer is an object with the number of matches, `{"TotalCount": n}`, 0 included, as at the address with `/Count` behind it; in XML `CountOnly`. 0 and -1: the list.',
    { type: 'integer', enum: [1, 0, -1] },
  ),
  Prefer: header(
    'Prefer',
    '`count=exact` asks for X-Total-Count. `handling=strict` refuses parameters that the address does not have, `handling=lenient` passes over them, which X-Ignored tells; without either it is as the application’s kind says. Several are separated by commas.',
    { type: 'string', maxLength: 200, examples: ['count=exact', 'handling=strict', 'handling=strict, count=exact'] },
  ),
  Handling: header(
    'Prefer',
    '`handling=strict` refuses names that nobody knows and values that would not be stored, all in one 400. `handling=lenient` passes over them, which X-Ignored tells. Without either it is as the application’s kind says. `notify=none`: customers get no mails of what the change does with their orders.',
    { type: 'string', maxLength: 200, examples: ['handling=strict', 'handling=lenient', 'notify=none'] },
  ),
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
    idempotencyKey,
  ),
  CheckoutKey: {
    ...header(
      'Idempotency-Key',
      'A text of the caller, new for every order, such as a UUID. It stands for the order of the application in the store as long as the order is there: a request that repeats it gets that order again.',
      idempotencyKey,
    ),
    required: true,
  },
}

/** Which members answers show; `type` gives the example. */
function select(type: RecordType): Parameter {
  return query(
    '$select',
    'Comma list of members to show; `/` stands between a list or an object and a member inside it, as in `List/Name`. The others are left out, also those that the schema requires.',
    { type: 'string', maxLength: 16_000, examples: [valuesOf(type).slice(0, 2).join(',')] },
  )
}

/** In which order a page is; `type` gives the example. */
function orderBy(type: RecordType): Parameter {
  const [first = ''] = valuesOf(type)
  return query(
    '$orderby',
    'Comma list of members, each with `asc` or `desc`; `/` stands between an object and a member inside it. Sorts the page that was read, not the whole list.',
    { type: 'string', maxLength: 16_000, examples: [`${first} desc`] },
  )
}

/** The members of a record that have one value, as `$select` names them. */
function valuesOf({ fields }: RecordType): string[] {
  return fields.shown.leaves.flatMap(({ path, field }) => (field.kind === 'list' ? [] : [path.join('/')]))
}

function shared(...names: (keyof typeof sharedParameters)[]): Ref[] {
  return names.map((name) => ref('parameters', name))
}

export function pathParameters(place: Place): Parameter[] {
  return Object.entries(place.endpoint.params).map(([param, { name, min, max }]) => {
    // Integers above 32 bits are limited to those that every program represents exactly.
    const number = max === undefined ? int32 : { type: 'integer', format: 'int64', maximum: max }
    return {
      name,
      in: 'path',
      description: identifierDescription(place, param as 'id' | 'itemId'),
      required: true,
      schema: min === null ? { type: 'string', minLength: 1 } : { ...number, minimum: min },
    }
  })
}

/** The query parameters that an operation reads, each with its schema where it is documented. */
export function queryParameters(place: Place): Pick<Parameter, 'name' | 'schema'>[] {
  const { gives } = place.operation
  const documented = operationParameters(place, undefined).map((parameter) =>
    '$ref' in parameter ? sharedParameters[nameIn(parameter) as keyof typeof sharedParameters] : parameter,
  )
  // Read in every list of records, whether it is documented there or not.
  const isOfRecords = (gives.kind === 'list' || gives.kind === 'count') && gives.filters !== null && !gives.hasNoId
  const unlisted = isOfRecords ? [{ name: listedBy(place).idParam, schema: {} }] : []
  return [...unlisted, ...documented.filter((parameter) => parameter.in === 'query')]
}

/** The service whose records a list returns: the filters of a list of related records are their own. */
function listedBy({ resource, operation: { gives } }: Place): Resource {
  const isOfList = gives.kind === 'list' || gives.kind === 'count'
  return (isOfList && servedResources.find((other) => other === gives.type)) || resource
}

export function operationParameters(place: Place, sample: unknown): (Parameter | Ref)[] {
  const own = ownParameters(place, sample)
  const { gives } = place.operation
  return gives.kind === 'list' && gives.filters !== null ? own : [...own, ...shared('Handling')]
}

function ownParameters(place: Place, sample: unknown): (Parameter | Ref)[] {
  const { endpoint, operation, method } = place
  const { gives, named, needsKey, access } = operation
  if (gives.kind === 'own' && method === 'GET') {
    return [...gives.parameters, ...(gives.size === 'one' ? [] : [orderBy(gives.type)]), select(gives.type)]
  }
  if (access === 'read') return []
  if (named !== undefined && method === 'POST') return shared(needsKey ? 'CheckoutKey' : 'IdempotencyKey')
  if (gives.kind === 'list' && gives.filters === null) {
    return [...shared('ItemLimit', 'Offset', 'ItemCursor'), select(gives.type), orderBy(gives.type)]
  }
  if (gives.kind === 'list') {
    const { maxRecords, limitDefault = LIMIT_DEFAULT } = gives
    return [
      limit('records', maxRecords, limitDefault),
      ...shared('Offset', 'Cursor', 'CountOnly'),
      select(gives.type),
      orderBy(gives.type),
      ...shared('Prefer'),
      ...filterParameters(listedBy(place), endpoint, gives, sample),
    ]
  }
  if (gives.kind === 'count') return filterParameters(listedBy(place), endpoint, gives, sample)
  if (gives.kind === 'record') return [select(gives.type), ...shared('ReadIfNoneMatch')]
  const isNew = method === 'POST' && endpoint.path === ''
  return shared(...(isNew ? [] : (['IfMatch', 'IfNoneMatch'] as const)), 'IdempotencyKey')
}

function filterParameters(
  resource: Resource,
  { params }: Endpoint,
  { type, filters, hasNoId }: Extract<Given, { kind: 'list' | 'count' }>,
  sample: unknown,
): Parameter[] {
  // The identifier is a filter of the list too (rest-resources §0.4).
  const { idParam } = resource
  const isNamed = Object.values(params).some(({ name }) => name === idParam) || Object.hasOwn(filters ?? {}, idParam)
  const all = [...(hasNoId || isNamed ? [] : [[idParam, equalToId] as const]), ...Object.entries(filters ?? {})]
  return all.map(([name, filter]) => {
    const path = filteredPath(filter, type, resource).path
    const found = [path.reduce(memberOf, sample)].flat()
    const description = filter === equalToId ? ownIdentifier(resource) : filterDescription(filter, type, resource)
    const schema = { ...filterSchemas[filter.kind], ...(filter === equalToId && { minimum: 1 }) }
    const examples = [exampleFor(filter, found[0])]
    if (!filter.readAny) return query(name, description, { ...schema, examples })
    const { listed, repeated, schema: schemaOf } = anyOfValues
    const several = filter.kind === 'integer' ? listed : repeated
    return query(name, `${description} ${several}`, { ...schemaOf(schema), examples })
  })
}

/** The member of a record, or of the first item of a list. */
function memberOf(value: unknown, name: string): unknown {
  const [one] = [value].flat()
  return one === null || typeof one !== 'object' ? undefined : (one as Readonly<Record<string, unknown>>)[name]
}

/** Of bounds, a range that has the sample's value inside. */
function exampleFor({ kind, isLower }: Pick<Filter, 'kind' | 'isLower'>, value: unknown): unknown {
  switch (kind) {
    case 'text':
      return value || 'text'
    case 'part':
      return String(value || 'part').slice(0, PART_LENGTH)
    case 'integer':
    case 'number':
      if (isLower === undefined || typeof value !== 'number') return value ?? 1
      return isLower ? Math.floor(value / 2) : Math.ceil(value) * 2
    case 'flag':
      return 1
    case 'since':
      return '2026-03-01'
    case 'until':
      return '2026-03-31'
  }
}

const PART_LENGTH = 5

const dateInput: JsonSchema = { type: 'string', maxLength: DATE_LENGTH_MAX }

const filterSchemas: Readonly<Record<FilterKind, JsonSchema>> = {
  text: { type: 'string' },
  part: { type: 'string' },
  integer: int32,
  number: { type: 'number' },
  flag: { type: 'integer', enum: [1, 0, -1] },
  since: dateInput,
  until: dateInput,
}
