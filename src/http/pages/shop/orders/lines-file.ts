import type { FastifyReply } from 'fastify'
import { shows } from '../../../../access/applications/privileges.ts'
import { type Text, t, written } from '../../../../foundation/texts/text.ts'
import { readDate } from '../../../../foundation/values/dates.ts'
import { listStatuses } from '../../../../shop/resources/order-statuses/status-texts.ts'
import { exact, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { orderFigures } from '../../../../shop/resources/orders/figures.ts'
import type { OrderRecord } from '../../../../shop/resources/orders/orders.ts'
import { paymentsOf } from '../../../../shop/resources/orders/payments.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import type { PageRequest } from '../../frame/pages.ts'
import { type CsvCell, type CsvColumn, csvFormIn, sendCsv, spreadsheetForm } from '../../records/csv-form.ts'
import { pagesAsked, rowsOf } from '../../records/export.ts'
import { textsOf } from '../../records/order-words.ts'
import { listedOf } from '../../records/search.ts'
import { orderService } from './special.ts'

type Figures = ReturnType<typeof orderFigures>
type Item = Figures['lines'][number]

/** What a line of the file is made of. */
interface Line {
  readonly order: OrderRecord
  readonly figures: Figures
  readonly statusText: (id: number) => string
  /** Null: the order has none. */
  readonly item: Item | null
  /** With which the item goes; null: none that is known. */
  readonly shipment: OrderRecord['ShipmentList'][number] | null
}

interface LineColumn extends CsvColumn {
  readonly needs?: 'Customers'
  readonly cell: (line: Line) => CsvCell
}

type CellOf<From> = (from: From) => CsvCell

const column = (name: string, label: Text, cell: CellOf<Line>, others: Partial<LineColumn> = {}): LineColumn => {
  return { name, label, cell, ...others }
}
const ofOrder = (name: string, label: Text, cell: CellOf<OrderRecord>, needs?: 'Customers') =>
  column(name, label, ({ order }) => cell(order), needs && { needs })
const ofItem = (name: string, label: Text, cell: CellOf<Item>, others?: Partial<LineColumn>) =>
  column(name, label, ({ item }) => (item === null ? '' : cell(item)), others)
type ShipmentText = 'ShipmentCountry' | 'ShipmentMethodName' | 'ShipmentShippedDate' | 'ShipmentTrackingCode'

/** The one form of all days; a text that is none stays. */
const isoDay = (text: string) => readDate(text, 'UTC')?.instant.toISOString().slice(0, 'yyyy-mm-dd'.length) ?? text
const ofShipment = (name: ShipmentText, label: Text, textOf = (text: string) => text) =>
  column(name, label, ({ shipment }) => textOf(shipment?.[name] ?? ''))
/** An amount of the whole order, which stands in its first line alone, so that the column can be added up. */
const once = (name: string, label: Text, amount: (line: Line) => number) => {
  const isFirst = ({ item, figures }: Line) => item === null || item === figures.lines[0]
  return column(name, label, (line) => (isFirst(line) ? amount(line) : ''), { isMoney: true })
}

const texts = (...values: unknown[]) => values.filter(Boolean).join(' ')
const referencesOf = ({ TransactionList }: OrderRecord) =>
  TransactionList.map(({ TransactionReference, TransactionID }) => TransactionReference || TransactionID)

/** Goods less discount, with shipping, taxes and what else there is, are the total. */
const columns: readonly LineColumn[] = [
  ofOrder('InvoiceNumber', t('Invoice number'), invoiceOf),
  ofOrder('OrderID', t('Number in this system'), ({ OrderID }) => OrderID),
  ofOrder('OrderDate', t('Date'), ({ OrderDate }) => isoDay(OrderDate)),
  column('OrderStatus', t('Status'), ({ order, statusText }) => statusText(order.OrderStatusID)),
  ofOrder('CustomerID', t('Customer number'), ({ CustomerID }) => (CustomerID === 0 ? '' : CustomerID), 'Customers'),
  ofOrder('BillingName', t('Customer'), (order) => texts(order.BillingFirstName, order.BillingLastName), 'Customers'),
  ofOrder('BillingCompany', t('Company'), ({ BillingCompany }) => BillingCompany, 'Customers'),
  ofOrder('BillingEmail', t('E-mail'), ({ BillingEmail }) => BillingEmail, 'Customers'),
  ofOrder('BillingCountry', t('Billing country'), ({ BillingCountry }) => BillingCountry, 'Customers'),
  ofItem('ItemID', t('SKU'), ({ sku }) => sku),
  ofItem('ItemDescription', t('Description'), ({ name, choices }) =>
    written(({ say }) => [name, ...choices].map(say).join(', ')),
  ),
  ofItem('ItemQuantity', t('Quantity'), ({ quantity }) => quantity),
  ofItem('ItemPrice', t('Price'), ({ unitPrice }) => unitPrice, { isMoney: true }),
  ofItem('ItemTotal', t('Amount'), ({ amount }) => amount, { isMoney: true }),
  once('DiscountTotal', t('Discount'), ({ figures }) => figures.discount),
  once('ShippingTotal', t('Shipping'), ({ figures }) => figures.shipping),
  once('SalesTax', t('Tax'), ({ figures }) => figures.taxes[0] ?? 0),
  once('SalesTax2', t('Second tax'), ({ figures }) => figures.taxes[1] ?? 0),
  once('SalesTax3', t('Third tax'), ({ figures }) => figures.taxes[2] ?? 0),
  once('OtherAmount', t('Other'), ({ order, figures }) => toNumber(exact(order.OrderAmount) - exact(figures.sum))),
  once('OrderAmount', t('Total'), ({ order }) => order.OrderAmount),
  ofOrder('BillingPaymentMethod', t('Payment method'), ({ BillingPaymentMethod }) => BillingPaymentMethod),
  ofOrder('TransactionReferences', t('Payment references'), (order) =>
    [...new Set(referencesOf(order))].filter(Boolean).join(', '),
  ),
  once('PaidAmount', t('Paid'), ({ order }) => paymentsOf(order).paid),
  once('RefundedAmount', t('Refunded'), ({ order }) => paymentsOf(order).refunded),
  once('NetAmount', t('Net'), ({ order }) => paymentsOf(order).net),
  once('OpenAmount', t('Open'), ({ order }) => paymentsOf(order).open),
  ofShipment('ShipmentCountry', t('Shipping country')),
  ofShipment('ShipmentMethodName', t('Shipping method')),
  ofShipment('ShipmentShippedDate', t('Shipped on'), isoDay),
  ofShipment('ShipmentTrackingCode', t('Tracking number')),
]

/**
 * Sends the orders of the list as CSV with a line for each item, as the address filters and sorts them, or those that it names by
 * `ids`. Amounts of a whole order stand in its first line alone. An order without items has one line.
 */
export async function sendLines(asked: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { caller, query, writing } = asked
  const form = csvFormIn(query, spreadsheetForm(writing))
  const pages = await pagesAsked(asked, listedOf(caller.privileges, orderService))
  const statusText = textsOf(await listStatuses(caller.db, caller.store.id))
  const { currency } = caller.store
  const shown = columns.filter((column) => shows(caller.privileges, { needs: column.needs }))
  const rows = rowsOf(pages, (order: OrderRecord) =>
    linesOf(order, statusText, currency).map((line) => shown.map(({ cell }) => cell(line))),
  )
  const name = `order-lines-${caller.now().toISOString().slice(0, 10)}.csv`
  return sendCsv(reply, name, form, { columns: shown, rows, currency })
}

function linesOf(order: OrderRecord, statusText: Line['statusText'], currency: string): Line[] {
  const { OrderItemList: items, ShipmentList: shipments } = order
  const only = shipments.length === 1 ? (shipments[0] ?? null) : null
  const figures = orderFigures(order, currency)
  const all = { order, figures, statusText }
  if (items.length === 0) return [{ ...all, item: null, shipment: only }]
  return figures.lines.map((item, at) => {
    const own = shipments.find(({ ShipmentID }) => ShipmentID === items[at]?.ItemShipmentID)
    return { ...all, item, shipment: own ?? only }
  })
}
