import { type Sql, sql } from '../../database/sql.ts'
import { exact, sum, toNumber } from './amounts.ts'

// What transactions do to what is paid of their order. Their types are free text (docs/decisions/orders.md). Once for what is in
// memory and once as SQL; test/app/resources/orders/sums.test.ts holds one against the other.

/** Null: nothing. */
type PaymentEffect = 'paid' | 'refunded' | null

const refunding = new Set(['refund', 'credit'])
const paying = new Set(['sale', 'capture'])

interface Transaction {
  readonly type: string
  readonly amount: number
  readonly captured: number
}

/** Applications write refunds with either sign, and a payment below 0 is one too. An authorization is paid once it is captured. */
export function effectOf({ type, amount, captured }: Transaction): PaymentEffect {
  const folded = type.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '').toLowerCase()
  if (refunding.has(folded)) return 'refunded'
  if (!paying.has(folded) && !(folded === 'authorize' && captured === 1)) return null
  return amount < 0 ? 'refunded' : 'paid'
}

const foldedType = sql`lower(btrim(x."type", E' \\t\\r\\n'))`

/** The same over `x`, a row of "OrderTransaction". */
export const effect: Sql = sql`CASE
  WHEN ${foldedType} IN ('refund', 'credit') THEN 'refunded'
  WHEN ${foldedType} IN ('sale', 'capture')
    OR (${foldedType} = 'authorize' AND x."captured" = 1)
    THEN CASE WHEN x."amount" < 0 THEN 'refunded' ELSE 'paid' END
  END`

/**
 * What is paid, refunded and open of an order. An order that was paid in full owes nothing more when some of it is refunded,
 * because a refund is for goods that come back or a price that was too high. Open is below 0 where more was paid.
 */
export function paidOf(orderAmount: number, transactions: readonly Transaction[]) {
  const totalOf = (wanted: PaymentEffect) => {
    const counted = transactions.filter((transaction) => effectOf(transaction) === wanted)
    return sum(counted.map(({ amount }) => exact(Math.abs(amount))))
  }
  const [total, paid, refunded] = [exact(orderAmount), totalOf('paid'), totalOf('refunded')]
  const missing = total - paid + refunded
  return {
    total: orderAmount,
    paid: toNumber(paid),
    refunded: toNumber(refunded),
    net: toNumber(paid - refunded),
    open: toNumber(paid >= total && missing > 0n ? 0n : missing),
  }
}

/** The same over `t`, a row of "Order": "paid", "refunded", "net" and "open". */
export const paidSums: Sql = sql`(
  SELECT "paid", "refunded", "paid" - "refunded" AS "net",
    CASE WHEN "paid" >= t."orderAmount" THEN least(t."orderAmount" - "paid" + "refunded", 0)
      ELSE t."orderAmount" - "paid" + "refunded" END AS "open"
  FROM (
    SELECT coalesce(sum(abs(x."amount")) FILTER (WHERE ${effect} = 'paid'), 0) AS "paid",
      coalesce(sum(abs(x."amount")) FILTER (WHERE ${effect} = 'refunded'), 0) AS "refunded"
    FROM "OrderTransaction" x WHERE x."storeId" = t."storeId" AND x."orderId" = t."id") counted)`
