import {
  boolean,
  date,
  decimal,
  integer,
  LONG_TEXT,
  list,
  money,
  reference,
  text,
} from '../../../engine/definition/fields.ts'
import { sql } from '../../../foundation/database/sql.ts'
import { itemNumber, recordNumber, secondLine, state } from '../common-fields.ts'
import { orderStatuses } from '../order-statuses/order-statuses.ts'
import { orderStatusMeanings } from './statuses.ts'

// The lists of an order (rest-resources §3.3 to §3.7).

/** A single shipment is the order (rest-resources §3.8): its id is 0, its last change and editor are the order's. */
const isOnly = sql`(SELECT count(*) FROM "OrderShipment" o WHERE o."storeId" = t."storeId" AND o."orderId" = t."id") = 1`
const lastUpdate = sql`CASE WHEN ${isOnly} THEN t."updatedAt" ELSE r."updatedAt" END`

export const shipmentList = list(
  'Shipment',
  {
    ShipmentID: integer({
      column: 'id',
      access: 'key',
      sql: sql`CASE WHEN ${isOnly} THEN 0 ELSE r."id" END`,
      label: 'Number',
      description: 'The number of the shipment; 0 for the only shipment of an order.',
    }),
    ShipmentLastUpdate: date({
      column: 'updatedAt',
      access: 'ro',
      defaultNow: true,
      sql: sql`to_char((${lastUpdate}) AT TIME ZONE s."timeZone", 'YYYY-MM-DD"T"HH24:MI:SS')`,
      label: 'Last change',
      description:
        'The time of the last change of the shipment. For the only shipment of an order, it is LastUpdate of the order.',
    }),
    ShipmentBoxes: integer({ min: 0, default: 1, description: 'The number of parcels that the shipment consists of.' }),
    ShipmentInternalComment: text(LONG_TEXT, {
      label: 'Internal note',
      description: 'Internal notes of the shop about the shipment.',
    }),
    ShipmentOrderStatus: integer({
      column: 'statusId',
      label: 'Status',
      names: orderStatuses,
      description:
        'The status of the shipment, one of `/OrderStatus`; an unknown one is refused. An order and its only shipment share one: changing either changes both. A new shipment without it has that of the order. A store begins with:',
      meanings: orderStatusMeanings,
    }),
    ShipmentAddress: text(255, { label: 'Street', description: 'The street and house number of the recipient.' }),
    ShipmentAddress2: secondLine('Address line 2', 'the recipient’s address'),
    ShipmentAlias: text(100, {
      label: 'Name of the address',
      description: 'The customer’s name for the address, such as `Office`.',
    }),
    ShipmentCity: text(50, { description: 'The town of the recipient.' }),
    ShipmentCompany: text(200, { description: 'The company of the recipient.' }),
    ShipmentCost: money({
      column: 'cost',
      label: 'Shipping cost',
      description:
        'The price that the customer pays for shipping. A new order adds it to OrderAmount; a later change does not change OrderAmount, which the caller sets.',
    }),
    ShipmentCountry: text(50, {
      isCountry: true,
      description: 'The country of the recipient by its two-letter ISO 3166 code, such as `US`.',
    }),
    ShipmentEmail: text(100, {
      needs: 'Customers',
      label: 'E-mail',
      description: 'The e-mail address of the recipient.',
    }),
    ShipmentFirstName: text(100, { description: 'The first name of the recipient.' }),
    ShipmentLastName: text(50, { description: 'The last name of the recipient.' }),
    ShipmentMethodID: integer({
      label: 'Shipping method number',
      description:
        'The shipping method as a number of the checkout; 0: a free or custom one. Kept for programs: the platform has no list of methods.',
    }),
    ShipmentMethodName: text(150, {
      label: 'Shipping method',
      description: 'The name of the shipping method, such as `UPS Ground`, as customers are to read it.',
    }),
    ShipmentShippedDate: text(50, {
      column: 'shippedDate',
      label: 'Shipped on',
      isDay: true,
      description:
        'The day on which the shipment left, as text: send `MM/DD/YYYY`. Empty: it has not left. Setting it does not change a status.',
    }),
    ShipmentPhone: text(50, { description: 'The telephone number of the recipient.' }),
    ShipmentState: state(50, 'the recipient'),
    ShipmentZipCode: text(20, { label: 'Postal code', description: 'The postal code of the recipient.' }),
    ShipmentTax: money({ description: 'The part of SalesTax that is due on the shipment.' }),
    ShipmentWeight: decimal({
      column: 'weight',
      description:
        'The weight of the shipment, in the shop’s unit. Left out of a new order, it is the sum over the lines; it does not follow later changes.',
    }),
    ShipmentTrackingCode: text(100, {
      column: 'trackingCode',
      label: 'Tracking number',
      description:
        'The tracking number of the carrier, which the customer’s page of the order shows. Setting it does not change a status.',
    }),
    ShipmentUserID: text(50, {
      column: 'updatedBy',
      access: 'ro',
      sql: sql`CASE WHEN ${isOnly} THEN t."updatedBy" ELSE r."updatedBy" END`,
      label: 'Last changed by',
      description: 'The last editor of the shipment. For the only shipment of an order, it is UserID of the order.',
    }),
    ShipmentNumber: integer({
      column: 'number',
      min: 0,
      label: 'Position',
      description: 'The place of the shipment in the order, from 1. A new one without it, or with 0, gets the next.',
    }),
    ShipmentAddressTypeID: integer({
      label: 'Kind of address',
      description: 'The kind of the address. Kept for programs that compute shipping costs.',
      meanings: { 0: 'not stated', 1: 'residential', 2: 'commercial' },
    }),
  },
  {
    labels: ['Parcel', 'Parcels'],
    description:
      'The parcels of the order, and where they go. Without any, a new order has one to its billing address.',
    zeroKeyIsOnly: true,
    rows: { table: 'OrderShipment', parent: 'orderId', hidden: { departure: null } },
  },
)

