import type { Caller } from '../../engine/caller.ts'
import type { Resource } from '../../engine/define.ts'
import { fieldsAmong } from '../../engine/fields.ts'
import { type Query, readPage } from '../../engine/read.ts'
import { compileReader } from '../../engine/reader.ts'
import type { StatusTexts } from '../../resources/order-statuses/status-texts.ts'
import { orders } from '../../resources/orders/orders.ts'
import {
  fromInvoiceNumber,
  hasInvoiceNumber,
  isInvoiceNumber,
  shownInvoiceNumber,
} from '../../resources/orders/shown-invoice-number.ts'
import { shown } from '../../xml/read.ts'
import type { Parameters } from '../operation.ts'
import { ResultError } from '../result.ts'

// How the operations on orders find them.

/** Orders with the filters that only cartAPI has. */
export const cartOrders: Resource = {
  ...orders,
  filters: { ...orders.filters, invoice: hasInvoiceNumber, invoicestart: fromInvoiceNumber },
}

/**
 * What getOrder and getOrderCount select by (soap-cartapi §4.5): an invoice number, or all from one on; a status; days of the
 * order's date. Each that is given must match. Refuses what cannot be read (35 to 39).
 */
export function readOrdersQuery({ store }: Caller, parameters: Parameters, statuses: StatusTexts): Query {
  const startFrom = parameters.boolean('startFrom', 'invalidStartFrom')
  const invoiceNum = parameters.text('invoiceNum')
  if (invoiceNum !== '') checkInvoiceNum(invoiceNum)
  const status = parameters.text('status')
  const from = parameters.day('dateFrom', store.timeZone)
  const to = parameters.day('dateTo', store.timeZone)
  if (from !== '' && to !== '' && from > to) throw new ResultError('invalidDateRange', 'dateFrom lies after dateTo')
  const given: [string, string][] = [
    [startFrom ? 'invoicestart' : 'invoice', invoiceNum],
    ['orderstatus', status === '' ? '' : String(statusId(statuses, status))],
    ['datestart', from],
    ['dateend', to],
  ]
  return new Map(given.filter(([, value]) => value !== ''))
}

/** The status with this text. Refuses (39) a text that no status of the store has. */
export function statusId(statuses: StatusTexts, text: string): number {
  const id = statuses.idOf(text)
  if (id !== null) return id
  const message = `${shown(text)} is not an order status of the store`
  throw new ResultError('invalidStatus', message, 'The store has no such order status')
}

/** The invoiceNum of one order, as it was sent. Refuses a missing one (7), and one that is no number (35). */
export function requiredInvoiceNum(parameters: Parameters): string {
  const invoiceNum = parameters.required('invoiceNum', 'invoiceNumMissing')
  checkInvoiceNum(invoiceNum)
  // All orders without a number are shown with 0: it names none of them.
  if (/^0+$/.test(invoiceNum)) throw new ResultError('invalidInvoiceNum', 'invoiceNum must not be 0')
  return invoiceNum
}

function checkInvoiceNum(invoiceNum: string): void {
  if (isInvoiceNumber(invoiceNum)) return
  throw new ResultError('invalidInvoiceNum', 'invoiceNum must be a number such as 1347 or AB-1347')
}

const names = ['InvoiceNumberPrefix', 'InvoiceNumber', 'OrderID', 'OrderStatusID']
const reader = compileReader(fieldsAmong(orders.fields, (name) => names.includes(name)))

/**
 * The order with this invoice number, with its prefix or without (soap-cartapi §4.7, §4.8). Refuses a number that no order has
 * (49), and one that several have (35), because the operation must not guess.
 */
export async function findOrder(
  caller: Caller,
  invoiceNum: string,
): Promise<{ readonly id: number; readonly statusId: number; readonly invoiceNumber: string }> {
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
