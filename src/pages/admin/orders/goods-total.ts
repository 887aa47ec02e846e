import type { Patch } from '../../../engine/input.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { amountOf, exact, ORDER_AMOUNT_MAX, orderTotal, toNumber } from '../../../resources/orders/amounts.ts'
import { discountOf, discountProblem } from '../../../resources/orders/charges.ts'
import type { GoodsRecord, StoredItem } from './goods-record.ts'

/**
 * What the order amounts to after the change. A total that is not the sum of the order's parts, such as one with a gift
 * certificate, keeps the difference (docs/decisions/orders.md).
 */
export function amountAfter(record: GoodsRecord, patch: Patch, kept: readonly StoredItem[]): number {
  const lines = (patch.lists.OrderItemList as Patch[]).map(({ columns }, index) => {
    const { ItemUnitPrice = 0, ItemOptionPrice = 0, ItemQuantity = 0 } = kept[index] ?? {}
    return {
      ItemUnitPrice: Number(columns.unitPrice ?? ItemUnitPrice),
      ItemOptionPrice: Number(columns.optionPrice ?? ItemOptionPrice),
      ItemQuantity: Number(columns.quantity ?? ItemQuantity),
    }
  })
  const costs = record.ShipmentList.map(({ ShipmentCost }, index) =>
    Number(patch.lists.ShipmentList?.[index]?.columns.cost ?? ShipmentCost),
  )
  const { salesTax, salesTax2, salesTax3 } = patch.columns
  const { discountCoupon = record.OrderDiscountCoupon, discountPromotion = record.OrderDiscountPromotion } =
    patch.columns
  const amounts = lines.map(lineAmount)
  refuseDiscount(record, amounts, { discountCoupon, discountPromotion })
  const after = orderTotal({
    lines: amounts,
    charges: [
      ...costs,
      Number(salesTax ?? record.SalesTax),
      Number(salesTax2 ?? record.SalesTax2),
      Number(salesTax3 ?? record.SalesTax3),
    ],
    discounts: [Number(discountCoupon), Number(discountPromotion)],
  })
  const total = after + exact(otherAmount(record))
  if (total > ORDER_AMOUNT_MAX) {
    const problem = `The order would amount to more than ${toNumber(ORDER_AMOUNT_MAX)}`
    throw refusedFields([{ field: '', problem }])
  }
  return total > 0n ? toNumber(total) : 0
}

/** Refuses discounts above the goods, unless they were as far above them before: an import may bring such an order. */
function refuseDiscount(record: GoodsRecord, lines: readonly bigint[], discounts: Discounts): void {
  const problem = discountProblem(lines, discounts)
  const before = { discountCoupon: record.OrderDiscountCoupon, discountPromotion: record.OrderDiscountPromotion }
  const excess = discountOf(discounts) - sum(lines)
  if (problem !== null && excess > discountOf(before) - sum(record.OrderItemList.map(lineAmount))) {
    throw refusedFields([problem])
  }
}

type Discounts = Parameters<typeof discountOf>[0]

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n)
}

function lineAmount(item: Pick<StoredItem, 'ItemUnitPrice' | 'ItemOptionPrice' | 'ItemQuantity'>): bigint {
  return amountOf(exact(item.ItemUnitPrice) + exact(item.ItemOptionPrice), exact(item.ItemQuantity))
}

/** What is in OrderAmount and not in the order's parts; below 0 where it is less. */
export function otherAmount(record: GoodsRecord): number {
  const parts = orderTotal({
    lines: record.OrderItemList.map(lineAmount),
    charges: [
      ...record.ShipmentList.map(({ ShipmentCost }) => ShipmentCost),
      record.SalesTax,
      record.SalesTax2,
      record.SalesTax3,
    ],
    discounts: [record.OrderDiscountCoupon, record.OrderDiscountPromotion],
  })
  return toNumber(exact(record.OrderAmount) - parts)
}
