import { sql } from '../../database/sql.ts'
import { defineResource, nested } from '../../engine/definition/define.ts'
import { orderChanged } from '../../engine/definition/event-kinds.ts'
import {
  boolean,
  date,
  integer,
  LONG_TEXT,
  list,
  money,
  needing,
  reference,
  text,
} from '../../engine/definition/fields.ts'
import { equalTo, exactly, integerAtLeast, integerAtMost, since, until } from '../../engine/definition/filters.ts'
import { emailForms } from '../../values/email.ts'
import { orderStatuses } from '../order-statuses/order-statuses.ts'
import { orderItemList, promotionList, questionList, shipmentList, transactionList } from './lists.ts'
import { orderEffects, orderRules, statusIn } from './rules.ts'

/** OFFSET 0 makes PostgreSQL parse the document once, not once for each method. */
const paymentMethodName = sql`(SELECT m."name"
  FROM (SELECT substring(t."details" ->> 'BillingPaymentMethodID' FROM '^\\s*0*([1-9][0-9]{0,8})\\s*$')::int AS "id" OFFSET 0) named
  JOIN "PaymentMethod" m ON m."storeId" = t."storeId" AND m."id" = named."id")`

/** Orders (rest-resources §3). `placeOrder` creates them; nothing deletes them (contract §4.1). */
export const orders = defineResource({
  service: 'Orders',
  typeName: 'Order',
  methods: ['GET', 'PUT'],
  createdBy: 'Orders are placed by POST /admin/stores/{id}/orders, with the key of the operator',
  maxRecords: 300,
  fields: {
    InvoiceNumberPrefix: text(50, { column: 'invoicePrefix' }),
    InvoiceNumber: integer({ column: 'invoiceNumber', min: 0 }),
    OrderID: integer({ column: 'id', access: 'key' }),
    ...needing('Customers', { CustomerID: reference('customerId') }),
    OrderDate: date({ column: 'orderDate', defaultNow: true }),
    OrderStatusID: integer({ column: 'statusId', label: 'Status', names: orderStatuses }),
    LastUpdate: date({ column: 'updatedAt', access: 'ro' }),
    UserID: text(50, { column: 'updatedBy', access: 'ro' }),
    SalesPerson: text(50),
    ContinueURL: text(LONG_TEXT, {
      access: 'ro',
      sql: sql`s."secureUrl" || '/continue?order_key=' || t."id"`,
      description:
        'The address of the order in the front end of the shop. An import or the checkout may have brought another one.',
    }),
    AlternateOrderID: text(),
    OrderType: text(),
    PaymentTokenID: integer(),
    ...needing('Customers', {
      BillingFirstName: text(100),
      BillingLastName: text(100),
      BillingCompany: text(255),
      BillingAddress: text(200),
      BillingAddress2: text(50),
      BillingCity: text(100),
      BillingState: text(100),
      BillingZipCode: text(20),
      BillingCountry: text(50),
      BillingPhoneNumber: text(30),
      BillingEmail: text(100, { column: 'billingEmail' }),
    }),
    BillingPaymentMethod: text(LONG_TEXT, {
      access: 'ro',
      sql: paymentMethodName,
      description:
        'The name of BillingPaymentMethodID in the list of the store, unless an import or the checkout brought another one.',
    }),
    BillingOnLinePayment: boolean(),
    BillingPaymentMethodID: text(),
    ShipmentList: shipmentList,
    OrderItemList: orderItemList,
    PromotionList: promotionList,
    OrderDiscount: money({ sql: sql`t."discountCoupon" + t."discountPromotion"` }),
    OrderDiscountCoupon: money({ column: 'discountCoupon' }),
    OrderDiscountPromotion: money({ column: 'discountPromotion' }),
    SalesTax: money({ column: 'salesTax' }),
    SalesTax2: money({ column: 'salesTax2' }),
    SalesTax3: money({ column: 'salesTax3' }),
    OrderAmount: money({ column: 'orderAmount' }),
    AffiliateCommission: money(),
    TransactionList: transactionList,
    CardType: text(50),
    CardNumber: text(255, { access: 'wo' }),
    CardName: text(200, { needs: 'Customers' }),
    CardExpirationMonth: text(10),
    CardExpirationYear: text(10),
    CardIssueNumber: text(10),
    CardStartMonth: text(10),
    CardStartYear: text(10),
    CardAddress: text(150, { needs: 'Customers' }),
    CardVerification: text(50, { access: 'wo' }),
    RewardPoints: text(),
    QuestionList: questionList,
    Referer: text(),
    // The longest IPv6 address, with an IPv4 address at its end.
    IP: text(45, { needs: 'Customers' }),
    CustomerComments: text(),
    InternalComments: text(),
    ExternalComments: text(50),
  },
  privateFields: {
    AffiliateID: integer(),
    GiftCertificatePurchased: list('GiftCertificate', {
      Code: text(50),
      Amount: money(),
      ToName: text(100),
      ToEmail: text(100),
      ToMessage: text(),
      FromName: text(100),
    }),
    GiftCertificateUsed: list('UsedGiftCertificate', { Code: text(50), Amount: money() }),
  },
  groups: {
    'Billing address': 'BillingFirstName',
    Payment: 'BillingPaymentMethod',
    Amounts: 'OrderDiscount',
    Card: 'CardType',
    'Comments and origin': 'RewardPoints',
  },
  filters: {
    invoicenumber: equalTo('invoiceNumber'),
    invoicenumberstart: integerAtLeast('invoiceNumber'),
    invoicenumberend: integerAtMost('invoiceNumber'),
    invoiceprefix: exactly('invoicePrefix'),
    orderstatus: equalTo('statusId'),
    datestart: since('orderDate'),
    dateend: until('orderDate'),
    lastupdatestart: since('updatedAt'),
    lastupdateend: until('updatedAt'),
    billingemail: exactly('billingEmail', emailForms),
  },
  subResources: {
    Items: nested('OrderItemList', 'itemindexid'),
    Shipments: nested('ShipmentList', 'shipmentid'),
    Transactions: nested('TransactionList', 'transactionindexid'),
    Questions: nested('QuestionList', 'questionanswerindexid', { resultKey: 'QuestionID' }),
  },
  events: { changed: orderChanged, toldBesides: statusIn },
  rules: orderRules,
  isOneByOne: true,
  effects: orderEffects,
})
