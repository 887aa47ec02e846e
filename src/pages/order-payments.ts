import { effectOf, paidOf as paidByRule } from '../resources/orders/payments.ts'

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

/** A transaction of the wire as the rule reads it (payments.ts). */
function ruled({ TransactionType, TransactionAmount, TransactionCaptured }: PaidTransaction) {
  return { type: TransactionType, amount: TransactionAmount, captured: TransactionCaptured }
}

/** What is paid, refunded and open of an order by its transactions. */
export function paidOf(orderAmount: number, transactions: readonly PaidTransaction[]) {
  return paidByRule(orderAmount, transactions.map(ruled))
}

/** Returns what is open of an order and worth a warning. One that was paid online may have no transactions. */
export function owedOf({ OrderAmount, BillingOnLinePayment, TransactionList }: PaidRecord): number {
  if (BillingOnLinePayment && TransactionList.length === 0) return 0
  return Math.max(paidOf(OrderAmount, TransactionList).open, 0)
}

/** Returns the amount of a transaction as people read it: below 0 where it is refunded. */
export function signedAmount(transaction: PaidTransaction): number {
  const { TransactionAmount: amount } = transaction
  return effectOf(ruled(transaction)) === 'refunded' ? -Math.abs(amount) : amount
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
    effect: effectOf(ruled(transaction)),
  }))
  return {
    ...paidOf(order.OrderAmount, order.TransactionList),
    owed: owedOf(order),
    transactions,
    isMore: order.TransactionList.length > TRANSACTIONS_SHOWN_MAX,
  }
}
