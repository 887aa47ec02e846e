import type { WireRecord } from '../../../engine/definition/reader.ts'
import { recordValues } from '../../../engine/reading/representations.ts'
import { readDate, writeDate } from '../../../foundation/values/dates.ts'
import type { StatusTexts } from '../../../shop/resources/order-statuses/status-texts.ts'
import { amountOf, exact, sum, toNumber } from '../../../shop/resources/orders/amounts.ts'
import { descriptionLines } from '../../../shop/resources/orders/line-description.ts'
import { orders } from '../../../shop/resources/orders/orders.ts'
import { shownInvoiceNumber } from '../../../shop/resources/orders/shown-invoice-number.ts'
import type { LineProduct } from '../../../shop/resources/products/products-by-id.ts'
import { computed, type Elements, each, empty, formats, group, itemsOf, readerOf, valuesOf } from './elements.ts'

/** What cartAPI shows with an order and the order's record does not say. */
export interface OrderContext {
  readonly statuses: StatusTexts
  /** The products of its lines that still exist. */
  readonly products: ReadonlyMap<number, LineProduct>
  readonly timeZone: string
  readonly currency: string
}

const { text, fixed, plain, day, moment, time } = valuesOf()
const billing = valuesOf('Billing')
const transaction = valuesOf('Transaction')
const shipment = valuesOf('Shipment')
const item = valuesOf('Item')
const question = valuesOf('Question')

/** It is kept as a text that may say anything; what is no date is shown as it is. */
export function shownShipmentDate(stored: string, timeZone: string): string {
  const read = readDate(stored, timeZone)
  if (read === null) return stored
  return formats[read.hasTime ? 'moment' : 'day'](writeDate(read.instant, timeZone))
}

const shipments = each<OrderContext>(
  'ShipmentList',
  'Shipment',
  plain('ShipmentID'),
  computed('ShipmentDate', [], ({ ShipmentShippedDate: stored }, { timeZone }) =>
    shownShipmentDate(String(stored), timeZone),
  ),
  plain('Shipping=ShipmentCost'),
  shipment.text('Method=MethodName', 'FirstName', 'LastName', 'Company', 'Address', 'Address2', 'City', 'ZipCode'),
  shipment.text('StateCode=State', 'CountryCode=Country', 'Phone'),
  shipment.fixed('Weight'),
  computed('Status', [], ({ ShipmentOrderStatus }, { statuses }) => statuses.textOf(Number(ShipmentOrderStatus))),
  shipment.text('InternalComment', 'TrackingCode'),
)

/** Left out where they are empty, because programs of the first years refuse elements that came later. */
const warehouse: readonly Elements[] = ['Location', 'Bin', 'Aisle', 'Custom'].map((part) => {
  const elements = item.text(`Warehouse${part}`)
  return { ...elements, write: (line) => (line[`ItemWarehouse${part}`] === '' ? '' : elements.write(line, undefined)) }
})

const items = each<OrderContext>(
  'OrderItemList',
  'Item',
  item.plain('ShipmentID'),
  item.text('ProductID=ID'),
  computed('ProductName', [], ({ ItemDescription }) => descriptionLines(String(ItemDescription)).join('\n')),
  item.plain('Quantity'),
  item.fixed('UnitPrice', 'UnitCost', 'OptionPrice', 'Weight'),
  empty('Dimension'),
  item.plain('WarehouseID'),
  item.moment('DateAdded'),
  item.text('PageAdded'),
  computed('ProdType', [], ({ CatalogID }, { products }) =>
    products.get(Number(CatalogID))?.isDownloadable ? 'Downloadable' : 'Tangible',
  ),
  computed('Taxable', [], ({ CatalogID }, { products }) =>
    formats.flag(products.get(Number(CatalogID))?.nonTaxable !== true),
  ),
  computed('ItemPrice', [], (line) => formats.fixed(toNumber(priceOf(line)))),
  computed('Total', [], (line, { currency }) =>
    formats.fixed(toNumber(amountOf(priceOf(line), exact(Number(line.ItemQuantity)), currency))),
  ),
  ...warehouse,
)

