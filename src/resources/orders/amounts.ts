// Money, quantities and percentages have four decimals. They are reckoned with as whole ten-thousandths, since the
// product of two of them does not fit a float.

/** One, in ten-thousandths. */
const SCALE = 10_000n
const CENT = 100n

/** A wire number in ten-thousandths. */
export function exact(value: number): bigint {
  return BigInt(Math.round(value * Number(SCALE)))
}

/** Back to a wire number. */
export function toNumber(tenThousandths: bigint): number {
  return Number(tenThousandths) / Number(SCALE)
}

/** Price times quantity, rounded to a cent. */
export function amountOf(price: bigint, quantity: bigint): bigint {
  return divide(price * quantity, SCALE * CENT) * CENT
}

/** Rounded to a cent. */
export function inCents(amount: bigint): bigint {
  return divide(amount, CENT) * CENT
}

/** Less so many percent, rounded to a cent; a price that is finer than cents stays as fine. */
export function reduced(price: bigint, percent: bigint): bigint {
  const hundred = 100n * SCALE
  const unit = price % CENT === 0n ? CENT : 1n
  return divide(price * (hundred - percent), hundred * unit) * unit
}

/** Rounded to the nearest whole number, halves away from zero. */
function divide(dividend: bigint, divisor: bigint): bigint {
  const half = dividend < 0n ? -divisor / 2n : divisor / 2n
  return (dividend + half) / divisor
}