/** What a line keeps of a member of its product (`lineDetails`). */
function copied(length: number, label: string, member: string) {
  return text(length, { access: 'ro', label, description: `The ${member} of the product when it was ordered.` })
}

function extraField(number: number, which: string) {
  const description = `The ${which} of three texts about the line, for your own use.`
  return text(255, { label: `Extra field ${number}`, description })
}

export const orderItemList = list(
  'OrderItem',
  {
    CatalogID: reference(
      'productId',
      'The product that was ordered, one of `/Products`. A new line needs it, or ItemID. Set to 0 when the product is deleted.',
      'Product',
    ),
    ItemIndexID: recordNumber('Number', 'The number of the line in the store.'),
    ItemID: text(150, {
      column: 'sku',
      label: 'SKU',
      description:
        'The SKU that was ordered, with the suffix of an advanced option. A new order finds the product by it where CatalogID is left out.',
    }),
    ItemShipmentID: integer({
      column: 'shipmentId',
      label: 'Parcel',
      min: 0,
      description:
        'The ShipmentID of the shipment that the line goes with; 0 where the order has one at most. In a new order it counts the sent shipments from 1.',
    }),
    ItemQuantity: decimal({
      column: 'quantity',
      label: 'Quantity',
      description: 'The ordered quantity. A change moves the stock by the difference.',
    }),
    ItemWarehouseID: integer({
      label: 'Warehouse number',
      description: 'The warehouse from which the line is taken, as a number of your own. Kept for programs.',
    }),
    ItemDescription: text(LONG_TEXT, {
      column: 'description',
      label: 'Description',
      description:
        'The name of the product, then HTML with the chosen options and their prices: `Shirt<br><b>Size:</b>&nbsp;L - $2.00`. Written from the product where it is left out.',
    }),
    ItemUnitPrice: money({
      numberKind: 'price',
      column: 'unitPrice',
      label: 'Price',
      description:
        'The price per piece, without options. Placing an order computes it; send it with a line that is added later.',
    }),
    ItemWeight: decimal({
      column: 'weight',
      label: 'Weight',
      description: 'The weight of one piece, in the shop’s unit. Left out of a new line, it is that of the product.',
    }),
    ItemOptionPrice: money({
      numberKind: 'money',
      column: 'optionPrice',
      label: 'Surcharge for options',
      description:
        'The amount that the chosen options add to the price per piece. The prices in ItemDescription add up to it.',
    }),
    ItemAdditionalField1: extraField(1, 'first'),
    ItemAdditionalField2: extraField(2, 'second'),
    ItemAdditionalField3: extraField(3, 'third'),
    ItemPageAdded: text(255, {
      label: 'Added from page',
      description: 'The page of the storefront from which the product was put into the cart.',
    }),
    ItemAvailability: text(150, {
      access: 'ro',
      label: 'Availability',
      description:
        'The availability at the time of the order: the InStockMessage, OutOfStockMessage or BackOrderMessage of the product.',
    }),
    ItemDateAdded: date({
      column: 'addedAt',
      defaultNow: true,
      label: 'Added on',
      description: 'The time at which the line was added to the order.',
    }),
    ItemUnitCost: money({
      numberKind: 'price',
      column: 'unitCost',
      needs: 'Cost',
      label: 'Cost',
      description:
        'The shop’s own cost per piece at the time of the order. Left out of a new line, it is that of the product.',
    }),
    ItemUnitStock: decimal({
      column: 'unitStock',
      access: 'ro',
      label: 'Stock when ordered',
      description: 'The stock of the product or advanced option when it was ordered, before the line was taken off.',
    }),
    ItemOptions: text(LONG_TEXT, {
      label: 'Option numbers',
      description:
        'The OptionIDs of the chosen options, each behind a comma: `,4,17`. Together they say which advanced option’s stock the line takes.',
    }),
    ItemCatalogIDOptions: text(255, {
      label: 'Products that came with options',
      description:
        'The CatalogIDs of products that came with the chosen options, as the checkout sends them. Kept for programs: no stock is taken for them.',
    }),
    ItemSerial: text(255, {
      label: 'Serial number',
      description: 'The serial number or licence key that the customer got with the line.',
    }),
    ItemImage1: copied(255, 'Main picture', 'MainImageFile'),
    ItemImage2: copied(255, 'Picture 2', 'AdditionalImageFile2'),
    ItemImage3: copied(255, 'Picture 3', 'AdditionalImageFile3'),
    ItemImage4: copied(255, 'Picture 4', 'AdditionalImageFile4'),
    ItemWarehouseLocation: copied(150, 'Warehouse', 'WarehouseLocation'),
    ItemWarehouseBin: copied(150, 'Warehouse bin', 'WarehouseBin'),
    ItemWarehouseAisle: copied(150, 'Warehouse aisle', 'WarehouseAisle'),
    ItemWarehouseCustom: copied(150, 'Warehouse note', 'WarehouseCustom'),
    ItemNonTaxable: boolean({
      access: 'kept',
      description:
        'Whether the line had no tax when it was ordered; a new line of a product that is NonTaxable has it whatever is sent. Invoices and reports of taxes that prices include read it.',
    }),
    RecurringOrderFrequency: integer({
      label: 'Repeat interval',
      description:
        'The interval at which the customer wants the line again, as a code of the checkout; 0: only once. Kept for programs: the platform repeats no orders.',
    }),
  },
  {
    description:
      'The lines of the order: which products, how many, and at which price. A change moves the stock by the difference; no change alters OrderAmount.',
    rows: { table: 'OrderItem', parent: 'orderId', hidden: { optionCode: null } },
  },
)

