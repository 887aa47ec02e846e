import { amountOf, exact, roundedSum, toNumber } from '../../shop/resources/orders/amounts.ts'
import { goodsWords } from '../../shop/resources/orders/line-description.ts'

/** The fields used of an order's record. It has others for the merchant only, such as costs and internal comments. */
export interface OrderRecord {
  readonly OrderItemList: readonly {
    readonly ItemID: string
    readonly ItemDescription: string
    readonly ItemQuantity: number
    readonly ItemUnitPrice: number
    readonly ItemOptionPrice: number
    readonly ItemIndexID: number
    readonly CatalogID: number
    readonly ItemShipmentID: number
  }[]
  readonly ShipmentList: readonly {
    readonly ShipmentID: number
    readonly ShipmentCost: number
    readonly ShipmentOrderStatus: number
    readonly ShipmentMethodName: string
    readonly ShipmentShippedDate: string
    readonly ShipmentTrackingCode: string
  }[]
  readonly OrderDiscountCoupon: number
  readonly OrderDiscountPromotion: number
  readonly SalesTax: number
  readonly SalesTax2: number
  readonly SalesTax3: number
  readonly CustomerComments: string
  /** The shop's note to the customer. */
  readonly ExternalComments: string
}

/** Returns the lines and totals of an order for its pages and files, in the store's currency and rounded to its decimals. */
export function orderFigures(record: OrderRecord, currency: string) {
  const lines = record.OrderItemList.map((item) => lineOf(item, currency))
  const together = (amounts: readonly number[]) => toNumber(roundedSum(amounts, currency))
  const taxes = [record.SalesTax, record.SalesTax2, record.SalesTax3]
  const subtotal = together(lines.map(({ amount }) => amount))
  const shipping = together(record.ShipmentList.map(({ ShipmentCost }) => ShipmentCost))
  const discount = together([record.OrderDiscountCoupon, record.OrderDiscountPromotion])
  const tax = together(taxes)
  return {
    lines,
    /** The total of the lines. */
    subtotal,
    shipping,
    discount,
    tax,
    /** The three of which the tax is made. */
    taxes: taxes.map((tax) => together([tax])),
    /** What all of it comes to; below 0 where the discounts are above the rest. */
    sum: together([subtotal, shipping, tax, -discount]),
  }
}

/** The unit price includes the chosen options; the amount is for all pieces. */
function lineOf(item: OrderRecord['OrderItemList'][number], currency: string) {
  const price = exact(item.ItemUnitPrice) + exact(item.ItemOptionPrice)
  return {
    id: item.ItemIndexID,
    productId: item.CatalogID,
    sku: item.ItemID,
    description: item.ItemDescription,
    ...goodsWords(item.ItemDescription, currency),
    quantity: item.ItemQuantity,
    unitPrice: toNumber(price),
    amount: toNumber(amountOf(price, exact(item.ItemQuantity), currency)),
  }
}
