import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Privileges } from '../../../engine/caller.ts'
import { changeRecord, updateRecord } from '../../../engine/changing/change.ts'
import { getRecord } from '../../../engine/reading/read.ts'
import { numberIn } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages, inFormFields } from '../../../html/page-routes.ts'
import { type CallerServices, type Form, formOf, merchantCaller } from '../../../html/request.ts'
import { customers } from '../../../resources/customers/customers.ts'
import { listStatuses } from '../../../resources/order-statuses/status-texts.ts'
import { orders } from '../../../resources/orders/orders.ts'
import { holdsStock, statusCancelled, statusNotCompleted } from '../../../resources/orders/statuses.ts'
import { rma } from '../../../resources/rma/rma.ts'
import { readIds } from '../../../server/parameters.ts'
import { orderFigures } from '../../order-figures.ts'
import { readPayments } from '../../order-payments.ts'
import { changesOf } from '../records/form.ts'
import { mayRead } from '../records/seen.ts'
import { services as allServices } from '../records/services.ts'
import { ifUnchanged, tagOf } from '../records/unchanged.ts'
import { textsOf } from './listing.ts'
import { returnsOf } from './returns.ts'
import { timelineOf } from './timeline.ts'

const address = '/admin/orders/:id'

/** Adds the page of an order, with its status and notes. */
export function orderPage(app: FastifyInstance, services: CallerServices): void {
  const { page } = adminPages(app, ['Orders', 'read'])
  const { form } = adminPages(app, ['Orders', 'write'])
  page(address, (request) => shownOrder(request, services))
  form(
    `${address}/status`,
    (request) => changeStatus(request, services),
    (request) => shownOrder(request, services, { typed: formOf(request), isOutdated: true }),
  )
  form(
    `${address}/notes`,
    (request) => saveNotes(request, services),
    (request, _reply, { kind }) =>
      shownOrder(request, services, { typed: formOf(request), isOutdated: kind === 'precondition-failed' }),
  )
}

async function changeStatus(request: FastifyRequest, services: CallerServices): Promise<string> {
  const { id } = readIds(request.params, 'id')
  const OrderStatusID = numberIn(formOf(request), 'OrderStatusID') ?? 0
  await updateRecord(merchantCaller(request, services), orders, id, { OrderStatusID })
  return `/admin/orders/${id}?notice=status-changed`
}

const notes = (allServices.find(({ resource }) => resource === orders)?.values ?? []).filter(({ path: [name] }) =>
  ['InternalComments', 'ExternalComments'].includes(name ?? ''),
)

async function saveNotes(request: FastifyRequest, services: CallerServices): Promise<string> {
  const { id } = readIds(request.params, 'id')
  const caller = merchantCaller(request, services)
  const form = formOf(request)
  const advice = 'What you typed is still in the form. Compare it with the order, and save again'
  const precondition = ifUnchanged(form, 'order', advice)
  const text = await getRecord(caller, orders, id)
  precondition(text)
  const { body, nameOf } = changesOf({ values: notes, list: null }, form, JSON.parse(text))
  if (Object.keys(body).length === 0) return `/admin/orders/${id}`
  await changeRecord(caller, orders, { kind: 'update', id, body }, { precondition }).catch(inFormFields(nameOf))
  return `/admin/orders/${id}?notice=notes-saved`
}

interface ShippedRecord {
  readonly ShipmentList: readonly { readonly ShipmentID: number; readonly ShipmentShippedDate: string }[]
  readonly OrderItemList: readonly { readonly CatalogID: number; readonly ItemShipmentID: number }[]
}

async function shownOrder(
  request: FastifyRequest,
  services: CallerServices,
  { typed = null, isOutdated = false }: { typed?: Form | null; isOutdated?: boolean } = {},
): Promise<HtmlPage> {
  const { id } = readIds(request.params, 'id')
  const caller = merchantCaller(request, services)
  const text = await getRecord(caller, orders, id)
  const order = JSON.parse(text)
  const mayReadReturns = mayRead(caller.privileges, rma)
  const [statuses, returned] = await Promise.all([
    listStatuses(services.db, caller.store.id),
    mayReadReturns ? returnsOf(caller, id) : { orderId: id, returns: [], isMore: false },
  ])
  const statusText = textsOf(statuses)
  const figures = orderFigures(order)
  const stored = {
    OrderStatusID: String(order.OrderStatusID),
    InternalComments: order.InternalComments,
    ExternalComments: order.ExternalComments,
  }
  const returnIds = returned.returns.map((each) => each.id)
  return {
    template: '/pages/admin/orders/order',
    title: `Order ${order.InvoiceNumberPrefix}${order.InvoiceNumber}`,
    values: { ...stored, ...typed },
    data: {
      order,
      links: linksOf(order, caller.privileges),
      figures,
      parts: partsOf(order, figures.lines),
      canShip: holdsStock(order.OrderStatusID),
      payments: await readPayments(caller, order),
      returned,
      statuses,
      statusText,
      stockWords: stockWords(order.OrderStatusID, statusText),
      etag: tagOf(text, typed, isOutdated),
      timeline: await timelineOf(caller, id, returnIds, statusText),
    },
  }
}

/** The pages of an order by the end of their address, of which somebody may open some. */
function linksOf({ ShipmentList }: ShippedRecord, privileges: Privileges) {
  // Without its shipments, an order has the address of its customer alone.
  const hasAddress = ShipmentList.length > 0 || mayRead(privileges, customers)
  return [
    ['lines', 'Change goods'],
    ...(hasAddress ? [['addresses', 'Change addresses']] : []),
    ['payments', 'Record a payment or refund'],
    ['returns/new', 'Return goods'],
    ['packing-slip', 'Packing slip'],
    ['invoice', 'Invoice'],
    ['fields', 'All fields'],
  ]
}

/** The goods by shipment. An order without shipments is one part. */
function partsOf({ ShipmentList: shipments, OrderItemList: items }: ShippedRecord, figures: readonly object[]) {
  const lines = items.map(({ CatalogID, ItemShipmentID }, index) => ({
    ...figures[index],
    productId: CatalogID,
    shipmentId: ItemShipmentID,
  }))
  if (shipments.length === 0) return [{ shipment: null, isShipped: false, lines }]
  return shipments.map((shipment) => ({
    shipment,
    isShipped: shipment.ShipmentShippedDate !== '',
    lines: shipments.length === 1 ? lines : lines.filter(({ shipmentId }) => shipmentId === shipment.ShipmentID),
  }))
}

/** What a change of the status does to the stock. */
function stockWords(statusId: number, statusText: (id: number) => string): string {
  const without = `${statusText(statusCancelled)} and ${statusText(statusNotCompleted)}`
  return holdsStock(statusId)
    ? `${without} put the goods back into stock. Any other status leaves the stock as it is.`
    : `Any status but ${without} takes the goods from stock again.`
}
