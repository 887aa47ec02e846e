import { defineResource, nested } from '../../../engine/definition/define.ts'
import { orderChanged } from '../../../engine/definition/event-kinds.ts'
import {
  boolean,
  choice,
  date,
  decimal,
  integer,
  LONG_TEXT,
  list,
  money,
  needing,
  reference,
  text,
} from '../../../engine/definition/fields.ts'
import { equalTo, exactly, integerAtLeast, integerAtMost, since, until } from '../../../engine/definition/filters.ts'
import type { RecordOf } from '../../../engine/definition/record-of.ts'
import { sql } from '../../../foundation/database/sql.ts'
import { localeTags } from '../../../foundation/texts/language.ts'
import { emailForms } from '../../../foundation/values/email.ts'
import { changed, country, lastChange, lastEditor, recordNumber, secondLine, state } from '../common-fields.ts'
import { orderStatuses } from '../order-statuses/order-statuses.ts'
import explains from './explains.json' with { type: 'json' }
import { orderFinders } from './finders.ts'
import { orderItemList, promotionList, questionList, shipmentList, transactionList } from './lists.ts'
import { refundsEndpoint } from './refunds.ts'
import { orderEffects, orderRules, statusIn } from './rules.ts'
import { invoiceNumbers } from './same-number.ts'
import { orderStatusMeanings } from './statuses.ts'
import { orderSums } from './sums.ts'

/** OFFSET 0 makes PostgreSQL parse the document once, not once for each method. */
const paymentMethodName = sql`(SELECT m."name"
  FROM (SELECT substring(t."details" ->> 'BillingPaymentMethodID' FROM '^\\s*0*([1-9][0-9]{0,8})\\s*$')::int AS "id" OFFSET 0) named
  JOIN "PaymentMethod" m ON m."storeId" = t."storeId" AND m."id" = named."id")`

const filters = {
  invoicenumber: equalTo('invoiceNumber'),
  invoicenumberstart: integerAtLeast('invoiceNumber'),
  invoicenumberend: integerAtMost('invoiceNumber'),
  invoiceprefix: exactly('invoicePrefix'),
  orderstatus: equalTo('statusId'),
  datestart: since('orderDate'),
  dateend: until('orderDate'),
  ...changed,
  billingemail: exactly('billingEmail', emailForms),
}

