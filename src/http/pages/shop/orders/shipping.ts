import { notFound } from '../../../../engine/reading/read.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import { readDate, writeDate } from '../../../../foundation/values/dates.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { orderFigures } from '../../../../shop/resources/orders/figures.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { type Parcel, readParcels } from '../../../../shop/resources/orders/parcels.ts'
import { paymentsOf } from '../../../../shop/resources/orders/payments.ts'
import { changeConsignment, readConsignment, shipGoods } from '../../../../shop/resources/orders/ship.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { holdsStock, statusPartial } from '../../../../shop/resources/orders/statuses.ts'
import { numberIn } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { inFormFields, refusedFields } from '../../../html/page-routes.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { requireUnchanged, type Sent } from '../../frame/pages.ts'
import { labelsOf as valueLabels } from '../../records/edit-page.ts'
import { listStatusNames, textsOf } from '../../records/order-words.ts'
import { pickList } from '../../records/services.ts'
import { type LineField, labelsOf, storedTexts, type TypedForm } from './line-fields.ts'
import { type OrderRequest, orderService } from './special.ts'

const shipmentLabels = valueLabels(pickList(orderService, 'ShipmentList'))

/** Ships goods of a shipment, or corrects how it was shipped. */
export async function shippingPage(asked: OrderRequest): Promise<HtmlPage> {
  const { caller, record: order, typed, writing, isOutdated } = asked
  const { parcel, parcels, shipment, fields } = await readParcel(asked)
  const { hasLeft: isShipped, lines } = parcel
  const today = writeDate(caller.now(), caller.store.timeZone).slice(0, 10)
  const stored: Form = {
    ShipmentShippedDate: isShipped ? dayOf(shipment.ShipmentShippedDate) : today,
    ShipmentMethodName: shipment.ShipmentMethodName,
    ShipmentTrackingCode: shipment.ShipmentTrackingCode,
    ShipmentBoxes: String(shipment.ShipmentBoxes),
    ...storedTexts(isShipped ? [] : fields, writing),
  }
  return {
    template: '/pages/shop/orders/shipping',
    title: titleOf(invoiceOf(order), parcel, parcels),
    values: typed === null || isOutdated ? stored : typed,
    data: {
      order,
      shipment,
      isShipped,
      lines,
      partialStatus: textsOf(await listStatusNames(caller.db, caller.store.id))(statusPartial),
      payments: paymentsOf(order),
      fieldLabels: shipmentLabels,
      labels: { ...shipmentLabels, ...labelsOf(fields) },
    },
  }
}

function titleOf(invoice: string, { hasLeft, number }: Parcel, parcels: readonly Parcel[]): Text {
  const values = { number: invoice, parcel: number }
  if (hasLeft) {
    return parcels.length === 1 ? t('Parcel of order {number}', values) : t('Parcel {parcel} of order {number}', values)
  }
  const isOnlyOne = parcels.filter((parcel) => !parcel.hasLeft).length === 1
  return isOnlyOne ? t('Ship order {number}', values) : t('Ship parcel {parcel} of order {number}', values)
}

/** A stored date of shipping as a form's field has it; empty: it is no date. */
function dayOf(text: string): string {
  const read = readDate(text, 'UTC')
  return read === null ? '' : writeDate(read.instant, 'UTC').slice(0, 10)
}

const quantityName = ({ id }: { readonly id: number }) => `Quantity.${id}`

/** The parcel of the shipment that the address names, by the id that the record shows, and the quantities of its lines. */
async function readParcel({ caller, id, record, params }: OrderRequest) {
  const shipmentId = textIn(params, 'shipmentId')
  const parcels = await readParcels(caller, record, orderFigures(record, caller.store.currency).lines)
  const parcel = parcels.find(({ shipment }) => shipment !== null && String(shipment.ShipmentID) === shipmentId)
  if (parcel === undefined || parcel.shipment === null) throw notFound(orders, id)
  const fields = parcel.lines.map((line): LineField => {
    const name = quantityName(line)
    return {
      name,
      path: name,
      label: t('Quantity of {goods}', { goods: line.sku || line.name }),
      stored: line.quantity,
    }
  })
  return { parcel, parcels, shipment: parcel.shipment, fields }
}

export async function ship(asked: Sent<OrderRequest>): Promise<string> {
  const { caller, id, record, typed, writing } = asked
  const { parcel, shipment } = await readParcel(asked)
  const advice = 'The form shows the parcel as it is now. Look at it again, and send the form if it is still right'
  const precondition = requireUnchanged(asked, 'order', advice)
  if (!holdsStock(record.OrderStatusID)) {
    throw new StoreFailure('invalid-state', 'This order is cancelled or not completed. Change its status first')
  }
  const shipmentId = shipment.ShipmentID
  const isUndone = textIn(typed, 'undo') !== ''
  const given = consignmentIn(asked, isUndone)
  const isChange = parcel.hasLeft || isUndone
  const quantityOf = (name: string) => numberIn(typed, name, writing) ?? 0
  const quantities = isChange ? null : new Map(parcel.lines.map((line) => [line.id, quantityOf(quantityName(line))]))
  const work = async () => {
    const consignment = readConsignment(caller, given)
    if (quantities === null) return changeConsignment(caller, id, { shipmentId, consignment }, precondition)
    return shipGoods(caller, id, { shipmentId, quantities, consignment }, precondition)
  }
  await work().catch(inFormFields((field) => field))
  return `/admin/orders/${id}?notice=${isChange ? 'record-saved' : 'goods-shipped'}`
}

/** The fields of the shipment that the form gives. A shipment that has not left has neither date nor tracking number. */
function consignmentIn({ typed, writing }: TypedForm, isUndone: boolean) {
  if (isUndone) return { ShipmentShippedDate: '', ShipmentTrackingCode: '' }
  const given = (name: string) => textIn(typed, name).trim()
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(given('ShipmentShippedDate')) ?? []
  if (year === undefined || readDate(`${year}-${month}-${day}`, 'UTC') === null) {
    throw refusedFields([{ field: 'ShipmentShippedDate', problem: 'must be a day' }])
  }
  return {
    // The form in which the platform writes it (rest-resources §3.3).
    ShipmentShippedDate: `${month}/${day}/${year}`,
    ShipmentTrackingCode: given('ShipmentTrackingCode'),
    ShipmentMethodName: given('ShipmentMethodName'),
    ShipmentBoxes: numberIn(typed, 'ShipmentBoxes', writing) ?? 1,
  }
}
