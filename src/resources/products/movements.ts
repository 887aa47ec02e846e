import type { Caller } from '../../engine/caller.ts'
import { date, decimal, reference, text } from '../../engine/fields.ts'
import { defineLedger } from '../../engine/ledger.ts'
import { listedIds, thisStore } from '../../engine/listed.ts'

/** Every change of a product's stock and of its advanced options', from the first on: in no answer, but moved with the store. */
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
 * SQL: each stock of the products for which `ofProducts` holds (over their columns "storeId" and "productId"), with what its
 * movements add up to as "moved": the product's own ("optionCode" is NULL), those of its advanced options, and of options
 * that are gone, whose stock is 0.
 */
export function stocksAndMovements(ofProducts: string): string {
  return `
    SELECT "storeId", "productId", "optionCode", sum("stock") AS "stock", sum("moved") AS "moved", count("movement") AS "movements"
    FROM (
      SELECT "storeId", "id" AS "productId", NULL::text AS "optionCode", "stock", 0 AS "moved", NULL::bigint AS "movement" FROM "Product"
      UNION ALL SELECT "storeId", "productId", "code", "stock", 0, NULL FROM "AdvancedOption"
      UNION ALL SELECT "storeId", "productId", "optionCode", 0, "quantity", "id" FROM "StockMovement"
    ) each
    WHERE ${ofProducts} GROUP BY "storeId", "productId", "optionCode"`
}

/** A file may bring stocks without their movements: what they differ by from the movements that are stored moves now. */
async function writeMissing({ db, store, actor, now }: Caller, productIds: readonly number[]): Promise<void> {
  await db.$executeRawUnsafe(
    `INSERT INTO "StockMovement"
       ("storeId", "productId", "optionCode", "quantity", "stockAfter", "cause", "actor", "createdAt")
     SELECT "storeId", "productId", "optionCode", "stock" - "moved", "stock",
       CASE "movements" WHEN 0 THEN 'initial' ELSE 'set' END, $3::text, $4::timestamptz
     FROM (${stocksAndMovements(`"storeId" = ${thisStore} AND "productId" = ${listedIds}`)}) stocks
     WHERE "stock" <> "moved" ORDER BY "productId", "optionCode" NULLS FIRST`,
    store.id,
    productIds.join(','),
    actor,
    now().toISOString(),
  )
}
