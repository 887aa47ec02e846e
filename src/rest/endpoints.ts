import type { FastifyBaseLogger } from 'fastify'
import type { Caller } from '../caller.ts'
import type { Method, Resource } from '../engine/define.ts'
import type { Query } from '../engine/read.ts'
import type { Answer } from './answer.ts'
import type { Body } from './body.ts'
import { recordEndpoints } from './records.ts'
import { subResourceEndpoints } from './sub-resources.ts'

/** An admitted request. */
export interface Call {
  readonly caller: Caller
  /** The identifiers in the address: `id`, and `itemId` for an item of a list inside the record. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body | null
  readonly log: FastifyBaseLogger
}

export type Action = (call: Call) => Promise<Answer>

export interface Endpoint {
  /** What follows the service's name in the address, with `:id` and `:itemId`. */
  readonly path: string
  /** The services that the caller must have the method's privilege for. */
  readonly privileges: readonly string[]
  readonly actions: Readonly<Partial<Record<Method, Action>>>
}

/** Every address of a service, and what each method does there. */
export function endpointsOf(resource: Resource): Endpoint[] {
  return [...recordEndpoints(resource), ...subResourceEndpoints(resource)]
}
