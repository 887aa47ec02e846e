import { amountOf, exact, toNumber } from '../resources/orders/amounts.ts'
import { descriptionLines } from '../resources/orders/description-lines.ts'

export interface OrderLine {
  readonly sku: string
  readonly name: string
  /** What was chosen, such as `Size: L`. */
  readonly choices: readonly string[]
  readonly quantity: number
  /** With its options. */
  readonly unitPrice: number
  /** Of all pieces, to a cent. */
  readonly amount: number
}

/** Amounts in the store's currency, to a cent. */
export interface OrderFigures {
  readonly lines: readonly OrderLine[]
  /** Of the lines. */
  readonly subtotal: number
  readonly shipping: number
  readonly discount: number
  readonly tax: number
}

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

/** What an order's pages say of its goods and amounts, to its merchant and to its customer. */
export function orderFigures(record: OrderAmounts): OrderFigures {
  const lines = record.OrderItemList.map(lineOf)
  return {
    lines,
    subtotal: sum(lines.map(({ amount }) => amount)),
    shipping: sum(record.ShipmentList.map(({ ShipmentCost }) => ShipmentCost)),
    discount: record.OrderDiscount,
    tax: sum([record.SalesTax, record.SalesTax2, record.SalesTax3]),
  }
}

function lineOf(item: ItemRecord): OrderLine {
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
