import { americanDay, lastDay, localDate } from './calendar.ts'
import { between, digits, happens, oneOf } from './chance.ts'
import type { Customer } from './customers.ts'
import { dollars } from './money.ts'
import { type Charges, chargeFields, makeCharges } from './order-charges.ts'
import { lineRecord, linesWeight, makeLines, type OrderLine, variantOf } from './order-lines.ts'
import { type Address, mailName, makeAddress, neighbourOf } from './places.ts'
import type { Product } from './products.ts'

const orderCount = 350
const firstInvoice = 1000

/** order-statuses §1.1 */
export const status = {
  new: 1,
  processing: 2,
  partial: 3,
  shipped: 4,
  cancel: 5,
  hold: 6,
  notCompleted: 7,
  custom1: 8,
  custom2: 9,
  custom3: 10,
  unpaid: 11,
  review: 12,
} as const

/** The newest orders are in every status there is, by turns; of the older ones nearly all are done. */
const openStatuses = [
  ...[status.new, status.processing, status.unpaid, status.new, status.partial, status.shipped, status.hold],
  ...[
    status.review,
    status.notCompleted,
    status.processing,
    status.custom1,
    status.custom2,
    status.custom3,
    status.cancel,
  ],
]
const openOrderCount = 42

export interface Order {
  readonly id: number
  readonly statusId: number
  readonly placedAt: string
  /** When its parcels left, if they did. */
  readonly shippedDay: number
  readonly lines: readonly OrderLine[]
  readonly record: Record<string, unknown>
  /** What the wire does not show: ids of single shipments, and the combination of options that a line took off the stock. */
  readonly private: { readonly Rows: { readonly ShipmentList: object[]; readonly OrderItemList?: object[] } }
}

/** In the order in which they were placed. */
export function makeOrders(products: readonly Product[], customers: readonly Customer[]): Order[] {
  const offered = products.filter(({ isOffered }) => isOffered)
  const placed = Array.from({ length: orderCount }, makeMoment).sort((a, b) => a.day - b.day || a.minute - b.minute)
  const ids = countIds()
  return placed.map((moment, index) => makeOrder(index, moment, offered, customers, ids))
}

interface Moment {
  readonly day: number
  readonly minute: number
}

/** Far enough inside the hours that calendar.ts allows for what comes a little earlier or later. */
function makeMoment(): Moment {
  return { day: crowded(between(0, lastDay)), minute: between(450, 1300) }
}

/** The last days in which half of the orders were placed, so that a shop that is looked at is a busy one. */
const busyDays = 56

/** Moves the days of the later half close to the eve of the file's day, in their order. */
function crowded(day: number): number {
  const busyFrom = lastDay + 1 - busyDays
  const share = day / lastDay
  return Math.round(share < 0.5 ? 2 * share * busyFrom : busyFrom + (2 * share - 1) * busyDays)
}

function makeOrder(
  index: number,
  { day, minute }: Moment,
  offered: readonly Product[],
  customers: readonly Customer[],
  ids: Ids,
): Order {
  const buyer = makeBuyer(day, customers)
  const statusId = makeStatus(index)
  const lines = makeLines(
    offered,
    buyer.groupId,
    statusId === status.partial ? between(2, 5) : oneOf([1, 1, 2, 2, 3, 4, 6]),
  )
  const parcels = makeParcels(lines, statusId)
  const { country, state } = buyer.shipping
  const charges = makeCharges(parcels, { country, state, groupId: buyer.groupId })
  const placedAt = localDate(day, minute, between(0, 59))
  const shippedDay = Math.max(day, Math.min(day + between(1, 6), lastDay))
  const isAsPlaced = statusId === status.new || day > lastDay
  const updatedAt = isAsPlaced ? placedAt : localDate(shippedDay + 1, between(480, 1020), between(0, 59))
  const updatedBy = isAsPlaced ? '' : 'sandbox'
  const payment = makePayment(statusId)
  const shipmentIds = parcels.map(() => ids.shipment())
  // On the wire an order's only shipment is number 0 (rest-resources §3.3).
  const shownIds = parcels.length > 1 ? shipmentIds : [0]
  const shipments = parcels.map((parcel, place) =>
    makeShipment({
      id: shownIds[place] ?? 0,
      number: place + 1,
      parcel,
      address: place === 0 ? buyer.shipping : neighbourOf(buyer.shipping),
      email: buyer.email,
      costCents: charges.shippingCents[place] ?? 0,
      statusId: statusId === status.partial && place === 0 ? status.shipped : statusId,
      shippedDay,
      updatedAt,
      updatedBy,
    }),
  )
  const record = {
    InvoiceNumberPrefix: 'AB-',
    InvoiceNumber: firstInvoice + index,
    OrderID: index + 1,
    CustomerID: buyer.customerId,
    OrderDate: placedAt,
    OrderStatusID: statusId,
    LastUpdate: updatedAt,
    UserID: updatedBy,
    SalesPerson: happens(5) ? oneOf(['Dana', 'Lou', 'Priya']) : '',
    ...(happens(4) ? { OrderType: 'Marketplace', AlternateOrderID: `${digits(3)}-${digits(7)}` } : {}),
    ...billingFields(buyer),
    ...payment.fields,
    ShipmentList: shipments,
    OrderItemList: parcels.flatMap((parcel, place) =>
      parcel.map((line) =>
        lineRecord(line, {
          id: ids.item(),
          shipmentId: shownIds[place] ?? 0,
          dateAdded: localDate(day, minute - between(2, 25)),
        }),
      ),
    ),
    ...chargeFields(charges, index * 10 + 1),
    TransactionList: payment.steps.map((step, place) => makeTransaction(step, place, charges, day, minute, ids)),
    ...(payment.isCard
      ? { CardType: oneOf(['Visa', 'MasterCard', 'Amex', 'Discover']), CardName: buyer.fullName }
      : {}),
    QuestionList: happens(20) ? makeQuestions(index + 1, ids) : [],
    Referer: oneOf([
      '',
      '',
      'https://www.google.com/',
      'https://duckduckgo.com/',
      'https://newsletter.example/october',
    ]),
    IP: `${oneOf(['192.0.2', '198.51.100', '203.0.113'])}.${between(1, 254)}`,
    CustomerComments: happens(14) ? oneOf(customerComments) : '',
    InternalComments: happens(12) ? oneOf(internalComments) : '',
    ExternalComments: happens(4) ? 'Gift: no prices in the parcel' : '',
  }
  const hidden = { Rows: hiddenColumns(shipmentIds, lines) }
  return { id: record.OrderID, statusId, placedAt, shippedDay, lines, record, private: hidden }
}

