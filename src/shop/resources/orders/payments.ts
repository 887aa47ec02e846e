import { type Sql, sql } from '../../../foundation/database/sql.ts'
import { exact, sum, toNumber } from './amounts.ts'

// What transactions do to what is paid of their order. Their types are free text (docs/decisions/orders.md). The database has the same
// as functions, for all that asks it: "paymentEffect" and "openAmount" (the migration payment_state).

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
  const folded = foldedType(type)
  if (refunding.has(folded)) return 'refunded'
  if (!paying.has(folded) && !(folded === 'authorize' && captured === 1)) return null
  return amount < 0 ? 'refunded' : 'paid'
}

/** The type of a transaction that somebody has made void. */
export const VOID = 'Void'

export function isVoid(type: unknown): boolean {
  return foldedType(String(type)) === VOID.toLowerCase()
}

/** As types are compared: without regard to case and to blanks around them. */
export function foldedType(type: string): string {
  return type.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '').toLowerCase()
}

/** What `effectOf` says, over `x`, a row of "OrderTransaction". */
export const effect: Sql = sql`"paymentEffect"(x."type", x."amount", x."captured")`

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

/** The same over `t`, a row of "Order", of which triggers keep the sums: "paid", "refunded", "net" and "open". */
export const paidSums: Sql = sql`(
  SELECT "paid", "refunded", "paid" - "refunded" AS "net", "openAmount"(t."orderAmount", "paid", "refunded") AS "open"
  FROM (SELECT coalesce(t."paid", 0) AS "paid", coalesce(t."refunded", 0) AS "refunded") kept)`
