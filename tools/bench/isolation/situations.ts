import { floodSignIns } from './attack-accounts.ts'
import { drippingConnections, formBodies, heldBodies, jsonBodies, slowReaders, xmlBodies } from './attack-bytes.ts'
import { lockedRow, stalledDatabase } from './attack-database.ts'
import { deletedStore } from './attack-deletion.ts'
import { largePictures } from './attack-pictures.ts'
import { badReceivers } from './attack-receivers.ts'

/** A server and a store on it that does what it should not. */
export interface Target {
  /** Such as `http://127.0.0.1:3000`. */
  readonly origin: string
  /** Credentials of an ordinary application, with the contract's bucket, in the attacker's store. */
  readonly headers: Readonly<Record<string, string>>
  /** Those of applications that the operator gave buckets that do not fill: for preparing, and for what several applications do. */
  readonly wideHeaders: readonly [Readonly<Record<string, string>>, Readonly<Record<string, string>>]
  readonly storeId: number
  /** Of the attacker's store. */
  readonly productIds: readonly number[]
  /** An account of the store. */
  readonly account: { readonly Email: string; readonly Password: string }
  /** PostgreSQL as its superuser, in the server's database. */
  readonly databaseUrl: string
  /** Of PostgreSQL's first process; the situation may stop it and its children for a while. */
  readonly postgresPid: number
}

export interface Situation {
  readonly name: string
  /** What must be there before; not measured. */
  readonly prepare?: (target: Target) => Promise<unknown>
  /** Goes on until the signal; resolves when everything that it took is given back. */
  readonly attack: (target: Target, signal: AbortSignal) => Promise<void>
  /** Nothing that needs the database can be served; what counts is how soon that is said. */
  readonly isOutage?: boolean
}

/** Everything under "Purpose" that one store, application, receiver or lock did to the others. */
export const situations: readonly Situation[] = [
  { name: 'locked row, 12 PUTs', attack: lockedRow },
  { name: 'XML bodies of 9.5 MB', attack: xmlBodies },
  { name: 'JSON bodies of 9 MB', attack: jsonBodies },
  { name: 'JSON of 100,000 names at sign-in', attack: formBodies },
  { name: '40 held bodies', attack: heldBodies },
  { name: '64 slow readers', ...slowReaders },
  { name: '40 networks of dripping connections', attack: drippingConnections },
  { name: '200 bad receivers', ...badReceivers },
  { name: 'pictures being decoded', ...largePictures },
  { name: 'a store being deleted', ...deletedStore },
  { name: 'flood of sign-ins', attack: floodSignIns },
  { name: 'stalled database', attack: stalledDatabase, isOutage: true },
]
