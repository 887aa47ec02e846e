import { mayRead } from '../../access/applications/privileges.ts'
import { type Actor, recordAudit } from '../../access/audit/audit.ts'
import type { Caller } from '../../engine/caller.ts'
import { inStoreTransaction, type Paging, queryRows } from '../../foundation/database/client.ts'
import type { Erasure as Row } from '../../foundation/database/generated/client.ts'
import { anyOfFew } from '../../foundation/database/sql.ts'
import { customers } from '../resources/customers/customers.ts'
import { readPerson } from './data.ts'
import { type PersonNamed, type Records, targetOf } from './person.ts'

/** Returns when the person of a record was erased; null: never. */
export async function readErasedAt({ db, store }: Caller, service: string, recordId: number): Promise<Date | null> {
  const [erasure] = await queryRows<{ erasedAt: Date | null }>(db)`
    SELECT e."erasedAt" FROM "ErasedRecord" r JOIN "Erasure" e ON e."storeId" = r."storeId" AND e."id" = r."erasureId"
    WHERE r."storeId" = ${store.id}::int AND r."service" = ${service} AND r."recordId" = ${recordId}::int`
  return erasure?.erasedAt ?? null
}

/** The members of an order that the law has the store keep until then. */
export interface KeptAddress {
  readonly orderId: number
  readonly address: Readonly<Record<string, unknown>>
  readonly until: Date
}

/** Reads what is kept of erased orders, for people of the store who see reports of customers; nothing for anybody else. */
export async function readKeptAddresses(caller: Caller, ids: readonly number[]): Promise<KeptAddress[]> {
  const { db, store, channel, privileges, now } = caller
  if (channel !== 'administration' || !mayRead(privileges, customers)) return []
  return queryRows<KeptAddress>(db)`
    SELECT "orderId", "address", "until" FROM "InvoiceAddress"
    WHERE "storeId" = ${store.id}::int AND "orderId" = ${anyOfFew(ids)} AND "until" > ${now()}`
}

/** Reads a person's data for somebody, which the audit log notes. Throws as `readPerson` does. */
export async function takeOut(caller: Caller, named: PersonNamed, actor: Actor) {
  const person = await readPerson(caller, named)
  const entry = { actor, action: 'customer.data-read', target: targetOf(person), storeId: caller.store.id } as const
  await inStoreTransaction(caller, (tx) => recordAudit(tx, caller.now, entry))
  return person
}

/** That a person was erased, or waits for it. `counts`: how many rows of each kind had something of the person. */
export interface Erasure extends Pick<Row, 'id' | 'actor' | 'customerId' | 'erasedAt'> {
  readonly orders: readonly number[]
  readonly returns: readonly number[]
  readonly giftRegistries: readonly number[]
  readonly counts: Readonly<Record<string, number>>
}

/** Lists the erasures of a store, the last first. */
export async function listErasures({ db, store }: Caller, { limit, offset }: Paging): Promise<Erasure[]> {
  const rows = await db.erasure.findMany({
    where: { storeId: store.id },
    include: { records: { orderBy: { recordId: 'asc' } } },
    orderBy: { id: 'desc' },
    take: limit,
    skip: offset,
  })
  return rows.map(({ id, actor, customerId, erasedAt, counts, records }) => {
    const of = (service: keyof Records) => records.flatMap((one) => (one.service === service ? one.recordId : []))
    const numbers = { orders: of('Orders'), returns: of('RMA'), giftRegistries: of('GiftRegistries') }
    return { id, actor, customerId, erasedAt, counts: counts as Erasure['counts'], ...numbers }
  })
}
