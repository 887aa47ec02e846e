import { changeRecord } from '../../../../engine/changing/change.ts'
import { LONG_TEXT } from '../../../../engine/definition/fields.ts'
import { type Text, type TextValues, t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { isVoid, paymentsOf, readPayments, signedAmount, VOID } from '../../../../shop/resources/orders/payments.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { textIn } from '../../../html/request.ts'
import { idIn, requireUnchanged, type Sent } from '../../frame/pages.ts'
import { paymentsInWords, type ShownPayments } from '../../records/order-words.ts'
import { transactionItems } from './record-payment.ts'
import type { OrderRequest } from './special.ts'

const REASON_MAX = 255

/** Asks for the reason before a transaction is made void, and says what the sums of the order become. */
export async function voidPage({ caller, record: order, params, typed }: OrderRequest): Promise<HtmlPage> {
  const transactionId = idIn({ params }, 'transactionId')
  const { transactions, ...before } = paymentsInWords(await readPayments(caller, order))
  const transaction = transactions.find(({ id }) => id === transactionId)
  if (transaction === undefined) throw noSuchPayment()
  const others = order.TransactionList.filter(({ TransactionIndexID }) => TransactionIndexID !== transactionId)
  const after = paymentsOf({ ...order, TransactionList: others })
  return {
    template: '/pages/shop/orders/void-transaction',
    title: titleOf(transaction, caller.store.currency),
    values: typed ?? {},
    data: {
      transaction,
      isDone: transaction.isVoid,
      changes: [
        [t('Paid'), before.paid, after.paid],
        [t('Refunded'), before.refunded, after.refunded],
        [t('Net'), before.net, after.net],
        [t('Open'), before.open, after.open],
      ].filter(([, from, to]) => from !== to),
      // What was paid back without having been paid is open beside the total.
      unpaidRefund: after.open > 0 ? Math.max(-after.net, 0) : 0,
      reasonMax: REASON_MAX,
      labels: { Reason: t('Reason') },
    },
  }
}

function titleOf({ amount, isVoid: isDone }: ShownPayments['transactions'][number], currency: string): Text {
  const values: TextValues = { amount: ({ format }) => format.money(Math.abs(amount), currency) }
  const isRefund = amount < 0
  if (isDone) {
    return isRefund ? t('This refund of {amount} is void', values) : t('This payment of {amount} is void', values)
  }
  return isRefund ? t('Make the refund of {amount} void?', values) : t('Make the payment of {amount} void?', values)
}

function noSuchPayment(): StoreFailure {
  return new StoreFailure('not-found', 'This order has no such payment')
}

const advice = 'Look at what is recorded now, and send the form again if it still applies'

/** Makes a transaction void: it stays in sight and counts as nothing. */
export async function makeVoid(asked: Sent<OrderRequest>): Promise<string> {
  const { caller, id, typed, record: order } = asked
  const key = idIn(asked, 'transactionId')
  const found = order.TransactionList.find(({ TransactionIndexID }) => TransactionIndexID === key)
  if (found === undefined) throw noSuchPayment()
  const precondition = requireUnchanged(asked, 'order', advice)
  if (isVoid(found.TransactionType)) throw new StoreFailure('invalid-state', 'This payment is void already')
  const reason = textIn(typed, 'Reason').trim()
  if (reason === '') throw refusedFields([{ field: 'Reason', problem: 'is required' }])
  if (reason.length > REASON_MAX) {
    throw refusedFields([{ field: 'Reason', problem: `may have ${REASON_MAX} characters at most` }])
  }
  // The reason stands in the note, where programs read it too.
  const note = [found.TransactionResponseText, reason].filter(Boolean).join('\n')
  if (note.length > LONG_TEXT) {
    const problem = `makes the note of the payment longer than ${LONG_TEXT} characters`
    throw refusedFields([{ field: 'Reason', problem }])
  }
  const body = { TransactionType: VOID, TransactionResponseText: note }
  await changeRecord(caller, orders, { kind: 'update-item', id, list: transactionItems, key, body }, { precondition })
  return `/admin/orders/${id}/payments?notice=${signedAmount(found) < 0 ? 'refund' : 'payment'}-voided`
}
