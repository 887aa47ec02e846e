import type { FastifyInstance, FastifyRequest } from 'fastify'
import { getRecord, notFound } from '../../../../engine/reading/read.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import { readDate, writeDate } from '../../../../foundation/values/dates.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { orderFigures } from '../../../../shop/resources/orders/figures.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { type Parcel, readParcels } from '../../../../shop/resources/orders/parcels.ts'
import { paymentsOf } from '../../../../shop/resources/orders/payments.ts'
import { changeConsignment, readConsignment, shipGoods } from '../../../../shop/resources/orders/ship.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { holdsStock, statusPartial } from '../../../../shop/resources/orders/statuses.ts'
import { numberIn, type Writing, writingOf } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages, inFormFields, refusedFields } from '../../../html/page-routes.ts'
import { type CallerServices, type Form, formOf, merchantCaller, textIn } from '../../../html/request.ts'
import { readIds } from '../../../server/json/parameters.ts'
import { ifUnchanged, tagOf } from '../../frame/unchanged.ts'
import { listStatusNames, textsOf } from '../../records/order-words.ts'

const address = '/admin/orders/:id/shipments/:shipmentId'

/** Adds the page that ships goods of a shipment, or corrects how it was shipped. */
export function shippingPages(app: FastifyInstance, services: CallerServices): void {
  const { page, form } = adminPages(app, ['Orders', 'write'])
  page(address, (request) => shippingPage(request, services))
  form(
    address,
    (request) => ship(request, services),
    (request, _reply, { kind }) =>
      shippingPage(request, services, { typed: formOf(request), isOutdated: kind === 'precondition-failed' }),
  )
}

const labels = {
  ShipmentShippedDate: t('Shipped on'),
  ShipmentMethodName: t('Shipping method'),
  ShipmentTrackingCode: t('Tracking number'),
  ShipmentBoxes: t('Boxes'),
}

async function shippingPage(
  request: FastifyRequest,
  services: CallerServices,
  { typed = null, isOutdated = false }: { typed?: Form | null; isOutdated?: boolean } = {},
): Promise<HtmlPage> {
  const { caller, text, order, parcel, parcels, shipment, isShipped, lines } = await readShipment(request, services)
  const today = writeDate(caller.now(), caller.store.timeZone).slice(0, 10)
  const quantities = isShipped
    ? []
    : lines.map(({ id, quantity }) => [quantityName(id), writingOf(request).typed(quantity)])
  const stored: Form = {
    ShipmentShippedDate: isShipped ? dayOf(shipment.ShipmentShippedDate) : today,
    ShipmentMethodName: shipment.ShipmentMethodName,
    ShipmentTrackingCode: shipment.ShipmentTrackingCode,
    ShipmentBoxes: String(shipment.ShipmentBoxes),
    ...Object.fromEntries(quantities),
  }
  const ofLines = lines.map(({ id, sku, name }) => [quantityName(id), t('Quantity of {goods}', { goods: sku || name })])
  return {
    template: '/pages/shop/orders/shipping',
    title: titleOf(invoiceOf(order), parcel, parcels),
    values: typed === null || isOutdated ? stored : typed,
    data: {
      order,
      shipment,
      isShipped,
      lines,
      partialStatus: textsOf(await listStatusNames(services.db, caller.store.id))(statusPartial),
      payments: paymentsOf(order),
      etag: tagOf(text, typed, isOutdated),
      fieldLabels: labels,
      labels: { ...labels, ...Object.fromEntries(ofLines) },
    },
  }
}

type Named = Pick<Parcel, 'hasLeft' | 'number'>

function titleOf(invoice: string, { hasLeft, number }: Named, parcels: readonly Named[]): Text {
  const values = { number: invoice, parcel: number }
  if (hasLeft) {
    return parcels.length === 1 ? t('Parcel of order {number}', values) : t('Parcel {parcel} of order {number}', values)
  }
  const isOnlyOne = parcels.filter((parcel) => !parcel.hasLeft).length === 1
  return isOnlyOne ? t('Ship order {number}', values) : t('Ship parcel {parcel} of order {number}', values)
}

