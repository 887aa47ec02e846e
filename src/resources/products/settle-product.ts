import type { Change } from '../../engine/write.ts'
import { refuseUnknownProducts } from './linked-products.ts'
import { settleStock } from './stock.ts'

/** What a change of a product means besides its fields: the products that it names are there, stock moves by the ledger. */
export async function settleProduct(change: Change): Promise<void> {
  keepUntrimmedSku(change)
  await refuseUnknownProducts(change)
  settleStock(change)
}

/**
 * A stored SKU has white space around it where another product has it without (the migration that trims SKUs): a client that
 * sends the record back as it was read does not change it.
 */
function keepUntrimmedSku({ before, after }: Change): void {
  if (before !== null && String(before.row.sku).trim() === after.row.sku) after.row.sku = before.row.sku as string
}
