import type { Caller } from '../../engine/caller.ts'
import { refusalOf } from '../../engine/constraints.ts'
import { inChange } from '../../engine/events.ts'
import { findByAlternateKey } from '../../engine/read.ts'
import { StoreFailure } from '../../values/failure.ts'
import { products } from './products.ts'
import { changeStock, type StockChange } from './stock.ts'

// The stock of a product for who knows its SKU alone; case is not regarded. Advanced options have stocks of their own.

/** Null: there is no product with this SKU. */
export async function readInventory(caller: Caller, sku: string): Promise<number | null> {
  const [found] = await caller.db.$queryRawUnsafe<{ stock: number }[]>(
    `SELECT t."stock"::float8 AS "stock" FROM "Product" t WHERE t."storeId" = $1::int AND lower(t."sku") = lower($2)`,
    caller.store.id,
    sku,
  )
  return found?.stock ?? null
}

/** Of a SKU in a message: it may be of any length. */
const SHOWN_LENGTH_MAX = 80

/**
 * Replaces the stock, or adds to it, and returns what it is then. As by a change of the record it may become negative, and
 * LastUpdate is stamped even where nothing moves. Throws `not-found` for an unknown SKU, `bad-request` for a stock that is
 * larger than can be stored.
 */
export async function changeInventory(
  caller: Caller,
  sku: string,
  { quantity, mode }: Pick<StockChange, 'quantity' | 'mode'>,
): Promise<number> {
  const productId = await findByAlternateKey(caller, products, sku)
  if (productId === null) {
    throw new StoreFailure('not-found', `There is no Product ${sku.slice(0, SHOWN_LENGTH_MAX)}`, {
      field: 'SKU',
      logMessage: 'There is no such Product',
    })
  }
  const cause = mode === 'replace' ? 'set' : 'adjust'
  const change: StockChange = { productId, optionCode: null, quantity, mode, cause }
  try {
    const moved = await inChange(caller, (tx) => changeStock(tx, change))
    if (moved === null) throw new Error('A stock that may become negative was not enough')
    return moved.after
  } catch (error) {
    throw refusalOf(error, products) ?? error
  }
}
