import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../../../engine/caller.ts'
import { changeRecord } from '../../../../engine/changing/change.ts'
import type { RecordOf } from '../../../../engine/definition/record-of.ts'
import { getRecord, notFound } from '../../../../engine/reading/read.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { goodsWords } from '../../../../shop/resources/orders/line-description.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { rehearse } from '../../../../shop/resources/orders/rehearse.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { holdsStock } from '../../../../shop/resources/orders/statuses.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import { writingOf } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { inFormFields } from '../../../html/page-routes.ts'
import { type CallerServices, formOf, merchantCaller } from '../../../html/request.ts'
import { readIds } from '../../../server/json/parameters.ts'
import { ifUnchanged, tagOf } from '../../frame/unchanged.ts'
import { changed } from './goods-record.ts'
import { returnLabels } from './return-form.ts'
import { returnWords, type ShownReturn } from './returns.ts'

/** Reads the return, which has to be one of the order. */
async function readReturn(request: FastifyRequest, services: CallerServices) {
  const { id, rmaId } = readIds(request.params, 'id', 'rmaId')
  const caller = merchantCaller(request, services)
  const text = await getRecord(caller, rma, rmaId)
  const record: RecordOf<typeof rma> = JSON.parse(text)
  if (record.OrderID !== id) throw notFound(rma, rmaId)
  return { id, rmaId, caller, text, record }
}

const received = ['ReceivedQuantity', 'RestockQuantity'] as const
const fieldOf = (index: number, name: string) => `Item.${index}.${name}`

/** The form that receives and restocks what a return has. */
export async function returnPage(
  request: FastifyRequest,
  services: CallerServices,
  { typed = null, isOutdated = false, stock = null }: ShownReturn = {},
): Promise<HtmlPage> {
  const { id, rmaId, caller, text, record } = await readReturn(request, services)
  const order: OrderRecord = JSON.parse(await getRecord(caller, orders, id))
  const items = record.RMAItemList.map((item, index) => {
    const { name: title, choices } = goodsWords(item.ItemName, caller.store.currency)
    return { ...item, name: `Item.${index}`, sku: item.SKU, title, choices }
  })
  const stored = {
    RMAStatusID: String(record.RMAStatusID),
    ...Object.fromEntries(
      items.flatMap((item, index) =>
        received.map((name) => [fieldOf(index, name), writingOf(request).typed(item[name])]),
      ),
    ),
  }
  // The rows typed may be of other items.
  const values = typed === null || isOutdated ? stored : typed
  const { choices, textOf } = await returnWords(caller, values)
  return {
    template: '/pages/shop/orders/receive-return',
    title: t('Return {id} of order {number}', { id: String(rmaId), number: invoiceOf(order) }),
    values,
    data: {
      id,
      rmaId,
      record,
      reason: textOf('RMAReasonID', record.RMAReasonID),
      compensation: textOf('RMAMethodID', record.RMAMethodID),
      choices,
      items,
      etag: tagOf(text, typed, isOutdated),
      stock,
      holdsStock: holdsStock(order.OrderStatusID),
      labels: returnLabels(items),
    },
  }
}

const adviceForStored = 'The form shows the return as it is now. Make your changes again'

/** Reads the form of a return as a change of it, unless it has been changed since the form was shown. */
async function readReceived(request: FastifyRequest, services: CallerServices) {
  const found = await readReturn(request, services)
  const { rmaId, caller, text, record } = found
  const form = formOf(request)
  const precondition = ifUnchanged(form, 'return', adviceForStored)
  precondition(text)
  const typed = { form, writing: writingOf(request) }
  const typedIn = (name: string, stored: number) => changed(typed, name, stored, 'number') ?? stored
  const items = record.RMAItemList.map((item, index) => ({
    ...item,
    ...Object.fromEntries(received.map((name) => [name, typedIn(fieldOf(index, name), item[name])])),
  }))
  const body = { RMAStatusID: typedIn('RMAStatusID', record.RMAStatusID), RMAItemList: items }
  const nameOf = (field: string) =>
    field.replace(/^RMAItemList\[(\d+)\]\.(\w+)$/, (_, index, name) => fieldOf(Number(index), name))
  const change = (tx: Caller) => changeRecord(tx, rma, { kind: 'update', id: rmaId, body }, { precondition })
  return { ...found, caller, form, change, nameOf }
}

/** The form with what saving it would do to the stock. */
export async function stockOfReturn(request: FastifyRequest, services: CallerServices): Promise<HtmlPage> {
  const { id, caller, form, record, change, nameOf } = await readReceived(request, services)
  const productIds = record.RMAItemList.map(({ CatalogID }) => CatalogID).filter((productId) => productId > 0)
  const { stock } = await rehearse(caller, { orderId: id, productIds }, change).catch(inFormFields(nameOf))
  return returnPage(request, services, { typed: form, stock })
}

export async function saveReturn(request: FastifyRequest, services: CallerServices): Promise<string> {
  const { id, caller, change, nameOf } = await readReceived(request, services)
  await change(caller).catch(inFormFields(nameOf))
  return `/admin/orders/${id}?notice=record-saved`
}
