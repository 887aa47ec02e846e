import type { Patch } from '../../../engine/input.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { amountOf, exact, ORDER_AMOUNT_MAX, orderTotal, toNumber } from '../../../resources/orders/amounts.ts'
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
  const { salesTax, salesTax2, salesTax3, discountCoupon, discountPromotion } = patch.columns
  const after = orderTotal({
    lines: lines.map(lineAmount),
    charges: [
      ...costs,
      Number(salesTax ?? record.SalesTax),
      Number(salesTax2 ?? record.SalesTax2),
      Number(salesTax3 ?? record.SalesTax3),
    ],
    discounts: [
      Number(discountCoupon ?? record.OrderDiscountCoupon),
      Number(discountPromotion ?? record.OrderDiscountPromotion),
    ],
  })
  const total = after + exact(otherAmount(record))
  if (total > ORDER_AMOUNT_MAX) {
    const problem = `The order would amount to more than ${toNumber(ORDER_AMOUNT_MAX)}`
    throw refusedFields([{ field: '', problem }])
  }
  return total > 0n ? toNumber(total) : 0
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
