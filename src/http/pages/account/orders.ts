import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Person } from '../../../access/people/sessions.ts'
import { readLogoAddress } from '../../../access/stores/logo.ts'
import { getRecord, notFound } from '../../../engine/reading/read.ts'
import type { Prisma } from '../../../foundation/database/generated/client.ts'
import { type Format, shippingAddress } from '../../../foundation/texts/format.ts'
import { t } from '../../../foundation/texts/text.ts'
import { writeDate } from '../../../foundation/values/dates.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { INT32_MAX } from '../../../foundation/values/int32.ts'
import { listStatuses } from '../../../shop/resources/order-statuses/status-texts.ts'
import { orderFigures } from '../../../shop/resources/orders/figures.ts'
import { descriptionLines } from '../../../shop/resources/orders/line-description.ts'
import { type OrderRecord, orders } from '../../../shop/resources/orders/orders.ts'
import { readParcels } from '../../../shop/resources/orders/parcels.ts'
import { effectIn, paymentsOf } from '../../../shop/resources/orders/payments.ts'
import { readStatedTaxes } from '../../../shop/resources/orders/proposals.ts'
import { readRefunds } from '../../../shop/resources/orders/refunds.ts'
import { isOwed, type PaymentState } from '../../../shop/resources/orders/states.ts'
import { statusNew, statusUnpaid } from '../../../shop/resources/orders/statuses.ts'
import { readTracking } from '../../../shop/resources/orders/tracking.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { type CallerServices, languageFor, personOf, wantsHtml } from '../../html/request.ts'
import { readIds, wholeNumber } from '../../server/json/parameters.ts'
import { type Chip, paymentChips, statusName } from '../records/order-words.ts'
import { returnsOf } from '../shop/orders/returns.ts'
import { creditNoteOf, noteOf, slipPage } from '../shop/orders/slips.ts'
import { readThumbnails } from '../shop/products/thumbnails.ts'

type Customer = Extract<Person, { kind: 'customer' }>

const PAGE_LENGTH = 20

const query = namedObject({ before: wholeNumber(1, INT32_MAX).optional(), notice: z.unknown().optional() })

/** Adds the pages and JSON routes of a customer's orders, the newest first. */
export function customerOrders(app: FastifyInstance, services: CallerServices): void {
  const { get, page } = pagesFor(app, 'customer')
  get('/account', async (request, reply) => {
    const { id, store } = personOf(request, 'customer')
    const { before } = readInput(query, request.query, 'The query')
    const rows = await services.db.order.findMany({
      where: { storeId: store.id, customerId: id, ...(before !== undefined && { id: { lt: before } }) },
      select: shownColumns,
      orderBy: { id: 'desc' },
      take: PAGE_LENGTH + 1,
    })
    const statuses = await listStatuses(services.db, store.id)
    const shown = rows.slice(0, PAGE_LENGTH).map((row) => orderOf(row, statuses))
    const older = rows.length > PAGE_LENGTH ? `/account?before=${shown.at(-1)?.id}` : null
    if (!wantsHtml(request)) {
      if (older !== null) reply.header('link', `<${older}>; rel="next"`)
      return shown.map((order) => orderRecord(order, store))
    }
    const logo = await readLogoAddress(services.db, store.id)
    const data = { orders: shown, older, isFirst: before === undefined, logo }
    const title = t('Your orders · {store}', { store: store.name })
    return sendPage(reply, { template: '/pages/account/orders', title, data })
  })

  get('/account/orders/:id', async (request, reply) => {
    const { id: customerId, store } = personOf(request, 'customer')
    const where = { id: readIds(request.params, 'id').id, customerId }
    if (!wantsHtml(request)) return detailsRecord(await findOrder(services, store, where, { shippingAddress }))
    const order = await findOrder(services, store, where, languageFor(request).format)
    return sendPage(reply, await orderPage(order))
  })

  const own = async (request: FastifyRequest) => {
    const { id: customerId, store } = personOf(request, 'customer')
    const { id } = readIds(request.params, 'id')
    const { caller, record } = await readOrder(services, store, { id, customerId })
    return { caller, order: record, back: `/account/orders/${id}` }
  }
  page('/account/orders/:id/invoice', async (request) => {
    const { caller, order, back } = await own(request)
    return slipPage(request, caller, { kind: 'invoice', all: [order], back })
  })
  page('/account/orders/:id/credit-notes/:transactionId', async (request) => {
    const refundId = readIds(request.params, 'id', 'transactionId').transactionId
    const { caller, ...others } = await own(request)
    return creditNoteOf(request, caller, { ...others, refundId })
  })
}

/** The page of an order, with what was paid, sent back and refunded, which only a page reads. */
export async function orderPage(order: ShownOrder): Promise<HtmlPage> {
  const { caller, record } = order
  const { db, store } = caller
  const payments = record.TransactionList.filter((transaction) => effectIn(transaction) === 'paid')
  const isPaidAlone = payments.length === record.TransactionList.length
  const [logo, { returns }, refunds, taxes, thumbnailOf] = await Promise.all([
    readLogoAddress(db, store.id),
    returnsOf(caller, order.id),
    isPaidAlone ? [] : readRefunds(caller, order.id),
    readStatedTaxes(caller, [order.id]),
    readThumbnails(caller, order.lines),
  ])
  return {
    template: '/pages/account/order',
    title: t('Order {number} · {store}', { number: order.invoice, store: store.name }),
    data: {
      order,
      tax: taxes.get(order.id),
      store,
      logo,
      thumbnailOf,
      returns: returns.toReversed(),
      payments,
      refunds: refunds.map((refund) => noteOf(record, refund, store.currency)),
    },
  }
}

