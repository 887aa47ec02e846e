import { defineResource } from '../../engine/definition/define.ts'
import { distributorKinds } from '../../engine/definition/event-kinds.ts'
import { boolean, date, integer, text } from '../../engine/definition/fields.ts'
import { containing, exactly } from '../../engine/definition/filters.ts'
import { emailForms } from '../../values/email.ts'
import { clearedInProducts, productsBy } from '../products/products.ts'

const ofDistributor = { table: 'ProductDistributor', record: 'productId', column: 'distributorId' }

/** Distributors (rest-resources §6). */
export const distributors = defineResource({
  service: 'Distributors',
  typeName: 'Distributor',
  maxRecords: 500,
  fields: {
    DistributorID: integer({ column: 'id', access: 'key' }),
    CompanyName: text(50, { column: 'company', required: true }),
    ContactName: text(50),
    Address: text(50),
    Address2: text(50),
    City: text(50, { column: 'city' }),
    State: text(50, { column: 'state' }),
    Zip: text(50),
    Country: text(50, { column: 'country' }),
    Phone: text(50, { column: 'phone' }),
    Fax: text(50),
    Email: text(50, { column: 'email' }),
    Comments: text(),
    NotifyOnNewOrder: boolean(),
    NotifyOnNewOrderEmailSubject: text(250),
    NotifyOnNewOrderEmailMessage: text(),
    UserID: text(50, { column: 'updatedBy', access: 'ro' }),
    LastUpdate: date({ column: 'updatedAt', access: 'ro' }),
    IsDropShipper: boolean(),
    NotifyOnCancelledOrder: boolean(),
    NotifyOnCancelledOrderEmailSubject: text(250),
    NotifyOnCancelledOrderEmailMessage: text(),
    POStyle: integer(),
    POEmailNotification: boolean(),
    POShippingInfo: text(),
    POPaymentInfo: text(),
    POAdditionalNotes: text(),
    POEmailSubject: text(250),
  },
  groups: { Notifications: 'NotifyOnNewOrder', 'Purchase orders': 'POStyle' },
  filters: {
    company: containing('company'),
    email: exactly('email', emailForms),
    country: exactly('country'),
    state: exactly('state'),
    city: containing('city'),
    phone: exactly('phone'),
  },
  subResources: { Products: productsBy(ofDistributor) },
  events: distributorKinds,
  isFinalOnceWritten: true,
  referrers: [clearedInProducts('DistributorList.DistributorID', ofDistributor)],
})
