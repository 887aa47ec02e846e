import type { Db, Transaction } from '../foundation/database/client.ts'
import type { Sql } from '../foundation/database/sql.ts'
import type { Secrets } from '../foundation/values/secrets.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export type Access = 'read' | 'write'

/** The access that a method requires (contract §7). */
export function accessOf(method: Method): Access {
  return method === 'GET' ? 'read' : 'write'
}

/** The application's access by service; null: everything. */
export type Privileges = Readonly<Record<string, readonly Access[]>> | null

export interface CallerStore {
  readonly id: number
  readonly name: string
  /** With scheme, without a trailing slash. */
  readonly secureUrl: string
  readonly currency: string
  /** IANA name, such as America/New_York; the zone of all its wire dates. */
  readonly timeZone: string
  /** ISO 3166-1 alpha-2; empty: nobody has said. */
  readonly country: string
  /** The kinds of mail that its customers get of their orders. */
  readonly orderMails: readonly string[]
}

/** The identity behind an operation. Every statement is limited to `store.id`. */
export interface Caller {
  readonly store: CallerStore
  /** By its subscription to the store. Null for cartAPI, a person using a web page, the operator and the platform itself. */
  readonly application: { readonly id: number; readonly name: string; readonly subscriptionId: number } | null
  /**
   * `api`: a program, by REST or cartAPI; `administration`: a person managing the store, who may do more than programs
   * may; `customer`: a customer of the store.
   */
  readonly channel: 'api' | 'administration' | 'customer'
  readonly privileges: Privileges
  /** Recorded as the last editor (`UserID`); at most 50 characters. */
  readonly actor: string
  readonly db: Db | Transaction
  readonly now: () => Date
  readonly secrets: Pick<Secrets, 'seal'>
  /** How long a change waits for a lock; undefined: as long as every request. */
  readonly lockMs?: number
  /** Whether the request has an `Idempotency-Key`, so that its changes are made once however often it is sent. */
  readonly isKeyed?: boolean
  /** The CSV import or bulk change of which its changes are a part, as the history tells. */
  readonly importId?: number
  /** Whether customers are told by mail of what is done with their orders. `asked`: also of an old one, because a person says so. Undefined: as usual. */
  readonly tells?: 'nobody' | 'asked'
  /** Whether the client has closed the connection, so that nobody waits for the answer. */
  readonly isGone?: () => boolean
  /** The events that the change will record, by kind and record, each once; undefined outside a change. */
  readonly raised?: RaisedEvents
  /** The json arrays of records that the change has written for good, by id. */
  readonly written?: ReadonlyMap<RecordKind, ReadonlyMap<number, readonly unknown[]>>
}

/** The records of a service, as far as a caller's change and a field that names one know them: their definition is one. */
export interface RecordKind {
  readonly service: string
  readonly table: string
  readonly reader: { readonly select: Sql; readonly compose: (row: readonly unknown[]) => string }
}

export type RaisedEvents = Map<string, RaisedEvent>

export interface RaisedEvent {
  readonly eventType: number
  readonly resource: RecordKind
  readonly recordId: number
  /** The record's JSON text; null: the record as the change leaves it. */
  readonly body: string | null
  /** The wire paths of the members that took other values, without keys of items; undefined: its kind does not name them. */
  readonly members: Set<string> | undefined
}

export function actorKind({ application, channel, actor }: Caller) {
  if (application !== null) return 'application'
  if (channel === 'api') return 'cartapi'
  if (channel === 'customer') return 'customer'
  return actor === OPERATOR ? 'operator' : 'merchant'
}

/** The actor of what the operator does, and the platform itself on the operator's behalf. No e-mail address reads like it. */
export const OPERATOR = 'operator'

/** Names the caller where its share of the process is counted: the application in the store. */
export function callerKey({ store, application, channel }: Caller): string {
  return `${store.id} ${application?.id ?? channel}`
}
