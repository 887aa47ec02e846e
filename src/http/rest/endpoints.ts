import type { Method } from '../../engine/caller.ts'
import type { RequestedChange } from '../../engine/changing/plan-change.ts'
import { changeRecords } from '../../engine/changing/requests.ts'
import type {
  Call,
  Endpoint,
  Given,
  Operation,
  Operations,
  RecordType,
  Taken,
} from '../../engine/definition/endpoints.ts'
import type {
  NestedSubResource,
  RelatedSubResource,
  Resource,
  SubProjection,
} from '../../engine/definition/resource.ts'
import { ITEMS_MAX, listField, listItems } from '../../engine/reading/nested.ts'
import { countOnly } from '../../engine/reading/paging.ts'
import {
  exists,
  getJson,
  type Listing,
  type ListOptions,
  listProjection,
  listRecords,
  listRelated,
  projectionOf,
} from '../../engine/reading/read.ts'
import { idOf, isShaped, listingAnswer, listOptions, shapeRecords } from '../../engine/reading/shape.ts'
import { shownInXml } from '../../foundation/xml/text.ts'
import { furtherEndpointsOf } from '../../shop/registry.ts'
import { entityTag, namedTag, preconditionOf, refuseIfMatch } from './entity-tags.ts'
import { acceptedFormat } from './format.ts'
import { xmlOf } from './xml.ts'

/** All endpoints of a service: its records, what its definition names below them (rest-resources §0.9), and its own. */
export function endpointsOf(resource: Resource): Endpoint[] {
  const below = Object.entries(resource.subResources).flatMap(([name, sub]) => {
    if (sub.kind === 'nested') return nestedEndpoints(resource, name, sub)
    if (sub.kind === 'projected' || sub.kind === 'computed') return projectedEndpoints(resource, name, sub)
    return [relatedEndpoint(resource, name, sub)]
  })
  const own = [...(resource.endpoints?.() ?? []), ...furtherEndpointsOf(resource)]
  return [...recordEndpoints(resource), ...below, ...own].flatMap(withCount)
}

/** A list with filters has the number of its records at `{address}/Count`. The one of a single record needs none. */
function withCount(endpoint: Endpoint, _index: number, endpoints: readonly Endpoint[]): Endpoint[] {
  const { GET } = endpoint.operations
  if (GET?.gives.kind !== 'list' || GET.gives.filters === null || isOfOne(endpoint, endpoints)) return [endpoint]
  const { type, filters, hasNoId = false } = GET.gives
  const count: Operation = {
    gives: { kind: 'count', type, filters, hasNoId },
    run: (call) => GET.run({ ...call, query: countOnly(call.query) }),
  }
  const { params, privileges } = endpoint
  return [endpoint, { path: `${endpoint.path}/Count`, params, privileges, operations: { GET: count } }]
}

/** The same may be listed for all records, as `/skuinfo` beside `/:id/skuinfo`: then the list of one record has one item. */
export function isOfOne({ path }: Endpoint, endpoints: readonly Endpoint[]): boolean {
  return path.startsWith('/:id/') && endpoints.some((other) => other.path === path.slice('/:id'.length))
}

/** An operation, its address and its service. */
export interface Place {
  readonly resource: Resource
  /** All endpoints of the service. */
  readonly endpoints: readonly Endpoint[]
  readonly endpoint: Endpoint
  readonly method: Method
  readonly operation: Operation
}

/** The places of all operations at an address. */
export function placesAt(resource: Resource, endpoints: readonly Endpoint[], endpoint: Endpoint): Place[] {
  const operations = Object.entries(endpoint.operations) as [Method, Operation][]
  return operations.map(([method, operation]) => ({ resource, endpoints, endpoint, method, operation }))
}

/** The types of the records in an operation's requests and answers. */
export function typesOf({ takes, gives }: Operation): RecordType[] {
  return [...(takes === undefined ? [] : [takes.type]), ...(gives.kind === 'results' ? [] : [gives.type])]
}

