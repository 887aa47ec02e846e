import type { Caller } from '../../../engine/caller.ts'
import type { Change } from '../../../engine/definition/resource.ts'
import type { Row } from '../../../engine/definition/stored-row.ts'
import { execute } from '../../../foundation/database/client.ts'
import { effectOf } from '../orders/payments.ts'
import { isOwed, type PaymentState } from '../orders/states.ts'
import { holdsStock, isShipped, statusCancelled, statusNotCompleted } from '../orders/statuses.ts'
import type { CausedKind } from './kinds.ts'

/** Nobody waits for news of older orders, which programs put right by the thousand. */
export const TOLD_MS = 30 * 86_400_000

/** A mail that a change causes. */
export interface Due {
  readonly kind: CausedKind
  readonly orderId: number
  /** The shipment, transaction or return that it is about. Omitted: the order. */
  readonly aboutId?: number
}

/** What placing an order in this status causes: `order-paid` is written where it is paid now. */
export function dueOfPlacing(orderId: number, statusId: number): Due[] {
  if (!holdsStock(statusId)) return []
  return [
    { kind: 'order-placed', orderId },
    { kind: 'order-paid', orderId },
  ]
}

/** What a change of an order causes; `leftId`: its only shipment, which has left by the order's status. */
export function dueOfOrder({ id: orderId, before, after }: Change, leftId: number | null): Due[] {
  const [from, to] = [Number(before?.row.statusId), Number(after.row.statusId)]
  // Nobody has ordered anything yet.
  if (before === null || to === statusNotCompleted) return []
  const { ShipmentList: parcels, TransactionList: payments } = after.lists
  const left = [...newly(isShipped, before.lists.ShipmentList, parcels), ...(leftId === null ? [] : [leftId])]
  const refunds = newly((row) => effectOf(row) === 'refunded', before.lists.TransactionList, payments)
  return [
    ...(from === statusNotCompleted ? dueOfPlacing(orderId, to) : []),
    ...(isOwed(before.row.payment as PaymentState) ? [{ kind: 'order-paid', orderId } as const] : []),
    ...left.map((aboutId) => ({ kind: 'parcel-sent', orderId, aboutId }) as const),
    ...refunds.map((aboutId) => ({ kind: 'order-refunded', orderId, aboutId }) as const),
    ...(to === statusCancelled && holdsStock(from) ? [{ kind: 'order-cancelled', orderId } as const] : []),
  ]
}

/** The ids of the rows that are so now and were not before. */
function newly(isSo: (row: Row) => boolean, before: readonly Row[] = [], after: readonly Row[] = []): number[] {
  const were = new Set(before.filter(isSo).map(({ id }) => id))
  return after.filter((row) => isSo(row) && !were.has(row.id)).map(({ id }) => Number(id))
}

/**
 * Writes the mails that a change causes, in its transaction and by one statement: each for its order, shipment, refund or return once,
 * however often that happens. Left out are those that the store has not switched on, of old orders, and to nobody. Their text is made
 * when they are sent (send.ts), so that nothing about them refuses or delays the change.
 */
export async function writeDue({ db, store, tells, importId, now }: Caller, due: readonly Due[]): Promise<void> {
  const wanted = due.filter(({ kind }) => store.orderMails.includes(kind))
  if (wanted.length === 0 || tells === 'nobody' || importId !== undefined) return
  const at = now().toISOString()
  const since = tells === 'asked' ? '-infinity' : new Date(now().getTime() - TOLD_MS).toISOString()
  await execute(db)`
    INSERT INTO "Mail" ("storeId", "kind", "recipient", "messageId", "subject", "state", "nextAttemptAt", "createdAt", "orderId", "aboutId")
    SELECT o."storeId", d."kind", o."billingEmail", '<' || gen_random_uuid() || ${`@${new URL(store.secureUrl).hostname}>`}, '', 'waiting',
      ${at}::timestamptz, ${at}::timestamptz, o."id", coalesce(d."aboutId", 0)
    FROM jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) AS d("kind" text, "orderId" int, "aboutId" int)
    JOIN "Order" o ON o."storeId" = ${store.id}::int AND o."id" = d."orderId"
    WHERE o."billingEmail" <> '' AND o."orderDate" > ${since}::timestamptz
      AND (d."kind" <> 'order-paid' OR o."payment" IN ('paid', 'overpaid') AND o."orderAmount" > 0)
    ON CONFLICT DO NOTHING`
}
