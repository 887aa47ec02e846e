import { sql } from '../../database/sql.ts'
import { date, decimal, integer, LONG_TEXT, list, money, reference, text } from '../../engine/definition/fields.ts'
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
      description: 'The number of the shipment; 0 for the only shipment of an order.',
    }),
    ShipmentLastUpdate: date({
      column: 'updatedAt',
      access: 'ro',
      defaultNow: true,
      sql: sql`to_char((${lastUpdate}) AT TIME ZONE s."timeZone", 'YYYY-MM-DD"T"HH24:MI:SS')`,
      description: 'When the shipment last changed. For the only shipment of an order it is LastUpdate of the order.',
    }),
    ShipmentBoxes: integer({ min: 0, default: 1, description: 'In how many boxes the shipment goes.' }),
    ShipmentInternalComment: text(LONG_TEXT, { description: 'What the shop notes about the shipment for itself.' }),
    ShipmentOrderStatus: integer({
      column: 'statusId',
      label: 'Status',
      names: orderStatuses,
      description:
        'The status of the shipment, one of `/OrderStatus`; an unknown one is refused. An order and its only shipment share one: changing either changes both. A new shipment without it has that of the order. A store begins with:',
      meanings: orderStatusMeanings,
    }),
    ShipmentAddress: text(255, { description: 'The street and house number where the shipment goes.' }),
    ShipmentAddress2: text(50, {
      description: 'A second line of the address where the shipment goes, such as a floor.',
    }),
    ShipmentAlias: text(100, { description: 'What the customer calls the address, such as `Office`.' }),
    ShipmentCity: text(50, { description: 'The town where the shipment goes.' }),
    ShipmentCompany: text(200, { description: 'The company to which the shipment goes.' }),
    ShipmentCost: money({
      column: 'cost',
      description:
        'What the customer pays for the shipment. A new order counts it toward OrderAmount; later changes do not change OrderAmount, which the caller sets.',
    }),
    ShipmentCountry: text(50, {
      description: 'The country where the shipment goes by its ISO 3166 code of two letters, such as `US`.',
    }),
    ShipmentEmail: text(100, { needs: 'Customers', description: 'The e-mail address of whom the shipment goes to.' }),
    ShipmentFirstName: text(100, { description: 'The first name of whom the shipment goes to.' }),
    ShipmentLastName: text(50, { description: 'The last name of whom the shipment goes to.' }),
    ShipmentMethodID: integer({
      description:
        'The shipping method as a number of the checkout; 0: a free or custom one. Kept for programs: the platform has no list of methods.',
    }),
    ShipmentMethodName: text(150, {
      description: 'How the shipment goes, such as `UPS Ground`. Send the words that customers are to read.',
    }),
    ShipmentShippedDate: text(50, {
      column: 'shippedDate',
      description: 'When the shipment left, as text: send `MM/DD/YYYY`. Empty: it has not left. It changes no status.',
    }),
    ShipmentPhone: text(50, { description: 'The telephone number of whom the shipment goes to.' }),
    ShipmentState: text(50, {
      description:
        'The state, province or county where the shipment goes; in the United States and Canada its code, such as `FL`.',
    }),
    ShipmentZipCode: text(20, { description: 'The postal code where the shipment goes.' }),
    ShipmentTax: money({ description: 'The part of SalesTax that is due on the shipment.' }),
    ShipmentWeight: decimal({
      column: 'weight',
      description:
        'What the shipment weighs, in the unit of the shop. A new order without it adds up its lines; nothing follows later changes.',
    }),
    ShipmentTrackingCode: text(100, {
      column: 'trackingCode',
      description: 'The carrier’s tracking number. The customer’s page of the order shows it. It changes no status.',
    }),
    ShipmentUserID: text(50, {
      column: 'updatedBy',
      access: 'ro',
      sql: sql`CASE WHEN ${isOnly} THEN t."updatedBy" ELSE r."updatedBy" END`,
      description: 'Who last changed the shipment. For the only shipment of an order it is UserID of the order.',
    }),
    ShipmentNumber: integer({
      column: 'number',
      min: 0,
      description: 'The place of the shipment in the order, from 1. A new one without it, or with 0, gets the next.',
    }),
    ShipmentAddressTypeID: integer({
      description: 'What kind of address the shipment goes to. Kept for programs that compute shipping.',
      meanings: { 0: 'not stated', 1: 'residential', 2: 'commercial' },
    }),
  },
  {
    description:
      'The parcels of the order, and where they go. Without any, a new order has one to its billing address.',
    zeroKeyIsOnly: true,
    rows: { table: 'OrderShipment', parent: 'orderId' },
  },
)

