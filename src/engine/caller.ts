import type { Db, Transaction } from '../database/client.ts'
import type { Resource } from './define.ts'

export type Access = 'read' | 'write'

/** Per service what an application may do; null: everything. */
export type Privileges = Readonly<Record<string, readonly Access[]>> | null

/** What the operations need to know of the store that they work for. */
export interface CallerStore {
  readonly id: number
  readonly name: string
  /** With scheme, without a trailing slash. */
  readonly secureUrl: string
  readonly currency: string
  /** IANA name, such as America/New_York; the zone of all its wire dates. */
  readonly timeZone: string
}

/** The application that calls, by its subscription to the store. */
export interface CallerApplication {
  readonly id: number
  readonly name: string
  readonly subscriptionId: number
}

/** On whose behalf an operation runs. Every statement carries `store.id`. */
export interface Caller {
  readonly store: CallerStore
  /** Null: cartAPI, a person at a page, the operator, or the platform itself. */
  readonly application: CallerApplication | null
  /**
   * `api`: a program, by REST or cartAPI; `administration`: a person at work in the store, who may do what programs may not;
   * `customer`: one of the store's customers.
   */
  readonly channel: 'api' | 'administration' | 'customer'
  readonly privileges: Privileges
  /** Recorded as the last editor (`UserID`); at most 50 characters. */
  readonly actor: string
  /** The client, or the transaction in which the operation takes part. */
  readonly db: Db | Transaction
  readonly now: () => Date
  /** Inside a change: the events that its transaction will record. */
  readonly raised?: RaisedEvents
}

/** By kind and record, so that one change tells of each once. */
export type RaisedEvents = Map<string, RaisedEvent>

export interface RaisedEvent {
  readonly eventType: number
  readonly resource: Resource
  readonly recordId: number
  /** The record's JSON text; null: as the change leaves it. */
  readonly body: string | null
}
