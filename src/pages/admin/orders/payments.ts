import { exact, toNumber } from '../../../resources/orders/amounts.ts'

/** The fields used of an order's record. */
export interface PaidRecord {
  readonly OrderAmount: number
  readonly TransactionList: readonly {
    readonly TransactionDateTime?: string | null
    readonly TransactionType: string
    readonly TransactionMethod: string
    readonly TransactionAmount: number
    readonly TransactionReference: string
    readonly TransactionResponseText: string
    readonly TransactionCaptured: number
  }[]
}

type Transaction = PaidRecord['TransactionList'][number]

const paying = new Set(['sale', 'capture'])
const refunding = new Set(['refund', 'credit'])

/** What a transaction does to what is paid: applications write refunds with either sign. Null: nothing. */
function effectOf({ TransactionType, TransactionAmount, TransactionCaptured }: Transaction) {
  const type = TransactionType.trim().toLowerCase()
  if (refunding.has(type)) return 'refunded'
  const isPaid = paying.has(type) || (type === 'authorize' && TransactionCaptured === 1)
  if (!isPaid) return null
  return TransactionAmount < 0 ? 'refunded' : 'paid'
}

/** The transactions that pages show: the latest. */
const TRANSACTIONS_SHOWN_MAX = 100

/** What is paid, refunded and still open of an order, with its transactions: for `payments.eta`. */
export function paymentsOf(order: PaidRecord) {
  const transactions = order.TransactionList.map((transaction) => ({
    date: transaction.TransactionDateTime ?? '',
    type: transaction.TransactionType,
    method: transaction.TransactionMethod,
    reference: transaction.TransactionReference,
    note: transaction.TransactionResponseText,
    amount: transaction.TransactionAmount,
    effect: effectOf(transaction),
  }))
  const sum = (effect: 'paid' | 'refunded') =>
    transactions
      .filter((transaction) => transaction.effect === effect)
      .reduce((total, { amount }) => total + exact(Math.abs(amount)), 0n)
  const [paid, refunded] = [sum('paid'), sum('refunded')]
  const open = exact(order.OrderAmount) - paid + refunded
  return {
    total: order.OrderAmount,
    paid: toNumber(paid),
    refunded: toNumber(refunded),
    /** Below 0: more was paid than the order amounts to. */
    open: toNumber(open),
    transactions: transactions.slice(-TRANSACTIONS_SHOWN_MAX),
    isMore: transactions.length > TRANSACTIONS_SHOWN_MAX,
  }
}
