// What a merchant has to do: orders that wait, stock that runs out, and the first steps of a new store.

import { DateTime } from 'luxon'
import { hasFactor } from '../../../../access/people/factors/in-force.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { keptCount } from '../../../../engine/reading/read.ts'
import { queryRows } from '../../../../foundation/database/client.ts'
import type { Order, OrderStatus, Product } from '../../../../foundation/database/generated/client.ts'
import { constant, sql, storeId } from '../../../../foundation/database/sql.ts'
import { isToBePaid } from '../../../../shop/resources/orders/states.ts'
import { statusCancelled, statusNotCompleted, statusShipped } from '../../../../shop/resources/orders/statuses.ts'
import { statusName } from '../../records/order-words.ts'

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
export async function readWaiting({ db, store }: Caller) {
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
export async function countToBePaid({ db, store }: Caller): Promise<number> {
  const [row] = await queryRows<{ count: number }>(db)`SELECT count(*)::int AS "count" FROM (
        SELECT FROM "Order" t WHERE t."storeId" = ${storeId(store)} AND ${isToBePaid}
        ORDER BY t."id" LIMIT ${constant(COUNTED_MAX + 1)}
      ) c`
  return row?.count ?? 0
}

const SOLD_DAYS = 30
/** The newest orders of that time, and the lines of each, which tell what sells. */
export const SOLD_ORDERS_MAX = 1_000
const SOLD_LINES_MAX = 100

/** `sold`: how many in the last 30 days, in as many of the newest orders as are read. */
type LowProduct = Pick<Product, 'sku' | 'name'> & Readonly<Record<'productId' | 'stock' | 'sold', number>>

/**
 * Returns products with a stock of at most their StockAlert or zero, and how many there are and are without stock, up to `COUNTED_MAX` + 1
 * each. First are those that sold lately, by how long they will last; of others, those that are left, by lowest stock. The condition
 * is that of the partial index "Product_stock_low". The limits of what is joined make PostgreSQL look it up by keys instead of reading
 * a whole table.
 */
export async function readLowStock({ store, db, now }: Caller) {
  const since = DateTime.fromJSDate(now()).minus({ days: SOLD_DAYS }).toISO()
  const isLow = sql`p."storeId" = ${storeId(store)} AND p."stock" <= greatest(p."stockAlert", 0)`
  const shown = constant(PRODUCTS_SHOWN)
  const [row] = await queryRows<{ count: number; outCount: number; products: LowProduct[] }>(db)`
      WITH "sold" AS MATERIALIZED (
        SELECT "productId" AS "id", sum("quantity") AS "sold" FROM (
          SELECT "id", "statusId" FROM "Order" WHERE "storeId" = ${storeId(store)} AND "orderDate" >= ${since}::timestamptz
          ORDER BY "orderDate" DESC, "id" DESC LIMIT ${constant(SOLD_ORDERS_MAX)}
        ) o CROSS JOIN LATERAL (
          SELECT "productId", "quantity" FROM "OrderItem" WHERE "storeId" = ${storeId(store)} AND "orderId" = o."id"
          ORDER BY "id" LIMIT ${constant(SOLD_LINES_MAX)}
        ) i
        WHERE "isSale"(o."statusId") GROUP BY 1 HAVING sum(i."quantity") > 0)
      SELECT "count", "outCount", (
        SELECT coalesce(json_agg(json_build_object('productId', "id", 'sku', "sku", 'name', "name", 'stock', "stock", 'sold', "sold")
          ORDER BY "lasts", "sold" DESC, "stock", "id"), '[]')
        FROM (
          (SELECT p."id", "sku", "name", "stock", "sold", greatest("stock", 0) / "sold" AS "lasts" FROM "sold" s
            CROSS JOIN LATERAL (SELECT * FROM "Product" p WHERE ${isLow} AND p."id" = s."id" LIMIT 1) p
            ORDER BY "lasts", "sold" DESC, p."id" LIMIT ${shown})
          UNION ALL (SELECT "id", "sku", "name", "stock", 0, NULL FROM "Product" p
            WHERE ${isLow} AND "stock" > 0 AND "id" NOT IN (SELECT "id" FROM "sold" WHERE "id" IS NOT NULL)
            ORDER BY "stock", "id" LIMIT ${shown})
          ORDER BY "lasts", "sold" DESC, "stock", "id" LIMIT ${shown}
        ) f
      ) AS "products"
      FROM (
        SELECT count(*)::int AS "count", (count(*) FILTER (WHERE "stock" <= 0))::int AS "outCount"
        FROM (SELECT "stock" FROM "Product" p WHERE ${isLow} ORDER BY "stock", "id" LIMIT ${constant(COUNTED_MAX + 1)}) c
      ) counts`
  if (!row) throw new Error('An aggregate gave no row')
  return row
}

/** Returns what a store has of that with which it begins, and `factor`: whether the person has a second factor. */
export async function readBeginnings({ store: { id }, db, now }: Caller, identityId: number) {
  const [row] = await queryRows<
    Record<'orders' | 'products' | 'people' | 'factor', boolean> & Record<'applications' | 'webhooks', number>
  >(db)`
    SELECT ${keptCount(id, 'Order')} > 0 AS "orders", ${keptCount(id, 'Product')} > 0 AS "products",
      (SELECT count(*)::int FROM "Subscription" WHERE "storeId" = ${id}::int) AS "applications",
      ${keptCount(id, 'Webhook')} AS "webhooks",
      (SELECT count(*) FROM (SELECT FROM "StoreUser" WHERE "storeId" = ${id}::int LIMIT 2) u) > 1
        OR EXISTS (SELECT FROM "Invitation" WHERE "storeId" = ${id}::int AND "expiresAt" > ${now()}::timestamptz) AS "people",
      EXISTS (SELECT FROM "Identity" WHERE "id" = ${identityId}::int AND ${hasFactor(now())}) AS "factor"`
  if (!row) throw new Error('A SELECT without FROM gave no row')
  return row
}
