import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../../engine/caller.ts'
import { changeRecord, inChange, remembering } from '../../../engine/change.ts'
import type { Scalar } from '../../../engine/fields.ts'
import type { PendingAnswer } from '../../../engine/idempotency.ts'
import { type PlannedChange, planChange } from '../../../engine/plan-change.ts'
import { getRecord, notFound } from '../../../engine/read.ts'
import { lockRecord } from '../../../engine/write.ts'
import { type Page, sendPage } from '../../../html/page.ts'
import { inFormFields, pagesFor } from '../../../html/page-routes.ts'
import { type CallerServices, type Form, formOf, merchantCaller, textIn } from '../../../html/request.ts'
import { ORDER_ITEMS_MAX } from '../../../resources/orders/order-body.ts'
import { descriptionLines } from '../../../resources/orders/order-lines.ts'
import { orders } from '../../../resources/orders/orders.ts'
import { holdsStock } from '../../../resources/orders/statuses.ts'
import { returnedItems } from '../../../resources/orders/stock.ts'
import { rma } from '../../../resources/rma/rma.ts'
import { readIds } from '../../../server/parameters.ts'
import { addOnce } from './once.ts'
import { rehearse, type StockEffect } from './rehearse.ts'
import { type ReturnableLine, type ReturnBody, returnableLines, returnBody, returnLabels } from './return-form.ts'
import { ifUnchanged, tagOf } from './unchanged.ts'

const newAddress = '/admin/orders/:id/returns/new'
const address = '/admin/orders/:id/returns/:rmaId'

/** Adds the pages that add a return of an order, and that receive and restock what it returns. */
export function returnPages(app: FastifyInstance, services: CallerServices): void {
  const { page, form } = pagesFor(app, 'merchant')
  const isOutdated = (kind: string) => kind === 'precondition-failed' || kind === 'conflict'

  page(newAddress, (request) => newReturnPage(request, services))
  const newAgain = (request: FastifyRequest, _reply: unknown, { kind }: { kind: string }) =>
    newReturnPage(request, services, { typed: formOf(request), isOutdated: isOutdated(kind) })
  form(`${newAddress}/stock`, async (request, reply) => sendPage(reply, await stockOfNew(request, services)), newAgain)
  form(newAddress, (request) => add(request, services), newAgain)

  page(address, (request) => returnPage(request, services))
  const again = (request: FastifyRequest, _reply: unknown, { kind }: { kind: string }) =>
    returnPage(request, services, { typed: formOf(request), isOutdated: isOutdated(kind) })
  form(`${address}/stock`, async (request, reply) => sendPage(reply, await stockOfReturn(request, services)), again)
  form(address, (request) => save(request, services), again)
}

/** The returns of an order that pages show. */
const RETURNS_MAX = 100

/** The latest returns of an order: for `returns.eta`. */
export async function returnsOf({ db, store }: Caller, orderId: number) {
  const rows = await db.rma.findMany({
    where: { storeId: store.id, orderId },
    select: {
      id: true,
      rmaDate: true,
      statusId: true,
      items: {
        select: { sku: true, returnQuantity: true, receivedQuantity: true, restockQuantity: true },
        orderBy: { position: 'asc' },
      },
    },
    orderBy: { id: 'desc' },
    take: RETURNS_MAX + 1,
  })
  const returns = rows.slice(0, RETURNS_MAX).map(({ items, ...row }) => ({
    ...row,
    items: items.map(({ sku, ...item }) => ({
      sku,
      returned: Number(item.returnQuantity),
      received: Number(item.receivedQuantity),
      restocked: Number(item.restockQuantity),
    })),
  }))
  return { orderId, returns, isMore: rows.length > RETURNS_MAX }
}

interface Shown {
  readonly typed?: Form | null
  readonly isOutdated?: boolean
  readonly stock?: readonly StockEffect[] | null
}

interface OrderRecord {
  readonly InvoiceNumberPrefix: string
  readonly InvoiceNumber: number
  readonly OrderStatusID: number
}

const titleOf = ({ InvoiceNumberPrefix, InvoiceNumber }: OrderRecord) => `order ${InvoiceNumberPrefix}${InvoiceNumber}`

async function newReturnPage(
  request: FastifyRequest,
  services: CallerServices,
  { typed = null, isOutdated = false, stock = null }: Shown = {},
): Promise<Page> {
  const { id } = readIds(request.params, 'id')
  const caller = merchantCaller(request, services)
  const order = JSON.parse(await getRecord(caller, orders, id)) as OrderRecord
  const lines = await returnableLines(caller, id)
  return {
    template: '/pages/admin/orders/new-return',
    title: `Return of ${titleOf(order)}`,
    values: typed ?? { RMAReasonID: '0', RMAMethodID: '0', RMAStatusID: '1' },
    data: {
      id,
      lines,
      isTooLong: lines.length > ORDER_ITEMS_MAX,
      returned: await returnsOf(caller, id),
      etag: tagOf(await shownOf(caller, id), typed, isOutdated),
      // A new key each time the form is shown.
      oneTimeKey: randomUUID(),
      stock,
      holdsStock: holdsStock(order.OrderStatusID),
      labels: returnLabels(lines),
    },
  }
}

/** What the form of a new return is about: the order, and what its returns have. */
async function shownOf(caller: Caller, orderId: number): Promise<string> {
  return (await getRecord(caller, orders, orderId)) + JSON.stringify(await returnedItems(caller, orderId))
}