/** As an export writes them: a list without hidden columns is left out. */
function hiddenColumns(shipmentIds: readonly number[], lines: readonly OrderLine[]) {
  const codes = lines.map((line) => variantOf(line)?.code)
  return {
    ShipmentList: shipmentIds.map((id) => ({ id })),
    ...(codes.some(Boolean) ? { OrderItemList: codes.map((code) => (code ? { optionCode: code } : {})) } : {}),
  }
}

const customerComments = [
  'Please leave it at the back door.',
  'It is a birthday present: could you wrap it?',
  'No rush – we are away until the 15th.',
  'The bell does not work; please knock.',
  'Can the two boxes come on the same day?',
]
const internalComments = [
  'Called the customer: address confirmed.',
  'Waiting for the second box.',
  'Price matched, see e-mail of the same day.',
  'Check stock in the Annex first.',
]

interface Buyer {
  /** 0: a guest. */
  readonly customerId: number
  readonly groupId: number
  readonly email: string
  readonly fullName: string
  readonly company: string
  readonly billing: Address
  readonly shipping: Address
}

/** One order in six is a guest's; a customer does not order before having an account. */
function makeBuyer(day: number, customers: readonly Customer[]): Buyer {
  const known = customers.filter(({ createdDay }) => createdDay <= day)
  if (happens(16) || known.length === 0) {
    const address = makeAddress()
    const email = `${mailName(address)}.guest@${oneOf(['example.com', 'example.net', 'example.org'])}`
    const fullName = `${address.firstName} ${address.lastName}`
    return { customerId: 0, groupId: 0, email, fullName, company: '', billing: address, shipping: address }
  }
  // A third of the orders come from a small circle of regulars.
  const { id, ...customer } = oneOf(happens(33) ? known.slice(0, 25) : known)
  const fullName = `${customer.billing.firstName} ${customer.billing.lastName}`
  return { ...customer, customerId: id, fullName }
}

function makeStatus(index: number): number {
  const open = index - (orderCount - openOrderCount)
  if (open >= 0) return openStatuses[open % openStatuses.length] ?? status.new
  const share = between(1, 100)
  if (share <= 88) return status.shipped
  if (share <= 95) return status.cancel
  return share <= 98 ? status.notCompleted : status.hold
}

/** One parcel; two for a partly shipped order and for one in twelve of those with several lines. */
function makeParcels(lines: OrderLine[], statusId: number): OrderLine[][] {
  const isSplit = statusId === status.partial || (lines.length > 1 && happens(8))
  if (!isSplit) return [lines]
  const middle = Math.ceil(lines.length / 2)
  return [lines.slice(0, middle), lines.slice(middle)]
}

/** Of those that every store begins with. */
const paymentMethods = { card: '1', paypal: '2', check: '3' } as const

type Step = 'Authorize' | 'Sale' | 'Refund'

function makePayment(statusId: number): { fields: Record<string, unknown>; steps: Step[]; isCard: boolean } {
  if (statusId === status.notCompleted) return { fields: { BillingPaymentMethodID: '0' }, steps: [], isCard: false }
  if (statusId === status.unpaid || happens(6)) {
    return { fields: { BillingPaymentMethodID: paymentMethods.check }, steps: [], isCard: false }
  }
  const isCard = happens(75)
  const method = isCard ? paymentMethods.card : paymentMethods.paypal
  const fields = { BillingOnLinePayment: true, BillingPaymentMethodID: method }
  if (statusId === status.cancel) return { fields, steps: happens(60) ? ['Sale', 'Refund'] : ['Authorize'], isCard }
  const isOpen = statusId !== status.shipped && statusId !== status.partial
  return { fields, steps: isOpen && happens(40) ? ['Authorize'] : ['Sale'], isCard }
}

