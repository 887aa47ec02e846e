import { changeRecords } from '../engine/change.ts'
import type { Method, Resource } from '../engine/define.ts'
import {
  type Endpoint,
  idOf,
  listingAnswer,
  listOptions,
  type Operation,
  type Operations,
} from '../engine/endpoints.ts'
import { getRecord, listRecords } from '../engine/read.ts'
import { shapeRecords } from '../engine/shape.ts'
import { entityTag, namedTag, preconditionOf, refuseIfMatch } from './entity-tags.ts'
import { acceptedFormat } from './format.ts'

/** The endpoints of a service's collection and of one record (rest-resources §0.3 to §0.8). */
export function recordEndpoints(resource: Resource): Endpoint[] {
  const privileges = [resource.privilege]
  const changes = resource.changesMany ? { PUT: updateMany(resource) } : {}
  const collection = { GET: list(resource), POST: create(resource), ...changes }
  const item = { GET: get(resource), PUT: updateOne(resource), DELETE: remove(resource) }
  return [
    { path: '', params: {}, privileges, operations: taken(resource.methods, collection) },
    { path: '/:id', params: idOf(resource), privileges, operations: taken(resource.methods, item) },
  ]
}

/** Selects the operations whose methods the definition allows. */
export function taken(methods: readonly Method[], operations: Operations): Operations {
  return Object.fromEntries(Object.entries(operations).filter(([method]) => methods.includes(method as Method)))
}

function list(resource: Resource): Operation {
  const { filters, maxRecords } = resource
  return {
    gives: { kind: 'list', type: resource, maxRecords, filters },
    run: async (call) => {
      const { caller, query } = call
      return listingAnswer(await listRecords(caller, resource, query, listOptions(call)), resource, query)
    },
  }
}

function get(resource: Resource): Operation {
  return {
    gives: { kind: 'record', type: resource },
    run: async ({ caller, id, query, headers }) => {
      const record = await getRecord(caller, resource, id)
      // Before the conditions, which are ignored if the answer is a refusal (RFC 9110 §13.2.1).
      const records = shapeRecords([record], resource.fields, query)
      const etag = entityTag(record, acceptedFormat(headers.accept), query)
      const known = namedTag(etag, headers['if-none-match'])
      if (known !== null) return { kind: 'unmodified', etag: known }
      return { kind: 'records', type: resource, records, etag }
    },
  }
}

function create(resource: Resource): Operation {
  return {
    takes: { type: resource, mode: 'create', many: true },
    gives: { kind: 'results', key: resource.resultKey, change: 'created' },
    run: async (call) => {
      refuseIfMatch(call.headers)
      const creations = call.records.map((body) => ({ kind: 'create' as const, body }))
      return changeRecords(call, resource, creations)
    },
  }
}

function updateMany(resource: Resource): Operation {
  return {
    takes: { type: resource, mode: 'update', many: true },
    gives: { kind: 'results', key: resource.resultKey, change: 'updated' },
    run: async (call) => {
      const updates = call.records.map((body) => ({ kind: 'update' as const, body }))
      return changeRecords(call, resource, updates, preconditionOf(call))
    },
  }
}

function updateOne(resource: Resource): Operation {
  return {
    takes: { type: resource, mode: 'update', many: false },
    gives: { kind: 'results', key: resource.resultKey, change: 'updated' },
    run: async (call) => {
      const updates = call.records.map((body) => ({ kind: 'update' as const, id: call.id, body }))
      return changeRecords(call, resource, updates, preconditionOf(call))
    },
  }
}

function remove(resource: Resource): Operation {
  return {
    gives: { kind: 'results', key: resource.resultKey, change: 'deleted' },
    run: async (call) => changeRecords(call, resource, [{ kind: 'delete', id: call.id }], preconditionOf(call)),
  }
}
