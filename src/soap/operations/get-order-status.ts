import { readStatusTexts } from '../../resources/order-statuses/status-texts.ts'
import { element, rootElement, textElement } from '../elements.ts'
import type { Operation } from '../operation.ts'
import { findNamedOrder, invoiceNumParameter } from './order-named.ts'

/** The status of the order with an invoice number, by id and by the merchant's text (soap-cartapi 4.7). */
export const getOrderStatus: Operation = async ({ caller, parameters }) => {
  const { statusId, invoiceNumber } = await findNamedOrder(caller, invoiceNumParameter(parameters))
  const { textOf } = await readStatusTexts(caller)
  return rootElement(
    'OrderStatusResponse',
    textElement('InvoiceNum', invoiceNumber) +
      element('id', String(statusId)) +
      textElement('StatusText', textOf(statusId)),
  )
}
