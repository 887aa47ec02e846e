import type { Caller } from '../../../engine/caller.ts'
import { inChange } from '../../../engine/changing/change.ts'
import { refusalOf } from '../../../engine/definition/constraints.ts'
import { refused } from '../../../engine/definition/refused.ts'
import { findByAlternateKeys, getRecord, notFound } from '../../../engine/reading/read.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { products } from './products.ts'
import { skuForms } from './sku.ts'
import { lockProducts, moveStocks, type StockMove } from './stock.ts'

/** Returns the stock of a product by its SKU, ignoring case; advanced options have their own. Null for an unknown SKU. */
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
 * Replaces the stock of the product with this SKU or adds to it, and returns the new stock. As with a change of the record, the stock may
 * become negative, and one that stays is no change. Who replaces knows whole pieces: 2.5 of a product stay where 2 replace them, and 2 are
 * returned. Throws `not-found` for an unknown SKU, a 400 for a stock too large to be stored.
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
  const [moved] = await inChange(caller, (tx) => moveStocks(tx, products, [move])).catch(refuse)
  if (!moved) throw new Error('A stock that may become negative was not enough')
  return mode === 'replace' ? quantity : moved.after
}

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
  const steps = async (tx: Caller) => {
    const locked = await lockProducts(tx, [productId])
    if (!locked.has(productId)) throw notFound(products, productId)
    precondition(await getRecord(tx, products, productId))
    const [moved] = await moveStocks(tx, products, [move])
    if (moved?.before === moved?.after) throw refused('Quantity', 'Quantity leaves the stock as it is')
  }
  await inChange(caller, steps).catch(refuse)
}

function refuse(error: unknown): never {
  throw refusalOf(error, products) ?? error
}