export const promotionList = list(
  'Promotion',
  {
    PromotionID: itemNumber('Number', 'The number of the promotion in the store.'),
    PromotionName: text(150, { description: 'The name of the promotion as people read it.' }),
    Coupon: text(50, {
      label: 'Coupon code',
      description: 'The code that the customer entered; empty: the promotion applied by itself.',
    }),
    DiscountAmount: money({
      label: 'Discount',
      description:
        'The amount that the promotion took off. OrderDiscountCoupon or OrderDiscountPromotion already includes it; changing it changes no total.',
    }),
  },
  {
    description:
      'The promotions that lowered the price of the order, as the checkout sends them. They change no amount.',
  },
)

export const refundItemList = list(
  'RefundItem',
  {
    ItemIndexID: integer({
      access: 'key',
      min: 1,
      description: 'The line of the order that is refunded, by its ItemIndexID.',
    }),
    RefundQuantity: decimal({
      min: 0,
      description:
        'How many pieces of the line this refund is for: above 0, and with the other refunds of the line at most its ItemQuantity.',
    }),
    RefundAmount: money({
      min: 0,
      description:
        'What of the transaction is for this line, less its share of the discounts and without tax where tax is added. The amounts of all lines, RefundShippingAmount and RefundTaxAmount are together at most TransactionAmount; 0 says nothing about it.',
    }),
  },
  {
    keyFrom: 'caller',
    access: 'kept',
    description:
      'The lines that a refund is for, and how much of each. Only a transaction that refunds may have any; shown by `/Orders/{orderid}/Refunds`.',
  },
)

