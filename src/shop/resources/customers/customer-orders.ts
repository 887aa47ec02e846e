import type { Caller } from '../../../engine/caller.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { constant, sql, storeId } from '../../../foundation/database/sql.ts'
import type { OrderStates } from '../orders/states.ts'

export interface OrderOfCustomer extends OrderStates {
  readonly id: number
  readonly invoiceNumber: string
  readonly orderDate: Date
  readonly amount: number
  readonly statusId: number
}

/** Of all orders of a customer, or of the newest 10,000. */
export interface OrderSums {
  readonly count: number
  /** What was paid for them, without what was refunded. */
  readonly spent: number
  /** Of how many orders something is paid that was not refunded. */
  readonly paid: number
  readonly firstAt: Date | null
}

export interface ReturnOfCustomer {
  readonly id: number
  readonly returnedAt: Date
  readonly statusId: number
  readonly orderId: number
  readonly invoiceNumber: string
}

/** So that the sums of a customer with any number of orders cost a bounded time. */
export const ORDERS_SUMMED_MAX = 10_000

/** What is paid, without what is refunded, of `t`, a row of "Order". One that was paid online may have no transactions. */
const spent = sql`CASE WHEN t."paid" IS NULL AND t."paidOnline" THEN t."orderAmount"
  ELSE coalesce(t."paid", 0) - coalesce(t."refunded", 0) END`

/** Returns the newest orders of a customer, at most `shown`, and the sums of all. */
export async function readCustomerOrders(caller: Caller, customerId: number, { shown }: { readonly shown: number }) {
  const ofCustomer = sql`t."storeId" = ${storeId(caller.store)} AND t."customerId" = ${customerId}::int`
  const newest = rowsInTurn<OrderOfCustomer>(caller)`
    SELECT t."id", t."invoicePrefix" || t."invoiceNumber" AS "invoiceNumber", t."orderDate",
      t."orderAmount"::float8 AS "amount", t."statusId", t."payment", t."fulfilment"
    FROM "Order" t WHERE ${ofCustomer} ORDER BY t."id" DESC LIMIT ${constant(shown)}`
  const summed = rowsInTurn<OrderSums>(caller)`
    SELECT count(*)::int AS "count", coalesce(sum(${spent}), 0)::float8 AS "spent",
      (count(*) FILTER (WHERE ${spent} > 0))::int AS "paid", min(t."orderDate") AS "firstAt"
    FROM (
      SELECT * FROM "Order" t WHERE ${ofCustomer} ORDER BY t."id" DESC LIMIT ${constant(ORDERS_SUMMED_MAX)}) t`
  const [orders, [sums]] = await Promise.all([newest, summed])
  return { orders, sums: sums ?? { count: 0, spent: 0, paid: 0, firstAt: null } }
}

/** Returns the newest returns from the orders of a customer, at most `shown`. */
export function readCustomerReturns(caller: Caller, customerId: number, { shown }: { readonly shown: number }) {
  return rowsInTurn<ReturnOfCustomer>(caller)`
    SELECT r."id", r."rmaDate" AS "returnedAt", r."statusId", t."id" AS "orderId",
      t."invoicePrefix" || t."invoiceNumber" AS "invoiceNumber"
    FROM (
      SELECT * FROM "Order" t WHERE t."storeId" = ${storeId(caller.store)} AND t."customerId" = ${customerId}::int
      ORDER BY t."id" DESC LIMIT ${constant(ORDERS_SUMMED_MAX)}) t
    JOIN "Rma" r ON r."storeId" = t."storeId" AND r."orderId" = t."id"
    ORDER BY r."id" DESC LIMIT ${constant(shown)}`
}