const quantityName = (id: number) => `Quantity.${id}`

/** A stored date of shipping as a form's field has it; empty: it is no date. */
function dayOf(text: string): string {
  const read = readDate(text, 'UTC')
  return read === null ? '' : writeDate(read.instant, 'UTC').slice(0, 10)
}

/** The shipment that the address names, by the id that the record shows, with its lines. */
async function readShipment(request: FastifyRequest, services: CallerServices) {
  const { id } = readIds({ id: textIn(request.params, 'id') }, 'id')
  const shipmentId = textIn(request.params, 'shipmentId')
  const caller = merchantCaller(request, services)
  const text = await getRecord(caller, orders, id)
  const order: OrderRecord = JSON.parse(text)
  const parcels = await readParcels(caller, order, orderFigures(order, caller.store.currency).lines)
  const parcel = parcels.find(({ shipment }) => shipment !== null && String(shipment.ShipmentID) === shipmentId)
  if (parcel === undefined || parcel.shipment === null) throw notFound(orders, id)
  const { lines, shipment } = parcel
  return { id, caller, text, order, parcel, parcels, shipment, isShipped: parcel.hasLeft, lines }
}

const advice = 'The form shows the parcel as it is now. Look at it again, and send the form if it is still right'

async function ship(request: FastifyRequest, services: CallerServices): Promise<string> {
  const { id, caller, text, order, shipment, isShipped, lines } = await readShipment(request, services)
  const form = formOf(request)
  const precondition = ifUnchanged(form, 'order', advice)
  precondition(text)
  if (!holdsStock(order.OrderStatusID)) {
    throw new StoreFailure('conflict', 'This order is cancelled or not completed. Change its status first')
  }
  const shipmentId = shipment.ShipmentID
  const isUndone = textIn(form, 'undo') !== ''
  const given = consignmentIn(form, isUndone, writingOf(request))
  const quantities = isShipped || isUndone ? null : quantitiesIn(form, lines, writingOf(request))
  const work = async () => {
    const consignment = readConsignment(caller, given)
    if (quantities === null) return changeConsignment(caller, id, { shipmentId, consignment }, precondition)
    return shipGoods(caller, id, { shipmentId, quantities, consignment }, precondition)
  }
  await work().catch(inFormFields((field) => field))
  const shipped = isShipped ? 'record-saved' : 'goods-shipped'
  return `/admin/orders/${id}?notice=${isUndone ? 'record-saved' : shipped}`
}

/** The fields of the shipment that the form gives. A shipment that has not left has neither date nor tracking number. */
function consignmentIn(form: Form, isUndone: boolean, writing: Writing) {
  if (isUndone) return { ShipmentShippedDate: '', ShipmentTrackingCode: '' }
  const given = (name: string) => textIn(form, name).trim()
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(given('ShipmentShippedDate')) ?? []
  if (year === undefined || readDate(`${year}-${month}-${day}`, 'UTC') === null) {
    throw refusedFields([{ field: 'ShipmentShippedDate', problem: 'must be a day' }])
  }
  return {
    // The form in which the platform writes it (rest-resources §3.3).
    ShipmentShippedDate: `${month}/${day}/${year}`,
    ShipmentTrackingCode: given('ShipmentTrackingCode'),
    ShipmentMethodName: given('ShipmentMethodName'),
    ShipmentBoxes: numberIn(form, 'ShipmentBoxes', writing) ?? 1,
  }
}

function quantitiesIn(form: Form, lines: readonly { id: number }[], writing: Writing): Map<number, number> {
  return new Map(lines.map(({ id }) => [id, numberIn(form, quantityName(id), writing) ?? 0]))
}
