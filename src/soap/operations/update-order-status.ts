import { updateRecord } from '../../engine/change.ts'
import { readStatusTexts } from '../../resources/order-statuses/status-texts.ts'
import { orders } from '../../resources/orders/orders.ts'
import type { Operation } from '../operation.ts'
import { refusing, writeResult } from '../result.ts'
import { findOrder, requiredInvoiceNum, statusId } from './orders.ts'

/**
 * Gives the order with an invoice number the status with a text (soap-cartapi §4.8). The status that it has already is a success
 * that changes nothing. Refuses (39) any other status for a cancelled order, whose items went back to stock.
 */
export const updateOrderStatus: Operation = async ({ caller, parameters }) => {
  const invoiceNum = requiredInvoiceNum(parameters)
  const newStatus = parameters.required('newStatus', 'newStatusMissing')
  const wanted = statusId(await readStatusTexts(caller), newStatus)
  const order = await findOrder(caller, invoiceNum)
  if (order.statusId !== wanted) {
    await refusing('orderNotFound', 'invalidStatus', () =>
      updateRecord(caller, orders, order.id, { OrderStatusID: wanted }),
    )
  }
  // Programs compare both with what they sent.
  return writeResult('UpdateOrderStatusResponse', { InvoiceNum: invoiceNum, NewStatus: newStatus })
}
