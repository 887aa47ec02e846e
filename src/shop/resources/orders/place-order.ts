import type { Caller } from '../../../engine/caller.ts'
import { changeSet, inChange } from '../../../engine/changing/change.ts'
import type { Remember } from '../../../engine/changing/idempotency.ts'
import { emptyPatch, type PlannedChange } from '../../../engine/changing/plan-change.ts'
import {
  insertRows,
  mergeRecord,
  type RowIds,
  reserveIds,
  reserveRowIds,
  rowIds,
  storeLists,
} from '../../../engine/changing/write.ts'
import { refusalOf } from '../../../engine/definition/constraints.ts'
import { orderNew } from '../../../engine/definition/event-kinds.ts'
import type { Patch } from '../../../engine/definition/input.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import type { Document, Row, Stored } from '../../../engine/definition/stored-row.ts'
import { raise, recordChanges } from '../../../engine/recording/events.ts'
import { allInOrder, queryRows } from '../../../foundation/database/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { INT32_MAX } from '../../../foundation/values/int32.ts'
import { customers } from '../customers/customers.ts'
import { dueOfPlacing, writeDue } from '../order-mails/due.ts'
import { ORDER_AMOUNT_MAX, toNumber } from './amounts.ts'
import { isWithoutContact, readBuyer, shippingToBuyer } from './buyer.ts'
import { partsOf, refuseDiscountAbove } from './figures.ts'
import { readOrderBody } from './order-body.ts'
import { makeLines, type OrderLine, type Selling } from './order-lines.ts'
import { orders } from './orders.ts'
import { type Proposal, proposeNew } from './proposals.ts'
import { numberRefunds } from './refunds.ts'
import { dateTransactions, nameOrderInQuestions } from './rules.ts'
import { statusNew, statusNotCompleted, statusUnpaid } from './statuses.ts'
import { noteStocks, takeStock } from './stock.ts'

export interface PlacedOrder {
  readonly id: number
  readonly invoicePrefix: string
  readonly invoiceNumber: number
  /** The grand total, in the decimals of the store's currency. */
  readonly orderAmount: number
}

interface Placing extends Terms {
  readonly remember?: Remember<PlacedOrder> | undefined
  /** Sends the last statement of the transaction, which undoes it by failing. */
  readonly close?: (tx: Caller, placed: PlacedOrder) => Promise<unknown>
  /** A customer who is added with the order, and whose order it is. */
  readonly customer?: PlannedChange | null
}

export interface Terms {
  /** Whether products that the shop hides may not be sold. */
  readonly isShopFront?: boolean
  /** Settles what depends on the total, in the row of the order; throws to refuse it. */
  readonly settle?: (row: Row) => void
  /** Is told what is proposed for the order, and may charge it in the patch; throws to refuse the order. */
  readonly charge?: Charge | undefined
}

export type Charge = (proposal: Proposal, patch: Patch) => void

/**
 * Places an order as the checkout does (rest-resources §3.9), in one transaction: computes prices and totals, takes
 * stock, and assigns an invoice number. Its status is New if it was paid online, else Unpaid. An order sent as Not
 * Completed takes no stock until it leaves that status. Refuses what it cannot sell (400, with the field) and what is
 * out of stock (409).
 */
export async function placeOrder(caller: Caller, body: unknown, placing: Placing = {}): Promise<PlacedOrder> {
  return placeRead(caller, await readOrderBody(caller, body), placing)
}

/** The same with an order that was read already. */
export async function placeRead(caller: Caller, patch: Patch, { remember, close, customer = null, ...terms }: Placing) {
  const id = await reserveIds(caller, orders.table, 1)
  const ids = await reserveRowIds(caller, countRows(patch))
  const steps = async (tx: Caller) => {
    if (customer !== null) {
      await changeSet(customers, new Map([[0, { caller: tx, planned: customer }]]))
      patch.columns.customerId = customer.id
    }
    const order = await store(tx, { id, ids: ids() }, patch, terms)
    if (patch.lists.TransactionList) await numberRefunds(tx, [{ before: null, after: order }])
    await writeDue(tx, dueOfPlacing(id, Number(order.row.statusId)))
    return { id, orderAmount: Number(order.row.orderAmount), ...(await takeInvoiceNumber(tx, id)) }
  }
  try {
    return await inChange(caller, steps, remember, close)
  } catch (error) {
    throw refusalOf(error, orders) ?? error
  }
}

