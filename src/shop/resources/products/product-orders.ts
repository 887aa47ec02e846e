import type { Caller } from '../../../engine/caller.ts'
import { queryRows } from '../../../foundation/database/client.ts'
import { sql, storeId } from '../../../foundation/database/sql.ts'

export interface OrderOfProduct {
  readonly id: number
  readonly invoiceNumber: string
  readonly orderDate: Date
  readonly statusId: number
}

/** Returns the newest orders with a product, at most `shown`, and the number of all of them up to `countedMax` + 1. */
export async function readProductOrders(
  { db, store }: Caller,
  productId: number,
  { shown, countedMax }: { shown: number; countedMax: number },
): Promise<{ orders: OrderOfProduct[]; count: number }> {
  const items = sql`"OrderItem" i WHERE i."storeId" = ${storeId(store)} AND i."productId" = ${productId}::int`
  const newest = queryRows<OrderOfProduct>(db)`
    SELECT o."id", o."invoicePrefix" || o."invoiceNumber" AS "invoiceNumber", o."orderDate", o."statusId"
    FROM (SELECT DISTINCT i."orderId" FROM ${items} ORDER BY i."orderId" DESC LIMIT ${shown}::int) n
    JOIN "Order" o ON o."storeId" = ${storeId(store)} AND o."id" = n."orderId" ORDER BY o."id" DESC`
  const counted = queryRows<{ count: number }>(db)`
    SELECT count(*)::int AS "count" FROM (
      SELECT DISTINCT i."orderId" FROM ${items} ORDER BY i."orderId" DESC LIMIT ${countedMax + 1}::int) each`
  const [orders, [row]] = await Promise.all([newest, counted])
  return { orders, count: row?.count ?? 0 }
}
