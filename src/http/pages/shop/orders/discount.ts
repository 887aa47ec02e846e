import { readTyped, type TypedNumber } from '../../../../foundation/values/typed-number.ts'
import { amountOf, exact, percentOf, sum, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { numberIn, type Writing } from '../../../html/numbers.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { textIn } from '../../../html/request.ts'
import type { LookedUp } from './form-lines.ts'

// The discount on a new order, which is typed as an amount, or as a percentage of the goods. The order has the amount.

export const DISCOUNT = 'OrderDiscountPromotion'
const NO_DISCOUNT = 'must be an amount, such as 12, or a percentage, such as 10%'

/** Splits what was typed into its number and whether it is a percentage. */
export function discountTyped(typed: string) {
  const [, percent] = /^(.*?)\s*%\s*$/s.exec(typed) ?? []
  return percent === undefined ? { text: typed, isPercent: false } : { text: percent, isPercent: true }
}

/** Reads the number of a discount. */
export function readDiscount(typed: string, writing: Writing): TypedNumber {
  const { text, isPercent } = discountTyped(typed)
  const read = readTyped(text, writing, isPercent ? 'number' : 'sum')
  return read.text === '' && isPercent ? { text: null, problem: NO_DISCOUNT } : read
}

/** Returns the amount of the form's discount; null: none. Throws (400, naming the field) for what is neither amount nor percentage. */
export function discountIn({ values, lines, writing, currency }: LookedUp): number | null {
  const typed = textIn(values, DISCOUNT)
  const { text: plain, problem } = readDiscount(typed, writing)
  if (plain === null || problem !== '') throw refusedFields([{ field: DISCOUNT, problem }])
  if (plain === '') return null
  if (!discountTyped(typed).isPercent) return Number(plain)
  const goods = lines.map(({ number, product }) => {
    const quantity = numberIn(values, `ItemQuantity.${number}`, writing)
    return amountOf(exact(product?.price ?? 0), exact(quantity ?? 1), currency)
  })
  return toNumber(percentOf(sum(goods), exact(Number(plain)), currency))
}
