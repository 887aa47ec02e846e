import { DateTime } from 'luxon'
import { recordAudit } from '../../access/audit/audit.ts'
import type { Caller } from '../../engine/caller.ts'
import { inChange } from '../../engine/changing/change.ts'
import { execute, queryRows } from '../../foundation/database/client.ts'
import { anyOf } from '../../foundation/database/sql.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { isOneOf } from '../../foundation/values/secrets.ts'
import type { Erasing } from './copies.ts'
import type { Confirmation } from './erase.ts'
import { readBookkeeping } from './settings.ts'

/** Of one erasure by the rule. The others go by the next one. */
const CUSTOMERS_MAX = 100_000

/** Customers who have been idle for so many whole years. */
export interface Idle {
  readonly years: number
  /** Since when they have placed no order: the beginning of a year, as bookkeeping counts. */
  readonly since: Date
  /** By ascending number, at most 100,000, with their last order. */
  readonly customers: readonly { readonly id: number; readonly lastAt: Date | null }[]
  /** What `queueIdle` takes to erase just these. */
  readonly confirm: string
}

/**
 * Finds the customers, enabled or not, who were added more than `years` whole years ago and have placed no order since, neither by the
 * account nor as guests with its e-mail address. Those who are erased already or wait for it are left out. Throws (400) for less than the
 * bookkeeping years.
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
  const customers = await queryRows<Idle['customers'][number]>(db)`
    SELECT * FROM (
      SELECT c."id", greatest(
        (SELECT max(o."orderDate") FROM "Order" o WHERE o."storeId" = c."storeId" AND o."customerId" = c."id"),
        (SELECT max(o."orderDate") FROM "Order" o
          WHERE o."storeId" = c."storeId" AND o."customerId" IS NULL AND lower(o."billingEmail") = lower(c."email"))) AS "lastAt"
      FROM "Customer" c WHERE c."storeId" = ${store.id}::int AND c."createdAt" < ${since}
        AND NOT EXISTS (SELECT FROM "ErasedRecord" r
          WHERE r."storeId" = c."storeId" AND r."service" = 'Customers' AND r."recordId" = c."id")
        AND NOT EXISTS (SELECT FROM "Erasure" e
          WHERE e."storeId" = c."storeId" AND e."customerId" = c."id" AND e."erasedAt" IS NULL)) each
    WHERE coalesce("lastAt" < ${since}, true) ORDER BY "id" LIMIT ${CUSTOMERS_MAX}::int`
  return { years, since, customers, confirm: secrets.lookup(confirmed(store, years, customers)) }
}

function confirmed(store: Caller['store'], years: number, customers: Idle['customers']): string {
  return `idle customers ${JSON.stringify([store.id, years, customers.map(({ id }) => id)])}`
}

/**
 * Queues the erasure of idle customers, which is made in the background, one after another. Throws (409) where they are others than those
 * that were confirmed by what `findIdle` gave, and as `findIdle` does.
 */
export function queueIdle(erasing: Erasing, years: number, { confirm, actor, remember }: Confirmation<Idle>) {
  const { store, now, secrets } = erasing
  const steps = async ({ db }: Pick<Caller, 'db'>) => {
    // One after another, so that nobody is queued twice.
    await execute(db)`SELECT FROM "Store" WHERE "id" = ${store.id}::int FOR NO KEY UPDATE`
    const idle = await findIdle({ ...erasing, db }, years)
    if (!isOneOf(confirm, secrets.lookups(confirmed(store, years, idle.customers)))) {
      const message = 'Confirm must be what a dry run gave, and the customers are others by now. Look at them again'
      throw new StoreFailure('invalid-state', message, { field: 'Confirm' })
    }
    await execute(db)`
      INSERT INTO "Erasure" ("storeId", "actorKind", "actor", "createdAt", "customerId")
      SELECT "storeId", ${actor.kind}, ${actor.name}, ${now()}, "id" FROM "Customer"
      WHERE "storeId" = ${store.id}::int AND "id" = ${anyOf(idle.customers.map(({ id }) => id))} ORDER BY "id"`
    const details = { years, customers: idle.customers.length }
    await recordAudit(db, now, { actor, action: 'customers.erasing', target: store.name, storeId: store.id, details })
    return idle
  }
  return inChange(erasing, steps, remember)
}
