import { sql } from '../../database/sql.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Row } from '../../engine/merge.ts'
import { products } from '../products/products.ts'
import { moveStocks, type StockCause } from '../products/stock.ts'
import { exact, toNumber } from './amounts.ts'

/** What one line takes of one stock, the product's own or that of an advanced option; negative: what it gives back. */
export interface StockTaken {
  readonly productId: number
  readonly optionCode: string | null
  readonly quantity: number
}

/** Locks products in the order of their ids, as everyone does who moves several stocks, and returns those that are there. */
export async function lockProducts(caller: Caller, productIds: readonly number[]): Promise<Set<number>> {
  if (productIds.length === 0) return new Set()
  const ids = JSON.stringify([...new Set(productIds)])
  const found = await caller.db.$queryRaw<{ id: number }[]>(sql`
    SELECT p."id" FROM "Product" p WHERE p."storeId" = ${caller.store.id}::int
    AND p."id" IN (SELECT json_array_elements_text(${ids}::text::json)::int) ORDER BY p."id" FOR NO KEY UPDATE OF p`)
  return new Set(found.map(({ id }) => id))
}

/** What these lines of an order take; those without a product take nothing. */
export function takenBy(lines: readonly Row[]): StockTaken[] {
  return stocksOf(lines, ({ quantity }) => Number(quantity))
}

/** The other way round: what these items of returns put back. */
export function restockedBy(items: readonly Row[]): StockTaken[] {
  return stocksOf(items, ({ restockQuantity }) => -Number(restockQuantity))
}

function stocksOf(rows: readonly Row[], quantityOf: (row: Row) => number): StockTaken[] {
  return rows.flatMap((row) =>
    row.productId === null
      ? []
      : [{ productId: Number(row.productId), optionCode: row.optionCode as string | null, quantity: quantityOf(row) }],
  )
}

/** What must still be taken so that `after` is held instead of `before`, by product and option; negative: given back. */
export function difference(before: readonly StockTaken[], after: readonly StockTaken[]): StockTaken[] {
  const sums = new Map<string, { productId: number; optionCode: string | null; quantity: bigint }>()
  const add = ({ productId, optionCode }: StockTaken, quantity: bigint) => {
    const key = JSON.stringify([productId, optionCode])
    const sum = sums.get(key)
    if (sum) sum.quantity += quantity
    else sums.set(key, { productId, optionCode, quantity })
  }
  for (const taken of before) add(taken, -exact(taken.quantity))
  for (const taken of after) add(taken, exact(taken.quantity))
  return [...sums.values()]
    .filter(({ quantity }) => quantity !== 0n)
    .sort(
      (one, other) => one.productId - other.productId || (String(one.optionCode) < String(other.optionCode) ? -1 : 1),
    )
    .map(({ quantity, ...stock }) => ({ ...stock, quantity: toNumber(quantity) }))
}

/**
 * Moves the stocks of an order that was changed, or one of its returns. A merchant's change may take a stock below zero.
 * An advanced option that is gone is stood for by its product; a product that is gone has no stock to move.
 */
export async function moveHeldStocks(
  caller: Caller,
  orderId: number | null,
  cause: StockCause,
  moves: readonly StockTaken[],
): Promise<void> {
  const locked = await lockProducts(
    caller,
    moves.map(({ productId }) => productId),
  )
  const gone = await goneOptions(caller, moves)
  const stocks = moves.filter(({ productId }) => locked.has(productId))
  await moveStocks(
    caller,
    products,
    stocks.map((move) => ({
      productId: move.productId,
      optionCode: gone.has(move) ? null : move.optionCode,
      quantity: -move.quantity,
      mode: 'add',
      cause,
      orderId,
    })),
  )
}

async function goneOptions(caller: Caller, moves: readonly StockTaken[]): Promise<Set<StockTaken>> {
  const ofOptions = moves.filter(({ optionCode }) => optionCode !== null)
  if (ofOptions.length === 0) return new Set()
  const ids = JSON.stringify(ofOptions.map(({ productId }) => productId))
  const found = await caller.db.$queryRaw<{ productId: number; code: string }[]>(sql`
    SELECT a."productId", a."code" FROM "AdvancedOption" a WHERE a."storeId" = ${caller.store.id}::int
    AND a."productId" IN (SELECT json_array_elements_text(${ids}::text::json)::int)`)
  return new Set(
    ofOptions.filter((move) => !found.some((row) => row.productId === move.productId && row.code === move.optionCode)),
  )
}
