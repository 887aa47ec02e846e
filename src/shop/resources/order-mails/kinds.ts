/** What every text may name in braces. */
const usual = ['order', 'name', 'items', 'total', 'shop', 'page']

/** The mails of an order to its customer, with what their texts may name. */
export const placeholders = {
  'order-placed': usual,
  'order-paid': usual,
  /** Of a shipment that has left. */
  'parcel-sent': [...usual, 'tracking'],
  /** Of a transaction that pays back. */
  'order-refunded': [...usual, 'amount'],
  /** Of a return of which something has arrived. */
  'order-returned': usual,
  'order-cancelled': usual,
  /** What a person writes, as often as they like. */
  'order-message': usual,
} as const

export type MailKind = keyof typeof placeholders
/** Those that changes cause, where the store has switched them on. */
export type CausedKind = Exclude<MailKind, 'order-message'>

export const mailKinds = Object.keys(placeholders) as MailKind[]
export const causedKinds = mailKinds.filter((kind) => kind !== 'order-message')