/** The id of an order that is placed only to be rolled back. No counter gives it away (`reserveIds`). */
export const REHEARSED_ORDER_ID = INT32_MAX

/**
 * Places an order in a transaction that is to be rolled back: without an invoice number, and with ids that no order gets, so that
 * nobody who places one waits for a counter. Refuses what `placeOrder` refuses.
 */
export async function placeForRehearsal(tx: Caller, body: unknown, charge: Charge): Promise<void> {
  const patch = await readOrderBody(tx, body)
  const count = countRows(patch)
  await store(tx, { id: REHEARSED_ORDER_ID, ids: rowIds(INT32_MAX - count, count)() }, patch, { charge })
}

/** The lines of a new order at the prices of its buyer. */
export async function linesOf(caller: Caller, { columns, lists }: Patch, selling: Omit<Selling, 'priceLevel'>) {
  const buyer = await readBuyer(caller, columns)
  const { priceLevel } = buyer
  return { buyer, lines: await makeLines(caller, lists.OrderItemList ?? [], { priceLevel, ...selling }) }
}

function countRows({ lists }: Patch): number {
  return Object.values(lists).reduce((count, items) => count + items.length, lists.ShipmentList ? 0 : 1)
}

async function store(
  caller: Caller,
  { id, ids }: { readonly id: number; readonly ids: RowIds },
  patch: Patch,
  { isShopFront = false, settle, charge }: Terms,
): Promise<Stored> {
  const takes = patch.columns.statusId !== statusNotCompleted
  const { buyer, lines } = await linesOf(caller, patch, { isShopFront })
  noteStocks(lines, takes)
  charge?.(await proposeNew(caller, patch, buyer, lines), patch)
  const order = newOrder(caller, id, patch, buyer.billing, lines, ids)
  settle?.(order.row)
  shareStatus(order)
  const stored = { id, before: null, after: order }
  await allInOrder([
    insertRows(caller, orders.table, [order.row]),
    storeLists(caller, orders, [stored]),
    recordChanges([{ kind: 'create', caller, resource: orders, patch, ...stored }]),
  ])
  if (takes) {
    raise(caller, orderNew, orders, id)
    await takeStock(caller, id, lines)
  }
  return order
}

/** Returns the rows of the order. Without shipments, it ships to its billing address. */
function newOrder(
  caller: Caller,
  id: number,
  patch: Patch,
  { BillingEmail = '', ...billing }: Readonly<Record<string, string>>,
  lines: readonly OrderLine[],
  ids: RowIds,
) {
  const columns = { billingEmail: BillingEmail, ...patch.columns }
  const details = { ...billing, ...patch.details }
  const toBuyer = { ...emptyPatch, details: shippingToBuyer({ ...details, BillingEmail: columns.billingEmail }) }
  const lists = { ShipmentList: [toBuyer], ...patch.lists, OrderItemList: lines.map((line) => line.patch) }
  const order = mergeRecord(caller, orders, id, null, { ...patch, columns, details, lists }, ids)
  const { row } = order
  nameOrderInQuestions(row.details as Document, id)
  dateTransactions(order.lists.TransactionList, caller)
  row.orderAmount = toNumber(newFigures(patch, lines, caller.store.currency).total)
  const [nobody] = wrongContact(patch)
  if (nobody) throw nobody
  // As the trigger would say it of the shipments, which spares another version of the row.
  row.fulfilment = order.lists.ShipmentList?.length === 0 ? 'none' : 'waiting'
  fillShipments(order.lists, patch.lists.ShipmentList, lines)
  return order
}