export const transactionList = list(
  'Transaction',
  {
    TransactionIndexID: recordNumber('Number', 'The number of the transaction in the store.'),
    OrderID: integer({
      sql: sql`r."orderId"`,
      leadsTo: 'Orders',
      label: 'Order',
      description: 'The order to which the transaction belongs.',
    }),
    TransactionID: text(50, {
      label: 'Payment service’s number',
      description: 'The payment service’s own number for the transaction.',
    }),
    TransactionDateTime: date({
      column: 'occurredAt',
      nullable: true,
      label: 'Date',
      description: 'The time of the payment or refund. Left out of a new transaction, it is the current time.',
    }),
    TransactionType: text(10, {
      column: 'type',
      description:
        'The type of the transaction, ignoring case: `Sale` and `Capture` count as payments, `Refund` and `Credit` as refunds, `Authorize` as a payment once TransactionCaptured is 1. Any other text counts as neither.',
    }),
    TransactionMethod: text(255, {
      label: 'Payment method',
      description: 'The payment service or method, such as `PayPal`, in words of your own.',
    }),
    TransactionAmount: money({
      column: 'amount',
      description:
        'The amount in the store’s currency. A refund may have either sign; a negative payment counts as a refund.',
    }),
    TransactionApproval: text(50, {
      label: 'Approval code',
      description: 'The approval code of the bank or payment service.',
    }),
    TransactionReference: text(255, {
      description:
        'A reference to look the transaction up by, such as the number of a bank transfer. The administration shows it.',
    }),
    TransactionGatewayID: integer({
      label: 'Payment service',
      description: 'The payment service as a number of your own. Kept for programs.',
    }),
    TransactionCVV2: text(255, {
      label: 'Card code check',
      description: 'The payment service’s result for the verification code. Never send the code itself.',
    }),
    TransactionAVS: text(255, {
      label: 'Address check',
      description: 'The payment service’s result for the billing address (address verification).',
    }),
    TransactionResponseText: text(LONG_TEXT, {
      label: 'Note',
      description: 'The message of the payment service, or a note about the transaction. The administration shows it.',
    }),
    TransactionResponseCode: text(50, { description: 'The code of the payment service’s answer.' }),
    TransactionCaptured: integer({
      column: 'captured',
      label: 'Money collected',
      description: 'Whether the money of an `Authorize` was collected.',
      meanings: { 0: 'not yet', 1: 'collected' },
    }),
    RMAID: integer({
      access: 'kept',
      min: 0,
      description:
        'Of a refund: the RMAID of the return that it pays for, which must be a return of this order. 0: no return. Shown by `/Orders/{orderid}/Refunds`.',
    }),
    RefundItemList: refundItemList,
    RefundShippingAmount: money({
      access: 'kept',
      min: 0,
      description:
        'Of a refund: what of it is for shipping, without tax where tax is added. 0 says nothing about it. Shown by `/Orders/{orderid}/Refunds`.',
    }),
    RefundTaxAmount: money({
      access: 'kept',
      min: 0,
      description:
        'Of a refund: what of it is tax that the order added. 0 says nothing about it. Shown by `/Orders/{orderid}/Refunds`.',
    }),
  },
  {
    labels: ['Payment', 'Payments'],
    description:
      'The payments and refunds of the order. The administration computes the open amount from them; a transaction does not change the status.',
    rows: {
      table: 'OrderTransaction',
      parent: 'orderId',
      hidden: { voidedAt: null, voidedBy: null, voidedType: null, creditNotePrefix: null, creditNoteNumber: null },
    },
  },
)

function byCheckout(what: string) {
  const description = `${what} Only the checkout that places the order, or an import, sets it.`
  return { access: 'ro', description } as const
}

/** Answers to the checkout's questions. The store has no list of questions, so each answer keeps its question. */
export const questionList = list(
  'Question',
  {
    QuestionAnswerIndexID: itemNumber('Number', 'The number of the answer in the store.'),
    OrderID: integer({
      access: 'ro',
      leadsTo: 'Orders',
      label: 'Order',
      description: 'The order to which the answer belongs.',
    }),
    QuestionID: integer({
      label: 'Question number',
      description: 'The number of the question at the checkout. Results of changes name the answer by it.',
    }),
    QuestionTitle: text(LONG_TEXT, { ...byCheckout('The text of the question.'), label: 'Question' }),
    QuestionAnswer: text(LONG_TEXT, { description: 'The customer’s answer to the question.' }),
    QuestionType: text(10, {
      ...byCheckout('The control with which the customer answered, such as `Dropdown`.'),
      label: 'Kind of answer',
    }),
    QuestionCheckoutStep: integer(byCheckout('The step of the checkout that asked.')),
    QuestionSorting: integer({
      ...byCheckout('The position of the question: lower numbers come first.'),
      label: 'Position',
    }),
    QuestionDiscountGroup: integer({
      ...byCheckout('The group of customers who are asked, as a code of the checkout; 0: everybody.'),
      label: 'Asked customers',
    }),
  },
  {
    labels: ['Checkout question', 'Checkout questions'],
    nouns: ['answer to a checkout question', 'answers to checkout questions'],
    description: 'The questions of the checkout, with the customer’s answers.',
  },
)
