import { DateTime } from 'luxon'
import { type Actor, recordAudit } from '../../access/audit/audit.ts'
import type { Caller } from '../../engine/caller.ts'
import { inChange } from '../../engine/changing/change.ts'
import type { Remember } from '../../engine/changing/idempotency.ts'
import { execute, queryRows } from '../../foundation/database/client.ts'
import { anyOf, anyOfFew, sql } from '../../foundation/database/sql.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { isOneOf } from '../../foundation/values/secrets.ts'
import type { Erasing } from './copies.ts'
import { readBookkeeping } from './settings.ts'

/** Of one erasure by the rule. The others go by the next one. */
const CUSTOMERS_MAX = 100_000

/** Customers who have been idle for so many whole years. */
export interface Idle {
  readonly years: number
  /** Since when they have placed no order: the beginning of a year, as bookkeeping counts. */
  readonly since: Date
  /** By ascending number, at most 100,000. */
  readonly ids: readonly number[]
  /** What `queueIdle` takes to erase just these. */
  readonly confirm: string
}

/** An order of the customer, or of a guest with the e-mail address. */
const ofCustomer = [
  sql`o."customerId" = c."id"`,
  sql`o."customerId" IS NULL AND lower(o."billingEmail") = lower(c."email")`,
]

/**
 * Finds the customers, enabled or not, who were added more than `years` whole years ago and have placed no order since. Those who are erased
 * already or wait for it are left out. Throws (400) for less than the bookkeeping years.
 */
export async function findIdle(erasing: Erasing, years: number): Promise<Idle> {
  const { db, store, now, secrets } = erasing
  const { bookkeepingYears: least } = await readBookkeeping(erasing)
  if (years < least) {
    const message = `Years must be at least ${least}, the bookkeeping years of the settings`
    throw new StoreFailure('invalid-value', message, { field: 'Years' })
  }
  const today = DateTime.fromJSDate(now(), { zone: store.timeZone })
  const since = today.startOf('year').minus({ years }).toJSDate()
  const [mine, guests] = ofCustomer.map(
    (is) => sql`EXISTS (SELECT FROM "Order" o WHERE o."storeId" = c."storeId" AND ${is} AND o."orderDate" >= ${since})`,
  )
  const found = await queryRows<{ id: number }>(db)`
    SELECT c."id" FROM "Customer" c
    WHERE c."storeId" = ${store.id}::int AND c."createdAt" < ${since} AND NOT ${mine} AND NOT ${guests}
      AND NOT EXISTS (SELECT FROM "ErasedRecord" r
        WHERE r."storeId" = c."storeId" AND r."service" = 'Customers' AND r."recordId" = c."id")
      AND NOT EXISTS (SELECT FROM "Erasure" e
        WHERE e."storeId" = c."storeId" AND e."customerId" = c."id" AND e."erasedAt" IS NULL)
    ORDER BY c."id" LIMIT ${CUSTOMERS_MAX}::int`
  const ids = found.map(({ id }) => id)
  return { years, since, ids, confirm: secrets.lookup(confirmed(store.id, years, ids)) }
}

function confirmed(storeId: number, years: number, ids: readonly number[]): string {
  return `idle customers ${JSON.stringify([storeId, years, ids])}`
}

/** The last order of each of a few customers; null: none. */
export async function readLastOrders({ db, store }: Caller, ids: readonly number[]) {
  const [mine, guests] = ofCustomer.map(
    (is) => sql`(SELECT max(o."orderDate") FROM "Order" o WHERE o."storeId" = c."storeId" AND ${is})`,
  )
  const found = await queryRows<{ id: number; last: Date | null }>(db)`
    SELECT c."id", greatest(${mine}, ${guests}) AS "last" FROM "Customer" c
    WHERE c."storeId" = ${store.id}::int AND c."id" = ${anyOfFew(ids)}`
  return new Map(found.map(({ id, last }) => [id, last]))
}

interface Confirmation {
  /** What `findIdle` gave. */
  readonly confirm: string
  readonly actor: Actor
  readonly remember?: Remember<Idle> | undefined
}

/**
 * Queues the erasure of idle customers, which is made in the background, one after another. Throws (409) where they are others than those
 * that were confirmed, and as `findIdle` does.
 */
export function queueIdle(erasing: Erasing, years: number, { confirm, actor, remember }: Confirmation): Promise<Idle> {
  const { store, now, secrets } = erasing
  const steps = async ({ db }: Pick<Caller, 'db'>) => {
    // One after another, so that nobody is queued twice.
    await execute(db)`SELECT FROM "Store" WHERE "id" = ${store.id}::int FOR NO KEY UPDATE`
    const idle = await findIdle({ ...erasing, db }, years)
    if (!isOneOf(confirm, secrets.lookups(confirmed(store.id, years, idle.ids)))) {
      const message = 'Confirm must be what a dry run gave, and the customers are others by now. Look at them again'
      throw new StoreFailure('invalid-state', message, { field: 'Confirm' })
    }
    await execute(db)`
      INSERT INTO "Erasure" ("storeId", "actorKind", "actor", "createdAt", "customerId")
      SELECT "storeId", ${actor.kind}, ${actor.name}, ${now()}, "id" FROM "Customer"
      WHERE "storeId" = ${store.id}::int AND "id" = ${anyOf(idle.ids)} ORDER BY "id"`
    const details = { years, customers: idle.ids.length }
    await recordAudit(db, now, { actor, action: 'customers.erasing', target: store.name, storeId: store.id, details })
    return idle
  }
  return inChange(erasing, steps, remember)
}
