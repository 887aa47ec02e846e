import { DateTime } from 'luxon'
import { type Actor, recordAudit } from '../../../access/audit/audit.ts'
import type { Caller } from '../../../engine/caller.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import { lockInStore, locks } from '../../../foundation/database/advisory-locks.ts'
import { execute, inStoreTransaction, queryRows } from '../../../foundation/database/client.ts'
import { storeId } from '../../../foundation/database/sql.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'

// Months of payments that a bookkeeper has closed (docs/decisions/orders.md). The database keeps the ledger as it was: "bookPayments".

/** The migration that made the ledger; its slices book the transactions of before. */
export const LEDGER_MIGRATION = '20261129103939_payment_ledger'

/** Months offered to a store that has closed none. */
const FIRST_MONTHS = 12

/** Reads what a store has closed, through which month, the last one first; `isBooked`: all transactions of before an upgrade are in the ledger. */
export async function readClosedMonths({ db, store }: Pick<Caller, 'db' | 'store'>) {
  const closings = await queryRows<{ month: string; closedAt: Date; closedBy: string }>(db)`
    SELECT "month", "closedAt", "closedBy" FROM "ClosedPeriod" WHERE "storeId" = ${storeId(store)} ORDER BY "month" DESC`
  const booked = await queryRows(db)`SELECT FROM "Upgrade" WHERE "name" = ${LEDGER_MIGRATION} AND "doneAt" IS NOT NULL`
  return { closings, isBooked: booked.length > 0 }
}

/** Returns the months through which a store may close, such as `2026-03`: those that are over and behind `last`, the latest first. */
export function monthsToClose({ store, now }: Pick<Caller, 'store' | 'now'>, last: string | undefined): string[] {
  const { timeZone: zone } = store
  const present = DateTime.fromJSDate(now(), { zone }).startOf('month')
  const since = last === undefined ? FIRST_MONTHS : present.diff(DateTime.fromISO(last, { zone }), 'months').months - 1
  const months = Array.from({ length: Math.max(0, Math.round(since)) }, (_, at) => present.minus({ months: at + 1 }))
  return months.map((month) => month.toFormat('yyyy-MM'))
}

/**
 * Closes the ledger through a month. Waits for payments that are being written; those that come meanwhile wait for it. Throws a 400 for a
 * month that is not over or is closed, and a 409 while payments of before an upgrade are missing.
 */
export function closeThrough(caller: Caller, month: string, actor: Actor): Promise<void> {
  const { store, now } = caller
  return inStoreTransaction(caller, async (db) => {
    await lockInStore({ db, store }, locks.paymentLedger)
    const { closings, isBooked } = await readClosedMonths({ db, store })
    if (!isBooked) throw new StoreFailure('invalid-state', 'Payments of before the upgrade are still being added up')
    if (!monthsToClose(caller, closings[0]?.month).includes(month)) {
      throw wrongField('Month', 'must be a month that is over and not closed yet')
    }
    const end = DateTime.fromISO(month, { zone: store.timeZone }).plus({ months: 1 }).startOf('day').toUTC().toISO()
    await execute(db)`
      INSERT INTO "ClosedPeriod" ("storeId", "month", "until", "closedAt", "closedBy")
      VALUES (${store.id}::int, ${month}, ${end}::timestamptz, ${now()}::timestamptz, ${actor.name})`
    await recordAudit(db, now, { actor, action: 'payments.closed', target: month, storeId: store.id })
  })
}

/** Undoes the last closing: the ledger is as if it had never been. Throws a 409 if `month` is not, or no longer, the last closed one. */
export function reopen({ now, ...caller }: Caller, month: string, actor: Actor): Promise<void> {
  const { store } = caller
  return inStoreTransaction(caller, async (db) => {
    await lockInStore({ db, store }, locks.paymentLedger)
    const { closings } = await readClosedMonths({ db, store })
    if (closings[0]?.month !== month) {
      throw new StoreFailure('invalid-state', 'Only the month that was closed last can be opened again')
    }
    await execute(db)`DELETE FROM "ClosedPeriod" WHERE "storeId" = ${store.id}::int AND "month" = ${month}`
    await execute(db)`
      SELECT "bookPayments"(${store.id}::int, (SELECT array_agg(DISTINCT "transactionId") FROM "PaymentEntry"
        WHERE "storeId" = ${store.id}::int AND "bookedAt" >= "closedUntil"(${store.id}::int) AND ("isLate" OR "hasChanged")))::text`
    await recordAudit(db, now, { actor, action: 'payments.reopened', target: month, storeId: store.id })
  })
}