function makeTransaction(step: Step, place: number, charges: Charges, day: number, minute: number, ids: Ids) {
  const later = place === 0 ? 1 : 45
  return {
    TransactionIndexID: ids.transaction(),
    TransactionID: digits(12),
    TransactionDateTime: localDate(day, minute + later),
    TransactionType: step,
    TransactionMethod: 'Sandbox Gateway',
    TransactionAmount: dollars(charges.totalCents),
    TransactionApproval: digits(6),
    TransactionReference: `ref-${digits(10)}`,
    TransactionGatewayID: 1,
    TransactionCVV2: 'M',
    TransactionAVS: 'Y',
    TransactionResponseText: 'Approved',
    TransactionResponseCode: '1',
    TransactionCaptured: step === 'Authorize' ? 0 : 1,
  }
}

interface PlannedShipment {
  readonly id: number
  readonly number: number
  readonly parcel: readonly OrderLine[]
  readonly address: Address
  readonly email: string
  readonly costCents: number
  readonly statusId: number
  readonly shippedDay: number
  readonly updatedAt: string
  readonly updatedBy: string
}

function makeShipment(planned: PlannedShipment) {
  const { number, parcel, address, costCents, statusId } = planned
  const isShipped = statusId === status.shipped
  const weight = linesWeight(parcel)
  return {
    ShipmentID: planned.id,
    ShipmentLastUpdate: planned.updatedAt,
    ShipmentBoxes: 1,
    ShipmentOrderStatus: statusId,
    ShipmentAddress: address.address1,
    ShipmentAddress2: address.address2,
    ShipmentAlias: number === 1 ? '' : 'Second address',
    ShipmentCity: address.city,
    ShipmentCost: dollars(costCents),
    ShipmentCountry: address.country,
    ShipmentEmail: planned.email,
    ShipmentFirstName: address.firstName,
    ShipmentLastName: address.lastName,
    ShipmentMethodName: shippingMethod(weight, costCents, address.country),
    ShipmentShippedDate: isShipped ? americanDay(planned.shippedDay) : '',
    ShipmentPhone: address.phone,
    ShipmentState: address.state,
    ShipmentZipCode: address.zip,
    ShipmentWeight: weight / 10,
    ShipmentTrackingCode: isShipped && weight > 0 ? `SBX${digits(12)}` : '',
    ShipmentUserID: planned.updatedBy,
    ShipmentNumber: number,
    ShipmentAddressTypeID: 0,
  }
}

function shippingMethod(weight: number, costCents: number, country: string): string {
  if (weight === 0) return 'By e-mail'
  if (country !== 'US') return 'International Post'
  return costCents === 0 ? 'Free Ground' : 'Ground'
}

function billingFields({ billing, company, email }: Buyer) {
  return {
    BillingFirstName: billing.firstName,
    BillingLastName: billing.lastName,
    BillingCompany: company,
    BillingAddress: billing.address1,
    BillingAddress2: billing.address2,
    BillingCity: billing.city,
    BillingState: billing.state,
    BillingZipCode: billing.zip,
    BillingCountry: billing.country,
    BillingPhoneNumber: billing.phone,
    BillingEmail: email,
  }
}

function makeQuestions(orderId: number, ids: Ids) {
  const heard = {
    QuestionAnswerIndexID: ids.answer(),
    OrderID: orderId,
    QuestionID: 1,
    QuestionTitle: 'How did you hear about us?',
    QuestionAnswer: oneOf(['A friend', 'Search engine', 'Newsletter', 'I live around the corner']),
    QuestionType: 'Dropdown',
    QuestionCheckoutStep: 3,
    QuestionSorting: 1,
  }
  if (happens(50)) return [heard]
  const message = {
    QuestionAnswerIndexID: ids.answer(),
    OrderID: orderId,
    QuestionID: 2,
    QuestionTitle: 'Message for the gift card',
    QuestionAnswer: oneOf(['Happy birthday, Ma!', 'For the new house — from all of us', 'Bon appétit']),
    QuestionType: 'Text',
    QuestionCheckoutStep: 3,
    QuestionSorting: 2,
  }
  return [heard, message]
}

/** Ids of rows inside orders, which the store counts over all orders. */
interface Ids {
  item(): number
  shipment(): number
  transaction(): number
  answer(): number
}

function countIds(): Ids {
  let items = 0
  let shipments = 0
  let transactions = 0
  let answers = 0
  return {
    item: () => (items += 1),
    shipment: () => (shipments += 1),
    transaction: () => (transactions += 1),
    answer: () => (answers += 1),
  }
}
