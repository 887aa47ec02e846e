/** Cents are counted in whole numbers; this one division makes them a wire number. */
export function dollars(cents: number): number {
  return cents / 100
}

/** A share in hundredths of a percent, half a cent rounded up. Both whole and not negative. */
export function shareOf(cents: number, basisPoints: number): number {
  return Math.floor((cents * basisPoints + 5_000) / 10_000)
}

/** The next price below that ends as prices do, at least 95 cents: 18.37 → 17.95. */
export function shopPrice(cents: number): number {
  return Math.max(95, Math.floor((cents + 5) / 100) * 100 - 5)
}
