import type { Caller } from '../../../engine/caller.ts'
import type { Document, Row } from '../../../engine/definition/stored-row.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { type Sql, sql, storeId } from '../../../foundation/database/sql.ts'
import { exact, sum, toNumber } from './amounts.ts'
import type { OrderRecord } from './orders.ts'
import type { PaymentState } from './states.ts'

// What transactions do to what is paid of their order. Their types are free text (docs/decisions/orders.md). The database has the same
// as functions, for all that asks it: "paymentEffect" and "openAmount" (the migration payment_state).

/** Null: nothing. */
type PaymentEffect = 'paid' | 'refunded' | null

const refunding = new Set(['refund', 'credit'])
const paying = new Set(['sale', 'capture'])

/**
 * Returns the effect of a transaction by its columns. Applications write refunds with either sign, and a payment below 0 is one too. An
 * authorization is paid once it is captured.
 */
export function effectOf({ type, amount, captured }: Readonly<Record<string, unknown>>): PaymentEffect {
  const folded = foldedType(String(type))
  if (refunding.has(folded)) return 'refunded'
  if (!paying.has(folded) && !(folded === 'authorize' && Number(captured) === 1)) return null
  return Number(amount) < 0 ? 'refunded' : 'paid'
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

type PaidRecord = Pick<OrderRecord, 'OrderAmount' | 'BillingOnLinePayment' | 'TransactionList'>
type PaidTransaction = OrderRecord['TransactionList'][number]

export function effectIn({ TransactionType, TransactionAmount, TransactionCaptured }: PaidTransaction): PaymentEffect {
  return effectOf({ type: TransactionType, amount: TransactionAmount, captured: TransactionCaptured })
}

/**
 * What is paid, refunded and open of an order. An order that was paid in full owes nothing more when some of it is refunded,
 * because a refund is for goods that come back or a price that was too high. Open is below 0 where more was paid.
 */
export function paymentsOf({ OrderAmount, BillingOnLinePayment, TransactionList }: PaidRecord) {
  const totalOf = (wanted: PaymentEffect) => {
    const counted = TransactionList.filter((transaction) => effectIn(transaction) === wanted)
    return sum(counted.map(({ TransactionAmount }) => exact(Math.abs(TransactionAmount))))
  }
  const [total, paid, refunded] = [exact(OrderAmount), totalOf('paid'), totalOf('refunded')]
  const missing = total - paid + refunded
  const open = toNumber(paid >= total && missing > 0n ? 0n : missing)
  const isPaidOnline = BillingOnLinePayment && TransactionList.length === 0
  return {
    total: OrderAmount,
    paid: toNumber(paid),
    refunded: toNumber(refunded),
    net: toNumber(paid - refunded),
    open,
    /** The checkout says that a payment service took the money, and nothing is recorded. */
    isPaidOnline,
    /** What is open and worth a warning. */
    owed: isPaidOnline ? 0 : Math.max(open, 0),
  }
}

/** Returns the amount of a transaction as people read it: below 0 where it is refunded. */
export function signedAmount(transaction: PaidTransaction): number {
  const { TransactionAmount: amount } = transaction
  return effectIn(transaction) === 'refunded' ? -Math.abs(amount) : amount
}

/** The transactions of an order that pages show: the latest. */
const TRANSACTIONS_MAX = 100

/** Returns the number of a transaction's credit note; null: it has none. */
export function creditNoteOf({ creditNotePrefix, creditNoteNumber }: Row): string | null {
  return creditNoteNumber ? `${creditNotePrefix}${creditNoteNumber}` : null
}

export type Payments = Awaited<ReturnType<typeof readPayments>>

/** The same with the payment state and the latest transactions. */
export async function readPayments(caller: Caller, order: OrderRecord) {
  const { OrderID: id, TransactionList: list } = order
  const [stored] = await rowsInTurn<{ state: PaymentState; marked: string }>(caller)`
    SELECT o."payment" AS "state", (
      SELECT coalesce(json_agg(x), '[]') FROM "OrderTransaction" x WHERE x."storeId" = o."storeId" AND x."orderId" = o."id"
        AND (x."voidedAt" IS NOT NULL OR x."creditNoteNumber" IS NOT NULL))::text AS "marked"
    FROM "Order" o WHERE o."storeId" = ${storeId(caller.store)} AND o."id" = ${id}::int`
  // What only the platform knows of them.
  const rows = new Map((JSON.parse(stored?.marked ?? '[]') as Row[]).map((row) => [row.id, row]))
  return {
    ...paymentsOf(order),
    state: stored?.state ?? 'unpaid',
    transactions: list.slice(-TRANSACTIONS_MAX).map((transaction) => {
      const row = rows.get(transaction.TransactionIndexID) ?? {}
      const was = row.voidedAt ? { ...transaction, TransactionType: String(row.voidedType) } : transaction
      return {
        id: transaction.TransactionIndexID,
        date: transaction.TransactionDateTime,
        /** What it was before somebody made it void, and so is the sign of `amount`. */
        type: was.TransactionType,
        method: transaction.TransactionMethod,
        reference: transaction.TransactionReference,
        note: transaction.TransactionResponseText,
        amount: signedAmount(was),
        effect: effectIn(transaction),
        isVoid: isVoid(transaction.TransactionType),
        /** Who made it void, and when. Null: nobody has, or nobody knows who. */
        voided: row.voidedAt ? { at: new Date(String(row.voidedAt)), by: String(row.voidedBy) } : null,
        creditNote: creditNoteOf(row),
        /** Of a refund, the return that it pays back; 0: none. */
        returnId: Number((row.details as Document | undefined)?.RMAID ?? 0),
      }
    }),
    isMore: list.length > TRANSACTIONS_MAX,
  }
}

/** The same over `t`, a row of "Order", of which triggers keep the sums: "paid", "refunded", "net" and "open". */
export const paidSums: Sql = sql`(
  SELECT "paid", "refunded", "paid" - "refunded" AS "net", "openAmount"(t."orderAmount", "paid", "refunded") AS "open"
  FROM (SELECT coalesce(t."paid", 0) AS "paid", coalesce(t."refunded", 0) AS "refunded") kept)`
