import type { Caller } from '../../../engine/caller.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { anyOf, constant, type Sql, sql, storeId } from '../../../foundation/database/sql.ts'
import { statusCancelled, statusNotCompleted } from './statuses.ts'

// What is paid of an order, and what of it has left. The database works both out from the order's lists ("paymentState" and
// "fulfilmentState", which triggers call), and everything reads them there: docs/decisions/orders.md.

export const paymentStates = ['unpaid', 'part-paid', 'paid', 'part-refunded', 'refunded', 'overpaid'] as const
export type PaymentState = (typeof paymentStates)[number]

/** `none`: it has no shipments. */
export const fulfilments = ['waiting', 'part', 'left', 'none'] as const
export type Fulfilment = (typeof fulfilments)[number]

export interface OrderStates {
  readonly payment: PaymentState
  readonly fulfilment: Fulfilment
}

/** The states of these orders, by id. Those that do not exist are missing. */
export async function readStates(
  { db, store }: Pick<Caller, 'db' | 'store'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, OrderStates>> {
  if (ids.length === 0) return new Map()
  const rows = await rowsInTurn<OrderStates & { id: number }>({ db, store })`
    SELECT "id", "payment", "fulfilment" FROM "Order" WHERE "storeId" = ${storeId(store)} AND "id" = ${anyOf(ids)}`
  return new Map(rows.map(({ id, payment, fulfilment }) => [id, { payment, fulfilment }]))
}

/**
 * Whether something of an order `t` is still to be paid, and the order is neither cancelled nor not completed. The condition is that of
 * the partial index "Order_owed", so it has no parameters.
 */
export const isToBePaid: Sql = sql`t."payment" IN ('unpaid', 'part-paid') AND t."statusId" NOT IN (${constant(statusCancelled)}, ${constant(statusNotCompleted)})`

/** Whether something of it is still to be paid. */
export function isOwed(payment: PaymentState): boolean {
  return payment === 'unpaid' || payment === 'part-paid'
}
