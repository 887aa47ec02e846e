import { updateRecord } from '../../engine/change.ts'
import { readStatusTexts } from '../../resources/order-statuses/status-texts.ts'
import { orders } from '../../resources/orders/orders.ts'
import { rootElement, textElement } from '../elements.ts'
import type { Operation } from '../operation.ts'
import { textParameter } from '../parameters.ts'
import { ResultError, refusing } from '../result-errors.ts'
import { findNamedOrder, invoiceNumParameter } from './order-named.ts'
import { statusId } from './orders-query.ts'

/**
 * Gives the order with an invoice number the status with a text (soap-cartapi 4.8). One that it has already is a success
 * that changes nothing. Refuses (39) any other status for a cancelled order, whose items went back to stock.
 */
export const updateOrderStatus: Operation = async ({ caller, parameters }) => {
  const invoiceNum = invoiceNumParameter(parameters)
  const newStatus = textParameter(parameters, 'newStatus')
  if (newStatus === '') throw new ResultError('newStatusMissing', 'newStatus is missing')
  const wanted = statusId(await readStatusTexts(caller), newStatus)
  const order = await findNamedOrder(caller, invoiceNum)
  if (order.statusId !== wanted) {
    await refusing({ notFound: 'orderNotFound', otherwise: 'invalidStatus' }, () =>
      updateRecord(caller, orders, order.id, { OrderStatusID: wanted }),
    )
  }
  // Programs compare both with what they sent.
  return rootElement(
    'UpdateOrderStatusResponse',
    textElement('InvoiceNum', invoiceNum) + textElement('NewStatus', newStatus),
  )
}
