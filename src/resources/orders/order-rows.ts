import type { Caller } from '../../engine/caller.ts'
import { hasRows, type ListField } from '../../engine/fields.ts'
import type { Patch } from '../../engine/input.ts'
import { type Document, mergeDocument, mergeRows, type Row } from '../../engine/merge.ts'
import { emptyPatch } from '../../engine/plan-change.ts'
import { wrongField } from '../../engine/refused.ts'
import { newListRow, newRecordRow, type RowIds } from '../../engine/write.ts'
import { exact, inCents, toNumber } from './amounts.ts'
import { type Buyer, shippingToBuyer } from './buyer.ts'
import { orderItemList, shipmentList } from './lists.ts'
import type { OrderBody } from './order-body.ts'
import type { OrderLine } from './order-lines.ts'
import { orders } from './orders.ts'
import { nameOrderInQuestions } from './rules.ts'
import { statusNew, statusNotCompleted, statusUnpaid } from './statuses.ts'

// The rows of a new order.

export function orderRow(
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
    ...newRecordRow(caller, orders, id),
    billingEmail: BillingEmail,
    ...patch.columns,
    statusId: isNotCompleted ? statusNotCompleted : details.BillingOnLinePayment === true ? statusNew : statusUnpaid,
    details,
  }
  row.orderAmount = orderAmount(row, given, lines)
  if (row.customerId === null && row.billingEmail === '') throw wrongField('BillingEmail', 'is required for a guest')
  return row
}

/** Numbers shipments from 1; without a list, the order ships to its billing address. */
export function shipmentRows(
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

function weightOf(lines: readonly OrderLine[], number: number, shipmentCount: number): number {
  const sum = lines
    .filter((line) => shipmentNumberOf(line, shipmentCount) === number)
    .reduce((total, { patch, quantity }) => total + Number(patch.columns.weight) * quantity, 0)
  return Number(sum.toFixed(4))
}

/** In a new order, ItemShipmentID counts the sent shipments from 1; 0 is the first. */
function shipmentNumberOf({ patch, path }: OrderLine, shipmentCount: number): number {
  const number = Number(patch.columns.shipmentId ?? 0)
  if (number <= Math.max(shipmentCount, 1)) return Math.max(number, 1)
  throw wrongField(`${path}.ItemShipmentID`, `must be the number of a shipment of this order, 1 to ${shipmentCount}`)
}

export function itemRows(
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

export function newRows(
  field: ListField,
  caller: Caller,
  orderId: number,
  patches: readonly Patch[],
  ids: RowIds,
): Row[] {
  if (!hasRows(field)) throw new Error(`${field.typeName} has no table`)
  return mergeRows(field, field.rows, [], patches, newListRow(caller, field, orderId), () => ids.take())
}

/** The bound of decimal fields (fields.ts). */
const ORDER_AMOUNT_MAX = exact(99_999_999_999.99)

/** Adds lines, shipping and taxes less discounts, at least 0. The order's tax includes that of shipments. */
export function orderAmount(order: Row, { shipments }: OrderBody, lines: readonly OrderLine[]): number {
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
