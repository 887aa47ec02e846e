// Money, quantities and percentages have four decimals. Calculations use whole ten-thousandths, because the product of
// two of them does not fit a float.

/** One, in ten-thousandths. */
const SCALE = 10_000n
const CENT = 100n

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

/** Converts wire numbers to ten-thousandths and adds them, each rounded to a cent. */
export function sumInCents(amounts: readonly number[]): bigint {
  return sum(amounts.map((amount) => inCents(exact(amount))))
}

/** Price times quantity, rounded to a cent. */
export function amountOf(price: bigint, quantity: bigint): bigint {
  return divide(price * quantity, SCALE * CENT) * CENT
}

/** Rounds to a cent. */
export function inCents(amount: bigint): bigint {
  return divide(amount, CENT) * CENT
}

/** Reduces a price by a percentage, rounded to a cent, or to a ten-thousandth if the price is finer than cents. */
export function reduced(price: bigint, percent: bigint): bigint {
  const hundred = 100n * SCALE
  const unit = price % CENT === 0n ? CENT : 1n
  return divide(price * (hundred - percent), hundred * unit) * unit
}

/** A percentage of an amount, rounded to a cent. */
export function percentOf(amount: bigint, percent: bigint): bigint {
  return inCents(divide(amount * percent, 100n * SCALE))
}

/** The bound of decimal fields (fields.ts). */
export const ORDER_AMOUNT_MAX = exact(99_999_999_999.99)

/** What an order adds up from. */
export interface OrderParts {
  /** The amounts of the lines, in ten-thousandths. */
  readonly lines: readonly bigint[]
  /** Shipping and taxes, which are rounded to cents. The order's tax includes that of shipments. */
  readonly charges: readonly number[]
  /** Likewise. */
  readonly discounts: readonly number[]
}

/** Adds lines and charges less discounts, in ten-thousandths; at least 0. */
export function orderTotal(parts: OrderParts): bigint {
  const total = sumOfParts(parts)
  return total > 0n ? total : 0n
}

/** Likewise; below 0 where the discounts are above the rest. */
export function sumOfParts({ lines, charges, discounts }: OrderParts): bigint {
  return sum(lines) + sumInCents(charges) - sumInCents(discounts)
}

/** Rounds to the nearest whole number, halves away from zero. */
function divide(dividend: bigint, divisor: bigint): bigint {
  const half = dividend < 0n ? -divisor / 2n : divisor / 2n
  return (dividend + half) / divisor
}