/** The endpoints of a service's collection and of one record (rest-resources §0.3 to §0.8). */
function recordEndpoints(resource: Resource): Endpoint[] {
  const { methods, resultKey: key } = resource
  const privileges = [resource.privilege]
  const update = (many: boolean) =>
    changing(resource, {
      takes: { type: resource, mode: 'update', many, takesPicture: !many && resource.pictureIn !== undefined },
      gives: { kind: 'results', key, change: 'updated' },
      changeOf: ({ id, format, handling }, body) => {
        return { kind: 'update', body, handling, shownAs: shownAs[format], ...(!many && { id }) }
      },
    })
  const create = changing(resource, {
    takes: { type: resource, mode: 'create', many: true },
    gives: { kind: 'results', key, change: 'created' },
    changeOf: ({ handling }, body) => ({ kind: 'create', body, handling }),
    conditionsOf: refuseIfMatch,
  })
  const remove = changing(resource, {
    gives: { kind: 'results', key, change: 'deleted' },
    changeOf: ({ id }) => ({ kind: 'delete', id }),
  })
  const list = listing({ ...resource, type: resource }, ({ caller, query }, options) =>
    listRecords(caller, resource, query, options),
  )
  const collection = { GET: list, POST: create, ...(resource.changesMany && { PUT: update(true) }) }
  const item = { GET: get(resource), PUT: update(false), DELETE: remove }
  return [
    {
      path: '',
      params: {},
      privileges,
      operations: allowed(methods, collection),
      ...(resource.createdBy !== undefined && { createdBy: resource.createdBy }),
    },
    { path: '/:id', params: idOf(resource), privileges, operations: allowed(methods, item) },
  ]
}

const shownAs = { json: undefined, xml: shownInXml }

function allowed(methods: readonly Method[], operations: Operations): Operations {
  return Object.fromEntries(Object.entries(operations).filter(([method]) => methods.includes(method as Method)))
}

function get(resource: Resource): Operation {
  return {
    gives: { kind: 'record', type: resource },
    run: async ({ caller, id, query, headers }) => {
      const record = await getJson(caller, resource, id)
      // Before the conditions, which are ignored if the answer is a refusal (RFC 9110 §13.2.1).
      const records = shapeRecords([record], resource.fields, query)
      const etag = entityTag(record, acceptedFormat(headers.accept), query)
      const known = namedTag(etag, headers['if-none-match'])
      if (known !== null) return { kind: 'unmodified', etag: known }
      return { kind: 'records', type: resource, records, etag }
    },
  }
}

/** Lists what `read` returns; null: the record above does not exist. */
function listing(
  { type, maxRecords, filters }: Omit<Extract<Given, { kind: 'list' }>, 'kind'>,
  read: (call: Call, options: ListOptions) => Promise<Listing | null>,
): Operation {
  return {
    gives: { kind: 'list', type, maxRecords, filters },
    run: async (call) => {
      const listed = await read(call, { ...listOptions(call), as: formOf(call, type) })
      return listed === null ? { kind: 'nothing' } : listingAnswer(listed, type, call.query)
    },
  }
}

/** The records' XML, unless `$select` or `$orderby` change their JSON first. */
function formOf({ query, headers }: Call, type: RecordType): ListOptions['as'] {
  return acceptedFormat(headers.accept) === 'xml' && !isShaped(query) ? xmlOf(type) : undefined
}

interface Changing {
  /** Omitted: the body is ignored. */
  readonly takes?: Taken
  readonly gives: Extract<Given, { kind: 'results' }>
  readonly changeOf: (call: Call, body: unknown) => RequestedChange
  readonly conditionsOf?: typeof preconditionOf
}

