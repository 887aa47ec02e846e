import type { Caller } from '../../engine/caller.ts'
import { fieldsAmong } from '../../engine/fields.ts'
import { readPage } from '../../engine/read.ts'
import { compileReader } from '../../engine/reader.ts'
import { orders } from '../../resources/orders/orders.ts'
import { shownInvoiceNumber } from '../../resources/orders/shown-invoice-number.ts'
import { type Parameters, textParameter } from '../parameters.ts'
import { ResultError } from '../result-errors.ts'
import { cartOrders, checkInvoiceNum } from './orders-query.ts'

/** The one order that a call is about. */
export interface NamedOrder {
  readonly id: number
  readonly statusId: number
  /** With its prefix. */
  readonly invoiceNumber: string
}

/** As it was sent. Refuses a call without one (7), and one that is no number (35). */
export function invoiceNumParameter(parameters: Parameters): string {
  const invoiceNum = textParameter(parameters, 'invoiceNum')
  if (invoiceNum === '') throw new ResultError('invoiceNumMissing', 'invoiceNum is missing')
  checkInvoiceNum(invoiceNum)
  // All orders without a number are shown so: it names none of them.
  if (/^0+$/.test(invoiceNum)) throw new ResultError('invalidInvoiceNum', 'invoiceNum must not be 0')
  return invoiceNum
}

const names = ['InvoiceNumberPrefix', 'InvoiceNumber', 'OrderID', 'OrderStatusID']
const reader = compileReader(fieldsAmong(orders.fields, (name) => names.includes(name)))

/**
 * The order with this invoice number, with its prefix or without (soap-cartapi 4.7, 4.8). Refuses a number that no order has
 * (49), and one that several have (35): which of them is meant must not be guessed.
 */
export async function findNamedOrder(caller: Caller, invoiceNum: string): Promise<NamedOrder> {
  const query = new Map([['invoice', invoiceNum]])
  const source = { reader, filters: cartOrders.filters }
  const [order, other] = await readPage(caller, cartOrders, source, { query, limit: 2, offset: 0 })
  if (order === undefined) {
    const message = `There is no order with the number ${invoiceNum}`
    throw new ResultError('orderNotFound', message, 'There is no order with this number')
  }
  if (other !== undefined) {
    const remedy = /^\d+$/.test(invoiceNum) ? '; the prefix of the one that is meant is needed' : ''
    const message = `Several orders have the number ${invoiceNum}${remedy}`
    throw new ResultError('invalidInvoiceNum', message, 'Several orders have this number')
  }
  return {
    id: Number(order.OrderID),
    statusId: Number(order.OrderStatusID),
    invoiceNumber: shownInvoiceNumber(String(order.InvoiceNumberPrefix), Number(order.InvoiceNumber)),
  }
}
