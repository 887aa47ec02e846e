import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import type { Caller } from '../caller.ts'
import type { Method, Resource } from '../engine/define.ts'
import type { Filters } from '../engine/filters.ts'
import type { Query } from '../engine/read.ts'
import type { Answer } from './answer.ts'
import type { Body, RecordType } from './body.ts'
import { recordEndpoints } from './records.ts'
import { subResourceEndpoints } from './sub-resources.ts'

/** An admitted request. */
export interface Call {
  readonly caller: Caller
  readonly method: Method
  /** The address with `:id` and `:itemId`, from the version on: the same by whatever prefix and name of the service. */
  readonly route: string
  /** The identifiers in the address: `id`, and `itemId` for an item of a list inside the record. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly headers: IncomingHttpHeaders
  readonly body: Body | null
  readonly log: FastifyBaseLogger
}

export type Action = (call: Call) => Promise<Answer>

/** What one method does at an address; `takes` and `gives` are what the reference says of it. */
export interface Operation {
  readonly run: Action
  /** The records of the body; absent: the body is not looked at. */
  readonly takes?: Taken
  readonly gives: Given
}

export interface Taken {
  readonly type: RecordType
  /** `create` demands the required fields. */
  readonly mode: 'create' | 'update'
  /** Whether the body may be a list, of at most 100 records. */
  readonly many: boolean
}

export type Given =
  /** A page of a list by `limit` and `offset`. */
  | {
      readonly kind: 'list'
      readonly type: RecordType
      /** The most records of a page; null: no bound. */
      readonly maxRecords: number | null
      /** With `filters`, `countonly`, `cursor`, `Link` and `X-Total-Count`; null: an item list, which has none of them. */
      readonly filters: Filters | null
    }
  /** A list of one record, with its ETag. */
  | { readonly kind: 'record'; readonly type: RecordType }
  /** A result item for each record, its Key being `key`. */
  | { readonly kind: 'results'; readonly key: string; readonly change: 'created' | 'updated' | 'deleted' }

export type Operations = Readonly<Partial<Record<Method, Operation>>>

export interface Endpoint {
  /** What follows the service's name in the address, with `:id` and `:itemId`. */
  readonly path: string
  /** By their names in `path`. */
  readonly params: Readonly<Record<string, Parameter>>
  /** The services that the caller must have the method's privilege for. */
  readonly privileges: readonly string[]
  readonly operations: Operations
}

/** An identifier in an address. */
export interface Parameter {
  /** Its name in the field, such as `catalogid`. */
  readonly name: string
  /** The least number; null: a code of the caller's. */
  readonly min: number | null
}

/** Every address of a service, and what each method does there. */
export function endpointsOf(resource: Resource): Endpoint[] {
  return [...recordEndpoints(resource), ...subResourceEndpoints(resource)]
}
