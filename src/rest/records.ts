import type { Method, Resource } from '../engine/define.ts'
import { identifier } from '../engine/filters.ts'
import { getRecord, listRecords } from '../engine/read.ts'
import { shapeRecords } from '../engine/shape.ts'
import { createRecord, deleteRecord, updateNamedRecord, updateRecord } from '../engine/write.ts'
import { resultItem } from '../result-item.ts'
import { readRecord, readRecords } from './body.ts'
import { changeEach, created, updated } from './change-each.ts'
import type { Action, Endpoint } from './endpoints.ts'
import { listingAnswer } from './listing.ts'

/** The collection of a service, and one record of it (rest-resources 0.3 to 0.8). */
export function recordEndpoints(resource: Resource): Endpoint[] {
  const privileges = [resource.privilege]
  const collection = { GET: list(resource), POST: create(resource), PUT: updateMany(resource) }
  const item = { GET: get(resource), PUT: updateOne(resource), DELETE: remove(resource) }
  return [
    { path: '', privileges, actions: taken(resource.methods, collection) },
    { path: '/:id', privileges, actions: taken(resource.methods, item) },
  ]
}

/** The actions whose methods the definition names. */
export function taken(methods: readonly Method[], actions: Endpoint['actions']): Endpoint['actions'] {
  return Object.fromEntries(Object.entries(actions).filter(([method]) => methods.includes(method as Method)))
}

function list(resource: Resource): Action {
  return async ({ caller, query }) => listingAnswer(await listRecords(caller, resource, query), resource, query)
}

function get(resource: Resource): Action {
  return async ({ caller, params, query }) => {
    const record = await getRecord(caller, resource, recordId(resource, params))
    return { kind: 'records', type: resource, records: shapeRecords([record], resource.fields, query) }
  }
}

function create(resource: Resource): Action {
  return ({ caller, body, log }) =>
    changeEach(readRecords(body, resource), log, async (record) =>
      created(resource.resultKey, await createRecord(caller, resource, record)),
    )
}

function updateMany(resource: Resource): Action {
  return ({ caller, body, log }) =>
    changeEach(readRecords(body, resource), log, async (record) =>
      updated(resource.resultKey, await updateNamedRecord(caller, resource, record)),
    )
}

function updateOne(resource: Resource): Action {
  return ({ caller, params, body, log }) => {
    const id = recordId(resource, params)
    return changeEach([readRecord(body, resource)], log, async (record) => {
      await updateRecord(caller, resource, id, record)
      return updated(resource.resultKey, id)
    })
  }
}

function remove(resource: Resource): Action {
  return async ({ caller, params }) => {
    const id = recordId(resource, params)
    await deleteRecord(caller, resource, id)
    return { kind: 'results', status: 200, items: [resultItem(resource.resultKey, id, 200, 'Deleted successfully')] }
  }
}

/** The identifier in the address. Throws `bad-request` that names the parameter. */
export function recordId({ idParam }: Resource, { id = '' }: Readonly<Record<string, string>>): number {
  return identifier(id, idParam)
}
