import { decimalsOf } from '../../../foundation/values/currency.ts'

// Money, quantities and percentages have four decimals. Calculations use whole ten-thousandths, because the product of
// two of them does not fit a float. A sum is rounded to the decimals of its currency.

/** One, in ten-thousandths. */
const SCALE = 10_000n

/** Converts a wire number to ten-thousandths. */
export function exact(value: number): bigint {
  return BigInt(Math.round(value * Number(SCALE)))
}

/** Converts ten-thousandths to a wire number. */
export function toNumber(tenThousandths: bigint): number {
  return Number(tenThousandths) / Number(SCALE)
}

export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n)
}

/** The smallest sum in a currency, in ten-thousandths: 100 in EUR, 10 in KWD, 10,000 in JPY. */
function unitOf(currency: string): bigint {
  return SCALE / 10n ** BigInt(decimalsOf(currency))
}

/** Rounds to the decimals of the currency. */
export function rounded(amount: bigint, currency: string): bigint {
  const unit = unitOf(currency)
  return divide(amount, unit) * unit
}

/** Converts wire numbers to ten-thousandths and adds them, each rounded to the decimals of the currency. */
export function roundedSum(amounts: readonly number[], currency: string): bigint {
  return sum(amounts.map((amount) => rounded(exact(amount), currency)))
}

/** Price times quantity, rounded to the decimals of the currency. */
export function amountOf(price: bigint, quantity: bigint, currency: string): bigint {
  const unit = unitOf(currency)
  return divide(price * quantity, SCALE * unit) * unit
}

/** Reduces a price by a percentage, rounded to the decimals of the currency, or to a ten-thousandth if the price is finer. */
export function reduced(price: bigint, percent: bigint, currency: string): bigint {
  const hundred = 100n * SCALE
  const unit = price % unitOf(currency) === 0n ? unitOf(currency) : 1n
  return divide(price * (hundred - percent), hundred * unit) * unit
}

/** A percentage of an amount, rounded to the decimals of the currency. */
export function percentOf(amount: bigint, percent: bigint, currency: string): bigint {
  return shareOf(amount, percent, 100n * SCALE, currency)
}

/** What `part` of `whole` has of an amount, rounded to the decimals of the currency. Of nothing it is nothing. */
export function shareOf(amount: bigint, part: bigint, whole: bigint, currency: string): bigint {
  if (whole === 0n) return 0n
  const unit = unitOf(currency)
  const sign = whole < 0n ? -1n : 1n
  return divide(sign * amount * part, sign * whole * unit) * unit
}

/**
 * Shares an amount out in proportion to parts, each rounded to the decimals of the currency. The shares add up to the amount, unless the
 * parts add up to nothing.
 */
export function sharedOut(amount: bigint, parts: readonly bigint[], currency: string): bigint[] {
  const whole = sum(parts)
  let upTo = 0n
  return parts.map((part) => {
    const before = shareOf(amount, upTo, whole, currency)
    upTo += part
    return shareOf(amount, upTo, whole, currency) - before
  })
}

/** The bound of decimal fields (fields.ts). */
export const ORDER_AMOUNT_MAX = exact(99_999_999_999.99)

/** Rounds to the nearest whole number, halves away from zero. */
function divide(dividend: bigint, divisor: bigint): bigint {
  const half = dividend < 0n ? -divisor / 2n : divisor / 2n
  return (dividend + half) / divisor
}
