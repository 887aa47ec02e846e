import { sql } from '../../database/sql.ts'
import { date, decimal, integer, LONG_TEXT, list, money, reference, text } from '../../engine/definition/fields.ts'
import { orderStatuses } from '../order-statuses/order-statuses.ts'

// The lists of an order (rest-resources §3.3 to §3.7).

/** A single shipment is the order (rest-resources §3.8): its id is 0, its last change and editor are the order's. */
const isOnly = sql`(SELECT count(*) FROM "OrderShipment" o WHERE o."storeId" = t."storeId" AND o."orderId" = t."id") = 1`
const lastUpdate = sql`CASE WHEN ${isOnly} THEN t."updatedAt" ELSE r."updatedAt" END`

const costNote = 'Changing it does not change OrderAmount, which the caller sets.'

export const shipmentList = list(
  'Shipment',
  {
    ShipmentID: integer({ column: 'id', access: 'key', sql: sql`CASE WHEN ${isOnly} THEN 0 ELSE r."id" END` }),
    ShipmentLastUpdate: date({
      column: 'updatedAt',
      access: 'ro',
      defaultNow: true,
      sql: sql`to_char((${lastUpdate}) AT TIME ZONE s."timeZone", 'YYYY-MM-DD"T"HH24:MI:SS')`,
    }),
    ShipmentBoxes: integer({ min: 0, default: 1 }),
    ShipmentInternalComment: text(),
    ShipmentOrderStatus: integer({ column: 'statusId', label: 'Status', names: orderStatuses }),
    ShipmentAddress: text(255),
    ShipmentAddress2: text(50),
    ShipmentAlias: text(100),
    ShipmentCity: text(50),
    ShipmentCompany: text(200),
    ShipmentCost: money({ column: 'cost', description: costNote }),
    ShipmentCountry: text(50),
    ShipmentEmail: text(100, { needs: 'Customers' }),
    ShipmentFirstName: text(100),
    ShipmentLastName: text(50),
    ShipmentMethodID: integer(),
    ShipmentMethodName: text(150),
    ShipmentShippedDate: text(50, { column: 'shippedDate' }),
    ShipmentPhone: text(50),
    ShipmentState: text(50),
    ShipmentZipCode: text(20),
    ShipmentTax: money(),
    ShipmentWeight: decimal({ column: 'weight' }),
    ShipmentTrackingCode: text(100, { column: 'trackingCode' }),
    ShipmentUserID: text(50, {
      column: 'updatedBy',
      access: 'ro',
      sql: sql`CASE WHEN ${isOnly} THEN t."updatedBy" ELSE r."updatedBy" END`,
    }),
    ShipmentNumber: integer({ column: 'number', min: 0 }),
    ShipmentAddressTypeID: integer(),
  },
  { zeroKeyIsOnly: true, rows: { table: 'OrderShipment', parent: 'orderId' } },
)

export const orderItemList = list(
  'OrderItem',
  {
    CatalogID: reference('productId'),
    ItemIndexID: integer({ column: 'id', access: 'key' }),
    ItemID: text(150, { column: 'sku' }),
    ItemShipmentID: integer({ column: 'shipmentId', min: 0 }),
    ItemQuantity: decimal({ column: 'quantity' }),
    ItemWarehouseID: integer(),
    ItemDescription: text(LONG_TEXT, { column: 'description' }),
    ItemUnitPrice: money({ column: 'unitPrice' }),
    ItemWeight: decimal({ column: 'weight' }),
    ItemOptionPrice: money({ column: 'optionPrice' }),
    ItemAdditionalField1: text(255),
    ItemAdditionalField2: text(255),
    ItemAdditionalField3: text(255),
    ItemPageAdded: text(255),
    ItemAvailability: text(150, { access: 'ro' }),
    ItemDateAdded: date({ column: 'addedAt', defaultNow: true }),
    ItemUnitCost: money({ column: 'unitCost', needs: 'Cost' }),
    ItemUnitStock: decimal({ column: 'unitStock', access: 'ro' }),
    ItemOptions: text(),
    ItemCatalogIDOptions: text(255),
    ItemSerial: text(255),
    ItemImage1: text(255, { access: 'ro' }),
    ItemImage2: text(255, { access: 'ro' }),
    ItemImage3: text(255, { access: 'ro' }),
    ItemImage4: text(255, { access: 'ro' }),
    ItemWarehouseLocation: text(150, { access: 'ro' }),
    ItemWarehouseBin: text(150, { access: 'ro' }),
    ItemWarehouseAisle: text(150, { access: 'ro' }),
    ItemWarehouseCustom: text(150, { access: 'ro' }),
    RecurringOrderFrequency: integer(),
  },
  { rows: { table: 'OrderItem', parent: 'orderId', hidden: { optionCode: null } } },
)

export const promotionList = list('Promotion', {
  PromotionID: integer({ access: 'key' }),
  PromotionName: text(150),
  Coupon: text(50),
  DiscountAmount: money(),
})

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
        'What of the transaction is for this line. The amounts of all lines are together at most TransactionAmount; 0 says nothing about it.',
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
    TransactionIndexID: integer({ column: 'id', access: 'key' }),
    OrderID: integer({ sql: sql`r."orderId"` }),
    TransactionID: text(50),
    TransactionDateTime: date({ column: 'occurredAt', nullable: true }),
    TransactionType: text(10, { column: 'type' }),
    TransactionMethod: text(255),
    TransactionAmount: money({ column: 'amount' }),
    TransactionApproval: text(50),
    TransactionReference: text(255),
    TransactionGatewayID: integer(),
    TransactionCVV2: text(255),
    TransactionAVS: text(255),
    TransactionResponseText: text(),
    TransactionResponseCode: text(50),
    TransactionCaptured: integer({ column: 'captured' }),
    RMAID: integer({
      access: 'kept',
      min: 0,
      description:
        'Of a refund: the RMAID of the return that it pays for, which must be a return of this order. 0: no return. Shown by `/Orders/{orderid}/Refunds`.',
    }),
    RefundItemList: refundItemList,
  },
  { rows: { table: 'OrderTransaction', parent: 'orderId' } },
)

const checkoutOnly =
  'The platform does not set it: it shows the value from an import, or from the checkout that placed the order.'

/** Answers to the checkout's questions. The store has no list of questions, so each answer keeps its question. */
export const questionList = list('Question', {
  QuestionAnswerIndexID: integer({ access: 'key' }),
  OrderID: integer({ access: 'ro' }),
  QuestionID: integer(),
  QuestionTitle: text(LONG_TEXT, { access: 'ro', description: checkoutOnly }),
  QuestionAnswer: text(),
  QuestionType: text(10, { access: 'ro', description: checkoutOnly }),
  QuestionCheckoutStep: integer({ access: 'ro' }),
  QuestionSorting: integer({ access: 'ro' }),
  QuestionDiscountGroup: integer({ access: 'ro' }),
})