/** Orders (rest-resources §3). `placeOrder` creates them; nothing deletes them (contract §4.1). */
export const orders = defineResource({
  service: 'Orders',
  typeName: 'Order',
  description: 'An order as the shop sold it: who bought what, at which price, how it is paid and where it goes.',
  methods: ['GET', 'PUT'],
  createdBy: 'Orders are placed by POST /Checkout, and by POST /admin/stores/{id}/orders with the key of the operator',
  maxRecords: 300,
  fields: {
    InvoiceNumberPrefix: text(50, {
      column: 'invoicePrefix',
      description: 'The prefix of InvoiceNumber in the number that people see: `AB-` and 1347 make `AB-1347`.',
    }),
    InvoiceNumber: integer({
      column: 'invoiceNumber',
      min: 0,
      description:
        'The number of the invoice without its prefix. The platform gives each new order the next one; clients may change it.',
    }),
    OrderID: recordNumber(
      'Internal number',
      'The number of the order in the store, by which addresses and returns name it. People know it by its invoice number.',
    ),
    ...needing('Customers', {
      CustomerID: reference(
        'customerId',
        'The customer who ordered, one of `/Customers`. Set to 0 when the customer is deleted; 0 is a guest, too.',
        'Customer account',
      ),
    }),
    OrderDate: date({ column: 'orderDate', defaultNow: true, description: 'The time at which the order was placed.' }),
    OrderStatusID: integer({
      column: 'statusId',
      label: 'Status',
      names: orderStatuses,
      description:
        'The status of the order, one of `/OrderStatus`; an unknown one is refused. Cancel puts the goods back in stock, and no program takes an order out of it (400). The only shipment of an order follows. Placing an order sets New or Unpaid, and takes only 7 or none. A store begins with:',
      meanings: orderStatusMeanings,
    }),
    LastUpdate: lastChange(
      'The time of the last change of the order or of anything in its lists. To read what changed since, use `lastupdatestart`.',
    ),
    UserID: lastEditor('the order'),
    SalesPerson: text(50, { label: 'Sold by', description: 'The name of the person in the shop who sold the order.' }),
    ContinueURL: text(LONG_TEXT, {
      access: 'ro',
      sql: sql`s."secureUrl" || '/continue?order_key=' || t."id"`,
      label: 'Address in the storefront',
      description:
        'The address of the order in the storefront. An import or the checkout may have brought another one.',
    }),
    AlternateOrderID: text(LONG_TEXT, {
      label: 'Number in another system',
      description: 'The number of the order in another system, such as a marketplace.',
    }),
    OrderType: text(LONG_TEXT, {
      label: 'Source',
      description: 'The source of the order, such as the name of a marketplace, in words of your own.',
    }),
    PaymentTokenID: integer({
      label: 'Stored means of payment',
      description:
        'The number of a stored means of payment at the payment service; 0: none. Kept for programs: the platform stores no means of payment.',
    }),
    ...needing('Customers', {
      BillingFirstName: text(100, {
        description:
          'The first name of the person who pays. A new order takes the billing address of its customer where it brings none.',
      }),
      BillingLastName: text(100, { description: 'The last name of the person who pays.' }),
      BillingCompany: text(255, { description: 'The company that pays.' }),
      BillingAddress: text(200, {
        label: 'Billing street',
        description: 'The street and house number of whom the invoice goes to.',
      }),
      BillingAddress2: secondLine('Billing address line 2', 'the billing address'),
      BillingCity: text(100, { description: 'The town of the billing address.' }),
      BillingState: state(100, 'the billing address'),
      BillingZipCode: text(20, {
        label: 'Billing postal code',
        description: 'The postal code of the billing address.',
      }),
      BillingCountry: country(50, 'the billing address'),
      BillingPhoneNumber: text(30, {
        label: 'Billing phone',
        description: 'The telephone number of the person who pays.',
      }),
      BillingEmail: text(100, {
        column: 'billingEmail',
        label: 'Billing e-mail',
        description:
          'The e-mail address of the person who pays. A guest’s order needs one, or a telephone number. The list finds orders by it.',
      }),
    }),
    BillingPaymentMethod: text(LONG_TEXT, {
      access: 'ro',
      sql: paymentMethodName,
      label: 'Payment method',
      description:
        'The name of BillingPaymentMethodID in the list of the store, unless an import or the checkout brought another one.',
    }),
    BillingOnLinePayment: boolean({
      column: 'paidOnline',
      label: 'Paid online',
      description: 'True: the order was paid through a payment service. A new order is New then, else Unpaid.',
    }),
    BillingPaymentMethodID: text(LONG_TEXT, {
      label: 'Number of the payment method',
      description:
        'The payment method by its number in the list of the store (`GET /admin/stores/{id}/payment-methods`), as a text, such as `2`.',
    }),
    ShipmentList: shipmentList,
    OrderItemList: orderItemList,
    PromotionList: promotionList,
    OrderDiscount: money({
      sql: sql`t."discountCoupon" + t."discountPromotion"`,
      description: 'The whole discount: the sum of OrderDiscountCoupon and OrderDiscountPromotion.',
    }),
    OrderDiscountCoupon: money({
      column: 'discountCoupon',
      label: 'Discount by promotions',
      description:
        'Despite its name: the discount by promotions that apply automatically. Together with OrderDiscountPromotion, it cannot be raised above the price of the goods.',
    }),
    OrderDiscountPromotion: money({
      column: 'discountPromotion',
      label: 'Discount by coupons',
      description:
        'Despite its name: the discount by coupons. Together with OrderDiscountCoupon, it cannot be raised above the price of the goods.',
    }),
    SalesTax: money({
      column: 'salesTax',
      label: 'Tax',
      description:
        'The first tax on the order, that of its shipments included. The caller says it: the platform proposes taxes, and charges none by itself.',
    }),
    SalesTax2: money({
      column: 'salesTax2',
      label: 'Second tax',
      description: 'The second tax on the order, where two are due.',
    }),
    SalesTax3: money({
      column: 'salesTax3',
      label: 'Third tax',
      description: 'The third tax on the order, where three are due.',
    }),
    OrderAmount: money({
      column: 'orderAmount',
      label: 'Total',
      description:
        'The grand total. Placing an order computes it; afterwards only the caller changes it: send a new total with changed lines, shipments or discounts.',
    }),
    AffiliateCommission: money({
      description: 'The commission of the affiliate who brought the customer. Kept for programs.',
    }),
    TransactionList: transactionList,
    CardType: text(50, { label: 'Card brand', description: 'The brand of the payment card, such as `Visa`.' }),
    CardNumber: text(255, {
      access: 'wo',
      description: 'The number of the payment card. What is sent is thrown away: do not send it.',
    }),
    CardName: text(200, {
      needs: 'Customers',
      label: 'Name on the card',
      description: 'The name on the payment card.',
    }),
    CardExpirationMonth: text(10, {
      label: 'Card expiry month',
      description: 'The month until which the payment card is valid.',
    }),
    CardExpirationYear: text(10, {
      label: 'Card expiry year',
      description: 'The year until which the payment card is valid.',
    }),
    CardIssueNumber: text(10, { description: 'The issue number of the payment card, which some debit cards have.' }),
    CardStartMonth: text(10, { description: 'The month from which the payment card is valid.' }),
    CardStartYear: text(10, { description: 'The year from which the payment card is valid.' }),
    CardAddress: text(150, {
      needs: 'Customers',
      label: 'Cardholder’s address',
      description: 'The address of the owner of the payment card.',
    }),
    CardVerification: text(50, {
      access: 'wo',
      label: 'Card verification code',
      description: 'The verification code of the payment card. What is sent is thrown away: do not send it.',
    }),
    RewardPoints: text(LONG_TEXT, {
      description:
        'Reward points that the order earned or used, as text. Kept for programs: the platform counts no points.',
    }),
    QuestionList: questionList,
    Referer: text(LONG_TEXT, {
      label: 'Came from page',
      description: 'The page from which the customer came to the shop.',
    }),
    // The longest IPv6 address, with an IPv4 address at its end.
    IP: text(45, {
      needs: 'Customers',
      label: 'IP address',
      description: 'The IP address from which the order was placed.',
    }),
    CustomerComments: text(LONG_TEXT, {
      label: 'Customer’s comments',
      description: 'The customer’s message with the order. The packing slip shows it.',
    }),
    InternalComments: text(LONG_TEXT, {
      label: 'Internal note',
      description: 'Internal notes of the shop about the order. Customers never see them.',
    }),
    ExternalComments: text(50, {
      label: 'Note to the customer',
      description: 'A short message to the customer, which the customer’s page of the order shows.',
    }),
  },
  privateFields: {
    TaxIncluded: boolean({
      column: 'taxIncluded',
      description: 'True: prices have the tax in them, so that SalesTax is 0. No amount follows from it.',
    }),
    TaxRate: decimal({
      column: 'taxRate',
      min: 0,
      max: 100,
      // No rate, because 0 is one.
      default: -1,
      nullable: true,
      isOptional: true,
      description:
        'The rate of the order’s taxes in per cent, for invoices and reports. No amount follows from it. Left out: nobody knows it.',
    }),
    Locale: choice(['', ...localeTags], {
      column: 'locale',
      nullable: true,
      isOptional: true,
      description:
        'The language in which the customer gets mails of the order. Left out: that of the store’s documents.',
    }),
    AffiliateID: integer({ description: 'The number of the affiliate who brought the customer; 0: none.' }),
    GiftCertificatePurchased: list(
      'GiftCertificate',
      {
        Code: text(50, { description: 'The code by which the bought certificate is redeemed.' }),
        Amount: money({ description: 'The value of the bought certificate.' }),
        ToName: text(100, { description: 'The name of the certificate’s recipient.' }),
        ToEmail: text(100, { description: 'The e-mail address of the certificate’s recipient.' }),
        ToMessage: text(LONG_TEXT, { description: 'The message on the certificate.' }),
        FromName: text(100, { description: 'The name of the giver on the certificate.' }),
      },
      { description: 'The gift certificates that the order bought. Kept for programs: no certificates are made here.' },
    ),
    GiftCertificateUsed: list(
      'UsedGiftCertificate',
      {
        Code: text(50, { description: 'The code of the certificate that paid.' }),
        Amount: money({ description: 'The amount paid with the certificate.' }),
      },
      { description: 'The gift certificates with which the order was paid.' },
    ),
  },
  // Triggers keep them (states.ts), whatever a new row says.
  hidden: { payment: 'unpaid', paid: null, refunded: null, fulfilment: 'none' },
  filters,
  subResources: {
    Items: nested('OrderItemList', 'itemindexid'),
    Shipments: nested('ShipmentList', 'shipmentid'),
    Transactions: nested('TransactionList', 'transactionindexid'),
    Questions: nested('QuestionList', 'questionanswerindexid', { resultKey: 'QuestionID' }),
    Sums: orderSums(filters),
  },
  endpoints: () => [refundsEndpoint],
  rules: {
    events: { changed: orderChanged, notifiedBesides: statusIn },
    check: orderRules,
    isOneByOne: true,
    effects: orderEffects,
  },
  pages: {
    numberedBy: ['InvoiceNumberPrefix', 'InvoiceNumber'],
    groups: {
      'Number, customer and status': 'InvoiceNumberPrefix',
      'Billing address': 'BillingFirstName',
      'Payment method': 'BillingPaymentMethod',
      Amounts: 'OrderDiscount',
      'Payment card': 'CardType',
      'Comments and origin': 'RewardPoints',
    },
    finders: orderFinders,
    explains,
  },
  files: { worthALook: invoiceNumbers },
})

/** An order as answers have it. */
export type OrderRecord = RecordOf<typeof orders>
