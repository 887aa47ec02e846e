import type { FastifyInstance, FastifyRequest } from 'fastify'
import { changeRecord } from '../../../../engine/changing/change.ts'
import { lockRecord } from '../../../../engine/changing/write.ts'
import { getRecord } from '../../../../engine/reading/read.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { orderFigures, otherAmount } from '../../../../shop/resources/orders/figures.ts'
import { ORDER_ITEMS_MAX } from '../../../../shop/resources/orders/order-body.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { isAway, readParcelNumbers } from '../../../../shop/resources/orders/parcels.ts'
import { rehearse, type StockEffect } from '../../../../shop/resources/orders/rehearse.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { holdsStock } from '../../../../shop/resources/orders/statuses.ts'
import { readReturnedLines } from '../../../../shop/resources/orders/stock.ts'
import { writingOf } from '../../../html/numbers.ts'
import { type HtmlPage, sendPage } from '../../../html/page.ts'
import { adminPages, inFormFields } from '../../../html/page-routes.ts'
import { type CallerServices, type Form, formOf, merchantCaller } from '../../../html/request.ts'
import { readIds } from '../../../server/json/parameters.ts'
import { ifUnchanged, tagOf } from '../../frame/unchanged.ts'
import { amountFieldsOf, goodsChange, goodsLabels, goodsTyped, lookUpNewLines } from './goods-form.ts'
import type { StoredItem } from './goods-record.ts'
import { lineLabels, newLineLabels } from './order-form.ts'

const address = '/admin/orders/:id/lines'
const advice =
  'The form shows what is stored now, and the lines that you added. Make your other changes again, and save'

/** Adds the pages that change the goods of an order, and its shipping cost, taxes and discounts. */
export function goodsPages(app: FastifyInstance, services: CallerServices): void {
  const { page, form, post } = adminPages(app, ['Orders', 'write'])
  page(address, (request) => goodsPage(request, services))
  // Shows the form again after looking up its new lines or adding one.
  post(`${address}/lookup`, async (request, reply) =>
    sendPage(reply, await goodsPage(request, services, { typed: formOf(request) })),
  )
  form(
    `${address}/totals`,
    async (request, reply) => sendPage(reply, await totalsPage(request, services)),
    (request, _reply, { kind }) => refusedPage(request, services, kind),
  )
  form(
    address,
    (request) => save(request, services),
    (request, _reply, { kind }) => refusedPage(request, services, kind),
  )
}

function refusedPage(request: FastifyRequest, services: CallerServices, kind: string): Promise<HtmlPage> {
  return goodsPage(request, services, { typed: formOf(request), isOutdated: kind === 'precondition-failed' })
}

/** What saving would do. */
interface Rehearsal {
  readonly after: OrderRecord
  readonly stock: readonly StockEffect[]
}

interface Shown {
  readonly typed?: Form | null
  /** Somebody else has changed the order: stored lines and amounts are shown as they are now. */
  readonly isOutdated?: boolean
  readonly rehearsal?: Rehearsal | null
}

async function goodsPage(
  request: FastifyRequest,
  services: CallerServices,
  { typed = null, isOutdated = false, rehearsal = null }: Shown = {},
): Promise<HtmlPage> {
  const { id } = readIds(request.params, 'id')
  const caller = merchantCaller(request, services)
  const text = await getRecord(caller, orders, id)
  const record: OrderRecord = JSON.parse(text)
  const writing = writingOf(request)
  const stored = goodsTyped(record, writing)
  const { lines, values } = await lookUpNewLines(caller, record, { form: typed ?? {}, writing })
  const returned = new Map((await readReturnedLines(caller, id)).map((line) => [line.row.id, line]))
  const numbers = await readParcelNumbers(caller, record)
  const amounts = amountFieldsOf(record, numbers)
  const shipped = new Set(record.ShipmentList.filter(isAway).map(({ ShipmentID }) => ShipmentID))
  return {
    template: '/pages/shop/orders/change-goods',
    title: t('Goods of order {number}', { number: invoiceOf(record) }),
    values: typed === null ? stored : { ...stored, ...(isOutdated ? newLinesIn(values) : values) },
    data: {
      id,
      etag: tagOf(text, typed, isOutdated),
      stored: record.OrderItemList.map((item) => ({
        id: item.ItemIndexID,
        optionPrice: item.ItemOptionPrice,
        figures: figuresOf(record, rehearsal, item, caller.store.currency),
        isShipped: shipped.has(item.ItemShipmentID) || (record.ShipmentList.length === 1 && shipped.size === 1),
        restocked: toNumber(returned.get(item.ItemIndexID)?.restocked ?? 0n),
      })),
      lines,
      lookUpAddress: `/admin/orders/${id}/lines/lookup`,
      isTooLong: record.OrderItemList.length > ORDER_ITEMS_MAX,
      linesMax: ORDER_ITEMS_MAX - record.OrderItemList.length,
      amounts,
      totals: totalsOf(record, rehearsal, caller.store.currency),
      stock: rehearsal?.stock ?? null,
      holdsStock: holdsStock(record.OrderStatusID),
      labels: { ...goodsLabels(record, numbers), ...lineLabels(lines, newLineLabels) },
    },
  }
}

