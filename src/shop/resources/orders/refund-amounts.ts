import { amountOf, exact, percentOf, sharedOut, shareOf, sum, toNumber } from './amounts.ts'
import type { orderFigures } from './figures.ts'

// What a refund of goods comes to: what of the order is refunded with it, less what was before. So the refunds of an order add up to what
// its parts come to, and the last one takes what rounding left (docs/decisions/orders.md).

/** How much of an order is refunded, in ten-thousandths: pieces by line, and shipping costs. */
export interface Extent {
  readonly pieces: ReadonlyMap<number, bigint>
  readonly shipping: bigint
}

/** What that comes to, in ten-thousandths: each line less its share of the discounts, in the order of the lines. */
interface RefundParts {
  readonly lines: readonly bigint[]
  readonly shipping: bigint
  readonly tax: bigint
}

type Figures = ReturnType<typeof orderFigures>

/** Returns what it comes to to refund `now` where `before` was refunded already, in the decimals of the currency. */
export function refundParts(figures: Figures, before: Extent, now: Extent, currency: string): RefundParts {
  const pieces = new Map(before.pieces)
  for (const [line, count] of now.pieces) pieces.set(line, (pieces.get(line) ?? 0n) + count)
  const from = partsOf(figures, before, currency)
  const to = partsOf(figures, { pieces, shipping: before.shipping + now.shipping }, currency)
  return {
    lines: to.lines.map((amount, at) => amount - (from.lines[at] ?? 0n)),
    shipping: now.shipping,
    tax: to.tax - from.tax,
  }
}

/** Discounts are shared by the lines in proportion to their amounts, and taxes by what is left of these and shipping. */
function partsOf(figures: Figures, { pieces, shipping }: Extent, currency: string): RefundParts {
  const amounts = figures.lines.map(({ amount }) => exact(amount))
  const offs = sharedOut(sharedDiscount(figures), amounts, currency)
  const whole = amounts.map((amount, at) => amount - (offs[at] as bigint))
  const counts = figures.lines.map(({ id, quantity }) => [pieces.get(id) ?? 0n, exact(quantity)] as const)
  const lines = whole.map((amount, at) => {
    const [count, all] = counts[at] as (typeof counts)[number]
    return count >= all ? amount : shareOf(amount, count, all, currency)
  })
  const [taxed, ofAll] = [sum(lines) + shipping, sum(whole) + exact(figures.shipping)]
  const tax = exact(figures.tax)
  if (ofAll !== 0n) return { lines, shipping, tax: shareOf(tax, taxed, ofAll, currency) }
  // Nothing is left to share it by, such as of goods that were given away.
  return { lines, shipping, tax: counts.every(([count, all]) => count >= all) ? tax : 0n }
}

/** What is above the goods comes off nothing that can be refunded: it is in what the order has beside its parts. */
function sharedDiscount({ discount, subtotal }: Figures): bigint {
  return exact(subtotal > 0 ? Math.min(discount, subtotal) : 0)
}

export function totalOf({ lines, shipping, tax }: RefundParts): bigint {
  return sum(lines) + shipping + tax
}

/** What of a refund of another amount its parts are: in proportion where it is less. None is below 0. */
export function fitted({ lines, shipping, tax }: RefundParts, amount: bigint, currency: string): RefundParts {
  const parts = [tax, shipping, ...lines].map((part) => (part > 0n ? part : 0n))
  const [ofTax = 0n, ofShipping = 0n, ...ofLines] = sum(parts) > amount ? sharedOut(amount, parts, currency) : parts
  return { lines: ofLines, shipping: ofShipping, tax: ofTax }
}

/** A line of a refund, to be read: so many pieces at a price, less a discount in per cent or, where it is none, in money. */
export function workingsOf(figures: Figures, { pieces }: Extent, { lines }: RefundParts, currency: string) {
  const percent = discountPercent(figures, currency)
  return figures.lines.flatMap(({ id, sku, name, unitPrice }, at) => {
    const count = pieces.get(id) ?? 0n
    if (count === 0n) return []
    const amount = lines[at] as bigint
    const off = amountOf(exact(unitPrice), count, currency) - amount
    return [
      { id, sku, name, unitPrice, quantity: toNumber(count), percent, off: toNumber(off), amount: toNumber(amount) },
    ]
  })
}

/** The discounts in per cent of the goods: rounded to a whole number or exact to two decimals; null: they are no such percentage. */
function discountPercent(figures: Figures, currency: string): number | null {
  const [goods, discount] = [exact(figures.subtotal), sharedDiscount(figures)]
  if (goods <= 0n) return null
  const percent = toNumber((discount * 1_000_000n) / goods)
  const whole = Math.round(percent)
  if (percentOf(goods, exact(whole), currency) === discount) return whole
  return (discount * 10_000n) % goods === 0n ? percent : null
}
