import type { Caller } from '../caller.ts'
import type { NestedSubResource, ProjectedSubResource, RelatedSubResource, Resource } from '../engine/define.ts'
import type { ListField, Scalar } from '../engine/fields.ts'
import { identifier } from '../engine/filters.ts'
import { addItem, itemKey, listField, listItems, updateItem } from '../engine/nested.ts'
import { exists, type Listing, listProjection, listRelated } from '../engine/read.ts'
import { shapeRecords } from '../engine/shape.ts'
import { StoreFailure } from '../failure.ts'
import type { Answer } from './answer.ts'
import { type RecordType, readRecord, readRecords } from './body.ts'
import { changeEach, created, updated } from './change-each.ts'
import type { Action, Call, Endpoint } from './endpoints.ts'
import { listingAnswer } from './listing.ts'
import { recordId, taken } from './records.ts'

/** What stands below a record, or below a service, as its definition says (rest-resources 0.9). */
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
  const list = nestedList(resource, sub)
  const actions = { GET: listNested(list), POST: addNested(list), PUT: updateManyNested(list) }
  const collection: Endpoint = { path, privileges, actions: taken(sub.methods, actions) }
  if (!sub.methods.includes('PUT')) return [collection]
  return [collection, { path: `${path}/:itemId`, privileges, actions: { PUT: updateOneNested(list) } }]
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

function listNested({ resource, sub, field }: NestedList): Action {
  return async ({ caller, params, query }) => {
    const items = await listItems(caller, resource, sub, recordId(resource, params), query)
    return { kind: 'records', type: field, records: shapeRecords(items, field.fields, query) }
  }
}

function addNested({ resource, sub, field, resultKey }: NestedList): Action {
  return ({ caller, params, body, log }) => {
    const id = recordId(resource, params)
    return changeEach(readRecords(body, field), log, async (item) =>
      created(resultKey, await addItem(caller, resource, sub, id, item)),
    )
  }
}

function updateManyNested(list: NestedList): Action {
  const { resource, sub, field, resultKey } = list
  return ({ caller, params, body, log }) => {
    const id = recordId(resource, params)
    return changeEach(readRecords(body, field), log, async (item) => {
      const key = sentKey(caller, list, item)
      await updateItem(caller, resource, sub, id, key, item)
      return updated(resultKey, key)
    })
  }
}

function sentKey(caller: Caller, { resource, sub, key: name }: NestedList, item: unknown): number | string {
  const key: Scalar | undefined = itemKey(caller, resource, sub, item)
  if (typeof key === 'string' && key !== '') return key
  if (typeof key === 'number' && key >= 0) return key
  throw new StoreFailure('bad-request', `${name} must say which item is meant`, { field: name })
}

function updateOneNested(list: NestedList): Action {
  const { resource, sub, field, resultKey } = list
  return ({ caller, params, body, log }) => {
    const id = recordId(resource, params)
    const key = addressedKey(list, params)
    return changeEach([readRecord(body, field)], log, async (item) => {
      await updateItem(caller, resource, sub, id, key, item)
      return updated(resultKey, key)
    })
  }
}

/** The key in the address: a number, of which 0 may be one (the only shipment of an order), or a caller's own code. */
function addressedKey({ sub, field, key }: NestedList, { itemId = '' }: Call['params']): number | string {
  return field.fields.get(key)?.kind === 'text' ? itemId : identifier(itemId, sub.idParam, 0)
}

function projectedEndpoints(resource: Resource, name: string, sub: ProjectedSubResource): Endpoint[] {
  const privileges = [resource.privilege]
  const type = objectType(resource, sub)
  const ofAll: Action = async ({ caller, query }) =>
    listingAnswer(await listProjection(caller, resource, sub, query, null), type, query)
  const ofOne: Action = ({ caller, params, query }) => {
    const id = recordId(resource, params)
    return ofRecord(caller, resource, id, type, query, () => listProjection(caller, resource, sub, query, id))
  }
  return [
    { path: `/${name}`, privileges, actions: { GET: ofAll } },
    { path: `/:id/${name}`, privileges, actions: { GET: ofOne } },
  ]
}

function objectType(resource: Resource, { object }: ProjectedSubResource): RecordType {
  const field = resource.fields.get(object)
  if (field?.kind !== 'object') throw new Error(`${resource.service}: no object ${object}`)
  return field
}

/** Its records are those of another service, so the caller must be allowed to read both. */
function relatedEndpoint(resource: Resource, name: string, sub: RelatedSubResource): Endpoint {
  const other = sub.resource()
  const GET: Action = ({ caller, params, query }) => {
    const id = recordId(resource, params)
    return ofRecord(caller, resource, id, other, query, () => listRelated(caller, sub, id, query))
  }
  return { path: `/:id/${name}`, privileges: [resource.privilege, other.privilege], actions: { GET } }
}

/** A count of 0 is an answer only if there is the record that it is of. */
async function ofRecord(
  caller: Caller,
  resource: Resource,
  id: number,
  type: RecordType,
  query: Call['query'],
  read: () => Promise<Listing>,
): Promise<Answer> {
  const listing = await read()
  const isUncertain = 'count' in listing && listing.count === 0
  if (isUncertain && !(await exists(caller, resource, id))) return { kind: 'nothing' }
  return listingAnswer(listing, type, query)
}
