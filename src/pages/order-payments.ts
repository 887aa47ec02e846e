import { exact, sum, toNumber } from '../resources/orders/amounts.ts'

/** The fields of a transaction that say what is paid. */
export interface PaidTransaction {
  readonly TransactionType: string
  readonly TransactionAmount: number
  readonly TransactionCaptured: number
}

/** The fields used of an order's record. */
export interface PaidRecord {
  readonly OrderAmount: number
  readonly BillingOnLinePayment: boolean
  readonly TransactionList: readonly (PaidTransaction & {
    readonly TransactionDateTime?: string | null
    readonly TransactionMethod: string
    readonly TransactionReference: string
    readonly TransactionResponseText: string
  })[]
}

const paying = new Set(['sale', 'capture'])
const refunding = new Set(['refund', 'credit'])

/** What a transaction does to what is paid: applications write refunds with either sign. Null: nothing. */
function effectOf({ TransactionType, TransactionAmount, TransactionCaptured }: PaidTransaction) {
  const type = TransactionType.trim().toLowerCase()
  if (refunding.has(type)) return 'refunded'
  const isPaid = paying.has(type) || (type === 'authorize' && TransactionCaptured === 1)
  if (!isPaid) return null
  return TransactionAmount < 0 ? 'refunded' : 'paid'
}

/**
 * Returns what is paid, refunded and open of an order. An order that was paid in full owes nothing more when some of it
 * is refunded, because a refund is for goods that come back or a price that was too high.
 */
export function paidOf(orderAmount: number, transactions: readonly PaidTransaction[]) {
  const totalOf = (effect: 'paid' | 'refunded') => {
    const counted = transactions.filter((transaction) => effectOf(transaction) === effect)
    return sum(counted.map(({ TransactionAmount }) => exact(Math.abs(TransactionAmount))))
  }
  const [total, paid, refunded] = [exact(orderAmount), totalOf('paid'), totalOf('refunded')]
  const missing = total - paid + refunded
  return {
    total: orderAmount,
    paid: toNumber(paid),
    refunded: toNumber(refunded),
    net: toNumber(paid - refunded),
    /** Below 0: more was paid than the order amounts to. */
    open: toNumber(paid >= total && missing > 0n ? 0n : missing),
  }
}

/** Returns what is open of an order and worth a warning. One that was paid online may have no transactions. */
export function owedOf({ OrderAmount, BillingOnLinePayment, TransactionList }: PaidRecord): number {
  if (BillingOnLinePayment && TransactionList.length === 0) return 0
  return Math.max(paidOf(OrderAmount, TransactionList).open, 0)
}

/** Returns the amount of a transaction as people read it: below 0 where it is refunded. */
export function signedAmount(transaction: PaidTransaction): number {
  const { TransactionAmount: amount } = transaction
  return effectOf(transaction) === 'refunded' ? -Math.abs(amount) : amount
}

/** The transactions that pages show: the latest. */
const TRANSACTIONS_SHOWN_MAX = 100

/** What is paid, refunded and still open of an order, with its transactions: for `payments.eta` and `owed.eta`. */
export function paymentsOf(order: PaidRecord) {
  const transactions = order.TransactionList.slice(-TRANSACTIONS_SHOWN_MAX).map((transaction) => ({
    date: transaction.TransactionDateTime ?? '',
    type: transaction.TransactionType,
    method: transaction.TransactionMethod,
    reference: transaction.TransactionReference,
    note: transaction.TransactionResponseText,
    amount: signedAmount(transaction),
    effect: effectOf(transaction),
  }))
  return {
    ...paidOf(order.OrderAmount, order.TransactionList),
    owed: owedOf(order),
    transactions,
    isMore: order.TransactionList.length > TRANSACTIONS_SHOWN_MAX,
  }
}
