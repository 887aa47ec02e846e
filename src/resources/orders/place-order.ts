import type { Caller } from '../../caller.ts'
import { inTransaction } from '../../database/client.ts'
import { refusalOf } from '../../engine/constraints.ts'
import { hasRows, type ListField } from '../../engine/fields.ts'
import { ROW_COUNTER, RowIds, reserveIds } from '../../engine/ids.ts'
import type { Patch } from '../../engine/input.ts'
import { type Document, mergeDocument, mergeRows, type Row } from '../../engine/merge.ts'
import { insertRows, newListRow, newRecordRow } from '../../engine/write.ts'
import { StoreFailure } from '../../failure.ts'
import { exact, inCents, toNumber } from './amounts.ts'
import { type Buyer, readBuyer, shippingToBuyer } from './buyer.ts'
import { orderItemList, shipmentList, transactionList } from './lists.ts'
import { type OrderBody, readOrderBody } from './order-body.ts'
import { makeLines, noteStocks, type OrderLine, takeStock } from './order-lines.ts'
import { orders } from './orders.ts'
import { nameOrderInQuestions } from './questions.ts'
import { statusNew, statusNotCompleted, statusUnpaid } from './statuses.ts'
import { wrongField } from './wrong-field.ts'

export interface PlacedOrder {
  readonly id: number
  readonly invoicePrefix: string
  readonly invoiceNumber: number
  /** The grand total, to a cent. */
  readonly orderAmount: number
}

/** Of decimal fields (fields.ts). */
const ORDER_AMOUNT_MAX = exact(99_999_999_999.99)

/**
 * Places an order as the checkout does (design.md, "Bodies of the operator's routes"), in one transaction: prices and
 * totals are computed, stock is taken, an invoice number is given. It becomes New when it was paid online, else Unpaid;
 * one that is sent as Not Completed takes no stock until it leaves that status.
 * Refuses what it cannot sell with a 400 that names the field, what is out of stock with a 409.
 */
export async function placeOrder(caller: Caller, body: unknown): Promise<PlacedOrder> {
  const given = readOrderBody(caller, body)
  const id = await reserveIds(caller, orders.table, 1)
  const rowCount = countRows(given)
  const firstRowId = await reserveIds(caller, ROW_COUNTER, rowCount)
  try {
    return await inTransaction(caller.db, (db) => store({ ...caller, db }, id, given, new RowIds(firstRowId, rowCount)))
  } catch (error) {
    throw refusalOf(error, orders) ?? error
  }
}

function countRows({ patch, items, shipments, transactions }: OrderBody): number {
  const { PromotionList = [], QuestionList = [] } = patch.lists
  const inDocument = PromotionList.length + QuestionList.length
  return items.length + (shipments?.length ?? 1) + transactions.length + inDocument
}

async function store(caller: Caller, id: number, given: OrderBody, ids: RowIds): Promise<PlacedOrder> {
  const buyer = await readBuyer(caller, (given.patch.columns.customerId ?? null) as number | null)
  const lines = await makeLines(caller, given.items, buyer.priceLevel)
  noteStocks(lines, !given.isNotCompleted)
  const order = orderRow(caller, id, given, buyer, lines, ids)
  const shipments = shipmentRows(caller, order, given, lines, ids)
  await insertRows(caller, orders.table, [order])
  await insertRows(caller, 'OrderShipment', shipments)
  await insertRows(caller, 'OrderItem', itemRows(caller, id, lines, shipments, ids))
  await insertRows(caller, 'OrderTransaction', newRows(transactionList, caller, id, given.transactions, ids))
  if (!given.isNotCompleted) await takeStock(caller, id, lines)
  return { id, orderAmount: Number(order.orderAmount), ...(await takeInvoiceNumber(caller, id)) }
}

function orderRow(
  caller: Caller,
  id: number,
  given: OrderBody,
  { billing }: Buyer,
  lines: readonly OrderLine[],
  ids: RowIds,
): Row {
  const { patch, isNotCompleted } = given
  const { BillingEmail = '', ...billingDetails } = billing
  const whole: Patch = { ...patch, details: { ...billingDetails, ...patch.details } }
  const details = mergeDocument(orders.storedFields, {}, whole, () => ids.take())
  nameOrderInQuestions(details, id)
  const row: Row = {
    ...newRecordRow(orders, id, caller, caller.now()),
    billingEmail: BillingEmail,
    ...patch.columns,
    statusId: isNotCompleted ? statusNotCompleted : details.BillingOnLinePayment === true ? statusNew : statusUnpaid,
    details,
  }
  row.orderAmount = orderAmount(row, given, lines)
  if (row.customerId === null && row.billingEmail === '') throw wrongField('BillingEmail', 'is required for a guest')
  return row
}

