import type { WireRecord, WireValue } from '../../engine/reader.ts'
import type { StatusTexts } from '../../resources/order-statuses/status-texts.ts'
import { amountOf, exact, toNumber } from '../../resources/orders/amounts.ts'
import { descriptionLines } from '../../resources/orders/description-lines.ts'
import { shownInvoiceNumber } from '../../resources/orders/shown-invoice-number.ts'
import type { LineProduct } from '../../resources/products/products-by-id.ts'
import { readDate, writeDate } from '../../values/dates.ts'
import { element } from '../elements.ts'
import { day, fixed, flag, itemsOf, moment, plain, text, time } from './format.ts'

/** What an order's record does not say itself. */
export interface OrderContext {
  readonly statuses: StatusTexts
  /** Of its lines, as far as they are still there. */
  readonly products: ReadonlyMap<number, LineProduct>
  readonly timeZone: string
}

/** The products that an order's lines are of. */
export function productsOf(order: WireRecord): number[] {
  return itemsOf(order.OrderItemList)
    .map(({ CatalogID }) => Number(CatalogID))
    .filter((id) => id !== 0)
}

/** An order as getOrder shows it, in the documented order of elements (soap-cartapi 4.5). */
export function writeOrder(order: WireRecord, context: OrderContext): string {
  const shipments = itemsOf(order.ShipmentList)
  return element(
    'Order',
    plain('OrderID', order.OrderID) +
      text('InvoiceNumber', shownInvoiceNumber(String(order.InvoiceNumberPrefix), Number(order.InvoiceNumber))) +
      plain('CustomerID', order.CustomerID) +
      day('Date', order.OrderDate) +
      plain('Total', order.OrderAmount) +
      fixed('Tax', order.SalesTax) +
      fixed('Tax2', order.SalesTax2) +
      fixed('Tax3', order.SalesTax3) +
      plain('Shipping', sum(shipments.map(({ ShipmentCost }) => ShipmentCost))) +
      writeBillingAddress(order) +
      writeComments(order) +
      text('PaymentMethod', order.BillingPaymentMethod) +
      text('CardType', order.CardType) +
      time('Time', order.OrderDate) +
      writeTransactions(itemsOf(order.TransactionList)) +
      fixed('Discount', order.OrderDiscount) +
      element('Promotions', itemsOf(order.PromotionList).map(writePromotion).join('')) +
      element('GiftCertificatePurchased', itemsOf(order.GiftCertificatePurchased).map(writeGift).join('')) +
      element('GiftCertificateUsed', itemsOf(order.GiftCertificateUsed).map(writeUsedGift).join('')) +
      text('OrderStatus', context.statuses.textOf(Number(order.OrderStatusID))) +
      text('Referer', order.Referer) +
      text('SalesPerson', order.SalesPerson) +
      text('IP', order.IP) +
      moment('DateStarted', order.OrderDate) +
      text('UserID', order.UserID) +
      moment('LastUpdate', order.LastUpdate) +
      fixed('Weight', sum(shipments.map(({ ShipmentWeight }) => ShipmentWeight))) +
      writeAffiliate(order) +
      element(
        'ShippingInformation',
        shipments.map((shipment) => writeShipment(shipment, context)).join('') +
          element(
            'OrderItems',
            itemsOf(order.OrderItemList)
              .map((item) => writeItem(item, context))
              .join(''),
          ),
      ) +
      element('CheckoutQuestions', itemsOf(order.QuestionList).map(writeQuestion).join('')),
  )
}

function writeBillingAddress(order: WireRecord): string {
  return element(
    'BillingAddress',
    text('FirstName', order.BillingFirstName) +
      text('LastName', order.BillingLastName) +
      text('Email', order.BillingEmail) +
      text('Address', order.BillingAddress) +
      text('Address2', order.BillingAddress2) +
      text('City', order.BillingCity) +
      text('ZipCode', order.BillingZipCode) +
      text('StateCode', order.BillingState) +
      text('CountryCode', order.BillingCountry) +
      text('Phone', order.BillingPhoneNumber) +
      text('Company', order.BillingCompany),
  )
}

function writeComments(order: WireRecord): string {
  return element(
    'Comments',
    text('OrderComment', order.CustomerComments) +
      text('OrderInternalComment', order.InternalComments) +
      text('OrderExternalComment', order.ExternalComments),
  )
}

/** They stand in the order one by one, without an element around them; an order without any has one that is empty. */
function writeTransactions(transactions: readonly WireRecord[]): string {
  if (transactions.length === 0) return element('Transaction', '')
  return transactions.map(writeTransaction).join('')
}

function writeTransaction(transaction: WireRecord): string {
  return element(
    'Transaction',
    text('CVV2', transaction.TransactionCVV2) +
      text('ResponseText', transaction.TransactionResponseText) +
      text('AVS', transaction.TransactionAVS) +
      text('TransactionId', transaction.TransactionID) +
      text('ApprovalCode', transaction.TransactionApproval) +
      text('TransactionType', transaction.TransactionType) +
      fixed('Amount', transaction.TransactionAmount),
  )
}

