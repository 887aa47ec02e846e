import type { Patch } from '../../engine/input.ts'
import type { Document, Row } from '../../engine/merge.ts'
import type { StockCause } from '../products/stock.ts'
import { toNumber } from './amounts.ts'
import { knownChoices } from './choose-options.ts'
import { goodsOf, sumByGoods } from './goods.ts'
import { difference, lockProducts, moveStocks, restockedBy, takenBy } from './held-stock.ts'
import { lineColumns, lineDetails } from './line-fields.ts'
import { orderItemList, shipmentList } from './lists.ts'
import { restockedItems } from './restocked.ts'
import { rowsOf } from './rows-of.ts'
import type { OrderChange } from './settle-order.ts'
import { optionIdsIn, readSoldProducts, type SoldProduct, variantOf } from './sold-products.ts'
import { holdsStock, statusCancelled } from './statuses.ts'
import { wrongField } from './wrong-field.ts'

/**
 * Completes the lines that a caller sent, and moves the stock by what the order holds more or less than before: its lines
 * less what its returns put back.
 */
export async function settleItems(change: OrderChange): Promise<void> {
  const { caller, id, before, after } = change
  const sent = after.lists.OrderItemList
  if (sent) await settleLines(change, sent)
  if (sent ?? after.lists.ShipmentList) keepInShipments(change)

  const from = Number(before.row.statusId)
  const to = Number(after.row.statusId)
  if (!sent && holdsStock(from) === holdsStock(to)) return
  const stored = before.lists.OrderItemList ?? (await rowsOf(caller, orderItemList, id))
  const restocked = await restockedItems(caller, id)
  if (sent) refuseLessThanRestocked(stored, sent, restocked)
  const held = holdsStock(from) ? [...takenBy(stored), ...restockedBy(restocked)] : []
  const holds = holdsStock(to) ? [...takenBy(sent ?? stored), ...restockedBy(restocked)] : []
  await moveStocks(caller, id, causeOf(from, to), difference(held, holds))
}

function causeOf(from: number, to: number): StockCause {
  if (holdsStock(from) === holdsStock(to)) return 'order-edit'
  if (holdsStock(from)) return 'cancel'
  return from === statusCancelled ? 'reopen' : 'order'
}

async function settleLines(change: OrderChange, sent: readonly Row[]): Promise<void> {
  const { caller, patch, before } = change
  const stored = before.lists.OrderItemList ?? []
  const given = patch.lists.OrderItemList ?? []
  await refuseOtherShipments(change, given)
  const known = new Map(stored.map((row) => [row.id, row]))
  const fresh = sent.map((row, index) => ({ row, index })).filter(({ row }) => isOfOtherProduct(known.get(row.id), row))
  const freshIds = fresh.flatMap(({ row }) => (row.productId === null ? [] : [Number(row.productId)]))
  // In one go and by id, before the stocks are moved: a second lock of a lower id could meet another's in a deadlock.
  const moving = difference(takenBy(stored), takenBy(sent)).map(({ productId }) => productId)
  await lockProducts(caller, [...freshIds, ...moving])
  const products = await readSoldProducts(caller, freshIds)
  for (const { row, index } of fresh) {
    if (row.productId === null) row.optionCode = null
    else completeLine(row, products.get(Number(row.productId)), given[index], `OrderItemList[${index}]`)
  }
}

function isOfOtherProduct(stored: Row | undefined, row: Row): boolean {
  if (stored === undefined || stored.productId !== row.productId) return true
  return (stored.details as Document).ItemOptions !== (row.details as Document).ItemOptions
}

/** Takes from the product what the caller left out; prices are the caller's alone. */
function completeLine(row: Row, product: SoldProduct | undefined, given: Patch | undefined, path: string): void {
  if (!product) throw wrongField(`${path}.CatalogID`, 'refers to a product that does not exist')
  const details = row.details as Document
  const optionIds = optionIdsIn(String(details.ItemOptions ?? ''))
  const columns = lineColumns(product, variantOf(product, optionIds), knownChoices(product, optionIds))
  Object.assign(row, columns, given?.columns)
  row.details = { ...details, ...lineDetails(product) }
}

async function refuseOtherShipments({ caller, id, after }: OrderChange, given: readonly Patch[]): Promise<void> {
  if (!given.some(({ columns }) => columns.shipmentId)) return
  const shipments = after.lists.ShipmentList ?? (await rowsOf(caller, shipmentList, id))
  if (shipments.length < 2) return
  const ids = shipments.map((row) => row.id)
  given.forEach(({ columns: { shipmentId } }, index) => {
    if (!shipmentId || ids.includes(shipmentId)) return
    throw wrongField(
      `OrderItemList[${index}].ItemShipmentID`,
      `is not a shipment of this order, one of ${ids.join(', ')}`,
    )
  })
}

/** Lines lie in one of several shipments, at first in the first; with one shipment or none they say 0 (rest-resources 3.4). */
function keepInShipments({ caller, id, afterwards }: OrderChange): void {
  afterwards.push(async () => {
    await caller.db.$executeRawUnsafe(
      `UPDATE "OrderItem" i SET "shipmentId" = h."home"
       FROM (
         SELECT CASE WHEN count(*) > 1 THEN min("id") ELSE 0 END AS "home",
           CASE WHEN count(*) > 1 THEN array_agg("id") ELSE '{0}' END AS "allowed"
         FROM "OrderShipment" WHERE "storeId" = $1::int AND "orderId" = $2::int) h
       WHERE i."storeId" = $1::int AND i."orderId" = $2::int AND i."shipmentId" <> ALL (h."allowed")`,
      caller.store.id,
      id,
    )
  })
}

/** A line that is taken out gives its goods back; those of a return were given back already. */
function refuseLessThanRestocked(before: readonly Row[], after: readonly Row[], restocked: readonly Row[]): void {
  const [had, has] = [sumByGoods(before, 'quantity'), sumByGoods(after, 'quantity')]
  for (const [goods, quantity] of sumByGoods(restocked, 'restockQuantity')) {
    const left = has.get(goods) ?? 0n
    if (left >= quantity || left >= (had.get(goods) ?? 0n)) continue
    const sku = restocked.find((row) => goodsOf(row) === goods)?.sku
    throw wrongField(
      'OrderItemList',
      `must keep at least ${toNumber(quantity)} of ${sku}: so many did returns of this order put back in stock`,
    )
  }
}
