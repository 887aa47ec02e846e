import type { Caller } from '../engine/caller.ts'
import { changeRecords } from '../engine/change.ts'
import type { NestedSubResource, ProjectedSubResource, RelatedSubResource, Resource } from '../engine/define.ts'
import {
  type Answer,
  type Call,
  type Endpoint,
  idOf,
  listingAnswer,
  listOptions,
  type Operation,
  type RecordType,
} from '../engine/endpoints.ts'
import type { ListField } from '../engine/fields.ts'
import { ITEMS_MAX, listField, listItems } from '../engine/nested.ts'
import { exists, type Listing, listProjection, listRelated } from '../engine/read.ts'
import { preconditionOf } from './entity-tags.ts'
import { taken } from './record-endpoints.ts'

/** The endpoints below a record or a service that its definition names (rest-resources §0.9). */
export function subResourceEndpoints(resource: Resource): Endpoint[] {
  return Object.entries(resource.subResources).flatMap(([name, sub]) => {
    if (sub.kind === 'nested') return nestedEndpoints(resource, name, sub)
    if (sub.kind === 'projected') return projectedEndpoints(resource, name, sub)
    return [relatedEndpoint(resource, name, sub)]
  })
}

function nestedEndpoints(resource: Resource, name: string, sub: NestedSubResource): Endpoint[] {
  const privileges = [resource.privilege]
  const path = `/:id/${name}`
  const params = idOf(resource)
  const list = nestedList(resource, sub)
  const operations = { GET: listNested(list), POST: addNested(list), PUT: updateNested(list, 'many') }
  const collection: Endpoint = { path, params, privileges, operations: taken(sub.methods, operations) }
  if (!sub.methods.includes('PUT')) return [collection]
  // 0 may be the key of an order's only shipment.
  const itemId = { name: sub.idParam, min: isCode(list) ? null : 0 }
  const item = { path: `${path}/:itemId`, params: { ...params, itemId }, privileges }
  return [collection, { ...item, operations: { PUT: updateNested(list, 'one') } }]
}

interface NestedList {
  readonly resource: Resource
  readonly sub: NestedSubResource
  readonly field: ListField
  /** The wire name of the items' key. */
  readonly key: string
  readonly resultKey: string
}

function nestedList(resource: Resource, sub: NestedSubResource): NestedList {
  const field = listField(resource, sub)
  const key = field.key ?? ''
  return { resource, sub, field, key, resultKey: sub.resultKey ?? key }
}

/** Whether a code chosen by the caller, not a number, identifies an item. */
function isCode({ field, key }: NestedList): boolean {
  return field.fields.get(key)?.kind === 'text'
}

function listNested({ resource, sub, field }: NestedList): Operation {
  return {
    gives: { kind: 'list', type: field, maxRecords: ITEMS_MAX, filters: null },
    run: async ({ caller, id, query }) => {
      const page = await listItems(caller, resource, sub, id, query)
      return listingAnswer(page, field, query)
    },
  }
}

/** Preconditions apply to the record that contains the items. */
function addNested({ resource, sub: list, field, resultKey: key }: NestedList): Operation {
  return {
    takes: { type: field, mode: 'create', many: true },
    gives: { kind: 'results', key, change: 'created' },
    run: async (call) => {
      const additions = call.records.map((body) => ({ kind: 'add-item' as const, id: call.id, list, body }))
      return changeRecords(call, resource, additions, { key, ...preconditionOf(call) })
    },
  }
}

/** `one`: the address names the item; `many`: each item of the body names itself. */
function updateNested({ resource, sub: list, field, resultKey: key }: NestedList, count: 'one' | 'many'): Operation {
  return {
    takes: { type: field, mode: 'update', many: count === 'many' },
    gives: { kind: 'results', key, change: 'updated' },
    run: async (call) => {
      const { id, itemId } = call
      const addressed = count === 'one' && { key: itemId }
      const updates = call.records.map((body) => ({ kind: 'update-item' as const, id, list, body, ...addressed }))
      return changeRecords(call, resource, updates, { key, ...preconditionOf(call) })
    },
  }
}

function projectedEndpoints(resource: Resource, name: string, sub: ProjectedSubResource): Endpoint[] {
  const privileges = [resource.privilege]
  const { maxRecords } = resource
  const type = objectType(resource, sub)
  const gives = { kind: 'list', type, maxRecords, filters: sub.filters } as const
  const ofAll: Operation = {
    gives,
    run: async (call) => {
      const listing = await listProjection(call.caller, resource, sub, call.query, null, listOptions(call))
      return listingAnswer(listing, type, call.query)
    },
  }
  const ofOne: Operation = {
    gives,
    run: async (call) => {
      const { caller, id, query } = call
      const listing = await listProjection(caller, resource, sub, query, id, listOptions(call))
      return ofRecord(caller, resource, id, listing, type, query)
    },
  }
  return [
    { path: `/${name}`, params: {}, privileges, operations: { GET: ofAll } },
    { path: `/:id/${name}`, params: idOf(resource), privileges, operations: { GET: ofOne } },
  ]
}

function objectType(resource: Resource, { object }: ProjectedSubResource): RecordType {
  const field = resource.fields.get(object)
  if (field?.kind !== 'object') throw new Error(`${resource.service}: no object ${object}`)
  return field
}

/** Requires both privileges, because the records belong to another service. */
function relatedEndpoint(resource: Resource, name: string, sub: RelatedSubResource): Endpoint {
  const other = sub.resource()
  const { filters, maxRecords } = other
  const GET: Operation = {
    gives: { kind: 'list', type: other, maxRecords, filters },
    run: async (call) => {
      const { caller, id, query } = call
      const listing = await listRelated(caller, sub, id, query, listOptions(call))
      return ofRecord(caller, resource, id, listing, other, query)
    },
  }
  const privileges = [resource.privilege, other.privilege]
  return { path: `/:id/${name}`, params: idOf(resource), privileges, operations: { GET } }
}

/** Answers a count of 0 or an empty page after a cursor only if the record exists. */
async function ofRecord(
  caller: Caller,
  resource: Resource,
  id: number,
  listing: Listing,
  type: RecordType,
  query: Call['query'],
): Promise<Answer> {
  const isUncertain = ('count' in listing ? listing.count : listing.records.length) === 0
  if (isUncertain && !(await exists(caller, resource, id))) return { kind: 'nothing' }
  return listingAnswer(listing, type, query)
}
