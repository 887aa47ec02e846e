import { readStatusTexts } from '../../resources/order-statuses/status-texts.ts'
import type { Operation } from '../operation.ts'
import { writeResult } from '../result.ts'
import { findOrder, requiredInvoiceNum } from './orders.ts'

/** The status of the order with an invoice number, by id and by the merchant's text (soap-cartapi §4.7). */
export const getOrderStatus: Operation = async ({ caller, parameters }) => {
  const { statusId, invoiceNumber } = await findOrder(caller, requiredInvoiceNum(parameters))
  const { textOf } = await readStatusTexts(caller)
  return writeResult('OrderStatusResponse', {
    InvoiceNum: invoiceNumber,
    id: statusId,
    StatusText: textOf(statusId),
  })
}
