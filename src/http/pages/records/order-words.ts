import type { Caller } from '../../../engine/caller.ts'
import { type Phrase, type Text, t, written } from '../../../foundation/texts/text.ts'
import type { MailKind } from '../../../shop/resources/order-mails/kinds.ts'
import { listStatuses } from '../../../shop/resources/order-statuses/status-texts.ts'
import { foldedType, type Payments } from '../../../shop/resources/orders/payments.ts'
import type { Fulfilment, OrderStates, PaymentState } from '../../../shop/resources/orders/states.ts'
import { orderStatusMeanings } from '../../../shop/resources/orders/statuses.ts'

// What people call the statuses, states and payments of orders.

/** What the statuses that every store has are called where nobody has given them another text. */
const builtIn: Readonly<Record<string, Text>> = {
  New: t('New'),
  Processing: t('Processing'),
  Partial: t('Partly shipped'),
  Shipped: t('Shipped'),
  Cancel: t('Cancelled'),
  Hold: t('On hold'),
  'Not Completed': t('Not completed'),
  'Custom 1': t('Custom 1'),
  'Custom 2': t('Custom 2'),
  'Custom 3': t('Custom 3'),
  Unpaid: t('Unpaid'),
  Review: t('In review'),
}

type Named = { readonly id: number; readonly definition: string }

/** A status that every store has is called in the reader's language, one of the store's own as it was named. */
export function builtInName({ id, definition }: Named): Phrase {
  return builtIn[orderStatusMeanings[id] === definition ? definition : ''] ?? definition
}

/** The text of a status; in other languages than English the name of one whose text nobody has changed. */
export function statusName({ text, ...named }: Named & { readonly text: string }): Phrase {
  const name = builtInName(named)
  if (text !== named.definition || name === text) return text
  return written(({ format, say }) => (format.locale.startsWith('en') ? text : say(name)))
}

/** Returns a store's order statuses, in the merchant's order, with the texts that pages show. */
export async function listStatusNames(db: Caller['db'], storeId: number) {
  const statuses = await listStatuses(db, storeId)
  return statuses.map((status) => ({ ...status, text: statusName(status) }))
}

/** The texts of these statuses by their ids; an unknown id is its own. */
export function textsOf<Said extends Phrase>(statuses: readonly { id: number; text: Said }[]) {
  const texts = new Map<number, Said>(statuses.map((status) => [status.id, status.text]))
  return (id: number): Said | string => texts.get(id) ?? String(id)
}

/** A state in words, and the class of its badge; empty: neither good nor bad. */
export interface Chip {
  readonly text: Text
  readonly tone: 'ok' | 'warn' | 'bad' | ''
}

export const paymentChips: Readonly<Record<PaymentState, Chip>> = {
  unpaid: { text: t('Unpaid'), tone: 'bad' },
  'part-paid': { text: t('Partly paid'), tone: 'warn' },
  paid: { text: t('Paid'), tone: 'ok' },
  'part-refunded': { text: t('Partly refunded'), tone: '' },
  refunded: { text: t('Refunded'), tone: '' },
  overpaid: { text: t('Overpaid'), tone: 'bad' },
}

export const fulfilmentChips: Readonly<Record<Fulfilment, Chip>> = {
  waiting: { text: t('Not shipped'), tone: 'warn' },
  part: { text: t('Partly shipped'), tone: 'warn' },
  left: { text: t('Shipped'), tone: 'ok' },
  none: { text: t('Nothing to ship'), tone: '' },
}

/** The states of an order, to be shown. */
export function chipsOf({ payment, fulfilment }: OrderStates): { readonly payment: Chip; readonly fulfilment: Chip } {
  return { payment: paymentChips[payment], fulfilment: fulfilmentChips[fulfilment] }
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

export type ShownPayments = ReturnType<typeof paymentsInWords>

/** The payments of an order for `payments.eta`. */
export function paymentsInWords({ state, transactions, ...sums }: Payments) {
  return {
    ...sums,
    state: paymentChips[state],
    transactions: transactions.map(({ type, ...transaction }) => ({ ...transaction, type: typeName(type) })),
  }
}

export const mailKindTitles: Readonly<Record<MailKind, Text>> = {
  'order-placed': t('Order placed'),
  'order-paid': t('Order paid'),
  'parcel-sent': t('Parcel sent'),
  'order-refunded': t('Money paid back'),
  'order-returned': t('Return arrived'),
  'order-cancelled': t('Order cancelled'),
  'order-message': t('Message'),
}
