import type { FormerFile } from '../../../engine/definition/former-file.ts'
import { leftOut, noMember, written } from '../left-out.ts'

function address(from: string, to: string) {
  const rest = {
    firstname: 'FirstName',
    lastname: 'LastName',
    address: 'Address1',
    address2: 'Address2',
    city: 'City',
    state: 'State',
    zip: 'ZipCode',
    country: 'Country',
    company: 'Company',
    phone: 'PhoneNumber',
  }
  return Object.fromEntries(
    Object.entries(rest).map(([heading, column]) => [`${from}_${heading}`, `${to}${column}`] as const),
  )
}

/** The customer file of 3dcart and Shift4Shop. */
export const formerCustomerFile: FormerFile = {
  columns: {
    email: 'Email',
    ...address('billing', 'Billing'),
    ...address('shipping', 'Shipping'),
    comments: 'Comments',
    // The number of the group.
    discount: 'CustomerGroupID',
    accountno: 'BillingTaxID',
    maillist: 'MailList',
    custenabled: 'Enabled',
    type: 'NonTaxable',
    additional_field1: 'AdditionalField1',
    additional_field2: 'AdditionalField2',
    additional_field3: 'AdditionalField3',
    oshipaddresstype: 'ShippingAddressType',
    reset_pass: 'ResetPassword',
  },
  byName: [],
  asked: {
    contactid: {
      reason: 'numbers the customers of the platform that you come from',
      question:
        'Take it in as the customer number only if your customers have the same numbers here. Otherwise their e-mail addresses name them.',
    },
  },
  leftOut: {
    pass: 'has passwords, which are never taken over',
    ...leftOut('lastlogindate userid last_update', written),
    ...leftOut('website custother1 additional_field4 alt_contactid', noMember),
  },
}
