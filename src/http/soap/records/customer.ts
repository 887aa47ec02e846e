import type { WireRecord } from '../../../engine/definition/reader.ts'
import { recordValues } from '../../../engine/reading/representations.ts'
import { customers } from '../../../shop/resources/customers/customers.ts'
import { computed, empty, group, readerOf, valuesOf } from './elements.ts'

const { text, plain, flag, day, moment } = valuesOf()

const addressOf = (kind: 'Billing' | 'Shipping') =>
  valuesOf(kind).text(
    'FirstName',
    'LastName',
    'Address=Address1',
    'Address2',
    'City',
    'StateCode=State',
    'ZipCode',
    'CountryCode=Country',
    'Company',
    'Phone=PhoneNumber',
  )

/** A customer as getCustomer shows it (soap-cartapi §4.1). The context has the names of customer groups by CustomerGroupID. */
export const customerElements = group(
  'Customer',
  plain('CustomerID'),
  text('UserID'),
  group('BillingAddress', addressOf('Billing'), text('Email')),
  group('ShippingAddress', addressOf('Shipping')),
  text('Comments'),
  day('LastLoginDate'),
  text('WebSite=Website'),
  computed(
    'DiscountGroup',
    ['CustomerGroupID'],
    (customer, groupNames: ReadonlyMap<number, string>) => groupNames.get(groupIdOf(customer)) ?? '',
  ),
  text('AccountNumber=BillingTaxID'),
  flag('MailList', 'CustomerType=NonTaxable'),
  moment('LastUpdate'),
  flag('CustEnabled=Enabled'),
  // As programs know it: spelt so, and with the fourth field outside, which nothing fills.
  group('AditionalFields', text('AdditionalField1', 'AdditionalField2', 'AdditionalField3')),
  empty('AdditionalField4'),
)

/** Does not read the hash of the password. */
export const customerValues = recordValues(readerOf(customers.storedFields, customerElements.fields))

/** The CustomerGroupID of a customer; 0: none. */
export function groupIdOf({ CustomerGroupID }: WireRecord): number {
  return Number(CustomerGroupID)
}
