import type { Caller } from '../../../../engine/caller.ts'
import { changeRecord } from '../../../../engine/changing/change.ts'
import type { NestedSubResource } from '../../../../engine/definition/resource.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { readDate, writeDate } from '../../../../foundation/values/dates.ts'
import { readNames } from '../../../../shop/resources/name-lists/name-lists.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { readPayments } from '../../../../shop/resources/orders/payments.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { numberIn, type Writing } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { inFormFields, refusedFields } from '../../../html/page-routes.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { addOnce } from '../../frame/once.ts'
import { ifUnchanged, type Sent } from '../../frame/pages.ts'
import { labelsOf } from '../../records/edit-page.ts'
import { paymentsInWords } from '../../records/order-words.ts'
import { pickList } from '../../records/services.ts'
import { type OrderRequest, orderService } from './special.ts'

/** The types that the form offers, with what they are for. Others are those of refunds, applications and gateways. */
const types = [
  ['Sale', t('Payment')],
  ['Authorize', t('Authorization, not paid yet')],
  ['Capture', t('Payment of an authorization')],
] as const

/** The list of an order's transactions, by which one is changed. */
export const transactionItems = orders.subResources.Transactions as NestedSubResource

/** What pages have of the fields of a transaction. */
export const transactionLabels = labelsOf(pickList(orderService, 'TransactionList'))

/** Shows an order's payments and records payments. */
export async function paymentPage({ caller, record: order, writing, typed }: OrderRequest): Promise<HtmlPage> {
  const payments = paymentsInWords(await readPayments(caller, order))
  const values = {
    TransactionDateTime: writeDate(caller.now(), caller.store.timeZone),
    TransactionType: 'Sale',
    TransactionMethod: order.BillingPaymentMethod,
    TransactionAmount: payments.open > 0 ? writing.typed(payments.open) : '',
  }
  return {
    template: '/pages/shop/orders/record-payment',
    title: t('Payments of order {number}', { number: invoiceOf(order) }),
    values: typed ?? values,
    data: { order, payments, types, ...(await transactionChoices(caller, order, typed)), labels: transactionLabels },
  }
}

/** What the fields of transaction-fields.eta need. */
export async function transactionChoices(caller: Caller, order: OrderRecord, typed: Form | null) {
  const stored = await readNames(caller, 'payment-methods')
  const own = order.BillingPaymentMethod
  const names = new Set([own, ...stored.filter(({ visible }) => visible).map(({ name }) => name)])
  names.delete('')
  return {
    methods: [['', t('Not specified')], ...[...names].map((name) => [name, name])],
    askedDate: typed === null ? '' : textIn(typed, 'TransactionDateTime'),
  }
}

/** Records the payment of the form once. */
export async function recordPayment({ caller, id, typed: form, writing }: Sent<OrderRequest>): Promise<string> {
  const body = transactionIn(form, writing, caller)
  const advice = 'Look at what is recorded now, and send the form again if it still applies'
  const precondition = ifUnchanged(form, 'order', advice)
  const change = { kind: 'add-item', id, list: transactionItems, body } as const
  await addOnce(caller, form, {
    scope: `payment of order ${id}`,
    resultKey: 'TransactionIndexID',
    add: (remember) => changeRecord(caller, orders, change, { precondition, remember }),
    messages: {
      isDone: 'This form has recorded a payment already. If you want to record this one too, press the button again',
      isPending: 'This payment is being recorded. It appears in the list in a moment',
    },
  }).catch(inFormFields((field) => field))
  return `/admin/orders/${id}?notice=payment-recorded`
}

/** Clocks differ by less. */
const AHEAD_MS_MAX = 60_000

/** The transaction as a body of REST, of one of these types. The rest of its fields are a gateway's. */
export function transactionIn(
  form: Form,
  writing: Writing,
  { now, store }: Caller,
  offered: readonly string[] = types.map(([type]) => type),
) {
  const date = textIn(form, 'TransactionDateTime')
  const aheadMs = (readDate(date, store.timeZone)?.instant.getTime() ?? 0) - now().getTime()
  const type = textIn(form, 'TransactionType')
  const amount = numberIn(form, 'TransactionAmount', writing, 'sum') ?? 0
  const faults = [
    ...(offered.includes(type) ? [] : [{ field: 'TransactionType', problem: `must be one of ${offered.join(', ')}` }]),
    ...(amount > 0 ? [] : [{ field: 'TransactionAmount', problem: 'must be above 0' }]),
    ...(date === '' ? [{ field: 'TransactionDateTime', problem: 'is required' }] : []),
    // The form says which date it has asked about.
    ...(aheadMs > AHEAD_MS_MAX && textIn(form, 'AskedDate') !== date
      ? [{ field: 'TransactionDateTime', problem: 'is in the future. If it is right, press the button again' }]
      : []),
  ]
  if (faults.length > 0) throw refusedFields(faults)
  return {
    TransactionDateTime: date,
    TransactionType: type,
    TransactionMethod: textIn(form, 'TransactionMethod'),
    TransactionAmount: amount,
    TransactionReference: textIn(form, 'TransactionReference').trim(),
    TransactionResponseText: textIn(form, 'TransactionResponseText').trim(),
    TransactionCaptured: type === 'Authorize' ? '0' : '1',
  }
}
