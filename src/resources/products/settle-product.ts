import type { Change } from '../../engine/write.ts'
import { refuseUnknownProducts } from './linked-products.ts'
import { settleStock } from './stock.ts'

/** What a change of a product means besides its fields: the products that it names are there, stock moves by the ledger. */
export async function settleProduct(change: Change): Promise<void> {
  await refuseUnknownProducts(change)
  settleStock(change)
}
