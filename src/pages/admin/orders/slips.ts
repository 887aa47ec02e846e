import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refused } from '../../../engine/definition/refused.ts'
import { getRecord, getRecords } from '../../../engine/reading/read.ts'
import { format } from '../../../html/format.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { type CallerServices, merchantCaller, merchantOf, requirePrivileges, textIn } from '../../../html/request.ts'
import { withoutPrice } from '../../../resources/orders/line-description.ts'
import { orders } from '../../../resources/orders/orders.ts'
import { isVoid } from '../../../resources/orders/payments.ts'
import { readIds } from '../../../server/parameters.ts'
import { StoreFailure } from '../../../values/failure.ts'
import { type OrderRecord, orderFigures } from '../../order-figures.ts'
import { type PaidRecord, paidOf, signedAmount } from '../../order-payments.ts'
import { chosenIn } from '../records/chosen.ts'
import { invoiceOf } from './listing.ts'

const kinds = ['packing-slip', 'invoice'] as const
type SlipKind = (typeof kinds)[number]

const nouns = {
  'packing-slip': { one: 'Packing slip', all: 'packing slips' },
  invoice: { one: 'Invoice', all: 'invoices' },
}

/** An invoice is made out to the customer. */
const needs = { 'packing-slip': [], invoice: [['Customers', 'read']] } as const

/** Throws (403) for slips that the role of the merchant may not read. */
export function requireForSlips(request: FastifyRequest, kind: SlipKind): void {
  requirePrivileges(merchantOf(request), needs[kind])
}

/** Lines of all orders of a page, which is made in one go. */
const LINES_MAX = 2_000

/** Adds what is printed of orders: packing slips and invoices, of one order or of several. */
export function slipPages(app: FastifyInstance, services: CallerServices): void {
  const { page } = adminPages(app, ['Orders', 'read'])
  page('/admin/orders/slips', async (request) => {
    const kind = slipKindIn(request.query)
    requireForSlips(request, kind)
    const ids = chosenIn(request.query)
    const records = (await getRecords(merchantCaller(request, services), orders, ids)).map(readOrder)
    return slipPage(kind, records, '/admin/orders')
  })
  page('/admin/orders/:id/packing-slip', async (request) => {
    const order = await orderIn(request, services)
    const shipment = textIn(request.query, 'shipment')
    const slip = shipment === '' ? order : withOneShipment(order, shipment)
    return slipPage('packing-slip', [slip], `/admin/orders/${order.OrderID}`)
  })
  adminPages(app, ['Orders', 'read'], ...needs.invoice).page('/admin/orders/:id/invoice', async (request) => {
    const order = await orderIn(request, services)
    return slipPage('invoice', [order], `/admin/orders/${order.OrderID}`)
  })
}

/** Throws unless it is one of the kinds. */
export function slipKindIn(sent: unknown): SlipKind {
  const kind = kinds.find((each) => each === textIn(sent, 'kind'))
  if (kind === undefined) throw refused('kind', `kind must be ${kinds.join(' or ')}`)
  return kind
}

type Shipment = OrderRecord['ShipmentList'][number] & { readonly ShipmentID: number }
type Item = OrderRecord['OrderItemList'][number] & { readonly ItemShipmentID: number }

/** What slips read of an order's record. */
interface Order extends OrderRecord, PaidRecord {
  readonly OrderID: number
  readonly InvoiceNumberPrefix: string
  readonly InvoiceNumber: number
  readonly ShipmentList: readonly Shipment[]
  readonly OrderItemList: readonly Item[]
}

async function orderIn(request: FastifyRequest, services: CallerServices): Promise<Order> {
  const { id } = readIds(request.params, 'id')
  return readOrder(await getRecord(merchantCaller(request, services), orders, id))
}

function readOrder(text: string): Order {
  return JSON.parse(text)
}

function withOneShipment(order: Order, id: string): Order {
  const shipment = order.ShipmentList.find(({ ShipmentID }) => String(ShipmentID) === id)
  if (shipment === undefined) {
    throw new StoreFailure('not-found', 'This order has no such shipment', { field: 'shipment' })
  }
  return { ...order, ShipmentList: [shipment], OrderItemList: itemsOf(order, shipment) }
}

/** A single shipment has all lines; its id is 0, as it is theirs. */
function itemsOf({ ShipmentList, OrderItemList }: Order, { ShipmentID }: Shipment): readonly Item[] {
  return ShipmentList.length === 1
    ? OrderItemList
    : OrderItemList.filter(({ ItemShipmentID }) => ItemShipmentID === ShipmentID)
}

function slipPage(kind: SlipKind, all: readonly Order[], back: string): HtmlPage {
  const lines = all.reduce((sum, { OrderItemList }) => sum + OrderItemList.length, 0)
  // A single order can always be printed.
  if (lines > LINES_MAX && all.length > 1) {
    throw refused('ids', `These orders have ${format.number(lines)} lines. Choose fewer: together ${LINES_MAX} at most`)
  }
  const { one, all: plural } = nouns[kind]
  const title = all.length === 1 ? `${one} ${invoiceOf({ ...all[0] })}` : `${all.length} ${plural}`
  return {
    template: `/pages/admin/orders/${kind}`,
    title,
    data: { slips: all.map(slipOf), back, noun: one, withoutPrice, signedAmount },
  }
}

function slipOf(order: Order) {
  const billTo = format.postalAddress(order, 'Billing')
  const shipments = order.ShipmentList.map((shipment) => ({
    ...shipment,
    address: format.shippingAddress(order, shipment),
    lines: orderFigures({ ...order, OrderItemList: itemsOf(order, shipment) }).lines,
  }))
  const figures = orderFigures(order)
  // Goods that nobody has put into a shipment are packed too.
  const parcels =
    shipments.length > 0 ? shipments : [{ address: format.shippingAddress(order, null), lines: figures.lines }]
  const payments = paidOf(order.OrderAmount, order.TransactionList)
  // What was written down by mistake is not the customer's business.
  const transactions = order.TransactionList.filter(({ TransactionType }) => !isVoid(TransactionType))
  return { order, transactions, invoice: invoiceOf({ ...order }), figures, billTo, shipments, parcels, payments }
}
