import type { Caller } from '../../../../engine/caller.ts'
import { changeRecord, inChange } from '../../../../engine/changing/change.ts'
import type { Remember } from '../../../../engine/changing/idempotency.ts'
import { planChange } from '../../../../engine/changing/plan-change.ts'
import { lockRecord } from '../../../../engine/changing/write.ts'
import type { Row } from '../../../../engine/definition/stored-row.ts'
import { getRecord } from '../../../../engine/reading/read.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { writeDate } from '../../../../foundation/values/dates.ts'
import type { Fault } from '../../../../foundation/values/failure.ts'
import { exact, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { otherAmount } from '../../../../shop/resources/orders/figures.ts'
import { ORDER_ITEMS_MAX } from '../../../../shop/resources/orders/order-body.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { fitted, refundParts, totalOf, workingsOf } from '../../../../shop/resources/orders/refund-amounts.ts'
import { quantityProblem } from '../../../../shop/resources/orders/refunds.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import { numberIn } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { inFormFields, refusedFields } from '../../../html/page-routes.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { addOnce } from '../../frame/once.ts'
import { ifUnchanged, type Sent, tagOf } from '../../frame/pages.ts'
import { readThumbnails } from '../products/thumbnails.ts'
import { labelsOf } from './line-fields.ts'
import { transactionChoices, transactionIn, transactionItems, transactionLabels } from './record-payment.ts'
import { type Refundable, readRefundable, restockedReturn, returnOf, shownOf } from './refundable.ts'
import type { OrderRequest } from './special.ts'

/** Shows what may be refunded of an order. With `return` it is for a return, whose quantities it begins with. */
export async function refundPage(asked: OrderRequest): Promise<HtmlPage> {
  const state = await readRefundable(asked)
  const values = asked.typed ?? valuesOf(asked, state)
  const isToWorkOut = asked.typed === null && state.lines.some(({ wanted }) => wanted > 0)
  return shown(asked, state, values, isToWorkOut ? readGoods(asked, state, values) : null)
}

/** The form with what its goods and its shipping come to. */
export async function workedOutPage(asked: Sent<OrderRequest>): Promise<HtmlPage> {
  const state = await readRefundable(asked)
  return shown(asked, state, asked.typed, readGoods(asked, state, asked.typed))
}

function valuesOf({ caller, record, writing }: OrderRequest, { lines, isLive, shippingLeft }: Refundable): Form {
  const chosen = lines.filter(({ wanted }) => wanted > 0)
  return {
    ...Object.fromEntries(chosen.map(({ field, wanted }) => [`${field}.Quantity`, writing.typed(wanted)])),
    RefundShippingAmount: isLive || shippingLeft === 0 ? '' : writing.typed(shippingLeft),
    TransactionDateTime: writeDate(caller.now(), caller.store.timeZone),
    TransactionMethod: record.BillingPaymentMethod,
  }
}

async function shown(asked: OrderRequest, state: Refundable, values: Form, goods: Goods | null): Promise<HtmlPage> {
  const { caller, id, record: order, text, typed, isOutdated, writing } = asked
  const { lines } = state
  return {
    template: '/pages/shop/orders/refund',
    title: t('Refund of order {number}', { number: invoiceOf(order) }),
    values: goods === null ? values : { ...values, TransactionAmount: writing.typed(goods.amount) },
    data: {
      order,
      ...state,
      isTooLong: lines.length > ORDER_ITEMS_MAX,
      canRestock: lines.some(({ restockable }) => restockable > 0),
      other: otherAmount(order, caller.store.currency),
      goods,
      thumbnailOf: await readThumbnails(caller, lines),
      etag: tagOf(await shownOf(caller, id, text), { typed, isOutdated }),
      ...(await transactionChoices(caller, order, typed)),
      labels: {
        ...transactionLabels,
        TransactionResponseText: t('Reason'),
        RefundShippingAmount: t('Shipping'),
        ...labelsOf(lines.map(({ field, sku }) => ({ name: `${field}.Quantity`, label: t('{sku}: pieces', { sku }) }))),
      },
    },
  }
}

type Goods = ReturnType<typeof readGoods>

/** Reads what of the order the form refunds, and works out what that comes to. Throws (400, naming the fields) more than is left. */
function readGoods({ caller, writing }: OrderRequest, state: Refundable, form: Form) {
  const { currency } = caller.store
  const { figures, before, lines, payments, shippingLeft } = state
  const chosen = lines.map((line) => {
    const isRestocked = textIn(form, `${line.field}.Restock`) !== ''
    return { line, isRestocked, quantity: numberIn(form, `${line.field}.Quantity`, writing) ?? 0 }
  })
  const faults = chosen.flatMap(({ line, isRestocked, quantity }): Fault[] => {
    const isTooMuch = isRestocked && quantity > line.restockable
    const problem =
      (quantity < 0 ? 'must be at least 0' : quantityProblem(quantity, line.quantity, exact(line.refunded))) ??
      (isTooMuch ? `must be at most ${line.restockable} to be put back into stock` : null)
    return problem === null ? [] : [{ field: `${line.field}.Quantity`, problem }]
  })
  const shipping = numberIn(form, 'RefundShippingAmount', writing, 'sum') ?? 0
  if (shipping < 0 || shipping > shippingLeft) {
    const problem = `must be from 0 to ${shippingLeft} ${currency}, which is left of shipping`
    faults.push({ field: 'RefundShippingAmount', problem })
  }
  if (faults.length > 0) throw refusedFields(faults)
  const pieces = new Map(chosen.map(({ line, quantity }) => [line.id, exact(quantity)]))
  const now = { pieces, shipping: exact(shipping) }
  const parts = refundParts(figures, before, now, currency)
  const total = toNumber(totalOf(parts))
  return {
    parts,
    workings: workingsOf(figures, now, parts, currency),
    shipping,
    tax: toNumber(parts.tax),
    total,
    /** What is proposed: the total, unless less is left of what was paid. */
    amount: Math.max(Math.min(total, payments.net), 0),
    restocked: chosen.flatMap(({ line: { row }, isRestocked, quantity }): Row[] =>
      isRestocked && quantity > 0 ? [{ ...row, quantity }] : [],
    ),
  }
}

/** Reads the whole form: the transaction as a body of REST, and what goes back into stock. */
function readRefund(asked: Sent<OrderRequest>, state: Refundable) {
  const { caller, typed, writing } = asked
  const { currency } = caller.store
  const goods = readGoods(asked, state, typed)
  const body = transactionIn({ ...typed, TransactionType: 'Refund' }, writing, caller, ['Refund'])
  const amount = body.TransactionAmount
  refuseTooMuch(amount, state.payments, currency)
  if (amount !== goods.amount && body.TransactionResponseText === '') {
    const problem = `is required: ${goods.amount} ${currency} were worked out`
    throw refusedFields([{ field: 'TransactionResponseText', problem }])
  }
  const { lines, shipping, tax } = fitted(goods.parts, exact(amount), currency)
  const amounts = new Map(state.lines.map(({ id }, at) => [id, toNumber(lines[at] ?? 0n)]))
  const RefundItemList = goods.workings.map(({ id, quantity }) => {
    return { ItemIndexID: id, RefundQuantity: quantity, RefundAmount: amounts.get(id) }
  })
  return {
    body: { ...body, RefundShippingAmount: toNumber(shipping), RefundTaxAmount: toNumber(tax), RefundItemList },
    restocked: goods.restocked,
  }
}

function refuseTooMuch(amount: number, { paid, refunded, net: left }: Refundable['payments'], currency: string): void {
  if (amount <= left) return
  const known = `${paid} ${currency} were paid, and ${refunded} ${currency} were refunded already`
  const problem =
    left > 0 ? `must be at most ${left} ${currency} for a refund: ${known}` : `cannot be refunded: ${known}`
  throw refusedFields([{ field: 'TransactionAmount', problem }])
}

/** Records the refund of the form once, and puts back into stock what it says. Without an amount, works it out first. */
export async function recordRefund(asked: Sent<OrderRequest>): Promise<string | HtmlPage> {
  const { caller, id, typed } = asked
  if (textIn(typed, 'TransactionAmount').trim() === '') return workedOutPage(asked)
  await addOnce(caller, typed, {
    scope: `refund of order ${id}`,
    resultKey: 'TransactionIndexID',
    add: (remember) => addRefund(asked, remember),
    messages: {
      isDone: 'This form has recorded a refund already. If you want to record this one too, press the button again',
      isPending: 'This refund is being recorded. It appears in the list in a moment',
    },
  }).catch(inFormFields((field) => field))
  return `/admin/orders/${id}?notice=refund-recorded`
}

/** Locks the return, the order and products in this order, as everywhere; the number of the refund comes behind them (refunds.ts). */
async function addRefund(asked: Sent<OrderRequest>, remember: Remember | undefined) {
  const { caller, id, text, typed } = asked
  const unchanged = ifUnchanged(typed, 'order', 'The form shows what can be refunded now. Check it, and send it again')
  // Behind what it is read by, so that that is what the form showed.
  const state = await readRefundable(asked)
  unchanged(await shownOf(caller, id, text))
  const { returnId } = state
  const { body, restocked } = readRefund(asked, state)
  const isNew = returnId === 0 && restocked.length > 0
  // Reserves the id outside of the transaction.
  const planned = isNew ? await planChange(caller, rma, { kind: 'create', body: returnOf(id, restocked) }) : undefined
  const record = async (tx: Caller) => {
    if (returnId !== 0) await lockRecord(tx, rma, returnId, [])
    await lockRecord(tx, orders, id, [])
    unchanged(await shownOf(tx, id, await getRecord(tx, orders, id)))
    const RMAID = isNew ? await changeRecord(tx, rma, { kind: 'create', body: {} }, { planned }) : returnId
    if (returnId !== 0 && restocked.length > 0) {
      const change = { kind: 'update', id: returnId, body: await restockedReturn(tx, returnId, restocked) } as const
      await changeRecord(tx, rma, change)
    }
    const added = { kind: 'add-item', id, list: transactionItems, body: { ...body, RMAID } } as const
    return changeRecord(tx, orders, added)
  }
  return inChange(caller, record, remember)
}
