import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import type { Caller } from '../engine/caller.ts'
import type { Method, Resource } from '../engine/define.ts'
import type { Filter } from '../engine/filters.ts'
import type { Query } from '../engine/read.ts'
import type { Parameter as QueryParameter } from '../server/openapi.ts'
import type { Secrets } from '../values/secrets.ts'
import type { Answer } from './answer.ts'
import type { Body, RecordType } from './body.ts'
import { recordEndpoints } from './record-endpoints.ts'
import { subResourceEndpoints } from './sub-resource-endpoints.ts'
import { webhookEndpoints } from './webhook-endpoints.ts'

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
  readonly secrets: Pick<Secrets, 'derive'>
  readonly log: FastifyBaseLogger
}

export type Action = (call: Call) => Promise<Answer>

/** What one method does at an address; `takes` and `gives` are what the reference says of it. */
export interface Operation {
  readonly run: Action
  /** The records of the body; absent: the body is not looked at. */
  readonly takes?: Taken
  readonly gives: Given
  /** For what is neither to list nor to read nor to change records: how the reference calls it, and what it does. */
  readonly named?: { readonly id: string; readonly description: string }
}

export interface Taken {
  readonly type: RecordType
  /** `create` demands the required fields. */
  readonly mode: 'create' | 'update'
  /** Whether the body may be a list, of at most 100 records. */
  readonly many: boolean
  /** The body may be missing. */
  readonly isOptional?: boolean
}

export type Given =
  /** A page of a list by `limit` and `offset`. */
  | {
      readonly kind: 'list'
      readonly type: RecordType
      /** The most records of a page. */
      readonly maxRecords: number
      /** With `filters`, `countonly` and `X-Total-Count`; null: an item list, which has none of them. */
      readonly filters: Readonly<Record<string, Pick<Filter, 'kind'>>> | null
      /** Its records have no identifier to find them by in the list. */
      readonly hasNoId?: boolean
    }
  /** Records by parameters of the address's own, `$select` and `$orderby`; a page of them has a `Link` where one follows. */
  | {
      readonly kind: 'own'
      readonly type: RecordType
      readonly parameters: readonly QueryParameter[]
      /** `one`: a list of one record; `paged`: a page by a cursor. */
      readonly size: 'one' | 'paged' | 'many'
      /** Statuses beside those of every read. */
      readonly refusals?: readonly 410[]
    }
  /** A list of one record, with its ETag. */
  | { readonly kind: 'record'; readonly type: RecordType }
  /** A result item for each record, its Key being `key`. */
  | { readonly kind: 'results'; readonly key: string; readonly change: 'created' | 'updated' | 'deleted' }

export type Operations = Readonly<Partial<Record<Method, Operation>>>

export interface Endpoint {
  /** What stands in the address in place of the service's names. */
  readonly root?: string
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
  /** Absent: numbers have 32 bits. */
  readonly max?: number
}

/** Every address of a service, and what each method does there. */
export function endpointsOf(resource: Resource): Endpoint[] {
  const own = resource.service === 'Webhooks' ? webhookEndpoints() : []
  return [...recordEndpoints(resource), ...subResourceEndpoints(resource), ...own]
}
