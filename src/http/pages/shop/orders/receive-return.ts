import type { Caller } from '../../../../engine/caller.ts'
import { changeRecord } from '../../../../engine/changing/change.ts'
import type { RecordOf } from '../../../../engine/definition/record-of.ts'
import { getRecord, notFound } from '../../../../engine/reading/read.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { exact, sum } from '../../../../shop/resources/orders/amounts.ts'
import { goodsWords } from '../../../../shop/resources/orders/line-description.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { paymentsOf } from '../../../../shop/resources/orders/payments.ts'
import { type KnownRefund, readRefunds, refundedExtent } from '../../../../shop/resources/orders/refunds.ts'
import { rehearse, type StockEffect } from '../../../../shop/resources/orders/rehearse.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { holdsStock } from '../../../../shop/resources/orders/statuses.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { inFormFields } from '../../../html/page-routes.ts'
import { textIn } from '../../../html/request.ts'
import { idIn, type RecordRequest, requireUnchanged, type Sent } from '../../frame/pages.ts'
import { readThumbnails } from '../products/thumbnails.ts'
import { changedMembers, type LineField, labelsOf, storedTexts } from './line-fields.ts'
import { quantityFields, returnLabels, returnWords } from './returns.ts'

type ReturnRecord = RecordOf<typeof rma>
type Asked = RecordRequest<ReturnRecord>

/** The order of the address, of which the return has to be one. */
function orderIdOf(asked: Asked): number {
  const orderId = idIn(asked)
  if (asked.record.OrderID !== orderId) throw notFound(rma, asked.id)
  return orderId
}

/** The fields of the quantities of an item. */
function fieldsOf(item: ReturnRecord['RMAItemList'][number], at: number): LineField[] {
  return quantityFields({ ...item, name: `Item.${at}`, sku: item.SKU }, at)
}

/** The form has those that were received and go back to stock. */
const receivedOf = (...item: Parameters<typeof fieldsOf>) => fieldsOf(...item).slice(1)

/** Receives and restocks what a return of an order has. */
export const returnPage = (asked: Asked) => rehearsedPage(asked, null)

async function rehearsedPage(asked: Asked, stock: readonly StockEffect[] | null): Promise<HtmlPage> {
  const { caller, id: rmaId, record, typed, writing, isOutdated } = asked
  const id = orderIdOf(asked)
  const order: OrderRecord = JSON.parse(await getRecord(caller, orders, id))
  const items = record.RMAItemList.map((item, at) => {
    const { name: title, choices } = goodsWords(item.ItemName, caller.store.currency)
    return { ...item, name: `Item.${at}`, sku: item.SKU, title, choices }
  })
  const stored = {
    RMAStatusID: String(record.RMAStatusID),
    ...storedTexts(record.RMAItemList.flatMap(receivedOf), writing),
  }
  // The rows typed may be of other items.
  const values = typed === null || isOutdated ? stored : typed
  const { choices, textOf } = await returnWords(caller, values)
  const refunds = (await readRefunds(caller, id)).filter((refund) => refund.rmaId === rmaId)
  return {
    template: '/pages/shop/orders/receive-return',
    title: t('Return {id} of order {number}', { id: String(rmaId), number: invoiceOf(order) }),
    values,
    data: {
      order,
      id,
      rmaId,
      record,
      refunds,
      isToRefund: isToRefund(record, refunds) && paymentsOf(order).net > 0,
      isMoneyBack: record.RMAMethodID === MONEY_BACK,
      reason: textOf('RMAReasonID', record.RMAReasonID),
      compensation: textOf('RMAMethodID', record.RMAMethodID),
      choices,
      items,
      thumbnailOf: await readThumbnails(caller, items),
      stock,
      holdsStock: holdsStock(order.OrderStatusID),
      labels: { ...returnLabels, ...labelsOf(record.RMAItemList.flatMap(fieldsOf)) },
    },
  }
}

/** What stores begin with calls this compensation money back; the meaning of the others is the merchant's own. */
const MONEY_BACK = 1

/** Whether more was received than is refunded. */
function isToRefund({ RMAItemList }: ReturnRecord, refunds: readonly KnownRefund[]): boolean {
  const received = sum(RMAItemList.map(({ ReceivedQuantity }) => exact(ReceivedQuantity)))
  return received > sum([...refundedExtent(refunds).pieces.values()])
}

/** Reads the form of a return as a change of it, unless it has been changed since the form was shown. */
function readReceived(asked: Sent<Asked>) {
  const { id, record, typed } = asked
  const orderId = orderIdOf(asked)
  const advice = 'The form shows the return as it is now. Make your changes again'
  const precondition = requireUnchanged(asked, 'return', advice)
  const items = record.RMAItemList.map((item, at) => ({ ...item, ...changedMembers(receivedOf(item, at), asked) }))
  const body = { RMAStatusID: textIn(typed, 'RMAStatusID') || record.RMAStatusID, RMAItemList: items }
  const nameOf = (field: string) => field.replace(/^RMAItemList\[(\d+)\]\.(\w+)$/, 'Item.$1.$2')
  const change = (tx: Caller) => changeRecord(tx, rma, { kind: 'update', id, body }, { precondition })
  return { orderId, change, nameOf }
}

/** The form with what saving it would do to the stock. */
export async function stockOfReturn(asked: Sent<Asked>): Promise<HtmlPage> {
  const { orderId, change, nameOf } = readReceived(asked)
  const productIds = asked.record.RMAItemList.map(({ CatalogID }) => CatalogID).filter((productId) => productId > 0)
  const { stock } = await rehearse(asked.caller, { orderId, productIds }, change).catch(inFormFields(nameOf))
  return rehearsedPage(asked, stock)
}

export async function saveReturn(asked: Sent<Asked>): Promise<string> {
  const { orderId, change, nameOf } = readReceived(asked)
  await change(asked.caller).catch(inFormFields(nameOf))
  return `/admin/orders/${orderId}?notice=record-saved`
}
