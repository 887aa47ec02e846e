import { defineResource } from '../../../engine/definition/define.ts'
import { distributorKinds } from '../../../engine/definition/event-kinds.ts'
import { boolean, integer, LONG_TEXT, text } from '../../../engine/definition/fields.ts'
import { containing, exactly } from '../../../engine/definition/filters.ts'
import { emailForms } from '../../../foundation/values/email.ts'
import { changed, lastChange, lastEditor, recordNumber, secondLine } from '../common-fields.ts'
import { clearedInProducts, productsBy } from '../products/products.ts'
import explains from './explains.json' with { type: 'json' }

const ofDistributor = { table: 'ProductDistributor', record: 'productId', column: 'distributorId' }

/** Distributors (rest-resources §6). */
export const distributors = defineResource({
  service: 'Distributors',
  typeName: 'Distributor',
  description: 'A company from which the shop buys products.',
  maxRecords: 500,
  fields: {
    DistributorID: recordNumber('Distributor number', 'The number of the distributor, by which products name it.'),
    CompanyName: text(50, {
      column: 'company',
      required: true,
      label: 'Company',
      description: 'The name of the distributor. cartAPI refers to distributors by it.',
    }),
    ContactName: text(50, { label: 'Contact person', description: 'The person to talk to at the distributor.' }),
    Address: text(50, { label: 'Street', description: 'The street and house number of the distributor.' }),
    Address2: secondLine('Address line 2', 'the distributor’s address'),
    City: text(50, { column: 'city', description: 'The town of the distributor.' }),
    State: text(50, { column: 'state', description: 'The state, province or county of the distributor.' }),
    Zip: text(50, { label: 'Postal code', description: 'The postal code of the distributor.' }),
    Country: text(50, {
      isCountry: true,
      column: 'country',
      description: 'The country of the distributor, such as `US`.',
    }),
    Phone: text(50, { column: 'phone', description: 'The telephone number of the distributor.' }),
    Fax: text(50, { description: 'The fax number of the distributor.' }),
    Email: text(50, {
      column: 'email',
      label: 'E-mail',
      description:
        'The e-mail address to which orders for the distributor go. Kept for programs: the platform writes no mail to distributors.',
    }),
    Comments: text(LONG_TEXT, { description: 'Notes of the shop about the distributor.' }),
    NotifyOnNewOrder: boolean({
      label: 'E-mail about new orders',
      description:
        'True: the distributor is to be told of new orders for its products. Kept for programs: the platform sends none.',
    }),
    NotifyOnNewOrderEmailSubject: text(250, {
      label: 'Subject for new orders',
      description: 'The subject of the mail about a new order.',
    }),
    NotifyOnNewOrderEmailMessage: text(LONG_TEXT, {
      label: 'Text for new orders',
      description: 'The text of the mail about a new order.',
    }),
    UserID: lastEditor('the distributor'),
    LastUpdate: lastChange('The time of the last change of the distributor. Changes to its products do not count.'),
    IsDropShipper: boolean({
      label: 'Ships to customers itself',
      description: 'True: the distributor sends goods to the shop’s customers itself. Kept for programs.',
    }),
    NotifyOnCancelledOrder: boolean({
      label: 'E-mail about cancelled orders',
      description:
        'True: the distributor is to be told of cancelled orders for its products. Kept for programs: the platform sends none.',
    }),
    NotifyOnCancelledOrderEmailSubject: text(250, {
      label: 'Subject for cancelled orders',
      description: 'The subject of the mail about a cancelled order.',
    }),
    NotifyOnCancelledOrderEmailMessage: text(LONG_TEXT, {
      label: 'Text for cancelled orders',
      description: 'The text of the mail about a cancelled order.',
    }),
    POStyle: integer({
      label: 'Layout of purchase orders',
      description:
        'The layout of purchase orders to the distributor, as a number of the program that writes them. Kept for programs.',
    }),
    POEmailNotification: boolean({
      label: 'Purchase orders by e-mail',
      description:
        'True: purchase orders are to be mailed to the distributor. Kept for programs: the platform sends none.',
    }),
    POShippingInfo: text(LONG_TEXT, {
      label: 'Text about delivery',
      description: 'The paragraph about delivery in purchase orders to the distributor.',
    }),
    POPaymentInfo: text(LONG_TEXT, {
      label: 'Text about payment',
      description: 'The paragraph about payment in purchase orders to the distributor.',
    }),
    POAdditionalNotes: text(LONG_TEXT, {
      label: 'Further text',
      description: 'Further text in purchase orders to the distributor.',
    }),
    POEmailSubject: text(250, {
      label: 'Subject for purchase orders',
      description: 'The subject of the mail with a purchase order.',
    }),
  },
  filters: {
    company: containing('company'),
    email: exactly('email', emailForms),
    country: exactly('country'),
    state: exactly('state'),
    city: containing('city'),
    phone: exactly('phone'),
    ...changed,
  },
  subResources: { Products: productsBy(ofDistributor) },
  rules: {
    events: distributorKinds,
    isFinalOnceWritten: true,
    referrers: [clearedInProducts('DistributorList.DistributorID', ofDistributor)],
  },
  pages: {
    groups: { 'Company and contact': 'DistributorID', Notifications: 'NotifyOnNewOrder', 'Purchase orders': 'POStyle' },
    explains,
  },
})