const shownColumns = {
  id: true,
  invoicePrefix: true,
  invoiceNumber: true,
  orderDate: true,
  statusId: true,
  orderAmount: true,
  payment: true,
  paidOnline: true,
  transactions: {
    where: { type: { equals: 'Authorize', mode: 'insensitive' }, captured: { not: 1 } },
    select: { id: true },
    take: 1,
  },
} as const satisfies Prisma.OrderSelect

/** To a customer, money that a payment service has reserved is not owed. */
const authorised: Chip = { text: t('Payment authorised'), tone: 'ok' }

type Statuses = Awaited<ReturnType<typeof listStatuses>>

/** The merchant's text of the status that a customer sees, and how a page says it in the reader's language. */
function statusOf(statuses: Statuses, statusId: number, payment: PaymentState) {
  // Recording a payment does not move an order from Unpaid; to its customer it is New.
  const seen = statusId === statusUnpaid && !isOwed(payment) ? statusNew : statusId
  const status = statuses.find(({ id }) => id === seen)
  return { status: status?.text ?? '', statusName: status ? statusName(status) : t('unknown') }
}

/** Returns an order as its customer sees it, amounts in the store's currency. */
function orderOf(row: Prisma.OrderGetPayload<{ select: typeof shownColumns }>, statuses: Statuses) {
  const payment = row.payment as PaymentState
  return {
    ...statusOf(statuses, row.statusId, payment),
    id: row.id,
    invoice: `${row.invoicePrefix}${row.invoiceNumber}`,
    date: row.orderDate,
    payment: row.paidOnline && isOwed(payment) && row.transactions.length > 0 ? authorised : paymentChips[payment],
    total: row.orderAmount.toNumber(),
  }
}

/** Throws where the store has no order that is so (404), such as of another customer. */
async function readOrder(
  services: CallerServices,
  store: Customer['store'],
  where: Prisma.OrderWhereInput & { readonly id: number },
) {
  const row = await services.db.order.findFirst({ where: { ...where, storeId: store.id }, select: shownColumns })
  if (!row) throw notFound(orders, where.id)
  const caller = { store, application: null, channel: 'customer' as const, privileges: null, actor: '', ...services }
  const record: OrderRecord = JSON.parse(await getRecord(caller, orders, row.id))
  return { row, caller, record }
}

type ShownOrder = Awaited<ReturnType<typeof findOrder>>

/** Returns one order with its lines and shipments. Throws as `readOrder` does. */
export async function findOrder(
  services: CallerServices,
  store: Customer['store'],
  where: Prisma.OrderWhereInput & { readonly id: number },
  format: Pick<Format, 'shippingAddress'>,
) {
  const { row, caller, record } = await readOrder(services, store, where)
  const [statuses, trackingOf] = await Promise.all([listStatuses(services.db, store.id), readTracking(caller, record)])
  const figures = orderFigures(record, store.currency)
  const shipments = record.ShipmentList.map((shipment) => ({
    method: shipment.ShipmentMethodName,
    ...statusOf(statuses, shipment.ShipmentOrderStatus, row.payment as PaymentState),
    /** As entered. Empty: not shipped yet. */
    shippedDate: shipment.ShipmentShippedDate,
    trackingCode: shipment.ShipmentTrackingCode,
    trackingLink: trackingOf(shipment),
    address: format.shippingAddress(record, shipment),
  }))
  return {
    caller,
    record,
    ...paymentsOf(record),
    ...orderOf(row, statuses),
    ...figures,
    shipments,
    /** The same as people count them. */
    parcels: (await readParcels(caller, record, figures.lines)).flatMap(({ shipment, ...parcel }) =>
      shipment === null ? [] : [{ ...parcel, shipment: shipments[record.ShipmentList.indexOf(shipment)] }],
    ),
    comments: record.CustomerComments,
    note: record.ExternalComments,
  }
}

function orderRecord({ id, invoice, date, status, total }: ReturnType<typeof orderOf>, store: Customer['store']) {
  return {
    OrderID: id,
    InvoiceNumber: invoice,
    OrderDate: writeDate(date, store.timeZone),
    OrderStatus: status,
    OrderAmount: total,
    Currency: store.currency,
  }
}

export function detailsRecord(order: ShownOrder) {
  return {
    ...orderRecord(order, order.caller.store),
    Subtotal: order.subtotal,
    ShippingCost: order.shipping,
    OrderDiscount: order.discount,
    SalesTax: order.tax,
    CustomerComments: order.comments,
    OrderItemList: order.lines.map(({ sku, description, quantity, unitPrice, amount }) => ({
      ItemID: sku,
      ItemDescription: descriptionLines(description).join('\n'),
      ItemQuantity: quantity,
      ItemUnitPrice: unitPrice,
      ItemAmount: amount,
    })),
    ShipmentList: order.shipments.map(({ method, status, shippedDate, trackingCode, address }) => ({
      ShipmentMethodName: method,
      ShipmentStatus: status,
      ShipmentShippedDate: shippedDate,
      ShipmentTrackingCode: trackingCode,
      ShipmentAddress: address.join('\n'),
    })),
  }
}
