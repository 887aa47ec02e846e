import type { Change } from '../../engine/write.ts'
import { refuseUnknownProducts } from './linked-products.ts'
import { settleStock } from './stock.ts'

/** What a change of a product means besides its fields: the products that it names are there, stock moves by the ledger. */
export async function settleProduct(change: Change): Promise<void> {
  await keepUntrimmedSku(change)
  await refuseUnknownProducts(change)
  settleStock(change)
}

/**
 * A stored SKU has white space around it where another product has it without (the migration that trims SKUs). A client that
 * sends such a record back as it was read is not refused: the SKU stays, until no other product has the trimmed one.
 */
async function keepUntrimmedSku({ caller: { db, store }, id, before, after }: Change): Promise<void> {
  const stored = before?.row.sku
  const { sku } = after.row
  if (typeof stored !== 'string' || stored === sku || stored.trim() !== sku) return
  const [other] = await db.$queryRaw<object[]>`
    SELECT 1 FROM "Product" WHERE "storeId" = ${store.id} AND lower("sku") = lower(${sku}) AND "id" <> ${id} LIMIT 1`
  if (other !== undefined) after.row.sku = stored
}
