import { mayRead } from '../../access/applications/privileges.ts'
import { type Actor, recordAudit } from '../../access/audit/audit.ts'
import type { Caller } from '../../engine/caller.ts'
import { inStoreTransaction, queryRows } from '../../foundation/database/client.ts'
import { anyOfFew } from '../../foundation/database/sql.ts'
import { customers } from '../resources/customers/customers.ts'
import { orders } from '../resources/orders/orders.ts'
import { type PersonData, readPerson } from './data.ts'
import type { PersonNamed } from './person.ts'

/** Returns when the person of a record was erased; null: never. */
export async function readErasedAt({ db, store }: Caller, service: string, recordId: number): Promise<Date | null> {
  const [erasure] = await queryRows<{ erasedAt: Date | null }>(db)`
    SELECT e."erasedAt" FROM "ErasedRecord" r JOIN "Erasure" e ON e."storeId" = r."storeId" AND e."id" = r."erasureId"
    WHERE r."storeId" = ${store.id}::int AND r."service" = ${service} AND r."recordId" = ${recordId}::int`
  return erasure?.erasedAt ?? null
}

/** The members of an order that the law has the store keep. */
export interface KeptAddress {
  readonly address: Readonly<Record<string, unknown>>
  readonly until: Date
}

/**
 * Reads the billing addresses that are kept of orders whose person was erased, by the orders. None for others than people of the store who
 * read orders and customers, as the reports of customers need.
 */
export async function readKeptAddresses(
  { db, store, channel, privileges, now }: Caller,
  ids: readonly number[],
): Promise<ReadonlyMap<number, KeptAddress>> {
  if (channel !== 'administration' || ![orders, customers].every((each) => mayRead(privileges, each))) return new Map()
  const kept = await queryRows<KeptAddress & { orderId: number }>(db)`
    SELECT "orderId", "address", "until" FROM "InvoiceAddress"
    WHERE "storeId" = ${store.id}::int AND "orderId" = ${anyOfFew(ids)} AND "until" > ${now()}`
  return new Map(kept.map(({ orderId, ...address }) => [orderId, address]))
}

/** Reads a person's data for somebody, which the audit log notes. Throws as `readPerson` does. */
export async function takeOut(caller: Caller, named: PersonNamed, actor: Actor): Promise<PersonData> {
  const person = await readPerson(caller, named)
  const target = targetOf(person)
  await inStoreTransaction(caller, (tx) =>
    recordAudit(tx, caller.now, { actor, action: 'customer.data-read', target, storeId: caller.store.id }),
  )
  return person
}

function targetOf({ customerId, records }: PersonData): string {
  return customerId === null ? `Orders ${records.Orders.join(', ')}` : `Customer ${customerId}`
}
