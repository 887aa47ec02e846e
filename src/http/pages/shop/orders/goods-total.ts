import type { Patch } from '../../../../engine/definition/input.ts'
import { exact, ORDER_AMOUNT_MAX, rounded, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { discountField, discountOf, lineAmount, sumOfParts } from '../../../../shop/resources/orders/charges.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { orderFigures } from '../../order-figures.ts'
import type { GoodsRecord, StoredItem } from './goods-record.ts'

/**
 * What the order amounts to after the change. A total that is not the sum of the order's parts, such as one with a gift
 * certificate, keeps the difference (docs/decisions/orders.md). Throws (400) what no total can be.
 */
export function amountAfter(record: GoodsRecord, patch: Patch, kept: readonly StoredItem[], currency: string): number {
  const lines = (patch.lists.OrderItemList as Patch[]).map(({ columns }, index) => {
    const { ItemUnitPrice: unitPrice, ItemOptionPrice: optionPrice, ItemQuantity: quantity } = kept[index] ?? {}
    return lineAmount({ unitPrice, optionPrice, quantity, ...columns }, currency)
  })
  const costs = record.ShipmentList.map(({ ShipmentCost }, index) =>
    Number(patch.lists.ShipmentList?.[index]?.columns.cost ?? ShipmentCost),
  )
  const columns = { ...orderColumnsOf(record), ...patch.columns }
  const after = sumOfParts(lines, costs, columns, currency)
  refuseBelowZero(exact(orderFigures(record, currency).sum), after, columns, currency)
  const total = (after > 0n ? after : 0n) + exact(otherAmount(record, currency))
  if (total > ORDER_AMOUNT_MAX) {
    const problem = `The order would amount to more than ${toNumber(ORDER_AMOUNT_MAX)}`
    throw refusedFields([{ field: '', problem }])
  }
  return total > 0n ? toNumber(total) : 0
}

/** Refuses discounts that leave no total which the parts add up to. What an import brought may stay as far below 0. */
function refuseBelowZero(before: bigint, after: bigint, columns: Patch['columns'], currency: string): void {
  const discount = discountOf(columns, currency)
  if (after >= 0n || after >= before || discount <= 0n) return
  const [rest, discounts] = [after + discount, discount].map((all) => `${toNumber(all)} ${currency}`)
  const problem = `must be lowered: goods, shipping and taxes come to ${rest}, and the discounts to ${discounts}`
  throw refusedFields([{ field: discountField(columns), problem }])
}

/** What is in OrderAmount and not in the order's parts; below 0 where it is less. What is finer than the currency is nothing. */
export function otherAmount(record: GoodsRecord, currency: string): number {
  const parts = Math.max(orderFigures(record, currency).sum, 0)
  return toNumber(rounded(exact(record.OrderAmount) - exact(parts), currency))
}

function orderColumnsOf(record: GoodsRecord) {
  return {
    salesTax: record.SalesTax,
    salesTax2: record.SalesTax2,
    salesTax3: record.SalesTax3,
    discountCoupon: record.OrderDiscountCoupon,
    discountPromotion: record.OrderDiscountPromotion,
  }
}
