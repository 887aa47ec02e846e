import type { Caller } from '../../engine/caller.ts'
import { type Phrase, t } from '../../foundation/texts/text.ts'
import { effectOf, foldedType, isVoid, paidOf as paidByRule } from '../../shop/resources/orders/payments.ts'
import { readStates } from '../../shop/resources/orders/states.ts'
import { readVoided, type Voided } from '../../shop/resources/orders/voided.ts'
import { type Chip, chipsOf } from './order-states.ts'

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
    readonly TransactionIndexID: number
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

/** What people call the types of transactions that count for something. */
const typeNames: ReadonlyMap<string, Phrase> = new Map([
  ['sale', t('Payment')],
  ['capture', t('Payment of an authorization')],
  ['authorize', t('Authorization')],
  ['refund', t('Refund')],
  ['credit', t('Credit')],
  ['void', t('Void')],
])

/** Returns what people call the type of a transaction. One that an application made up stays as it is. */
export function typeName(type: string): Phrase {
  return typeNames.get(foldedType(type)) ?? type
}

/** The transactions that pages show: the latest. */
const TRANSACTIONS_SHOWN_MAX = 100

/** What is paid, refunded and still open of an order: for `owed.eta`. */
export function paymentsOf(order: PaidRecord) {
  return { ...paidOf(order.OrderAmount, order.TransactionList), owed: owedOf(order) }
}

export interface ShownTransaction {
  readonly id: number
  readonly date: string
  /** What it was before somebody made it void, and so is the sign of `amount`. */
  readonly type: Phrase
  readonly method: string
  readonly reference: string
  readonly note: string
  readonly amount: number
  readonly effect: ReturnType<typeof effectOf>
  readonly isVoid: boolean
  /** Null: nobody has made it void, or nobody knows who. */
  readonly voided: Voided | null
}

interface ShownPayments extends ReturnType<typeof paymentsOf> {
  readonly state: Chip
  /** The checkout says that a payment service took the money, and nothing is recorded. */
  readonly isPaidOnline: boolean
  /** The latest. */
  readonly transactions: readonly ShownTransaction[]
  readonly isMore: boolean
}

/** The same with the payment state and the transactions: for `payments.eta`. */
export async function readPayments(
  caller: Caller,
  order: PaidRecord & { readonly OrderID: number },
): Promise<ShownPayments> {
  const { OrderID: id, BillingOnLinePayment, TransactionList: list } = order
  const [states, voided] = await Promise.all([readStates(caller, [id]), readVoided(caller, id)])
  const transactions = list.slice(-TRANSACTIONS_SHOWN_MAX).map((transaction): ShownTransaction => {
    const mark = voided.get(transaction.TransactionIndexID) ?? null
    const was = mark === null ? transaction : { ...transaction, TransactionType: mark.type }
    return {
      id: transaction.TransactionIndexID,
      date: transaction.TransactionDateTime ?? '',
      type: typeName(was.TransactionType),
      method: transaction.TransactionMethod,
      reference: transaction.TransactionReference,
      note: transaction.TransactionResponseText,
      amount: signedAmount(was),
      effect: effectOf(ruled(transaction)),
      isVoid: isVoid(transaction.TransactionType),
      voided: mark,
    }
  })
  return {
    ...paymentsOf(order),
    state: chipsOf(states.get(id) ?? { payment: 'unpaid', fulfilment: 'none' }).payment,
    isPaidOnline: BillingOnLinePayment && list.length === 0,
    transactions,
    isMore: list.length > TRANSACTIONS_SHOWN_MAX,
  }
}