/** Changes records, or items of their lists: preconditions apply to the record that contains the items. */
function changing(resource: Resource, { takes, gives, changeOf, conditionsOf = preconditionOf }: Changing): Operation {
  return {
    ...(takes && { takes }),
    gives,
    run: async (call) => {
      const changes = (takes ? call.records : [undefined]).map((body) => changeOf(call, body))
      return changeRecords(call, resource, changes, { key: gives.key, ...conditionsOf(call) })
    },
  }
}

function nestedEndpoints(resource: Resource, name: string, list: NestedSubResource): Endpoint[] {
  const type = listField(resource, list)
  const { key: itemKey = '' } = type
  const { resultKey: key = itemKey, methods } = list
  const listed = { type, maxRecords: ITEMS_MAX, filters: null }
  const add = changing(resource, {
    takes: { type, mode: 'create', many: true, takesPicture: list.takesPictures ?? false },
    gives: { kind: 'results', key, change: 'created' },
    changeOf: ({ id, handling }, body) => ({ kind: 'add-item', id, list, body, handling }),
  })
  const update = (many: boolean) =>
    changing(resource, {
      takes: { type, mode: 'update', many },
      gives: { kind: 'results', key, change: 'updated' },
      changeOf: ({ id, itemId, format, handling }, body) => {
        const sent = { body, handling, shownAs: shownAs[format] }
        return { kind: 'update-item', id, list, ...sent, ...(!many && { key: itemId }) }
      },
    })
  const privileges = [resource.privilege]
  const path = `/:id/${name}`
  const params = idOf(resource)
  const GET = listing(listed, ({ caller, id, query }) => listItems(caller, resource, list, id, query))
  const operations = { GET, POST: add, PUT: update(true) }
  const collection = { path, params, privileges, operations: allowed(methods, operations) }
  if (!methods.includes('PUT')) return [collection]
  // A text is a code chosen by the caller. 0 may be the key of an order's only shipment.
  const itemId = { name: list.idParam, min: type.fields.get(itemKey)?.kind === 'text' ? null : 0 }
  const item = { path: `${path}/:itemId`, params: { ...params, itemId }, privileges }
  return [collection, { ...item, operations: { PUT: update(false) } }]
}

function projectedEndpoints(resource: Resource, name: string, sub: SubProjection): Endpoint[] {
  const privileges = [resource.privilege]
  const { type } = projectionOf(resource, sub)
  const listed = { type, maxRecords: resource.maxRecords, filters: sub.filters }
  const read = ({ caller, query }: Call, id: number | null, options: ListOptions) =>
    listProjection(caller, resource, sub, { query, id, options })
  const ofAll = listing(listed, (call, options) => read(call, null, options))
  const ofOne = listing(listed, async (call, options) => ofRecord(call, resource, await read(call, call.id, options)))
  return [
    { path: `/${name}`, params: {}, privileges, operations: { GET: ofAll } },
    { path: `/:id/${name}`, params: idOf(resource), privileges, operations: { GET: ofOne } },
  ]
}

/** Requires both privileges, because the records belong to another service. */
function relatedEndpoint(resource: Resource, name: string, sub: RelatedSubResource): Endpoint {
  const type = sub.resource()
  // The address has said it.
  const { [resource.idParam]: _, ...filters } = type.filters
  const GET = listing({ ...type, type, filters }, async (call, options) =>
    ofRecord(call, resource, await listRelated(call.caller, sub, call.id, { query: call.query, filters, options })),
  )
  const privileges = [resource.privilege, type.privilege]
  return { path: `/:id/${name}`, params: idOf(resource), privileges, operations: { GET } }
}

/** Answers a count of 0 or an empty page after a cursor only if the record exists. */
async function ofRecord({ caller, id }: Call, resource: Resource, listed: Listing): Promise<Listing | null> {
  const isUncertain = ('count' in listed ? listed.count : listed.records.length) === 0
  return isUncertain && !(await exists(caller, resource, id)) ? null : listed
}
