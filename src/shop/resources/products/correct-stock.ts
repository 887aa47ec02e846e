import type { Caller } from '../../../engine/caller.ts'
import { inChange } from '../../../engine/changing/change.ts'
import { refusalOf } from '../../../engine/definition/constraints.ts'
import { refused } from '../../../engine/definition/refused.ts'
import { getRecord, notFound } from '../../../engine/reading/read.ts'
import { products } from './products.ts'
import { lockProducts, moveStocks, type StockMove } from './stock.ts'

export interface Correction {
  readonly productId: number
  /** Null: the product's own stock. */
  readonly optionCode: string | null
  /** `set` replaces the stock, `adjust` adds to it. */
  readonly cause: 'set' | 'adjust'
  readonly quantity: number
  readonly note: string
}

/**
 * Corrects a stock and writes the reason into the ledger. `precondition` gets the product's JSON text under the lock and
 * throws to refuse. Throws a 400 for a correction that changes nothing or a stock too large to be stored,
 * `not-found` for an unknown product or option.
 */
export async function correctStock(
  caller: Caller,
  { productId, optionCode, cause, quantity, note }: Correction,
  precondition: (record: string) => void,
): Promise<void> {
  const mode = cause === 'set' ? 'replace' : 'add'
  const move: StockMove = { productId, optionCode, cause, mode, quantity, note }
  try {
    await inChange(caller, async (tx) => {
      const locked = await lockProducts(tx, [productId])
      if (!locked.has(productId)) throw notFound(products, productId)
      precondition(await getRecord(tx, products, productId))
      const [moved] = await moveStocks(tx, products, [move])
      if (moved?.before === moved?.after) throw refused('Quantity', 'Quantity leaves the stock as it is')
    })
  } catch (error) {
    throw refusalOf(error, products) ?? error
  }
}