/** Why (400) nobody could be asked about the order: a guest needs an e-mail address or a telephone number. */
export function wrongContact({ columns: { customerId, billingEmail }, details }: Patch): StoreFailure[] {
  if (customerId || !isWithoutContact({ BillingEmail: billingEmail, ...details })) return []
  return [wrongField('BillingEmail', 'or BillingPhoneNumber is required for a guest', 'missing-field')]
}

/** Sets the status, unless the order came with one, and gives it to the shipments. */
function shareStatus({ row, lists: { ShipmentList: shipments = [] } }: Stored): void {
  if (row.statusId === 0) row.statusId = row.paidOnline === true ? statusNew : statusUnpaid
  for (const shipment of shipments) shipment.statusId = Number(row.statusId)
}

/** Numbers the shipments from 1, and puts the items into theirs. A weight that was not sent is that of the items. */
function fillShipments(
  { ShipmentList: shipments = [], OrderItemList: items = [] }: Record<string, Row[]>,
  sent: readonly Patch[] = [],
  lines: readonly OrderLine[],
): void {
  const numbers = lines.map((line) => shipmentNumberOf(line, shipments.length))
  for (const [index, shipment] of shipments.entries()) {
    const number = index + 1
    const ownLines = () => lines.filter((_, line) => numbers[line] === number)
    Object.assign(shipment, { number, weight: sent[index]?.columns.weight ?? weightOf(ownLines()) })
  }
  for (const [index, item] of items.entries()) {
    item.shipmentId = shipments.length > 1 ? (shipments[Number(numbers[index]) - 1]?.id as number) : 0
  }
}

function weightOf(lines: readonly OrderLine[]): number {
  const weight = lines.reduce((total, { patch, quantity }) => total + Number(patch.columns.weight) * quantity, 0)
  return Number(weight.toFixed(4))
}

/** In a new order, ItemShipmentID counts the sent shipments from 1; 0 is the first. */
function shipmentNumberOf({ patch, path }: OrderLine, shipmentCount: number): number {
  const number = Number(patch.columns.shipmentId ?? 0)
  if (number <= Math.max(shipmentCount, 1)) return Math.max(number, 1)
  const problem = `must be the number of a shipment of this order, 1 to ${shipmentCount}`
  throw wrongField(`${path}.ItemShipmentID`, problem, 'unknown-reference')
}

/**
 * What a new order with these lines comes to, and of which parts. Refuses (400) discounts above the goods, and more than an order can.
 */
export function newFigures({ columns, lists }: Patch, lines: readonly OrderLine[], currency: string) {
  const amounts = lines.map(({ amount }) => amount)
  refuseDiscountAbove(amounts, columns, currency)
  const costs = (lists.ShipmentList ?? []).map((shipment) => Number(shipment.columns.cost ?? 0))
  const parts = partsOf(amounts, costs, columns, currency)
  if (parts.sum > ORDER_AMOUNT_MAX) {
    throw wrongField('OrderItemList', `amounts to more than ${toNumber(ORDER_AMOUNT_MAX)}`, 'out-of-range')
  }
  return { ...parts, total: parts.sum < 0n ? 0n : parts.sum }
}

/**
 * Assigns the store's next invoice number to the order. Numbers have no gaps, so other orders wait until the
 * transaction ends: this is its last statement.
 */
async function takeInvoiceNumber(caller: Caller, orderId: number) {
  const [taken] = await queryRows<Pick<PlacedOrder, 'invoicePrefix' | 'invoiceNumber'>>(caller.db)`
     WITH taken AS (
       UPDATE "Store" SET "nextInvoiceNumber" = "nextInvoiceNumber" + 1
       WHERE "id" = ${caller.store.id}::int AND "nextInvoiceNumber" < 2147483647
       RETURNING "id", "invoicePrefix", "nextInvoiceNumber" - 1 AS "number")
     UPDATE "Order" o SET "invoicePrefix" = taken."invoicePrefix", "invoiceNumber" = taken."number"
     FROM taken WHERE o."storeId" = taken."id" AND o."id" = ${orderId}::int
     RETURNING o."invoicePrefix", o."invoiceNumber"`
  if (!taken) throw new StoreFailure('unavailable', 'The store has no invoice numbers left')
  return taken
}
