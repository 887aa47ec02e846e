import type { Row } from '../../engine/merge.ts'
import { exact, inCents, toNumber } from './amounts.ts'
import type { OrderBody } from './order-body.ts'
import type { OrderLine } from './order-lines.ts'
import { wrongField } from './wrong-field.ts'

/** Of decimal fields (fields.ts). */
const ORDER_AMOUNT_MAX = exact(99_999_999_999.99)

/** Lines, shipping and taxes less discounts, and never below 0. A shipment's tax is a part of the order's. */
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
