import { z } from 'zod'
import { defineResource } from '../../../engine/definition/define.ts'
import { customerKinds } from '../../../engine/definition/event-kinds.ts'
import { boolean, date, integer, money, reference, text, type ValueField } from '../../../engine/definition/fields.ts'
import { containing, exactly } from '../../../engine/definition/filters.ts'
import { byFilter, byId, byWords } from '../../../engine/definition/finders.ts'
import type { RecordOf } from '../../../engine/definition/record-of.ts'
import { asciiEmail, emailForms } from '../../../foundation/values/email.ts'
import { changed, country, lastChange, lastEditor, recordNumber, secondLine, state } from '../common-fields.ts'
import explains from './explains.json' with { type: 'json' }
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
  ...text(255, {
    column: 'passwordHash',
    nullable: true,
    description:
      'The hash of the password that is stored, in the text form of argon2id; empty: none. An import takes it as it is.',
  }),
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
  description: 'A person or company that buys from the shop, with the addresses that the checkout proposes.',
  maxRecords: 500,
  keyForms: (given) => [...new Set([given, asciiEmail(given)])],
  fields: {
    CustomerID: recordNumber('Customer number', 'The number of the customer, by which orders name it.'),
    Email: text(EMAIL_LENGTH_MAX, {
      column: 'email',
      required: true,
      nullable: true,
      format: 'email',
      label: 'E-mail',
      description:
        'The e-mail address of the customer, unique in the store without regard to case. Files and cartAPI name customers by it.',
    }),
    Password: text(50, {
      access: 'wo',
      required: true,
      description:
        'The password of the customer for the storefront. Only a hash of it is kept; empty: the stored one stays.',
    }),
    BillingCompany: text(255, {
      description: 'The company in the billing address. New orders copy the billing address, where they bring none.',
    }),
    BillingFirstName: text(50, {
      column: 'firstName',
      description: 'The first name of the person in the billing address.',
    }),
    BillingLastName: text(50, {
      column: 'lastName',
      description: 'The last name of the person in the billing address.',
    }),
    BillingAddress1: text(255, {
      label: 'Billing street',
      description: 'The street and house number of the billing address.',
    }),
    BillingAddress2: secondLine('Billing address line 2', 'the billing address'),
    BillingCity: text(100, { column: 'city', description: 'The town of the billing address.' }),
    BillingState: state(100, 'the billing address', { column: 'state' }),
    BillingZipCode: text(20, { label: 'Billing postal code', description: 'The postal code of the billing address.' }),
    BillingCountry: country(100, 'the billing address', { column: 'country' }),
    BillingPhoneNumber: text(50, {
      column: 'phone',
      label: 'Billing phone',
      description: 'The telephone number for the billing address.',
    }),
    BillingTaxID: text(50, {
      label: 'Tax number',
      description: 'The tax number of the customer, or an account number; cartAPI calls it accountno.',
    }),
    ShippingCompany: text(255, {
      description:
        'The company in the shipping address. Kept for the checkout: an order without a shipment goes to its billing address.',
    }),
    ShippingFirstName: text(50, { description: 'The first name of the person in the shipping address.' }),
    ShippingLastName: text(50, { description: 'The last name of the person in the shipping address.' }),
    ShippingAddress1: text(255, {
      label: 'Shipping street',
      description: 'The street and house number of the shipping address.',
    }),
    ShippingAddress2: secondLine('Shipping address line 2', 'the shipping address'),
    ShippingCity: text(100, { description: 'The town of the shipping address.' }),
    ShippingState: state(100, 'the shipping address'),
    ShippingZipCode: text(20, {
      label: 'Shipping postal code',
      description: 'The postal code of the shipping address.',
    }),
    ShippingCountry: country(100, 'the shipping address'),
    ShippingPhoneNumber: text(50, {
      label: 'Shipping phone',
      description: 'The telephone number for the shipping address.',
    }),
    ShippingAddressType: integer({
      label: 'Kind of shipping address',
      description: 'The kind of the shipping address. Kept for programs that compute shipping costs.',
      meanings: { 0: 'not stated', 1: 'residential', 2: 'commercial' },
    }),
    CustomerGroupID: reference(
      'groupId',
      'The group of the customer, one of `/CustomerGroups`. It decides on the prices of new orders.',
      'Customer group',
    ),
    Enabled: boolean({
      column: 'enabled',
      default: true,
      label: 'May sign in',
      hint: 'Orders are accepted even if not ticked',
      description: 'False: the customer cannot sign in at `/account`. Orders for the customer are still accepted.',
    }),
    MailList: boolean({
      label: 'Newsletter',
      description: 'True: the customer wants the newsletter. Send false for somebody who has unsubscribed.',
    }),
    NonTaxable: boolean({
      label: 'Tax exempt',
      description: 'True: the customer pays no sales tax. For the checkout, which says the taxes of an order.',
    }),
    DisableBillingSameAsShipping: boolean({
      label: 'Checkout asks for both addresses',
      description: 'True: the checkout does not offer to take one address for both. Kept for programs.',
    }),
    Comments: text(255, { description: 'Notes of the shop about the customer.' }),
    AdditionalField1: text(250, { label: 'Extra field 1', description: 'The first of three texts for your own use.' }),
    AdditionalField2: text(250, { label: 'Extra field 2', description: 'The second of three texts for your own use.' }),
    AdditionalField3: text(150, {
      label: 'Extra field 3',
      description: 'The third of three texts for your own use, the shortest.',
    }),
    TotalStoreCredit: money({
      column: 'storeCredit',
      access: 'ro',
      label: 'Store credit',
      description:
        'The credit that the customer may spend in the shop. The platform keeps no credits: it shows imported values.',
    }),
    ResetPassword: boolean({
      label: 'Must choose a new password',
      description: 'True: the storefront asks the customer for a new password at the next sign-in.',
    }),
  },
  privateFields: {
    PasswordHash: passwordHash,
    DateCreated: date({
      column: 'createdAt',
      label: 'Added on',
      description: 'The time at which the customer was added to the store.',
    }),
    LastUpdate: lastChange(
      'The time of the last change of the customer. Lists filter by it (`lastupdatestart`, `lastupdateend`).',
      'rw',
    ),
    UserID: lastEditor('the customer', 'rw'),
    LastLoginDate: date({
      column: 'lastLoginAt',
      nullable: true,
      label: 'Last sign-in',
      description: 'The time of the customer’s last sign-in at `/account`; empty: never.',
    }),
    /** The id in another system, by which cartAPI finds the customer. */
    AltContactID: text(50, {
      column: 'altContactId',
      nullable: true,
      label: 'Number in another system',
      description: 'The number of the customer in another system, by which cartAPI finds it; unique in the store.',
    }),
    Website: text(200, { description: 'The address of the customer’s own site, as cartAPI sets it.' }),
  },
  filters: {
    email: exactly('email', emailForms),
    firstname: containing('firstName'),
    lastname: containing('lastName'),
    country: exactly('country'),
    state: exactly('state'),
    city: containing('city'),
    phone: exactly('phone'),
    ...changed,
  },
  rules: {
    events: customerKinds,
    check: customerRules,
    isFinalOnceWritten: true,
    referrers: [{ table: 'Order', fields: ['CustomerID'], by: { column: 'customerId' }, rule: 'clear' }],
  },
  pages: {
    groups: {
      Account: 'CustomerID',
      'Billing address': 'BillingCompany',
      'Shipping address': 'ShippingCompany',
      Preferences: 'CustomerGroupID',
      'Comments and extra fields': 'Comments',
    },
    explains,
    calledBy: [['BillingFirstName', 'BillingLastName'], ['BillingCompany'], ['Email']],
    searchedBy: ['email', 'firstname', 'lastname'],
    finders: [byFilter('Customer', exactly('email', emailForms)), byId('Customer'), ...byWords('Customers')],
  },
  files: { namedBy: 'email', formerFile: formerCustomerFile },
})

/** A customer as answers have it. */
export type CustomerRecord = RecordOf<typeof customers>
