import { lastDay, localDate } from './calendar.ts'
import { groups } from './catalogue.ts'
import { between, companyName, digits, happens, oneOf } from './chance.ts'
import { type Address, mailName, makeAddress, neighbourOf } from './places.ts'

const customerCount = 600

/** What orders need to know of a customer, beside the wire record. */
export interface Customer {
  readonly id: number
  readonly email: string
  readonly company: string
  readonly billing: Address
  readonly shipping: Address
  /** 0: none. */
  readonly groupId: number
  readonly createdDay: number
  readonly record: Record<string, unknown>
  /** What the wire does not show. */
  readonly private: { readonly DateCreated: string; readonly LastUpdate: string; readonly UserID: string }
}

/** Customers have no password: each sets one by the reset page, should it want to sign in. */
export function makeCustomers(): Customer[] {
  const mailNames = new Map<string, number>()
  return Array.from({ length: customerCount }, (_, index) => makeCustomer(index + 1, mailNames))
}

function makeCustomer(id: number, mailNames: Map<string, number>): Customer {
  const billing = makeAddress()
  const groupId = makeGroup()
  const company = groupId === groups.wholesale || groupId === groups.schools || happens(8) ? companyName() : ''
  const shipping = happens(15) ? neighbourOf(billing) : billing
  const email = uniqueEmail(billing, mailNames)
  const createdDay = between(-365, lastDay)
  const record = {
    CustomerID: id,
    Email: email,
    ...addressFields('Billing', billing, company),
    BillingTaxID: groupId === groups.wholesale ? `${digits(2)}-${digits(7)}` : '',
    ...addressFields('Shipping', shipping, shipping === billing ? company : ''),
    ShippingAddressType: company === '' ? 1 : 2,
    CustomerGroupID: groupId,
    Enabled: !happens(3),
    MailList: happens(40),
    NonTaxable: groupId === groups.wholesale || groupId === groups.schools,
    Comments: happens(6) ? oneOf(['Call before delivery.', 'Prefers e-mail.', 'Leave parcels with the neighbor.']) : '',
    AdditionalField1: happens(10) ? oneOf(['Met at the spring fair', 'Newsletter friend', 'Instagram']) : '',
  }
  const hidden = {
    DateCreated: localDate(createdDay, between(480, 1320), between(0, 59)),
    LastUpdate: localDate(between(createdDay + 1, lastDay + 1), between(480, 900), between(0, 59)),
    UserID: 'sandbox',
  }
  return { id, email, company, billing, shipping, groupId, createdDay, record, private: hidden }
}

/** 0: none. */
function makeGroup(): number {
  const share = between(1, 100)
  if (share <= 7) return groups.club
  if (share <= 12) return groups.wholesale
  if (share <= 14) return groups.staff
  return share <= 17 ? groups.schools : 0
}

/** Namesakes are numbered, so that no two are alike. */
function uniqueEmail(person: Address, mailNames: Map<string, number>): string {
  const name = mailName(person)
  const count = (mailNames.get(name) ?? 0) + 1
  mailNames.set(name, count)
  return `${name}${count > 1 ? count : ''}@${oneOf(['example.com', 'example.net', 'example.org'])}`
}

/** A person and where it lives, by the names that customers and gift registries have in common. */
export function personAt(address: Address) {
  return {
    FirstName: address.firstName,
    LastName: address.lastName,
    Address1: address.address1,
    Address2: address.address2,
    City: address.city,
    State: address.state,
    ZipCode: address.zip,
    Country: address.country,
    PhoneNumber: address.phone,
  }
}

function addressFields(prefix: 'Billing' | 'Shipping', address: Address, company: string) {
  const fields = { Company: company, ...personAt(address) }
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [prefix + name, value]))
}
