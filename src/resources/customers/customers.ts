import { defineResource } from '../../engine/define.ts'
import { customerNew } from '../../engine/event-kinds.ts'
import { boolean, date, decimal, importOnly, integer, reference, text } from '../../engine/fields.ts'
import { containing, exactly, since, until } from '../../engine/filters.ts'
import { refersBy } from '../../engine/links.ts'
import { passwordHash } from './password-hash.ts'
import { settleCustomer } from './settle-customer.ts'

/** Customers (rest-resources 2). LastUpdate is not on the wire although lists filter by it. */
export const customers = defineResource({
  service: 'Customers',
  typeName: 'Customer',
  idParam: 'customerid',
  table: 'Customer',
  methods: ['GET', 'POST', 'PUT', 'DELETE'],
  maxRecords: 500,
  fields: {
    CustomerID: integer({ column: 'id', access: 'key' }),
    Email: text(100, { column: 'email', required: true, nullable: true, format: 'email' }),
    Password: text(50, { access: 'wo', required: true }),
    BillingCompany: text(255),
    BillingFirstName: text(50, { column: 'firstName' }),
    BillingLastName: text(50, { column: 'lastName' }),
    BillingAddress1: text(255),
    BillingAddress2: text(50),
    BillingCity: text(100, { column: 'city' }),
    BillingState: text(100, { column: 'state' }),
    BillingZipCode: text(20),
    BillingCountry: text(100, { column: 'country' }),
    BillingPhoneNumber: text(50, { column: 'phone' }),
    BillingTaxID: text(50),
    ShippingCompany: text(255),
    ShippingFirstName: text(50),
    ShippingLastName: text(50),
    ShippingAddress1: text(255),
    ShippingAddress2: text(50),
    ShippingCity: text(100),
    ShippingState: text(100),
    ShippingZipCode: text(20),
    ShippingCountry: text(100),
    ShippingPhoneNumber: text(50),
    ShippingAddressType: integer(),
    CustomerGroupID: reference('groupId'),
    Enabled: boolean({ column: 'enabled', default: true }),
    MailList: boolean(),
    NonTaxable: boolean(),
    DisableBillingSameAsShipping: boolean(),
    Comments: text(255),
    AdditionalField1: text(250),
    AdditionalField2: text(250),
    AdditionalField3: text(150),
    TotalStoreCredit: decimal({ column: 'storeCredit', access: 'ro', note: importOnly }),
    ResetPassword: boolean(),
  },
  privateFields: {
    PasswordHash: passwordHash,
    DateCreated: date({ column: 'createdAt' }),
    LastUpdate: date({ column: 'updatedAt' }),
    UserID: text(50, { column: 'updatedBy' }),
    LastLoginDate: date({ column: 'lastLoginAt', nullable: true }),
    /** Another system's id, by which cartAPI finds the customer. */
    AltContactID: text(50, { column: 'altContactId', nullable: true }),
    Website: text(200),
  },
  filters: {
    email: exactly('email'),
    firstname: containing('firstName'),
    lastname: containing('lastName'),
    country: exactly('country'),
    state: exactly('state'),
    city: containing('city'),
    phone: exactly('phone'),
    lastupdatestart: since('updatedAt'),
    lastupdateend: until('updatedAt'),
  },
  settle: settleCustomer,
  raises: (before) => (before === null ? [customerNew] : []),
  referrers: [{ table: 'Order', fields: ['CustomerID'], where: refersBy({ column: 'customerId' }), rule: 'clear' }],
})
