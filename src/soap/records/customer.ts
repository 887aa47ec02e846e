import { fieldsAmong } from '../../engine/fields.ts'
import { compileReader, type WireRecord, type WireValue } from '../../engine/reader.ts'
import { customers } from '../../resources/customers/customers.ts'
import { element, textElement } from '../elements.ts'
import { day, flag, moment, plain, text } from './format.ts'

/** The names of customer groups by CustomerGroupID. */
type GroupNames = ReadonlyMap<number, string>

/** One element: its name, the field that it shows, and how it is written. */
type Shown = readonly [
  name: string,
  field: string,
  write: (name: string, value: WireValue | undefined, groupNames: GroupNames) => string,
]

const GROUP_ID = 'CustomerGroupID'

// The elements in the order in which clients know them (soap-cartapi 4.1).

const identity: readonly Shown[] = [
  ['CustomerID', 'CustomerID', plain],
  ['UserID', 'UserID', text],
]

const billingAddress: readonly Shown[] = [...addressOf('Billing'), ['Email', 'Email', text]]
const shippingAddress = addressOf('Shipping')

const account: readonly Shown[] = [
  ['Comments', 'Comments', text],
  ['LastLoginDate', 'LastLoginDate', day],
  ['WebSite', 'Website', text],
  ['DiscountGroup', GROUP_ID, groupName],
  ['AccountNumber', 'BillingTaxID', text],
  ['MailList', 'MailList', flag],
  ['CustomerType', 'NonTaxable', flag],
  ['LastUpdate', 'LastUpdate', moment],
  ['CustEnabled', 'Enabled', flag],
]

const additionalFields: readonly Shown[] = [
  ['AdditionalField1', 'AdditionalField1', text],
  ['AdditionalField2', 'AdditionalField2', text],
  ['AdditionalField3', 'AdditionalField3', text],
]

function addressOf(kind: 'Billing' | 'Shipping'): readonly Shown[] {
  return [
    ['FirstName', `${kind}FirstName`, text],
    ['LastName', `${kind}LastName`, text],
    ['Address', `${kind}Address1`, text],
    ['Address2', `${kind}Address2`, text],
    ['City', `${kind}City`, text],
    ['StateCode', `${kind}State`, text],
    ['ZipCode', `${kind}ZipCode`, text],
    ['CountryCode', `${kind}Country`, text],
    ['Company', `${kind}Company`, text],
    ['Phone', `${kind}PhoneNumber`, text],
  ]
}

const shown = [...identity, ...billingAddress, ...shippingAddress, ...account, ...additionalFields]
const shownFields = new Set(shown.map(([, field]) => field))

/** Reads what is shown and nothing else: the hash of the password stays where it is. */
export const customerReader = compileReader(fieldsAmong(customers.storedFields, (name) => shownFields.has(name)))

/** The CustomerGroupID of a customer; 0: none. */
export function groupIdOf(customer: WireRecord): number {
  return Number(customer[GROUP_ID])
}

function groupName(name: string, id: WireValue | undefined, groupNames: GroupNames): string {
  return textElement(name, groupNames.get(Number(id)) ?? '')
}

/** A customer as getCustomer shows it, out of what `customerReader` read. */
export function writeCustomer(customer: WireRecord, groupNames: GroupNames): string {
  const elements = (part: readonly Shown[]) =>
    part.map(([name, field, write]) => write(name, customer[field], groupNames)).join('')
  return element(
    'Customer',
    elements(identity) +
      element('BillingAddress', elements(billingAddress)) +
      element('ShippingAddress', elements(shippingAddress)) +
      elements(account) +
      // As programs know it: spelt so, and with the fourth field outside, which nothing fills.
      element('AditionalFields', elements(additionalFields)) +
      element('AdditionalField4', ''),
  )
}
