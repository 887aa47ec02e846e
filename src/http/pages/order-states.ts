import { type Text, t } from '../../foundation/texts/text.ts'
import type { Fulfilment, OrderStates, PaymentState } from '../../shop/resources/orders/states.ts'

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
