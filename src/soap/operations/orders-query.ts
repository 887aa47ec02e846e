import type { Caller } from '../../engine/caller.ts'
import type { Resource } from '../../engine/define.ts'
import type { Query } from '../../engine/read.ts'
import { compileReader } from '../../engine/reader.ts'
import type { StatusTexts } from '../../resources/order-statuses/status-texts.ts'
import { orders } from '../../resources/orders/orders.ts'
import { fromInvoiceNumber, hasInvoiceNumber, isInvoiceNumber } from '../../resources/orders/shown-invoice-number.ts'
import { shown } from '../../xml/read.ts'
import { booleanParameter, type Parameters, textParameter } from '../parameters.ts'
import { ResultError } from '../result-errors.ts'
import { dayParameter } from './order-day.ts'

/** Orders as cartAPI searches and shows them: with what REST does not show. */
export const cartOrders: Resource = {
  ...orders,
  reader: compileReader(orders.storedFields),
  filters: { ...orders.filters, invoice: hasInvoiceNumber, invoicestart: fromInvoiceNumber },
}

/**
 * What getOrder and getOrderCount select by (soap-cartapi 4.5): invoice number, or from one on; status; days of the order's
 * date. Each that is given must fit. Refuses what cannot be read (35 to 39).
 */
export function readOrdersQuery({ store }: Caller, parameters: Parameters, statuses: StatusTexts): Query {
  const startFrom = booleanParameter(parameters, 'startFrom')
  if (startFrom === null) throw new ResultError('invalidStartFrom', 'startFrom must be true or false')
  const invoiceNum = textParameter(parameters, 'invoiceNum')
  if (invoiceNum !== '') checkInvoiceNum(invoiceNum)
  const status = textParameter(parameters, 'status')
  const from = dayParameter(parameters, 'dateFrom', store.timeZone)
  const to = dayParameter(parameters, 'dateTo', store.timeZone)
  if (from !== '' && to !== '' && from > to) throw new ResultError('invalidDateRange', 'dateFrom lies after dateTo')
  const given: [string, string][] = [
    [startFrom ? 'invoicestart' : 'invoice', invoiceNum],
    ['orderstatus', status === '' ? '' : String(statusId(statuses, status))],
    ['datestart', from],
    ['dateend', to],
  ]
  return new Map(given.filter(([, value]) => value !== ''))
}

/** Refuses (35) what cannot be an invoice number. */
export function checkInvoiceNum(invoiceNum: string): void {
  if (isInvoiceNumber(invoiceNum)) return
  throw new ResultError('invalidInvoiceNum', 'invoiceNum must be a number such as 1347 or AB-1347')
}

/** The status with this text. Refuses (39) one that the store has not. */
export function statusId(statuses: StatusTexts, text: string): number {
  const id = statuses.idOf(text)
  if (id !== null) return id
  const message = `${shown(text)} is not an order status of the store`
  throw new ResultError('invalidStatus', message, 'The store has no such order status')
}