export const orderItemList = list(
  'OrderItem',
  {
    CatalogID: reference(
      'productId',
      'The product that was ordered, one of `/Products`. A new line needs it, or ItemID. Set to 0 when the product is deleted.',
    ),
    ItemIndexID: integer({ column: 'id', access: 'key', description: 'The number of the line in the store.' }),
    ItemID: text(150, {
      column: 'sku',
      description:
        'The SKU that was ordered, with the suffix of an advanced option. A new order finds the product by it where CatalogID is left out.',
    }),
    ItemShipmentID: integer({
      column: 'shipmentId',
      min: 0,
      description:
        'The ShipmentID of the shipment that the line goes with; 0 where the order has one at most. In a new order it counts the sent shipments from 1.',
    }),
    ItemQuantity: decimal({
      column: 'quantity',
      description: 'How many pieces were ordered. A change moves the stock by the difference.',
    }),
    ItemWarehouseID: integer({
      description: 'The warehouse from which the line is taken, as a number of your own. Kept for programs.',
    }),
    ItemDescription: text(LONG_TEXT, {
      column: 'description',
      description:
        'The name of the product, then HTML with the chosen options and their prices: `Shirt<br><b>Size:</b>&nbsp;L - $2.00`. Written from the product where it is left out.',
    }),
    ItemUnitPrice: money({
      column: 'unitPrice',
      description:
        'What one piece costs, without options. A line that is added later takes it as sent; nothing computes it.',
    }),
    ItemWeight: decimal({
      column: 'weight',
      description: 'What one piece weighs, in the unit of the shop. A new line takes it from the product.',
    }),
    ItemOptionPrice: money({
      column: 'optionPrice',
      description: 'What the chosen options add to the price of one piece. The prices in ItemDescription add up to it.',
    }),
    ItemAdditionalField1: text(255, { description: 'The first of three texts about the line, for your own use.' }),
    ItemAdditionalField2: text(255, { description: 'The second of three texts about the line, for your own use.' }),
    ItemAdditionalField3: text(255, { description: 'The third of three texts about the line, for your own use.' }),
    ItemPageAdded: text(255, {
      description: 'The page of the storefront from which the product was put into the cart.',
    }),
    ItemAvailability: text(150, {
      access: 'ro',
      description:
        'What the product said about its stock when it was ordered: its InStockMessage, OutOfStockMessage or BackOrderMessage.',
    }),
    ItemDateAdded: date({ column: 'addedAt', defaultNow: true, description: 'When the line was added to the order.' }),
    ItemUnitCost: money({
      column: 'unitCost',
      needs: 'Cost',
      description: 'What one piece cost the shop when it was ordered. A new line takes it from the product.',
    }),
    ItemUnitStock: decimal({
      column: 'unitStock',
      access: 'ro',
      description: 'The stock of the product or advanced option when it was ordered, before the line was taken off.',
    }),
    ItemOptions: text(LONG_TEXT, {
      description:
        'The OptionIDs of the chosen options, each behind a comma: `,4,17`. Together they say which advanced option’s stock the line takes.',
    }),
    ItemCatalogIDOptions: text(255, {
      description:
        'The CatalogIDs of products that came with the chosen options, as the checkout sends them. Kept for programs: no stock is taken for them.',
    }),
    ItemSerial: text(255, { description: 'The serial number or licence key that the customer got with the line.' }),
    ItemImage1: text(255, { access: 'ro', description: 'The MainImageFile of the product when it was ordered.' }),
    ItemImage2: text(255, {
      access: 'ro',
      description: 'The AdditionalImageFile2 of the product when it was ordered.',
    }),
    ItemImage3: text(255, {
      access: 'ro',
      description: 'The AdditionalImageFile3 of the product when it was ordered.',
    }),
    ItemImage4: text(255, {
      access: 'ro',
      description: 'The AdditionalImageFile4 of the product when it was ordered.',
    }),
    ItemWarehouseLocation: text(150, {
      access: 'ro',
      description: 'The WarehouseLocation of the product when it was ordered.',
    }),
    ItemWarehouseBin: text(150, { access: 'ro', description: 'The WarehouseBin of the product when it was ordered.' }),
    ItemWarehouseAisle: text(150, {
      access: 'ro',
      description: 'The WarehouseAisle of the product when it was ordered.',
    }),
    ItemWarehouseCustom: text(150, {
      access: 'ro',
      description: 'The WarehouseCustom of the product when it was ordered.',
    }),
    RecurringOrderFrequency: integer({
      description:
        'How often the customer wants the line again, as a number of the checkout; 0: once. Kept for programs: no orders are repeated here.',
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
    PromotionID: integer({ access: 'key', description: 'The number of the promotion in the store.' }),
    PromotionName: text(150, { description: 'What the promotion is called.' }),
    Coupon: text(50, { description: 'The code that the customer entered; empty: the promotion applied by itself.' }),
    DiscountAmount: money({
      description:
        'What the promotion took off. It stands in OrderDiscountCoupon or OrderDiscountPromotion already, and changes no amount.',
    }),
  },
  {
    description:
      'The promotions that lowered the price of the order, as the checkout sends them. They change no amount.',
  },
)

export const transactionList = list(
  'Transaction',
  {
    TransactionIndexID: integer({
      column: 'id',
      access: 'key',
      description: 'The number of the transaction in the store.',
    }),
    OrderID: integer({ sql: sql`r."orderId"`, description: 'The order to which the transaction belongs.' }),
    TransactionID: text(50, { description: 'The payment service’s own number for the transaction.' }),
    TransactionDateTime: date({
      column: 'occurredAt',
      nullable: true,
      description: 'When the money moved. A new transaction without it has the current time.',
    }),
    TransactionType: text(10, {
      column: 'type',
      description:
        'What happened, without regard to case: `Sale` and `Capture` count as paid, `Refund` and `Credit` as paid back, `Authorize` as paid once TransactionCaptured is 1. Any other text counts as nothing.',
    }),
    TransactionMethod: text(255, {
      description: 'Through which service or by which method was paid, such as `PayPal`, in words of your own.',
    }),
    TransactionAmount: money({
      column: 'amount',
      description:
        'The amount in the currency of the store. Refunds may have either sign; a payment below 0 counts as paid back.',
    }),
    TransactionApproval: text(50, { description: 'The approval code of the bank or payment service.' }),
    TransactionReference: text(255, {
      description:
        'The reference that people look the transaction up by, such as the number of a transfer. The administration shows it.',
    }),
    TransactionGatewayID: integer({ description: 'The payment service as a number of your own. Kept for programs.' }),
    TransactionCVV2: text(255, {
      description: 'What the payment service answered about the verification code. Never send the code itself.',
    }),
    TransactionAVS: text(255, { description: 'What the payment service answered about the billing address.' }),
    TransactionResponseText: text(LONG_TEXT, {
      description: 'What the payment service said, or a note about the transaction. The administration shows it.',
    }),
    TransactionResponseCode: text(50, { description: 'The code of the payment service’s answer.' }),
    TransactionCaptured: integer({
      column: 'captured',
      description: 'Whether the money of an `Authorize` was collected.',
      meanings: { 0: 'not yet', 1: 'collected' },
    }),
  },
  {
    description:
      'What was paid for the order and paid back. The administration adds up from it what is open; no transaction changes the status.',
    rows: { table: 'OrderTransaction', parent: 'orderId' },
  },
)

/** Answers to the checkout's questions. The store has no list of questions, so each answer keeps its question. */
export const questionList = list(
  'Question',
  {
    QuestionAnswerIndexID: integer({ access: 'key', description: 'The number of the answer in the store.' }),
    OrderID: integer({ access: 'ro', description: 'The order to which the answer belongs.' }),
    QuestionID: integer({
      description: 'The number of the question at the checkout. Results of changes name the answer by it.',
    }),
    QuestionTitle: text(LONG_TEXT, {
      access: 'ro',
      description: 'What was asked. The checkout that places the order sends it, or an import.',
    }),
    QuestionAnswer: text(LONG_TEXT, { description: 'What the customer answered.' }),
    QuestionType: text(10, {
      access: 'ro',
      description:
        'The control with which the customer answered, such as `Dropdown`. The checkout that places the order sends it, or an import.',
    }),
    QuestionCheckoutStep: integer({
      access: 'ro',
      description:
        'At which step of the checkout it was asked. The checkout that places the order sends it, or an import.',
    }),
    QuestionSorting: integer({
      access: 'ro',
      description: 'The place of the question among others. The checkout that places the order sends it, or an import.',
    }),
    QuestionDiscountGroup: integer({
      access: 'ro',
      description:
        'Which customers were asked, as a number of the checkout; 0: all of them. The checkout that places the order sends it, or an import.',
    }),
  },
  { description: 'What the checkout asked and the customer answered.' },
)
