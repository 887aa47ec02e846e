import { amountOf, exact, roundedSum, toNumber } from '../resources/orders/amounts.ts'
import { goodsWords } from '../resources/orders/line-description.ts'

/** The fields used of an order's record. It has others for the merchant only, such as costs and internal comments. */
export interface OrderRecord {
  readonly OrderItemList: readonly {
    readonly ItemID: string
    readonly ItemDescription: string
    readonly ItemQuantity: number
    readonly ItemUnitPrice: number
    readonly ItemOptionPrice: number
  }[]
  readonly ShipmentList: readonly {
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
  return {
    lines,
    /** The total of the lines. */
    subtotal: together(lines.map(({ amount }) => amount)),
    shipping: together(record.ShipmentList.map(({ ShipmentCost }) => ShipmentCost)),
    discount: together([record.OrderDiscountCoupon, record.OrderDiscountPromotion]),
    tax: together(taxes),
    /** The three of which the tax is made. */
    taxes: taxes.map((tax) => together([tax])),
  }
}

/** The unit price includes the chosen options; the amount is for all pieces. */
function lineOf(item: OrderRecord['OrderItemList'][number], currency: string) {
  const price = exact(item.ItemUnitPrice) + exact(item.ItemOptionPrice)
  return {
    sku: item.ItemID,
    description: item.ItemDescription,
    ...goodsWords(item.ItemDescription, currency),
    quantity: item.ItemQuantity,
    unitPrice: toNumber(price),
    amount: toNumber(amountOf(price, exact(item.ItemQuantity), currency)),
  }
}
