import type { Patch } from '../../../../engine/definition/input.ts'
import { exact, ORDER_AMOUNT_MAX, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { discountField, orderFigures, otherAmount, partsAfter } from '../../../../shop/resources/orders/figures.ts'
import type { OrderRecord } from '../../../../shop/resources/orders/orders.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import type { StoredItem } from './goods-record.ts'

/**
 * What the order amounts to after the change. A total that is not the sum of the order's parts, such as one with a gift
 * certificate, keeps the difference (docs/decisions/orders.md). Throws (400) what no total can be.
 */
export function amountAfter(record: OrderRecord, patch: Patch, kept: readonly StoredItem[], currency: string): number {
  const { sum: after, discount } = partsAfter(record, patch, kept, currency)
  // What an import brought may stay as far below 0.
  if (after < 0n && after < exact(orderFigures(record, currency).sum) && discount > 0n) {
    const [rest, discounts] = [after + discount, discount].map((all) => `${toNumber(all)} ${currency}`)
    const problem = `must be lowered: goods, shipping and taxes come to ${rest}, and the discounts to ${discounts}`
    const { discountPromotion = record.OrderDiscountPromotion } = patch.columns
    throw refusedFields([{ field: discountField({ discountPromotion }), problem }])
  }
  const total = (after > 0n ? after : 0n) + exact(otherAmount(record, currency))
  if (total > ORDER_AMOUNT_MAX) {
    const problem = `The order would amount to more than ${toNumber(ORDER_AMOUNT_MAX)}`
    throw refusedFields([{ field: '', problem }])
  }
  return total > 0n ? toNumber(total) : 0
}
