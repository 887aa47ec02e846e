import type { Caller } from '../../../engine/caller.ts'
import { inRehearsal } from '../../../engine/changing/rehearsal.ts'
import { queryRows } from '../../../foundation/database/client.ts'
import { anyOfFew, storeId } from '../../../foundation/database/sql.ts'
import { skuOf } from './sold-products.ts'

/** What a change does to the stock of a product or an advanced option. */
export interface StockEffect {
  readonly sku: string
  readonly name: string
  /** Negative: taken off. */
  readonly quantity: number
  readonly stockAfter: number
}

/**
 * Rehearses a change that moves stocks of these products for an order. A change that reserves ids has to lock the order first: here they
 * are reserved in the transaction, and others must not wait for them as long as this waits for the order.
 */
export function rehearse<T>(
  caller: Caller,
  { orderId, productIds }: { readonly orderId: number; readonly productIds: readonly number[] },
  change: (tx: Caller) => Promise<T>,
) {
  return inRehearsal(caller, async (tx) => {
    const last = await lastMovement(tx)
    const result = await change(tx)
    return { result, stock: await effectsSince(tx, last, orderId, productIds) }
  })
}

/** The number of the last row of all ledgers; later rows have higher ones. */
async function lastMovement({ db }: Caller): Promise<string> {
  const [row] = await queryRows<{ last: string }>(db)`
    SELECT (CASE WHEN "is_called" THEN "last_value" ELSE 0 END)::text AS "last" FROM "StockMovement_id_seq"`
  return row?.last ?? '0'
}

async function effectsSince({ db, store }: Caller, last: string, orderId: number, productIds: readonly number[]) {
  const rows = await queryRows<StockEffect & { suffix: string }>(db)`
    SELECT p."sku", p."name", coalesce(a."suffix", '') AS "suffix", m."quantity"::float8 AS "quantity", m."stockAfter"::float8 AS "stockAfter"
    FROM "StockMovement" m
    JOIN "Product" p ON p."storeId" = m."storeId" AND p."id" = m."productId"
    LEFT JOIN "AdvancedOption" a ON a."storeId" = m."storeId" AND a."productId" = m."productId" AND a."code" = m."optionCode"
    WHERE m."storeId" = ${storeId(store)} AND m."productId" = ${anyOfFew(productIds)}
      AND m."id" > ${last}::bigint AND m."orderId" = ${orderId}::int
    ORDER BY m."id"`
  return rows.map(({ suffix, ...row }) => ({ ...row, sku: skuOf(row, { suffix }) }))
}
