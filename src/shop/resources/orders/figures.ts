import type { Patch } from '../../../engine/definition/input.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import { amountOf, exact, rounded, roundedSum, sum, toNumber } from './amounts.ts'
import { goodsWords } from './line-description.ts'
import type { OrderRecord } from './orders.ts'

// What an order comes to, worked out in ten-thousandths and rounded to the decimals of the store's currency (sums.ts has the same in SQL).

/** What adds to the goods of an order or comes off, by column. */
const ORDER_COLUMNS = ['salesTax', 'salesTax2', 'salesTax3', 'discountCoupon', 'discountPromotion']

/** Rounds taxes, discounts and shipping costs like all sums where the total follows from them, so that they add up to it. */
export function roundCharges({ columns, lists }: Pick<Patch, 'columns' | 'lists'>, currency: string): void {
  round(columns, ORDER_COLUMNS, currency)
  for (const shipment of lists.ShipmentList ?? []) round(shipment.columns, ['cost'], currency)
}

function round(columns: Patch['columns'], names: readonly string[], currency: string): void {
  for (const name of names) {
    const amount = columns[name]
    if (typeof amount === 'number') columns[name] = toNumber(rounded(exact(amount), currency))
  }
}

type Values = Readonly<Record<string, unknown>>

/** The price of all pieces of a line, by its columns. */
export function lineAmount({ unitPrice, optionPrice, quantity }: Values, currency: string): bigint {
  const price = exact(Number(unitPrice ?? 0)) + exact(Number(optionPrice ?? 0))
  return amountOf(price, exact(Number(quantity ?? 0)), currency)
}

/** The discounts of an order, by its columns. */
export function discountOf({ discountCoupon, discountPromotion }: Values, currency: string): bigint {
  return roundedSum([Number(discountCoupon ?? 0), Number(discountPromotion ?? 0)], currency)
}

/**
 * What the lines of an order, its shipments, and its taxes less its discounts come to, by its columns. The order's tax includes that of
 * shipments. The sum is below 0 where the discounts are above the rest.
 */
export function partsOf(lines: readonly bigint[], costs: readonly number[], row: Values, currency: string) {
  const taxes = [row.salesTax, row.salesTax2, row.salesTax3].map((tax) => rounded(exact(Number(tax ?? 0)), currency))
  const [goods, shipping, tax] = [sum(lines), roundedSum(costs, currency), sum(taxes)]
  const discount = discountOf(row, currency)
  return { goods, shipping, taxes, tax, discount, sum: goods + shipping + tax - discount }
}

/** Refuses (400) discounts above the goods, because the total would not be the sum of its parts. */
export function refuseDiscountAbove(lines: readonly bigint[], order: Values, currency: string): void {
  const goods = sum(lines)
  const discount = discountOf(order, currency)
  if (discount <= 0n || discount <= goods) return
  const [cost, off] = [goods, discount].map((amount) => `${toNumber(amount)} ${currency}`)
  const known = `the goods cost ${cost}, and the discounts of the order are ${off} together`
  throw wrongField(discountField(order), `must not be above the goods: ${known}`, 'out-of-range')
}

/** The wire name of the discount that a refusal of the order's discounts names. */
export function discountField({ discountPromotion }: Values) {
  return Number(discountPromotion ?? 0) > 0 ? 'OrderDiscountPromotion' : 'OrderDiscountCoupon'
}

type Item = OrderRecord['OrderItemList'][number]

/** Returns the lines and totals of an order for its pages and files, in the store's currency. */
export function orderFigures(record: OrderRecord, currency: string) {
  const lines = record.OrderItemList.map((item) => lineOf(item, currency))
  const { taxes, ...parts } = partsOf(
    lines.map(({ amount }) => exact(amount)),
    record.ShipmentList.map(({ ShipmentCost }) => ShipmentCost),
    columnsOf(record),
    currency,
  )
  return {
    lines,
    /** The total of the lines. */
    subtotal: toNumber(parts.goods),
    shipping: toNumber(parts.shipping),
    discount: toNumber(parts.discount),
    tax: toNumber(parts.tax),
    /** The three of which the tax is made. */
    taxes: taxes.map(toNumber),
    /** What all of it comes to; below 0 where the discounts are above the rest. */
    sum: toNumber(parts.sum),
  }
}

/** The unit price includes the chosen options; the amount is for all pieces. */
function lineOf(item: Item, currency: string) {
  return {
    id: item.ItemIndexID,
    productId: item.CatalogID,
    sku: item.ItemID,
    description: item.ItemDescription,
    ...goodsWords(item.ItemDescription, currency),
    quantity: item.ItemQuantity,
    unitPrice: toNumber(exact(item.ItemUnitPrice) + exact(item.ItemOptionPrice)),
    amount: toNumber(lineAmount(columnsOfItem(item), currency)),
  }
}

/** What is in OrderAmount and not in the order's parts; below 0 where it is less. What is finer than the currency is nothing. */
export function otherAmount(record: OrderRecord, currency: string): number {
  const parts = Math.max(orderFigures(record, currency).sum, 0)
  return toNumber(rounded(exact(record.OrderAmount) - exact(parts), currency))
}

/** The parts of an order after a change of its lines and charges. The first of its lines are `kept` ones, the others are new. */
export function partsAfter(record: OrderRecord, { columns, lists }: Patch, kept: readonly Item[], currency: string) {
  const lines = (lists.OrderItemList as Patch[]).map((line, index) => {
    const stored = kept[index]
    return lineAmount({ ...(stored && columnsOfItem(stored)), ...line.columns }, currency)
  })
  const costs = record.ShipmentList.map(({ ShipmentCost }, index) =>
    Number(lists.ShipmentList?.[index]?.columns.cost ?? ShipmentCost),
  )
  return partsOf(lines, costs, { ...columnsOf(record), ...columns }, currency)
}

function columnsOfItem({ ItemUnitPrice: unitPrice, ItemOptionPrice: optionPrice, ItemQuantity: quantity }: Item) {
  return { unitPrice, optionPrice, quantity }
}

function columnsOf(record: OrderRecord) {
  return {
    salesTax: record.SalesTax,
    salesTax2: record.SalesTax2,
    salesTax3: record.SalesTax3,
    discountCoupon: record.OrderDiscountCoupon,
    discountPromotion: record.OrderDiscountPromotion,
  }
}
