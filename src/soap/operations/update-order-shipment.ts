import { changeRecord } from '../../engine/change.ts'
import type { NestedSubResource } from '../../engine/define.ts'
import { orders } from '../../resources/orders/orders.ts'
import { element, rootElement } from '../elements.ts'
import type { Operation } from '../operation.ts'
import { integerParameter, type Parameters, textParameter } from '../parameters.ts'
import { ResultError, refusing } from '../result-errors.ts'
import { dayParameter } from './order-day.ts'
import { findNamedOrder, invoiceNumParameter } from './order-named.ts'

const shipments = orders.subResources.Shipments as NestedSubResource

/**
 * Sets tracking code and date of a shipment (soap-cartapi 4.9), and nothing else: no status changes. Without an id, or with 0,
 * it is the order's only one. Refuses (43) a shipment that the order has not, and a tracking code that is missing or too long.
 */
export const updateOrderShipment: Operation = async ({ caller, parameters }) => {
  const invoiceNum = invoiceNumParameter(parameters)
  const ShipmentTrackingCode = textParameter(parameters, 'tracking')
  if (ShipmentTrackingCode === '') throw new ResultError('invalidData', 'tracking is missing')
  const shipmentId = shipmentIdParameter(parameters)
  const day = dayParameter(parameters, 'shipmentDate', caller.store.timeZone)
  const order = await findNamedOrder(caller, invoiceNum)
  const body = { ShipmentTrackingCode, ...(day !== '' && { ShipmentShippedDate: american(day) }) }
  await refusing({ notFound: 'invalidData', otherwise: 'invalidData' }, () =>
    changeRecord(caller, orders, { kind: 'update-item', id: order.id, list: shipments, key: shipmentId, body }),
  )
  return rootElement('UpdateOrderShipmentResponse', element('result', 'OK'))
}

function shipmentIdParameter(parameters: Parameters): number {
  const id = integerParameter(parameters, 'shipmentID')
  if (id >= 0) return id
  throw new ResultError('invalidData', 'shipmentID must be the ShipmentID that getOrder gives')
}

/** `2026-03-08` as shipments keep their date: `03/08/2026` (rest-resources 3.3). */
function american(day: string): string {
  const [year, month, date] = day.split('-')
  return `${month}/${date}/${year}`
}
