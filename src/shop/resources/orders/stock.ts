import { isDeepStrictEqual } from 'node:util'
import { allows } from '../../../access/applications/privileges.ts'
import type { Caller } from '../../../engine/caller.ts'
import { oneOf } from '../../../engine/changing/ignored.ts'
import { readRows } from '../../../engine/changing/write.ts'
import type { Row } from '../../../engine/definition/stored-row.ts'
import { queryRows } from '../../../foundation/database/client.ts'
import { anyOfFew, storeId } from '../../../foundation/database/sql.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { products } from '../products/products.ts'
import { lockProducts, moveStocks, type StockCause, type StockMove } from '../products/stock.ts'
import { exact, toNumber } from './amounts.ts'
import { orderItemList } from './lists.ts'
import type { OrderLine } from './order-lines.ts'
import { type SoldProduct, type SoldVariant, skuOf } from './sold-products.ts'

/** A quantity taken from one stock, of a product or an advanced option; negative: put back. */
interface StockTaken {
  readonly productId: number
  readonly optionCode: string | null
  readonly quantity: number
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
  const sums = new Map<string, Omit<StockTaken, 'quantity'> & { quantity: bigint }>()
  const add = (taken: StockTaken, quantity: bigint) => {
    const key = JSON.stringify([taken.productId, taken.optionCode])
    sums.set(key, { ...taken, quantity: (sums.get(key)?.quantity ?? 0n) + quantity })
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
 * Moves the stocks of a changed order or return, which holds `after` instead of `before`. A merchant's change may take
 * a stock below zero. Moves the product's own stock for a deleted advanced option; skips a deleted product.
 */
export async function moveHeldStocks(
  caller: Caller,
  orderId: number | null,
  cause: StockCause,
  before: readonly StockTaken[],
  after: readonly StockTaken[],
): Promise<void> {
  const moves = difference(before, after)
  const ids = moves.map(({ productId }) => productId)
  const locked = await lockProducts(caller, ids)
  const hasOptions = moves.some(({ optionCode }) => optionCode !== null)
  const options = hasOptions ? await readOptions(caller, ids) : new Set()
  const stocks = moves.filter(({ productId }) => locked.has(productId))
  const given = stocks.map(({ productId, optionCode: code, quantity }): StockMove => {
    const optionCode = options.has(`${productId} ${code}`) ? code : null
    return { productId, optionCode, quantity: -quantity, mode: 'add', cause, orderId }
  })
  await moveStocks(caller, products, given)
}

/** Returns the advanced options of these products, as id and code. */
async function readOptions({ db, store }: Caller, productIds: readonly number[]): Promise<Set<string>> {
  const found = await queryRows<{ productId: number; code: string }>(db)`
    SELECT a."productId", a."code" FROM "AdvancedOption" a
    WHERE a."storeId" = ${storeId(store)} AND a."productId" = ${anyOfFew(productIds)}`
  return new Set(found.map(({ productId, code }) => `${productId} ${code}`))
}

const BACK_ORDER = 2

/** Whether the product may be sold without stock. */
export function takesBackOrders({ inventoryControl }: SoldProduct): boolean {
  return inventoryControl === BACK_ORDER
}

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

function availabilityOf(product: SoldProduct, isInStock: boolean): string {
  const { details } = product
  if (isInStock) return String(details.InStockMessage ?? '')
  return String((takesBackOrders(product) ? details.BackOrderMessage : details.OutOfStockMessage) ?? '')
}

/**
 * Takes the lines off the stock. Refuses (409) what is out of stock, unless the product allows back orders; the store's
 * default (InventoryControl −1) and all other values refuse.
 */
export async function takeStock(caller: Caller, orderId: number, lines: readonly OrderLine[]): Promise<void> {
  const refusals: StoreFailure[] = []
  for (const { line, quantity, ...place } of demandOf(lines)) {
    const move = { ...place, quantity: -quantity, mode: 'add', cause: 'order', orderId } as const
    const onlyIfEnough = !takesBackOrders(line.product)
    const [moved] = await moveStocks(caller, products, [{ ...move, onlyIfEnough }])
    if (!moved) refusals.push(outOfStock(caller, line, quantity))
  }
  if (refusals.length > 0) throw oneOf(refusals)
}

/** What all lines take together of each stock, and the first of those lines. */
function demandOf(lines: readonly OrderLine[]) {
  const placeOf = ({ product, variant }: OrderLine) => ({ productId: product.id, optionCode: variant?.code ?? null })
  const ordered = lines.map((line) => ({ ...placeOf(line), quantity: line.quantity }))
  return difference([], ordered).map((taken) => {
    const line = lines.find((one) =>
      isDeepStrictEqual({ ...placeOf(one), quantity: taken.quantity }, taken),
    ) as OrderLine
    return { ...taken, line }
  })
}

/** Why (409) the lines cannot be sold from the stock that was read. */
export function wrongStocks(caller: Caller, lines: readonly OrderLine[]): StoreFailure[] {
  return demandOf(lines)
    .filter(
      ({ line: { product, variant }, quantity }) => !takesBackOrders(product) && (variant ?? product).stock < quantity,
    )
    .map(({ line, quantity }) => outOfStock(caller, line, quantity))
}

/** How many there are is for applications that may read products, and for people. */
export function seesStock({ application, privileges }: Caller): boolean {
  return application === null || allows(privileges, products.privilege, 'read')
}

function outOfStock(caller: Caller, { product, variant, path }: OrderLine, quantity: number): StoreFailure {
  const stock = Math.max(0, (variant ?? product).stock)
  const sku = skuOf(product, variant)
  const known = seesStock(caller) ? `${sku} has ${stock} in stock, and ${quantity} are ordered` : sku
  const message = `${path}.ItemQuantity is more than there is: ${known}`
  return new StoreFailure('insufficient-stock', message, { field: `${path}.ItemQuantity` })
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

export type ReturnedLine = Awaited<ReturnType<typeof readReturnedLines>>[number]

/** Reads the lines of an order with what its returns have of each, in ten-thousandths. */
export async function readReturnedLines(caller: Caller, orderId: number) {
  const rows = await readRows(caller, orderItemList, orderId)
  const items = await returnedItems(caller, orderId)
  const restockedGoods = sumByGoods(items, 'restockQuantity')
  const returned = sharedByGoods(rows, sumByGoods(items, 'returnQuantity'))
  const restocked = sharedByGoods(rows, restockedGoods)
  return rows.map((row, at) => ({
    row,
    goods: goodsOf(row),
    returned: returned[at] ?? 0n,
    restocked: restocked[at] ?? 0n,
    /** Of all lines of the same goods. */
    restockedGoods: restockedGoods.get(goodsOf(row)) ?? 0n,
  }))
}

/** Shares out sums by goods: of several lines of the same goods the first ones have it first (sums.ts). */
export function sharedByGoods(lines: readonly Row[], sums: ReadonlyMap<string, bigint>): bigint[] {
  const left = new Map(sums)
  return lines.map((line) => {
    const [rest, quantity] = [left.get(goodsOf(line)) ?? 0n, exact(Number(line.quantity))]
    const share = rest < quantity ? rest : quantity
    if (share <= 0n) return 0n
    left.set(goodsOf(line), rest - share)
    return share
  })
}

/**
 * Returns the items of an order's returns with their returned and restocked quantities, except those of the return
 * `butNot`. They cannot change while the order is locked.
 */
export function returnedItems(caller: Caller, orderId: number, butNot = 0): Promise<Row[]> {
  return queryRows<Row>(caller.db)`
     SELECT i."productId", i."optionCode", i."sku", i."returnQuantity"::float8 AS "returnQuantity",
       i."restockQuantity"::float8 AS "restockQuantity"
     FROM "Rma" a JOIN "RmaItem" i ON i."storeId" = a."storeId" AND i."rmaId" = a."id"
     WHERE a."storeId" = ${caller.store.id}::int AND a."orderId" = ${orderId}::int AND a."id" <> ${butNot}::int
     ORDER BY i."rmaId", i."position"`
}
