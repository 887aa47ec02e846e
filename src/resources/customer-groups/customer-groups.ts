import { defineResource } from '../../engine/definition/define.ts'
import { customerGroupKinds } from '../../engine/definition/event-kinds.ts'
import { boolean, date, integer, money, text } from '../../engine/definition/fields.ts'
import { customers } from '../customers/customers.ts'

const inGroup = { column: 'groupId' }

/** Customer groups and their price levels (rest-resources §7). */
export const customerGroups = defineResource({
  service: 'CustomerGroups',
  typeName: 'CustomerGroup',
  idParam: 'groupid',
  maxRecords: 500,
  fields: {
    CustomerGroupID: integer({ column: 'id', access: 'key' }),
    Name: text(150, { column: 'name', required: true }),
    Description: text(),
    MinimumOrder: money(),
    NonTaxable: boolean(),
    AllowRegistration: boolean(),
    DisableRewardPoints: boolean(),
    AutoApprove: boolean(),
    RegistrationMessage: text(),
    PriceLevel: integer({ column: 'priceLevel', min: 0, max: 10 }),
  },
  privateFields: { LastUpdate: date({ column: 'updatedAt', access: 'ro' }) },
  subResources: {
    Customers: { kind: 'related', resource: () => customers, link: inGroup },
  },
  events: customerGroupKinds,
  isFinalOnceWritten: true,
  referrers: [
    // Clearing would open the group's own products to everybody.
    {
      table: 'Product',
      fields: ['AllowAccessCustomerGroupID'],
      by: { column: 'accessGroupId' },
      rule: 'refuse',
    },
    { table: 'Customer', fields: ['CustomerGroupID'], by: inGroup, rule: 'clear' },
  ],
})
