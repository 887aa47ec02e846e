import { type Caller, type CallerStore, OPERATOR } from '../../engine/caller.ts'
import type { DataServices, Db, Transaction } from '../../foundation/database/client.ts'
import { sql } from '../../foundation/database/sql.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { isOneLine } from '../../foundation/values/input.ts'
import { normaliseHost } from './secure-url.ts'

/** Returns only the columns that a caller may see. */
export function callerStoreOf(row: CallerStore): CallerStore {
  const { id, name, secureUrl, currency, timeZone, country, orderMails } = row
  return { id, name, secureUrl, currency, timeZone, country, orderMails }
}

/** A CallerStore, built from the columns of the table "Store". */
export const callerStoreJson = sql`json_build_object('id', "Store"."id", 'name', "Store"."name",
  'secureUrl', "Store"."secureUrl", 'currency', "Store"."currency", 'timeZone', "Store"."timeZone",
  'country', "Store"."country", 'orderMails', "Store"."orderMails")`

/** The hosts of all addresses of a row of the table "Store". */
export const hostsOfStore = sql`ARRAY(SELECT "host" FROM "StoreHost" WHERE "storeId" = "Store"."id")`

/** Throws for an unknown id (404). */
export async function storeById(db: Db | Transaction, id: number): Promise<CallerStore> {
  const row = await db.store.findUnique({ where: { id } })
  if (!row) throw noSuchStore(id)
  return callerStoreOf(row)
}

/** Returns the store that has an address, main or further, with or without scheme, `www.` and slash (rest-protocol §9.1), or null. */
export async function findStoreAt(db: Db, address: string): Promise<CallerStore | null> {
  const host = normaliseHost(address)
  if (host === '' || !isOneLine(host)) return null
  const row = await db.storeHost.findUnique({ where: { host }, select: { store: true } })
  return row && callerStoreOf(row.store)
}

/** What a closed store says to whoever comes. */
export const closedMessage = 'The store is closed until one of its owners opens it again'

/** What all doors of a closed store answer (403). */
export function storeClosed(): StoreFailure {
  return new StoreFailure('forbidden', closedMessage)
}

export function noSuchStore(id: number): StoreFailure {
  return new StoreFailure('not-found', `No store has the id ${id}`, { field: String(id) })
}

/** Returns a caller for the operator, with all privileges in the store. Throws for an unknown id (404). */
export async function operatorCaller({ db, secrets, now }: DataServices, storeId: number): Promise<Caller> {
  const store = await storeById(db, storeId)
  return { store, application: null, channel: 'administration', privileges: null, actor: OPERATOR, db, now, secrets }
}