const transactions = each(
  'TransactionList',
  'Transaction',
  transaction.text('CVV2', 'ResponseText', 'AVS', 'TransactionId=ID', 'ApprovalCode=Approval', 'TransactionType=Type'),
  transaction.fixed('Amount'),
)

/** An order as getOrder shows it (soap-cartapi §4.5). */
export const orderElements = group<OrderContext>(
  'Order',
  plain('OrderID'),
  computed('InvoiceNumber', ['InvoiceNumberPrefix', 'InvoiceNumber'], (order) =>
    shownInvoiceNumber(String(order.InvoiceNumberPrefix), Number(order.InvoiceNumber)),
  ),
  plain('CustomerID'),
  day('Date=OrderDate'),
  plain('Total=OrderAmount'),
  fixed('Tax=SalesTax', 'Tax2=SalesTax2', 'Tax3=SalesTax3'),
  computed('Shipping', ['ShipmentList'], (order) => sumOf(order, 'ShipmentCost')),
  group(
    'BillingAddress',
    billing.text('FirstName', 'LastName', 'Email', 'Address', 'Address2', 'City', 'ZipCode'),
    billing.text('StateCode=State', 'CountryCode=Country', 'Phone=PhoneNumber', 'Company'),
  ),
  group(
    'Comments',
    text('OrderComment=CustomerComments', 'OrderInternalComment=InternalComments'),
    text('OrderExternalComment=ExternalComments'),
  ),
  text('PaymentMethod=BillingPaymentMethod', 'CardType'),
  time('Time=OrderDate'),
  // They stand one by one in the order, without an element around them; an order without any has an empty one.
  { ...transactions, write: (order) => transactions.write(order, undefined) || '<Transaction></Transaction>' },
  fixed('Discount=OrderDiscount'),
  group(
    'Promotions',
    each(
      'PromotionList',
      'Promotion',
      computed('Code', [], ({ Coupon, PromotionName = '' }) => Coupon || PromotionName),
      fixed('Amount=DiscountAmount'),
    ),
  ),
  group(
    'GiftCertificatePurchased',
    each(
      'GiftCertificatePurchased',
      'Gift',
      text('Code'),
      fixed('Amount'),
      text('ToName', 'ToEmail', 'ToMessage', 'FromName'),
    ),
  ),
  group('GiftCertificateUsed', each('GiftCertificateUsed', 'Gift', text('Code'), fixed('Amount'))),
  computed('OrderStatus', ['OrderStatusID'], ({ OrderStatusID }, { statuses }) =>
    statuses.textOf(Number(OrderStatusID)),
  ),
  text('Referer', 'SalesPerson', 'IP'),
  moment('DateStarted=OrderDate'),
  text('UserID'),
  moment('LastUpdate'),
  computed('Weight', ['ShipmentList'], (order) => formats.fixed(sumOf(order, 'ShipmentWeight'))),
  group(
    'AffiliateInformation',
    plain('AffiliateID', 'AffiliateCommission'),
    empty('AffiliateApproved', 'AffiliateApprovedreason'),
  ),
  group('ShippingInformation', shipments, group('OrderItems', items)),
  group(
    'CheckoutQuestions',
    each('QuestionList', 'Question', question.plain('Id=ID'), question.text('Question=Title', 'Answer')),
  ),
)

export const orderValues = recordValues(readerOf(orders.storedFields, orderElements.fields))

export function lineProductIds({ OrderItemList }: WireRecord): number[] {
  return itemsOf(OrderItemList)
    .map(({ CatalogID }) => Number(CatalogID))
    .filter((id) => id !== 0)
}

/** The price of one piece with its options, in ten-thousandths. */
function priceOf({ ItemUnitPrice, ItemOptionPrice }: WireRecord): bigint {
  return exact(Number(ItemUnitPrice)) + exact(Number(ItemOptionPrice))
}

function sumOf({ ShipmentList }: WireRecord, field: string): number {
  return toNumber(sum(itemsOf(ShipmentList).map(({ [field]: amount }) => exact(Number(amount)))))
}
