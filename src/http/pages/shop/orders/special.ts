import { text } from '../../../../engine/definition/fields.ts'
import { equalTo, type Filter, oneOf } from '../../../../engine/definition/filters.ts'
import { type Phrase, type Text, t } from '../../../../foundation/texts/text.ts'
import { billedTo, billingNames } from '../../../../shop/resources/orders/buyer.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { fulfilments, isToBePaid, paymentStates, readStates } from '../../../../shop/resources/orders/states.ts'
import { holdsStock } from '../../../../shop/resources/orders/statuses.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import type { RecordRequest } from '../../frame/pages.ts'
import { type Chip, chipsOf, fulfilmentChips, listStatusNames, paymentChips } from '../../records/order-words.ts'
import { pickValues, serviceOf, type Value } from '../../records/services.ts'

/** A request to a page of one order. */
export type OrderRequest = RecordRequest<OrderRecord>

/** What the list shows beyond the record. Only those who may read customers see whose order it is. */
const ownValues: readonly Value[] = [
  ownValue('customer', t('Customer'), { description: 'The person or the company that pays.', needs: 'Customers' }),
  ownValue('payment', t('Payment'), { description: 'What is paid of the order, by its payments.' }),
  ownValue('fulfilment', t('Shipping'), { description: 'What of the order has left, by its shipments.' }),
]

function ownValue(name: string, label: Text, options: { description: string; needs?: string }): Value {
  return { path: [name], field: text(20, { column: name, access: 'ro', ...options }), label, refersTo: null }
}

const choicesOf = <Key extends string>(keys: readonly Key[], chips: Readonly<Record<Key, Chip>>) =>
  keys.map((key) => [key, chips[key].text] as const)

const choicesOfStatuses = (statuses: readonly { id: number; text: Phrase }[]) =>
  statuses.map(({ id, text }) => [String(id), text] as const)

/** The value of the payment filter for what a shop waits for: unpaid and partly paid orders without those that are cancelled or not completed. */
export const TO_BE_PAID = 'to-be-paid'

const oneState = oneOf('payment', [...paymentStates, TO_BE_PAID])
const paymentFilter: Filter = {
  ...oneState,
  read: (given, name, store) => (given === TO_BE_PAID ? isToBePaid : oneState.read(given, name, store)),
}

/** Orders have a page of their own, which leads to that of all their fields, and are placed by a form of their own. */
export const orderService = serviceOf(orders, {
  recordPath: '/:id/fields',
  selection: { template: '/pages/shop/orders/selection', action: '/admin/orders/bulk/slips' },
  columns: ['InvoiceNumber', 'OrderDate', 'customer', 'OrderAmount', 'payment', 'fulfilment', 'OrderStatusID'],
  listValues: ownValues,
  listFilters: {
    customerid: equalTo('customerId'),
    payment: paymentFilter,
    fulfilment: oneOf('fulfilment', fulfilments),
  },
  inSight: ['find', 'payment', 'fulfilment', 'orderstatus', 'datestart', 'dateend'],
  listFiles: '/pages/shop/orders/files',
  wordsOf: async (caller, ids) => {
    const [statuses, states] = await Promise.all([listStatusNames(caller.db, caller.store.id), readStates(caller, ids)])
    return {
      choices: {
        OrderStatusID: choicesOfStatuses(statuses),
        payment: [[TO_BE_PAID, t('Still to be paid')], ...choicesOf(paymentStates, paymentChips)],
        fulfilment: choicesOf(fulfilments, fulfilmentChips),
      },
      targets: { OrderStatusID: choicesOfStatuses(statuses.filter(({ visible }) => visible)) },
      shownAs: (name, order) => {
        if (name === 'InvoiceNumber') return { text: invoiceOf(order) }
        if (name === 'customer') return { text: billedTo(order) }
        const known = states.get(Number(order.OrderID))
        if (known === undefined || (name !== 'payment' && name !== 'fulfilment')) return null
        const { text, tone } = chipsOf(known)[name]
        // Nobody waits for the money or the goods of an order that is cancelled.
        return { text, tone: tone === 'ok' || holdsStock(Number(order.OrderStatusID)) ? tone : '' }
      },
    }
  },
  isAddedElsewhere: true,
  emptyTemplate: '/pages/shop/orders/empty',
})

/** What an order's forms have of the billing address, in the order of its pages. */
export const billingValues = pickValues(
  { values: orderService.sections.flatMap(({ values }) => values) },
  ...billingNames,
)

/** The page of a return leads to the one of its order, where it is received. */
export const returnService = serviceOf(rma, { ownPage: '/pages/shop/orders/return-link' })