/** The fields of a form's new lines. */
function newLinesIn(values: Form): Form {
  const isOfNewLine = (name: string) => /^(Lines|(ItemID|ItemQuantity|ItemUnitPrice|Variant|Option)\..+)$/.test(name)
  return Object.fromEntries(Object.entries(values).filter(([name]) => isOfNewLine(name)))
}

/** A stored line as it is, or as it would be; its amount is null where it would be removed. */
function figuresOf(record: OrderRecord, rehearsal: Rehearsal | null, item: StoredItem, currency: string) {
  const figuresIn = (of: OrderRecord) => orderFigures(of, currency).lines.find(({ id }) => id === item.ItemIndexID)
  const figures = figuresIn(record)
  return rehearsal === null ? figures : { ...figures, amount: figuresIn(rehearsal.after)?.amount ?? null }
}

/** The order's amounts as they are (`before`) and as they would be. */
function totalsOf(record: OrderRecord, rehearsal: Rehearsal | null, currency: string) {
  const rowsOf = (of: OrderRecord) => {
    const { subtotal, shipping, tax, discount } = orderFigures(of, currency)
    return [subtotal, shipping, tax, -discount, otherAmount(of, currency), of.OrderAmount]
  }
  const before = rowsOf(record)
  const after = rehearsal === null ? null : rowsOf(rehearsal.after)
  const rows = [
    { part: 'goods', label: t('Goods') },
    { part: 'shipping', label: t('Shipping') },
    { part: 'tax', label: t('Tax') },
    { part: 'discount', label: t('Discount') },
    { part: 'other', label: t('Other') },
    { part: 'total', label: t('Total') },
  ]
  return rows
    .map((row, index) => ({ ...row, before: before[index] as number, after: after?.[index] ?? null }))
    .filter(({ part, before, after }) => part === 'total' || part === 'goods' || before !== 0 || (after ?? 0) !== 0)
}

/** Reads what the form changes, unless the order has been changed since the form was shown. */
async function readGoods(request: FastifyRequest, services: CallerServices) {
  const { id } = readIds(request.params, 'id')
  const caller = merchantCaller(request, services)
  const typed = formOf(request)
  const precondition = ifUnchanged(typed, 'order', advice)
  const text = await getRecord(caller, orders, id)
  precondition(text)
  const record: OrderRecord = JSON.parse(text)
  const change = await goodsChange(caller, record, { form: typed, writing: writingOf(request) })
  return { id, caller, typed, precondition, record, change }
}

/** The form with what saving it would do. */
async function totalsPage(request: FastifyRequest, services: CallerServices): Promise<HtmlPage> {
  const { id, caller, typed, precondition, record, change } = await readGoods(request, services)
  if (change === null) return goodsPage(request, services, { typed, rehearsal: { after: record, stock: [] } })
  const { patch, productIds, nameOf } = change
  const { result, stock } = await rehearse(caller, { orderId: id, productIds }, async (tx) => {
    await lockRecord(tx, orders, id, [])
    await changeRecord(tx, orders, { kind: 'patch', id, patch }, { precondition })
    const after: OrderRecord = JSON.parse(await getRecord(tx, orders, id))
    return after
  }).catch(inFormFields(nameOf))
  return goodsPage(request, services, { typed, rehearsal: { after: result, stock } })
}

async function save(request: FastifyRequest, services: CallerServices): Promise<string> {
  const { id, caller, precondition, change } = await readGoods(request, services)
  if (change === null) return `/admin/orders/${id}`
  await changeRecord(caller, orders, { kind: 'patch', id, patch: change.patch }, { precondition }).catch(
    inFormFields(change.nameOf),
  )
  return `/admin/orders/${id}?notice=record-saved`
}