/** Lines, shipping and taxes less discounts, and never below 0. A shipment's tax is a part of the order's. */
function orderAmount(order: Row, { shipments }: OrderBody, lines: readonly OrderLine[]): number {
  const cents = (value: unknown) => inCents(exact(Number(value ?? 0)))
  const added = [
    ...lines.map(({ amount }) => amount),
    ...(shipments ?? []).map(({ columns }) => cents(columns.cost)),
    ...[order.salesTax, order.salesTax2, order.salesTax3].map(cents),
  ]
  const discounts = cents(order.discountCoupon) + cents(order.discountPromotion)
  const total = added.reduce((sum, amount) => sum + amount, 0n) - discounts
  if (total > ORDER_AMOUNT_MAX) throw wrongField('OrderItemList', `amounts to more than ${toNumber(ORDER_AMOUNT_MAX)}`)
  return total > 0n ? toNumber(total) : 0
}

/** Numbered from 1; without a list the order goes to its billing address. */
function shipmentRows(
  caller: Caller,
  order: Row,
  { shipments }: OrderBody,
  lines: readonly OrderLine[],
  ids: RowIds,
): Row[] {
  const billing = { ...(order.details as Document), BillingEmail: order.billingEmail }
  const toBuyer: Patch = { ...emptyPatch, details: shippingToBuyer(billing) }
  const patches = shipments ?? [toBuyer]
  return newRows(shipmentList, caller, Number(order.id), patches, ids).map((row, index) => ({
    ...row,
    number: index + 1,
    statusId: order.statusId as number,
    weight: patches[index]?.columns.weight ?? weightOf(lines, index + 1, patches.length),
  }))
}

const emptyPatch: Patch = { key: undefined, columns: {}, details: {}, lists: {}, writeOnly: {} }

function weightOf(lines: readonly OrderLine[], number: number, shipmentCount: number): number {
  const sum = lines
    .filter((line) => shipmentNumberOf(line, shipmentCount) === number)
    .reduce((total, { patch, quantity }) => total + Number(patch.columns.weight) * quantity, 0)
  return Number(sum.toFixed(4))
}

/** ItemShipmentID of a new order counts the shipments that come with it; 0 is the first. */
function shipmentNumberOf({ patch, path }: OrderLine, shipmentCount: number): number {
  const number = Number(patch.columns.shipmentId ?? 0)
  if (number <= Math.max(shipmentCount, 1)) return Math.max(number, 1)
  throw wrongField(`${path}.ItemShipmentID`, `must be the number of a shipment of this order, 1 to ${shipmentCount}`)
}

function itemRows(
  caller: Caller,
  orderId: number,
  lines: readonly OrderLine[],
  shipments: readonly Row[],
  ids: RowIds,
): Row[] {
  const patches = lines.map((line) => {
    const number = shipmentNumberOf(line, shipments.length)
    const shipmentId = shipments.length > 1 ? (shipments[number - 1]?.id as number) : 0
    return { ...line.patch, columns: { ...line.patch.columns, shipmentId } }
  })
  return newRows(orderItemList, caller, orderId, patches, ids)
}

function newRows(field: ListField, caller: Caller, orderId: number, patches: readonly Patch[], ids: RowIds): Row[] {
  if (!hasRows(field)) throw new Error(`${field.typeName} has no table`)
  return mergeRows(field, field.rows, [], patches, newListRow(field, field.rows, caller, orderId), () => ids.take())
}

/**
 * Gives the order the store's next invoice number. Numbers have no gaps, so that whoever takes one keeps others waiting
 * until the transaction ends: this is its last statement.
 */
async function takeInvoiceNumber(
  caller: Caller,
  orderId: number,
): Promise<{ invoicePrefix: string; invoiceNumber: number }> {
  const [taken] = await caller.db.$queryRawUnsafe<{ invoicePrefix: string; invoiceNumber: number }[]>(
    `WITH taken AS (
       UPDATE "Store" SET "nextInvoiceNumber" = "nextInvoiceNumber" + 1
       WHERE "id" = $1::int AND "nextInvoiceNumber" < 2147483647
       RETURNING "id", "invoicePrefix", "nextInvoiceNumber" - 1 AS "number")
     UPDATE "Order" o SET "invoicePrefix" = taken."invoicePrefix", "invoiceNumber" = taken."number"
     FROM taken WHERE o."storeId" = taken."id" AND o."id" = $2::int
     RETURNING o."invoicePrefix", o."invoiceNumber"`,
    caller.store.id,
    orderId,
  )
  if (!taken) throw new StoreFailure('unavailable', 'The store has no invoice numbers left')
  return taken
}