function writePromotion({ Coupon, PromotionName, DiscountAmount }: WireRecord): string {
  return element('Promotion', text('Code', Coupon || PromotionName) + fixed('Amount', DiscountAmount))
}

function writeGift({ Code, Amount, ToName, ToEmail, ToMessage, FromName }: WireRecord): string {
  return element(
    'Gift',
    text('Code', Code) +
      fixed('Amount', Amount) +
      text('ToName', ToName) +
      text('ToEmail', ToEmail) +
      text('ToMessage', ToMessage) +
      text('FromName', FromName),
  )
}

function writeUsedGift({ Code, Amount }: WireRecord): string {
  return element('Gift', text('Code', Code) + fixed('Amount', Amount))
}

function writeAffiliate({ AffiliateID, AffiliateCommission }: WireRecord): string {
  return element(
    'AffiliateInformation',
    plain('AffiliateID', AffiliateID) +
      plain('AffiliateCommission', AffiliateCommission) +
      text('AffiliateApproved', '') +
      text('AffiliateApprovedreason', ''),
  )
}

function writeShipment(shipment: WireRecord, { statuses, timeZone }: OrderContext): string {
  return element(
    'Shipment',
    plain('ShipmentID', shipment.ShipmentID) +
      writeShipmentDate(String(shipment.ShipmentShippedDate), timeZone) +
      plain('Shipping', shipment.ShipmentCost) +
      text('Method', shipment.ShipmentMethodName) +
      text('FirstName', shipment.ShipmentFirstName) +
      text('LastName', shipment.ShipmentLastName) +
      text('Company', shipment.ShipmentCompany) +
      text('Address', shipment.ShipmentAddress) +
      text('Address2', shipment.ShipmentAddress2) +
      text('City', shipment.ShipmentCity) +
      text('ZipCode', shipment.ShipmentZipCode) +
      text('StateCode', shipment.ShipmentState) +
      text('CountryCode', shipment.ShipmentCountry) +
      text('Phone', shipment.ShipmentPhone) +
      fixed('Weight', shipment.ShipmentWeight) +
      text('Status', statuses.textOf(Number(shipment.ShipmentOrderStatus))) +
      text('InternalComment', shipment.ShipmentInternalComment) +
      text('TrackingCode', shipment.ShipmentTrackingCode),
  )
}

/** The date is kept as a text that may say anything; what is no date is shown as it is. */
function writeShipmentDate(stored: string, timeZone: string): string {
  const read = readDate(stored, timeZone)
  if (read === null) return text('ShipmentDate', stored)
  const write = read.hasTime ? moment : day
  return write('ShipmentDate', writeDate(read.instant, timeZone))
}

function writeItem(item: WireRecord, { products }: OrderContext): string {
  const product = products.get(Number(item.CatalogID))
  const price = exact(Number(item.ItemUnitPrice)) + exact(Number(item.ItemOptionPrice))
  return element(
    'Item',
    plain('ShipmentID', item.ItemShipmentID) +
      text('ProductID', item.ItemID) +
      text('ProductName', descriptionLines(String(item.ItemDescription)).join('\n')) +
      plain('Quantity', item.ItemQuantity) +
      fixed('UnitPrice', item.ItemUnitPrice) +
      fixed('UnitCost', item.ItemUnitCost) +
      fixed('OptionPrice', item.ItemOptionPrice) +
      fixed('Weight', item.ItemWeight) +
      element('Dimension', '') +
      plain('WarehouseID', item.ItemWarehouseID) +
      moment('DateAdded', item.ItemDateAdded) +
      text('PageAdded', item.ItemPageAdded) +
      text('ProdType', product?.isDownloadable ? 'Downloadable' : 'Tangible') +
      flag('Taxable', product?.nonTaxable !== true) +
      fixed('ItemPrice', toNumber(price)) +
      fixed('Total', toNumber(amountOf(price, exact(Number(item.ItemQuantity))))) +
      writeWarehouse(item),
  )
}

/** Programs of the first years refuse elements that came later: without a value they are left out. */
function writeWarehouse(item: WireRecord): string {
  return ['WarehouseLocation', 'WarehouseBin', 'WarehouseAisle', 'WarehouseCustom']
    .filter((name) => item[`Item${name}`] !== '')
    .map((name) => text(name, item[`Item${name}`]))
    .join('')
}

function writeQuestion({ QuestionID, QuestionTitle, QuestionAnswer }: WireRecord): string {
  return element('Question', plain('Id', QuestionID) + text('Question', QuestionTitle) + text('Answer', QuestionAnswer))
}

function sum(amounts: readonly (WireValue | undefined)[]): number {
  return toNumber(amounts.reduce((total: bigint, amount) => total + exact(Number(amount)), 0n))
}
