import type { Caller } from '../../../engine/caller.ts'
import { changeRecord, updateRecord } from '../../../engine/changing/change.ts'
import { readRows } from '../../../engine/changing/write.ts'
import type { Query } from '../../../engine/definition/endpoints.ts'
import type { NestedSubResource, Resource } from '../../../engine/definition/resource.ts'
import { countRecords, readPage } from '../../../engine/reading/read.ts'
import { recordValues } from '../../../engine/reading/representations.ts'
import { shown } from '../../../foundation/xml/read.ts'
import { readStatusTexts, type StatusTexts } from '../../../shop/resources/order-statuses/status-texts.ts'
import { shipmentList } from '../../../shop/resources/orders/lists.ts'
import { orders } from '../../../shop/resources/orders/orders.ts'
import {
  fromInvoiceNumber,
  hasInvoiceNumber,
  isInvoiceNumber,
  shownInvoiceNumber,
} from '../../../shop/resources/orders/shown-invoice-number.ts'
import { readLineProducts } from '../../../shop/resources/products/products-by-id.ts'
import { type Operation, type Parameters, readBatch, shownAsParameter, writePage } from '../operation.ts'
import { readerOf } from '../records/elements.ts'
import { lineProductIds, orderElements, orderValues, shownShipmentDate } from '../records/order.ts'
import { ResultError, refusing, writeResult } from '../result.ts'

/** A page of the orders that match, by OrderID. Refuses (49) an empty page. */
export const getOrder: Operation = async ({ caller, parameters }) => {
  const batch = readBatch(parameters)
  const statuses = await readStatusTexts(caller)
  const query = readOrdersQuery(caller, parameters, statuses)
  const source = { as: orderValues, filters: cartOrders.filters }
  const page = await readPage(caller, cartOrders, source, { query, ...batch })
  if (page.length === 0) throw new ResultError('orderNotFound', 'No order matches, or startNum is after the last')
  const products = await readLineProducts(caller, page.flatMap(lineProductIds))
  const { timeZone, currency } = caller.store
  const context = { statuses, products, timeZone, currency }
  return writePage('GetOrdersResponse', page, (order) => orderElements.write(order, context))
}

/** Counts the orders that getOrder would give for the same parameters; none is 0, not an error (soap-cartapi §4.6). */
export const getOrderCount: Operation = async ({ caller, parameters }) => {
  const query = readOrdersQuery(caller, parameters, await readStatusTexts(caller))
  return writeResult('OrdersCountResponse', { Quantity: await countRecords(caller, cartOrders, query) })
}

/** The status of the order with an invoice number, by id and by the merchant's text (soap-cartapi §4.7). */
export const getOrderStatus: Operation = async ({ caller, parameters }) => {
  const { statusId, invoiceNumber } = await findOrder(caller, requiredInvoiceNum(parameters))
  const { textOf } = await readStatusTexts(caller)
  return writeResult('OrderStatusResponse', { InvoiceNum: invoiceNumber, id: statusId, StatusText: textOf(statusId) })
}

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

const shipments = orders.subResources.Shipments as NestedSubResource

/**
 * Sets tracking code and date of a shipment (soap-cartapi §4.9) and nothing else: no status changes. Without an id, or with 0,
 * it is the order's only one. Refuses (43) a shipment that the order does not have, and a tracking code that is missing or too long.
 */
export const updateOrderShipment: Operation = async ({ caller, parameters }) => {
  const invoiceNum = requiredInvoiceNum(parameters)
  const ShipmentTrackingCode = parameters.required('tracking', 'invalidData')
  const shipmentId = parameters.integer('shipmentID', 'invalidData', 'the ShipmentID that getOrder gives', { min: 0 })
  const date = dayOrRefusal(caller, parameters)
  const order = await findOrder(caller, invoiceNum).catch((error) => {
    throw date instanceof ResultError ? date : error
  })
  const isShown = await isShownDate(caller, { orderId: order.id, shipmentId }, parameters.text('shipmentDate'))
  if (date instanceof ResultError && !isShown) throw date
  const [year, month, day] = isShown ? [] : String(date).split('-')
  // Shipments keep their date as a text in this notation (rest-resources §3.3).
  const body = { ShipmentTrackingCode, ...(day && { ShipmentShippedDate: `${month}/${day}/${year}` }) }
  const item = { id: order.id, list: shipments, key: shipmentId, body, shownAs: shownAsParameter }
  await refusing('invalidData', 'invalidData', () => changeRecord(caller, orders, { kind: 'update-item', ...item }))
  return writeResult('UpdateOrderShipmentResponse', { result: 'OK' })
}

/** What is no day is refused unless it is what getOrder shows. */
function dayOrRefusal({ store }: Caller, parameters: Parameters): string | ResultError {
  try {
    return parameters.day('shipmentDate', store.timeZone)
  } catch (error) {
    if (error instanceof ResultError) return error
    throw error
  }
}

/** Whether getOrder shows the shipment with this date. */
async function isShownDate(caller: Caller, ids: { orderId: number; shipmentId: number }, date: string) {
  const rows = date === '' ? [] : await readRows(caller, shipmentList, ids.orderId)
  const row = rows.find(({ id }) => id === ids.shipmentId || (ids.shipmentId === 0 && rows.length === 1))
  if (row === undefined) return false
  return shownAsParameter(shownShipmentDate(String(row.shippedDate), caller.store.timeZone)) === date
}

/** Orders with the filters that only cartAPI has. */
const cartOrders: Resource = {
  ...orders,
  filters: { ...orders.filters, invoice: hasInvoiceNumber, invoicestart: fromInvoiceNumber },
}

/**
 * What getOrder and getOrderCount select by (soap-cartapi §4.5): an invoice number, or all from one on; a status; days of the
 * order's date. Each that is given must match. Refuses what cannot be read (35 to 39).
 */
function readOrdersQuery({ store }: Caller, parameters: Parameters, statuses: StatusTexts): Query {
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
function statusId(statuses: StatusTexts, text: string): number {
  const id = statuses.idOf(text)
  if (id !== null) return id
  const message = `${shown(text)} is not an order status of the store`
  throw new ResultError('invalidStatus', message, 'The store has no such order status')
}

/** The invoiceNum of one order, as it was sent. Refuses a missing one (7), and one that is no number (35). */
function requiredInvoiceNum(parameters: Parameters): string {
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

const namesAndStatus = recordValues(
  readerOf(orders.fields, ['InvoiceNumberPrefix', 'InvoiceNumber', 'OrderID', 'OrderStatusID']),
)

/**
 * The order with this invoice number, with its prefix or without (soap-cartapi §4.7, §4.8). Refuses a number that no order has
 * (49), and one that several have (35), because the operation must not guess.
 */
async function findOrder(caller: Caller, invoiceNum: string) {
  const query = new Map([['invoice', invoiceNum]])
  const source = { as: namesAndStatus, filters: cartOrders.filters }
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
