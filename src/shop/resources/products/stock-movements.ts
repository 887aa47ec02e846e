import type { Caller } from '../../../engine/caller.ts'
import { queryRows } from '../../../foundation/database/client.ts'
import type { StockMovement as Row } from '../../../foundation/database/generated/client.ts'
import { storeId } from '../../../foundation/database/sql.ts'

/** A row of the ledger, to be shown. Without `optionCode`, it is of the product's own stock. */
export interface StockMovement extends Pick<Row, 'optionCode' | 'cause' | 'orderId' | 'actor' | 'note' | 'createdAt'> {
  readonly id: string
  readonly quantity: number
  readonly stockAfter: number
  /** Null: no order caused it, or the order is deleted. */
  readonly invoiceNumber: string | null
}

/** Lists the movements of a product's stocks, newest first: at most `limit`, before the movement with the id `before`. */
export function listStockMovements(
  { db, store }: Caller,
  productId: number,
  { before, limit }: { before: bigint; limit: number },
): Promise<StockMovement[]> {
  return queryRows<StockMovement>(db)`
    SELECT m."id"::text AS "id", m."optionCode", m."quantity"::float8 AS "quantity", m."stockAfter"::float8 AS "stockAfter",
      m."cause", m."orderId", o."invoicePrefix" || o."invoiceNumber" AS "invoiceNumber", m."actor", m."note", m."createdAt"
    FROM (
      SELECT * FROM "StockMovement" t
      WHERE t."storeId" = ${storeId(store)} AND t."productId" = ${productId}::int AND t."id" < ${String(before)}::bigint
      ORDER BY t."id" DESC LIMIT ${limit}::int) m
    LEFT JOIN "Order" o ON o."storeId" = m."storeId" AND o."id" = m."orderId"
    ORDER BY m."id" DESC`
}
