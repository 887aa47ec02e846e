import { defineResource } from '../../engine/definition/define.ts'
import { boolean, date, integer, LONG_TEXT, money, text } from '../../engine/definition/fields.ts'
import { customers } from '../customers/customers.ts'

const inGroup = { column: 'groupId' }

/** Customer groups and their price levels (rest-resources §7). */
export const customerGroups = defineResource({
  service: 'CustomerGroups',
  typeName: 'CustomerGroup',
  description: 'A group of customers, such as wholesalers, who buy at prices of their own.',
  idParam: 'groupid',
  maxRecords: 500,
  fields: {
    CustomerGroupID: integer({
      column: 'id',
      access: 'key',
      description: 'The number of the group, by which customers name it.',
    }),
    Name: text(150, {
      column: 'name',
      required: true,
      description: 'What the group is called, such as `Wholesale`. cartAPI names groups by it.',
    }),
    Description: text(LONG_TEXT, { description: 'What the merchant notes about the group.' }),
    MinimumOrder: money({
      description:
        'The least amount of an order of the group’s customers. Kept for the checkout: orders are not checked against it.',
    }),
    NonTaxable: boolean({
      description: 'True: the group’s customers pay no sales tax. For the checkout, which says the taxes of an order.',
    }),
    AllowRegistration: boolean({
      description: 'True: visitors of the storefront may register for the group themselves.',
    }),
    DisableRewardPoints: boolean({
      description: 'True: the group’s customers get no reward points. Kept for programs.',
    }),
    AutoApprove: boolean({
      description: 'True: who registers for the group is in it at once. False: the merchant approves it first.',
    }),
    RegistrationMessage: text(LONG_TEXT, {
      description: 'What the storefront says to those who have registered for the group.',
    }),
    PriceLevel: integer({
      column: 'priceLevel',
      min: 0,
      max: 10,
      description:
        'Which price new orders of the group’s customers take: 1 to 10 that of PriceLevel1 to PriceLevel10 of a product, and discounts for the level; 0: the ordinary price.',
    }),
  },
  privateFields: {
    LastUpdate: date({
      column: 'updatedAt',
      access: 'ro',
      description: 'When the group last changed. Changes of its customers do not count.',
    }),
  },
  subResources: {
    Customers: { kind: 'related', resource: () => customers, link: inGroup },
  },
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
