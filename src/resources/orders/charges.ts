import type { Patch } from '../../engine/input.ts'
import { wrongField } from '../../engine/refused.ts'
import { amountOf, exact, inCents, toNumber } from './amounts.ts'

/** What adds to the goods of an order or comes off, by column. */
const ORDER_COLUMNS = ['salesTax', 'salesTax2', 'salesTax3', 'discountCoupon', 'discountPromotion']

/** Rounds taxes, discounts and shipping costs to cents where the total follows from them, so that they add up to it. */
export function roundCharges({ columns, lists }: Pick<Patch, 'columns' | 'lists'>): void {
  round(columns, ORDER_COLUMNS)
  for (const shipment of lists.ShipmentList ?? []) round(shipment.columns, ['cost'])
}

function round(columns: Patch['columns'], names: readonly string[]): void {
  for (const name of names) {
    const amount = columns[name]
    if (typeof amount === 'number') columns[name] = toNumber(inCents(exact(amount)))
  }
}

type Values = Readonly<Record<string, unknown>>

/** The price of all pieces of a line, by its columns, in ten-thousandths. */
export function lineAmount({ unitPrice, optionPrice, quantity }: Values): bigint {
  return amountOf(exact(Number(unitPrice)) + exact(Number(optionPrice)), exact(Number(quantity)))
}

/** The discounts of an order, by its columns, in ten-thousandths. */
export function discountOf({ discountCoupon, discountPromotion }: Values): bigint {
  return [discountCoupon, discountPromotion].reduce<bigint>((sum, each) => sum + inCents(exact(Number(each ?? 0))), 0n)
}

/** Refuses (400) discounts above the goods, because the total would not be the sum of its parts. */
export function refuseDiscountAbove(lines: readonly bigint[], order: Values): void {
  const problem = discountProblem(lines, order)
  if (problem !== null) throw wrongField(problem.field, problem.problem)
}

/** Returns what is wrong with discounts that are above the goods, or null. */
export function discountProblem(lines: readonly bigint[], order: Values) {
  const goods = lines.reduce((sum, amount) => sum + amount, 0n)
  const discount = discountOf(order)
  if (discount <= 0n || discount <= goods) return null
  const field = Number(order.discountPromotion ?? 0) > 0 ? 'OrderDiscountPromotion' : 'OrderDiscountCoupon'
  const known = `the goods cost ${toNumber(goods)}, and the discounts of the order are ${toNumber(discount)} together`
  return { field, problem: `must not be above the goods: ${known}` }
}
