// What a merchant has to do: orders that wait, stock that runs out, and the first steps of a new store.

import type { CallerStore } from '../../../../engine/caller.ts'
import { keptCount } from '../../../../engine/reading/read.ts'
import { type DataServices, queryRows } from '../../../../foundation/database/client.ts'
import type { Order, OrderStatus, Product } from '../../../../foundation/database/generated/client.ts'
import { constant, sql, storeId } from '../../../../foundation/database/sql.ts'
import { isToBePaid } from '../../../../shop/resources/orders/states.ts'
import { statusCancelled, statusNotCompleted, statusShipped } from '../../../../shop/resources/orders/statuses.ts'
import { statusName } from '../../records/order-words.ts'

type Services = Pick<DataServices, 'db'>

/** The limit for counts over a whole store, so that they cost the same for any number of records. */
export const COUNTED_MAX = 1_000
const STATUSES_MAX = 50
const PRODUCTS_SHOWN = 10

/** A status with the first of its orders, by id. `count`: up to `COUNTED_MAX` + 1. */
type WaitingRow = Pick<OrderStatus, 'definition' | 'text'> &
  Pick<Order, 'statusId' | 'id' | 'invoicePrefix' | 'invoiceNumber' | 'orderDate'> & { readonly count: number }

/**
 * Returns the statuses in which orders wait, in the merchant's order: all that are visible, except Shipped, Cancelled
 * and Not Completed.
 *
 * The order by "statusId" (BETWEEN, because a single value implies no order) makes PostgreSQL read the index of statuses
 * up to the limit. Without it, PostgreSQL may read the whole store in the order of ids.
 */
export async function readWaiting({ db }: Services, store: CallerStore) {
  const done = sql`${constant(statusShipped)}, ${constant(statusCancelled)}, ${constant(statusNotCompleted)}`
  const rows = await queryRows<WaitingRow>(db)`
    SELECT s."id" AS "statusId", s."definition", s."text", w."count", o."id", o."invoicePrefix", o."invoiceNumber",
        o."orderDate"
      FROM (
        SELECT "id", "definition", "text", "sorting" FROM "OrderStatus"
        WHERE "storeId" = ${storeId(store)} AND "visible" AND "id" NOT IN (${done})
        ORDER BY "sorting", "id" LIMIT ${constant(STATUSES_MAX)}
      ) s
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS "count", min("id") AS "firstId" FROM (
          SELECT "id" FROM "Order" WHERE "storeId" = ${storeId(store)} AND "statusId" BETWEEN s."id" AND s."id"
          ORDER BY "statusId", "id" LIMIT ${constant(COUNTED_MAX + 1)}
        ) c
      ) w
      JOIN "Order" o ON o."storeId" = ${storeId(store)} AND o."id" = w."firstId"
      ORDER BY s."sorting", s."id"`
  return rows.map(({ statusId, definition, text, count, id, invoicePrefix, invoiceNumber, orderDate: date }) => {
    const status = statusName({ id: statusId, definition, text })
    return { statusId, status, count, first: { id, invoice: `${invoicePrefix}${invoiceNumber}`, date } }
  })
}

/** Returns how many orders are still to be paid, up to `COUNTED_MAX` + 1. */
export async function countToBePaid({ db }: Services, store: CallerStore): Promise<number> {
  const [row] = await queryRows<{ count: number }>(db)`SELECT count(*)::int AS "count" FROM (
        SELECT FROM "Order" t WHERE t."storeId" = ${storeId(store)} AND ${isToBePaid}
        ORDER BY t."id" LIMIT ${constant(COUNTED_MAX + 1)}
      ) c`
  return row?.count ?? 0
}

type LowProduct = Pick<Product, 'id' | 'sku' | 'name'> & { readonly stock: number; readonly alert: number }

/**
 * Returns the products with a stock of at most their StockAlert or zero, the first by lowest stock, and how many there are and are without
 * stock, up to `COUNTED_MAX` + 1 each. The condition is that of the partial index "Product_stock_low".
 */
export async function readLowStock({ db }: Services, store: CallerStore) {
  const low = sql`"Product" WHERE "storeId" = ${storeId(store)} AND "stock" <= greatest("stockAlert", 0) ORDER BY "stock", "id"`
  const [row] = await queryRows<{ count: number; outCount: number; products: LowProduct[] }>(db)`
      SELECT "count", "outCount", (
        SELECT coalesce(json_agg(json_build_object('id', "id", 'sku', "sku", 'name', "name", 'stock', "stock", 'alert', "stockAlert")
          ORDER BY "stock", "id"), '[]')
        FROM (SELECT * FROM ${low} LIMIT ${constant(PRODUCTS_SHOWN)}) f
      ) AS "products"
      FROM (
        SELECT count(*)::int AS "count", (count(*) FILTER (WHERE "stock" <= 0))::int AS "outCount"
        FROM (SELECT "stock" FROM ${low} LIMIT ${constant(COUNTED_MAX + 1)}) c
      ) counts`
  if (!row) throw new Error('An aggregate gave no row')
  return row
}

/** Returns what a store has of that with which it begins. */
export async function readBeginnings({ db }: Services, { id }: CallerStore) {
  const [row] = await queryRows<{ orders: boolean; products: boolean; applications: number; webhooks: number }>(db)`
    SELECT ${keptCount(id, 'Order')} > 0 AS "orders", ${keptCount(id, 'Product')} > 0 AS "products",
      (SELECT count(*)::int FROM "Subscription" WHERE "storeId" = ${id}::int) AS "applications",
      ${keptCount(id, 'Webhook')} AS "webhooks"`
  if (!row) throw new Error('A SELECT without FROM gave no row')
  return row
}
