import type { Patch } from '../../../engine/definition/input.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import { amountOf, exact, rounded, roundedSum, sum, toNumber } from './amounts.ts'

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

/** The price of all pieces of a line, by its columns, in ten-thousandths. */
export function lineAmount({ unitPrice, optionPrice, quantity }: Values, currency: string): bigint {
  const price = exact(Number(unitPrice ?? 0)) + exact(Number(optionPrice ?? 0))
  return amountOf(price, exact(Number(quantity ?? 0)), currency)
}

/** The discounts of an order, by its columns, in ten-thousandths. */
export function discountOf({ discountCoupon, discountPromotion }: Values, currency: string): bigint {
  return roundedSum([Number(discountCoupon ?? 0), Number(discountPromotion ?? 0)], currency)
}

/**
 * Adds the lines of an order, what its shipments cost, and its taxes less its discounts, by its columns, in ten-thousandths. The order's
 * tax includes that of shipments. Below 0 where the discounts are above the rest.
 */
export function sumOfParts(lines: readonly bigint[], costs: readonly number[], row: Values, currency: string): bigint {
  const taxes = [row.salesTax, row.salesTax2, row.salesTax3].map((tax) => Number(tax ?? 0))
  return sum(lines) + roundedSum([...costs, ...taxes], currency) - discountOf(row, currency)
}

/** Refuses (400) discounts above the goods, because the total would not be the sum of its parts. */
export function refuseDiscountAbove(lines: readonly bigint[], order: Values, currency: string): void {
  const goods = sum(lines)
  const discount = discountOf(order, currency)
  if (discount <= 0n || discount <= goods) return
  const [cost, off] = [goods, discount].map((amount) => `${toNumber(amount)} ${currency}`)
  const known = `the goods cost ${cost}, and the discounts of the order are ${off} together`
  throw wrongField(discountField(order), `must not be above the goods: ${known}`)
}

/** The wire name of the discount that a refusal of the order's discounts names. */
export function discountField({ discountPromotion }: Values) {
  return Number(discountPromotion ?? 0) > 0 ? 'OrderDiscountPromotion' : 'OrderDiscountCoupon'
}
