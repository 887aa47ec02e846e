import type { Fulfilment, OrderStates, PaymentState } from '../resources/orders/states.ts'

/** A state in words, and the class of its badge; empty: neither good nor bad. */
export interface Chip {
  readonly text: string
  readonly tone: 'ok' | 'warn' | 'bad' | ''
}

export const paymentChips: Readonly<Record<PaymentState, Chip>> = {
  unpaid: { text: 'Unpaid', tone: 'bad' },
  'part-paid': { text: 'Partly paid', tone: 'warn' },
  paid: { text: 'Paid', tone: 'ok' },
  'part-refunded': { text: 'Partly refunded', tone: '' },
  refunded: { text: 'Refunded', tone: '' },
  overpaid: { text: 'Overpaid', tone: 'bad' },
}

export const fulfilmentChips: Readonly<Record<Fulfilment, Chip>> = {
  waiting: { text: 'Not shipped', tone: 'warn' },
  part: { text: 'Partly shipped', tone: 'warn' },
  left: { text: 'Shipped', tone: 'ok' },
  none: { text: 'Nothing to ship', tone: '' },
}

/** The states of an order, to be shown. */
export function chipsOf({ payment, fulfilment }: OrderStates): { readonly payment: Chip; readonly fulfilment: Chip } {
  return { payment: paymentChips[payment], fulfilment: fulfilmentChips[fulfilment] }
}
