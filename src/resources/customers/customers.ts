import { z } from 'zod'
import { defineResource } from '../../engine/definition/define.ts'
import { customerKinds } from '../../engine/definition/event-kinds.ts'
import {
  boolean,
  date,
  importOnly,
  integer,
  money,
  reference,
  text,
  type ValueField,
} from '../../engine/definition/fields.ts'
import { containing, exactly, since, until } from '../../engine/definition/filters.ts'
import { asciiEmail, emailForms } from '../../values/email.ts'
import { formerCustomerFile } from './former-file.ts'
import { customerRules, EMAIL_LENGTH_MAX } from './rules.ts'

/** Upper bounds of the cost of one sign-in: 1 GiB of memory, 100 passes, 16 lanes. */
const MEMORY_KIB_MAX = 1_048_576
const PASSES_MAX = 100
const LANES_MAX = 16

const form = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{16,86}$/

const allowed = `must be an argon2id hash ($argon2id$v=19$m=…,t=…,p=…$salt$hash) with m up to ${MEMORY_KIB_MAX}, t up to ${PASSES_MAX} and p up to ${LANES_MAX}, or empty`

/** A customer's password hash in export and import: the text form of argon2id, or empty for none. */
const passwordHash: ValueField = {
  ...text(255, { column: 'passwordHash', nullable: true }),
  schema: z.string(allowed).refine((given) => given === '' || isArgon2id(given), allowed),
}

function isArgon2id(given: string): boolean {
  const [, memory = 0, passes = 0, lanes = 0] = form.exec(given)?.map(Number) ?? []
  const hasFewPasses = lanes >= 1 && lanes <= LANES_MAX && passes >= 1 && passes <= PASSES_MAX
  return hasFewPasses && memory >= 8 * lanes && memory <= MEMORY_KIB_MAX
}

/** Customers (rest-resources §2). Lists filter by LastUpdate, but no answer shows it. */
export const customers = defineResource({
  service: 'Customers',
  typeName: 'Customer',
  maxRecords: 500,
  namedBy: 'email',
  formerFile: formerCustomerFile,
  keyForms: (given) => [...new Set([given, asciiEmail(given)])],
  fields: {
    CustomerID: integer({ column: 'id', access: 'key' }),
    Email: text(EMAIL_LENGTH_MAX, { column: 'email', required: true, nullable: true, format: 'email' }),
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
    TotalStoreCredit: money({ column: 'storeCredit', access: 'ro', description: importOnly }),
    ResetPassword: boolean(),
  },
  privateFields: {
    PasswordHash: passwordHash,
    DateCreated: date({ column: 'createdAt' }),
    LastUpdate: date({ column: 'updatedAt' }),
    UserID: text(50, { column: 'updatedBy' }),
    LastLoginDate: date({ column: 'lastLoginAt', nullable: true }),
    /** The id in another system, by which cartAPI finds the customer. */
    AltContactID: text(50, { column: 'altContactId', nullable: true }),
    Website: text(200),
  },
  groups: {
    Account: 'CustomerID',
    'Billing address': 'BillingCompany',
    'Shipping address': 'ShippingCompany',
    Preferences: 'CustomerGroupID',
    'Additional fields': 'Comments',
  },
  filters: {
    email: exactly('email', emailForms),
    firstname: containing('firstName'),
    lastname: containing('lastName'),
    country: exactly('country'),
    state: exactly('state'),
    city: containing('city'),
    phone: exactly('phone'),
    lastupdatestart: since('updatedAt'),
    lastupdateend: until('updatedAt'),
  },
  searchedBy: ['email', 'firstname', 'lastname'],
  events: customerKinds,
  rules: customerRules,
  isFinalOnceWritten: true,
  referrers: [{ table: 'Order', fields: ['CustomerID'], by: { column: 'customerId' }, rule: 'clear' }],
})
