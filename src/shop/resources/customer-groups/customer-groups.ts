import { defineResource } from '../../../engine/definition/define.ts'
import { customerGroupKinds } from '../../../engine/definition/event-kinds.ts'
import { boolean, integer, LONG_TEXT, money, text } from '../../../engine/definition/fields.ts'
import { changed, lastChange, recordNumber } from '../common-fields.ts'
import { customers } from '../customers/customers.ts'
import explains from './explains.json' with { type: 'json' }

const inGroup = { column: 'groupId' }

/** Customer groups and their price levels (rest-resources §7). */
export const customerGroups = defineResource({
  service: 'CustomerGroups',
  typeName: 'CustomerGroup',
  description: 'A group of customers, such as wholesalers, who buy at prices of their own.',
  idParam: 'groupid',
  maxRecords: 500,
  fields: {
    CustomerGroupID: recordNumber('Group number', 'The number of the group, by which customers name it.'),
    Name: text(150, {
      column: 'name',
      required: true,
      description: 'The name of the group, such as `Wholesale`. cartAPI refers to groups by it.',
    }),
    Description: text(LONG_TEXT, { description: 'Notes of the merchant about the group.' }),
    MinimumOrder: money({
      label: 'Minimum order amount',
      hint: 'Only the checkout of the shop looks at it',
      description:
        'The least amount of an order of the group’s customers. Kept for the checkout: orders are not checked against it.',
    }),
    NonTaxable: boolean({
      label: 'Tax exempt',
      description: 'True: the group’s customers pay no sales tax. For the checkout, which says the taxes of an order.',
    }),
    AllowRegistration: boolean({
      label: 'Open for registration',
      description: 'True: visitors of the storefront may register for the group themselves.',
    }),
    DisableRewardPoints: boolean({
      label: 'No reward points',
      description: 'True: the group’s customers get no reward points. Kept for programs.',
    }),
    AutoApprove: boolean({
      label: 'Automatic approval',
      hint: 'Customers who register belong to the group at once',
      description: 'True: who registers for the group is in it at once. False: the merchant approves it first.',
    }),
    RegistrationMessage: text(LONG_TEXT, {
      label: 'Text after registration',
      description: 'The text that the storefront shows after somebody has registered for the group.',
    }),
    PriceLevel: integer({
      column: 'priceLevel',
      min: 0,
      max: 10,
      hint: '0 for ordinary prices, 1 to 10 for a price level of the products',
      description:
        'The price level of new orders by the group’s customers. 1 to 10: they pay PriceLevel1 to PriceLevel10 of a product and get the discounts for that level. 0: they pay the ordinary price.',
    }),
  },
  privateFields: {
    LastUpdate: lastChange('The time of the last change of the group. Changes to its customers do not count.'),
  },
  filters: { ...changed },
  subResources: { Customers: { kind: 'related', resource: () => customers, link: inGroup } },
  rules: {
    events: customerGroupKinds,
    isFinalOnceWritten: true,
    referrers: [
      // Clearing would open the group's own products to everybody.
      { table: 'Product', fields: ['AllowAccessCustomerGroupID'], by: { column: 'accessGroupId' }, rule: 'refuse' },
      { table: 'Customer', fields: ['CustomerGroupID'], by: inGroup, rule: 'clear' },
    ],
  },
  pages: { groups: { 'Name and conditions': 'CustomerGroupID' }, explains },
})
