import { anyOf, type Sql, sql, storeId } from '../../database/sql.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Resource } from '../../engine/define.ts'
import { date, decimal, reference, text } from '../../engine/fields.ts'
import { defineLedger } from '../../engine/ledger.ts'
import { moveStocks, type StockMove } from './stock.ts'

/** Every change of a stock of a product or advanced option. No answer shows it; export and import carry it. */
export const stockMovements = defineLedger({
  name: 'StockMovements',
  table: 'StockMovement',
  parent: 'productId',
  fields: {
    /** Empty: the product's own stock. */
    AdvancedOptionCode: text(50, { column: 'optionCode', nullable: true }),
    Quantity: decimal({ column: 'quantity' }),
    StockAfter: decimal({ column: 'stockAfter' }),
    Cause: text(20, { column: 'cause', required: true }),
    OrderID: reference('orderId'),
    UserID: text(50, { column: 'actor' }),
    Date: date({ column: 'createdAt', defaultNow: true }),
  },
  complete: writeMissing,
})

/**
 * SQL: each stock of the products that `ofProducts` selects (by "storeId" and "productId"), with the sum of its
 * movements as "moved". Covers the product's own stock ("optionCode" is NULL), those of its advanced options, and those
 * of deleted options, whose stock is 0.
 */
export function stocksAndMovements(ofProducts: Sql): Sql {
  return sql`
    SELECT "storeId", "productId", "optionCode", sum("stock") AS "stock", sum("moved") AS "moved", count("movement") AS "movements"
    FROM (
      SELECT "storeId", "id" AS "productId", NULL::text AS "optionCode", "stock", 0 AS "moved", NULL::bigint AS "movement" FROM "Product"
      UNION ALL SELECT "storeId", "productId", "code", "stock", 0, NULL FROM "AdvancedOption"
      UNION ALL SELECT "storeId", "productId", "optionCode", 0, "quantity", "id" FROM "StockMovement"
    ) each
    WHERE ${ofProducts} GROUP BY "storeId", "productId", "optionCode"`
}

/** Writes a movement for each stock that differs from the sum of its movements, because a file may omit them. */
async function writeMissing(caller: Caller, products: Resource, productIds: readonly number[]): Promise<void> {
  const ofThese = sql`"storeId" = ${storeId(caller.store)} AND "productId" = ${anyOf(productIds)}`
  const missing = await caller.db.$queryRaw<Omit<Extract<StockMove, { mode: 'written' }>, 'mode'>[]>(sql`
    SELECT "productId", "optionCode", ("stock" - "moved")::text AS "quantity", "stock"::text AS "stockAfter",
      CASE "movements" WHEN 0 THEN 'initial' ELSE 'set' END AS "cause"
    FROM (${stocksAndMovements(ofThese)}) stocks
    WHERE "stock" <> "moved" ORDER BY "productId", "optionCode" NULLS FIRST`)
  await moveStocks(
    caller,
    products,
    missing.map((move) => ({ mode: 'written', ...move })),
  )
}
