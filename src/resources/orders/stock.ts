import { sql } from '../../database/sql.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Row } from '../../engine/merge.ts'
import { StoreFailure } from '../../values/failure.ts'
import { products } from '../products/products.ts'
import { moveStocks, type StockCause } from '../products/stock.ts'
import { exact, toNumber } from './amounts.ts'
import type { OrderLine } from './order-lines.ts'
import { type SoldProduct, type SoldVariant, skuOf } from './sold-products.ts'

/** A quantity taken from one stock, of a product or an advanced option; negative: put back. */
export interface StockTaken {
  readonly productId: number
  readonly optionCode: string | null
  readonly quantity: number
}

/** Locks products by ascending id, as every move of several stocks must, and returns the ids that exist. */
export async function lockProducts(caller: Caller, productIds: readonly number[]): Promise<Set<number>> {
  if (productIds.length === 0) return new Set()
  const ids = JSON.stringify([...new Set(productIds)])
  const found = await caller.db.$queryRaw<{ id: number }[]>(sql`
    SELECT p."id" FROM "Product" p WHERE p."storeId" = ${caller.store.id}::int
    AND p."id" IN (SELECT json_array_elements_text(${ids}::text::json)::int) ORDER BY p."id" FOR NO KEY UPDATE OF p`)
  return new Set(found.map(({ id }) => id))
}

/** Returns what these lines of an order take; those without a product take nothing. */
export function takenBy(lines: readonly Row[]): StockTaken[] {
  return stocksOf(lines, ({ quantity }) => Number(quantity))
}

/** Returns what these items of returns put back, as negative quantities. */
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

/** Returns what must be taken to hold `after` instead of `before`, by product and option; negative: put back. */
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
 * Moves the stocks of a changed order or return. A merchant's change may take a stock below zero. Moves the product's
 * own stock for a deleted advanced option; skips a deleted product.
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

/** The InventoryControl of a product that may be sold without stock. */
const BACK_ORDER = 2

/**
 * Writes into each line the available stock (ItemUnitStock) and the product's message about it (ItemAvailability). With
 * `takes`, a line reduces the stock of the next one of the same product.
 */
export function noteStocks(lines: readonly OrderLine[], takes: boolean): void {
  const stocks = new Map<SoldProduct | SoldVariant, number>()
  for (const { product, variant, quantity, patch } of lines) {
    const place = variant ?? product
    const stock = stocks.get(place) ?? place.stock
    patch.columns.unitStock = stock
    patch.details.ItemAvailability = availabilityOf(product, stock >= quantity)
    if (takes) stocks.set(place, toNumber(exact(stock) - exact(quantity)))
  }
}

function availabilityOf({ details, inventoryControl }: SoldProduct, isInStock: boolean): string {
  if (isInStock) return String(details.InStockMessage ?? '')
  return String((inventoryControl === BACK_ORDER ? details.BackOrderMessage : details.OutOfStockMessage) ?? '')
}

/**
 * Takes the lines off the stock. Refuses (409) what is out of stock, unless the product allows back orders; the store's
 * default (InventoryControl −1) and all other values refuse.
 */
export async function takeStock(caller: Caller, orderId: number, lines: readonly OrderLine[]): Promise<void> {
  const taken = lines.map(({ product, variant, quantity }) => ({
    productId: product.id,
    optionCode: variant?.code ?? null,
    quantity,
  }))
  for (const { productId, optionCode, quantity } of difference([], taken)) {
    const line = lines.find(
      ({ product, variant }) => product.id === productId && (variant?.code ?? null) === optionCode,
    ) as OrderLine
    const [moved] = await moveStocks(caller, products, [
      {
        productId,
        optionCode,
        quantity: -quantity,
        mode: 'add',
        cause: 'order',
        orderId,
        onlyIfEnough: line.product.inventoryControl !== BACK_ORDER,
      },
    ])
    if (!moved) throw outOfStock(line, quantity)
  }
}

function outOfStock({ product, variant, path }: OrderLine, quantity: number): StoreFailure {
  const stock = Math.max(0, (variant ?? product).stock)
  const message = `${path}.ItemQuantity is more than there is: ${skuOf(product, variant)} has ${stock} in stock, and ${quantity} are ordered`
  return new StoreFailure('conflict', message, { field: `${path}.ItemQuantity` })
}

/**
 * Returns a key that lines of an order and items of its returns share if they move the same stock: that of a product or
 * its advanced option; without a product, the SKU.
 */
export function goodsOf({ productId, optionCode, sku }: Row): string {
  return JSON.stringify(productId === null ? String(sku).trim().toLowerCase() : [productId, optionCode])
}

/** Sums a column by goods, in ten-thousandths. */
export function sumByGoods(rows: readonly Row[], column: string): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const row of rows) {
    const goods = goodsOf(row)
    sums.set(goods, (sums.get(goods) ?? 0n) + exact(Number(row[column])))
  }
  return sums
}

/**
 * Returns the items that an order's returns put back in stock, except those of the return `butNot`. They cannot change
 * while the order is locked.
 */
export function restockedItems(caller: Caller, orderId: number, butNot = 0): Promise<Row[]> {
  return caller.db.$queryRaw<Row[]>(sql`
     SELECT i."productId", i."optionCode", i."sku", i."restockQuantity"::float8 AS "restockQuantity"
     FROM "Rma" a JOIN "RmaItem" i ON i."storeId" = a."storeId" AND i."rmaId" = a."id"
     WHERE a."storeId" = ${caller.store.id}::int AND a."orderId" = ${orderId}::int AND a."id" <> ${butNot}::int AND i."restockQuantity" > 0`)
}
