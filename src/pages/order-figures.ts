import { amountOf, exact, toNumber } from '../resources/orders/amounts.ts'
import { descriptionLines } from '../resources/orders/description-lines.ts'

/** What is read of an order's record. */
export interface OrderAmounts {
  readonly OrderItemList: readonly ItemRecord[]
  readonly ShipmentList: readonly { readonly ShipmentCost: number }[]
  readonly OrderDiscount: number
  readonly SalesTax: number
  readonly SalesTax2: number
  readonly SalesTax3: number
}

interface ItemRecord {
  readonly ItemID: string
  readonly ItemDescription: string
  readonly ItemQuantity: number
  readonly ItemUnitPrice: number
  readonly ItemOptionPrice: number
}

/** What an order's pages say of its goods, to its merchant and to its customer. Amounts in the store's currency, to a cent. */
export function orderFigures(record: OrderAmounts) {
  const lines = record.OrderItemList.map(lineOf)
  return {
    lines,
    /** Of the lines. */
    subtotal: sum(lines.map(({ amount }) => amount)),
    shipping: sum(record.ShipmentList.map(({ ShipmentCost }) => ShipmentCost)),
    discount: record.OrderDiscount,
    tax: sum([record.SalesTax, record.SalesTax2, record.SalesTax3]),
  }
}

/** `choices`: what was chosen, such as `Size: L`. The unit price is with its options; the amount of all pieces. */
function lineOf(item: ItemRecord) {
  const [name = '', ...choices] = descriptionLines(item.ItemDescription)
  const price = exact(item.ItemUnitPrice) + exact(item.ItemOptionPrice)
  return {
    sku: item.ItemID,
    name,
    choices,
    quantity: item.ItemQuantity,
    unitPrice: toNumber(price),
    amount: toNumber(amountOf(price, exact(item.ItemQuantity))),
  }
}

function sum(amounts: readonly number[]): number {
  return toNumber(amounts.reduce((total, amount) => total + exact(amount), 0n))
}
