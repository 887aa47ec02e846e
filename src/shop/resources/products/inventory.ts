import type { Caller } from '../../../engine/caller.ts'
import { inChange } from '../../../engine/changing/change.ts'
import { refusalOf } from '../../../engine/definition/constraints.ts'
import { findByAlternateKeys } from '../../../engine/reading/read.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { products } from './products.ts'
import { skuForms } from './sku.ts'
import { moveStocks } from './stock.ts'

// The stock of a product by its SKU, ignoring case. Advanced options have their own stocks.

/** Returns null for an unknown SKU. */
export async function readInventory(caller: Caller, sku: string): Promise<number | null> {
  for (const form of skuForms(sku)) {
    const [found] = await rowsInTurn<{ stock: number }>(caller)`
      SELECT t."stock"::float8 AS "stock" FROM "Product" t
      WHERE t."storeId" = ${caller.store.id}::int AND lower(t."sku") = lower(${form})`
    if (found) return found.stock
  }
  return null
}

/** Of a SKU in a message, because it may have any length. */
const SHOWN_LENGTH_MAX = 80

/**
 * Replaces the stock or adds to it, and returns the new stock. As with a change of the record, the stock may become
 * negative, and one that stays is no change. Who replaces knows whole pieces: 2.5 of a product stay where 2 replace them, and 2 are
 * returned. Throws `not-found` for an unknown SKU,
 * a 400 for a stock too large to be stored.
 */
export async function changeInventory(
  caller: Caller,
  sku: string,
  { quantity, mode }: { readonly quantity: number; readonly mode: 'replace' | 'add' },
): Promise<number> {
  const productId = (await findByAlternateKeys(caller, products, [sku])).get(sku)
  if (productId === undefined) {
    throw new StoreFailure('not-found', `There is no Product ${sku.slice(0, SHOWN_LENGTH_MAX)}`, {
      field: 'SKU',
      logMessage: 'There is no such Product',
    })
  }
  const cause = mode === 'replace' ? 'set' : 'adjust'
  const move = { productId, optionCode: null, quantity, mode, isWhole: mode === 'replace', cause } as const
  try {
    const [moved] = await inChange(caller, (tx) => moveStocks(tx, products, [move]))
    if (!moved) throw new Error('A stock that may become negative was not enough')
    return mode === 'replace' ? quantity : moved.after
  } catch (error) {
    throw refusalOf(error, products) ?? error
  }
}