const adviceForNew = 'The form shows what can be returned now. Check your quantities, and send it again'

/** Adds the return, after it was found under the order's lock that other returns leave so much. */
async function addReturn(
  tx: Caller,
  orderId: number,
  form: Form,
  { body, refuseMore }: ReturnBody,
  planned?: PlannedChange,
): Promise<Scalar> {
  await lockRecord(tx, orders, orderId, [])
  ifUnchanged(form, 'order', adviceForNew)(await shownOf(tx, orderId))
  refuseMore(await returnableLines(tx, orderId))
  return changeRecord(tx, rma, { kind: 'create', body }, { planned })
}

async function readNew(request: FastifyRequest, services: CallerServices) {
  const { id } = readIds(request.params, 'id')
  const caller = merchantCaller(request, services)
  const form = formOf(request)
  await getRecord(caller, orders, id)
  const lines = await returnableLines(caller, id)
  return { id, caller, form, lines, read: returnBody(id, lines, form) }
}

async function stockOfNew(request: FastifyRequest, services: CallerServices): Promise<Page> {
  const { id, caller, form, lines, read } = await readNew(request, services)
  const productIds = productsOf(lines)
  const { stock } = await rehearse(caller, { orderId: id, productIds }, (tx) => addReturn(tx, id, form, read)).catch(
    inFormFields(read.nameOf),
  )
  return newReturnPage(request, services, { typed: form, stock })
}

function productsOf(lines: readonly ReturnableLine[]): number[] {
  return lines.flatMap(({ row }) => (row.productId === null ? [] : [Number(row.productId)]))
}

async function add(request: FastifyRequest, services: CallerServices): Promise<string> {
  const { id, caller, form, read } = await readNew(request, services)
  const addIn = async (answer: PendingAnswer<Scalar> | undefined) => {
    // Reserves the id outside of the transaction.
    const planned = await planChange(caller, rma, { kind: 'create', body: read.body })
    return inChange(caller, (tx) => addReturn(tx, id, form, read, planned), remembering(answer))
  }
  await addOnce(caller, form, {
    scope: `return of order ${id}`,
    resultKey: 'RMAID',
    add: addIn,
    idOf: Number,
    messages: {
      isDone: 'This form has added a return already. If you want to add this one too, press the button again',
      isPending: 'This return is being added. It appears with the order in a moment',
    },
  }).catch(inFormFields(read.nameOf))
  return `/admin/orders/${id}?notice=return-added`
}

interface ReturnRecord {
  readonly RMAID: number
  readonly OrderID: number
  readonly RmaDate: string
  readonly RMAStatusID: number
  readonly RMAItemList: readonly {
    readonly CatalogID: number
    readonly SKU: string
    readonly ItemName: string
    readonly ReturnQuantity: number
    readonly ReceivedQuantity: number
    readonly RestockQuantity: number
  }[]
}

/** Reads the return, which has to be one of the order. */
async function readReturn(request: FastifyRequest, services: CallerServices) {
  const { id, rmaId } = readIds(request.params, 'id', 'rmaId')
  const caller = merchantCaller(request, services)
  const text = await getRecord(caller, rma, rmaId)
  const record = JSON.parse(text) as ReturnRecord
  if (record.OrderID !== id) throw notFound(rma, rmaId)
  return { id, rmaId, caller, text, record }
}

const received = ['ReceivedQuantity', 'RestockQuantity'] as const
const fieldOf = (index: number, name: string) => `Item.${index}.${name}`

async function returnPage(
  request: FastifyRequest,
  services: CallerServices,
  { typed = null, isOutdated = false, stock = null }: Shown = {},
): Promise<Page> {
  const { id, rmaId, caller, text, record } = await readReturn(request, services)
  const order = JSON.parse(await getRecord(caller, orders, id)) as OrderRecord
  const items = record.RMAItemList.map((item, index) => {
    const [title = '', ...choices] = descriptionLines(item.ItemName)
    return { ...item, name: `Item.${index}`, sku: item.SKU, title, choices }
  })
  const stored = {
    RMAStatusID: String(record.RMAStatusID),
    ...Object.fromEntries(
      items.flatMap((item, index) => received.map((name) => [fieldOf(index, name), String(item[name])])),
    ),
  }
  return {
    template: '/pages/admin/orders/receive-return',
    title: `Return ${rmaId} of ${titleOf(order)}`,
    // The rows typed may be of other items.
    values: typed === null || isOutdated ? stored : typed,
    data: {
      id,
      rmaId,
      record,
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
  const typedIn = (name: string, stored: number) => {
    const typed = form[name] === undefined ? String(stored) : textIn(form, name).trim() || '0'
    return typed === String(stored) ? stored : typed
  }
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

async function stockOfReturn(request: FastifyRequest, services: CallerServices): Promise<Page> {
  const { id, caller, form, record, change, nameOf } = await readReceived(request, services)
  const productIds = record.RMAItemList.map(({ CatalogID }) => CatalogID).filter((productId) => productId > 0)
  const { stock } = await rehearse(caller, { orderId: id, productIds }, change).catch(inFormFields(nameOf))
  return returnPage(request, services, { typed: form, stock })
}

async function save(request: FastifyRequest, services: CallerServices): Promise<string> {
  const { id, caller, change, nameOf } = await readReceived(request, services)
  await change(caller).catch(inFormFields(nameOf))
  return `/admin/orders/${id}?notice=record-saved`
}
