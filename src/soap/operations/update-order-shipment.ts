import { changeRecord } from '../../engine/change.ts'
import type { NestedSubResource } from '../../engine/define.ts'
import { orders } from '../../resources/orders/orders.ts'
import type { Operation } from '../operation.ts'
import { refusing, writeResult } from '../result.ts'
import { findOrder, requiredInvoiceNum } from './orders.ts'

const shipments = orders.subResources.Shipments as NestedSubResource

/**
 * Sets tracking code and date of a shipment (soap-cartapi §4.9) and nothing else: no status changes. Without an id, or with 0,
 * it is the order's only one. Refuses (43) a shipment that the order has not, and a tracking code that is missing or too long.
 */
export const updateOrderShipment: Operation = async ({ caller, parameters }) => {
  const invoiceNum = requiredInvoiceNum(parameters)
  const ShipmentTrackingCode = parameters.required('tracking', 'invalidData')
  const shipmentId = parameters.integer('shipmentID', 'invalidData', 'the ShipmentID that getOrder gives', { min: 0 })
  const [year, month, day] = parameters.day('shipmentDate', caller.store.timeZone).split('-')
  const order = await findOrder(caller, invoiceNum)
  // Shipments keep their date as a text in this notation (rest-resources §3.3).
  const body = { ShipmentTrackingCode, ...(day && { ShipmentShippedDate: `${month}/${day}/${year}` }) }
  await refusing('invalidData', 'invalidData', () =>
    changeRecord(caller, orders, { kind: 'update-item', id: order.id, list: shipments, key: shipmentId, body }),
  )
  return writeResult('UpdateOrderShipmentResponse', { result: 'OK' })
}
