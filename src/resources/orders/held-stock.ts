import type { Caller } from '../../engine/caller.ts'
import type { Row } from '../../engine/merge.ts'
import { changeStock, type StockCause } from '../products/stock.ts'
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
  const found = await caller.db.$queryRawUnsafe<{ id: number }[]>(
    `SELECT p."id" FROM "Product" p WHERE p."storeId" = $1::int
     AND p."id" IN (SELECT json_array_elements_text($2::text::json)::int) ORDER BY p."id" FOR NO KEY UPDATE OF p`,
    caller.store.id,
    JSON.stringify([...new Set(productIds)]),
  )
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
export async function moveStocks(
  caller: Caller,
  orderId: number | null,
  cause: StockCause,
  moves: readonly StockTaken[],
): Promise<void> {
  const products = await lockProducts(
    caller,
    moves.map(({ productId }) => productId),
  )
  const gone = await goneOptions(caller, moves)
  for (const move of moves) {
    const { productId, quantity } = move
    if (!products.has(productId)) continue
    const optionCode = gone.has(move) ? null : move.optionCode
    await changeStock(caller, {
      productId,
      optionCode,
      quantity: -quantity,
      mode: 'add',
      cause,
      ...(orderId !== null && { orderId }),
    })
  }
}

async function goneOptions(caller: Caller, moves: readonly StockTaken[]): Promise<Set<StockTaken>> {
  const ofOptions = moves.filter(({ optionCode }) => optionCode !== null)
  if (ofOptions.length === 0) return new Set()
  const found = await caller.db.$queryRawUnsafe<{ productId: number; code: string }[]>(
    `SELECT a."productId", a."code" FROM "AdvancedOption" a WHERE a."storeId" = $1::int
     AND a."productId" IN (SELECT json_array_elements_text($2::text::json)::int)`,
    caller.store.id,
    JSON.stringify(ofOptions.map(({ productId }) => productId)),
  )
  return new Set(
    ofOptions.filter((move) => !found.some((row) => row.productId === move.productId && row.code === move.optionCode)),
  )
}
