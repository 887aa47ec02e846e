import { defineResource, nested } from '../../../engine/definition/define.ts'
import { returnKinds } from '../../../engine/definition/event-kinds.ts'
import { date, integer, LONG_TEXT, text } from '../../../engine/definition/fields.ts'
import { anyItem, equalTo, exactly, since, until } from '../../../engine/definition/filters.ts'
import { changed, lastChange, lastEditor, recordNumber } from '../common-fields.ts'
import { skuForms } from '../products/sku.ts'
import explains from './explains.json' with { type: 'json' }
import { returnFinders } from './finders.ts'
import { rmaItemList, rmaItemRows } from './items.ts'
import { returnEffects, returnRules } from './rules.ts'

/** Returns: the returned lines of an order and the quantities put back in stock (rest-resources §9). */
export const rma = defineResource({
  service: 'RMA',
  typeName: 'RMA',
  description: 'A return (RMA): which goods of an order come back, and what of them goes back to stock.',
  table: 'Rma',
  maxRecords: 500,
  fields: {
    RMAID: recordNumber('Return number', 'The number of the return in the store.'),
    RmaDate: date({
      column: 'rmaDate',
      label: 'Return date',
      defaultNow: true,
      description: 'The date of the return. Left out of a new return, it is the current time.',
    }),
    // Only an import stores a return without an order.
    OrderID: integer({
      column: 'orderId',
      min: 0,
      nullable: true,
      required: true,
      leadsTo: 'Orders',
      label: 'Order',
      description:
        'The order whose goods come back, one of `/Orders`; an unknown one is refused. The items must be among its lines.',
    }),
    // Numbers that the merchant defines (order-statuses §3).
    RMAReasonID: integer({
      column: 'reasonId',
      min: 0,
      label: 'Reason',
      description:
        'The reason for the return. Its meaning is the merchant’s own, and the platform does nothing with it. The sandbox uses:',
      meanings: { 1: 'damaged item', 2: 'wrong item', 3: 'no longer wanted', 4: 'other' },
    }),
    RMAMethodID: integer({
      column: 'methodId',
      min: 0,
      label: 'Compensation',
      description:
        'The compensation that the customer gets. Its meaning is the merchant’s own; a refund itself is a transaction of the order. The sandbox uses:',
      meanings: { 1: 'money back', 2: 'exchange for the same product', 3: 'exchange for a different product' },
    }),
    RMAStatusID: integer({
      column: 'statusId',
      min: 0,
      default: 1,
      label: 'Status',
      description:
        'The progress of the return. Its meaning is the merchant’s own; only RestockQuantity moves stock. The sandbox uses:',
      meanings: { 1: 'New', 2: 'Approved', 3: 'Received', 4: 'Completed', 5: 'Denied' },
    }),
    Comments: text(LONG_TEXT, {
      label: 'Comments to the customer',
      description: 'Messages between the customer and the shop about the return.',
    }),
    InternalComments: text(LONG_TEXT, { description: 'Internal notes of the shop about the return.' }),
    StaffComments: text(LONG_TEXT, {
      description: 'A second note of the shop about the return, such as that of the warehouse.',
    }),
    RMAItemList: rmaItemList,
  },
  privateFields: {
    LastUpdate: lastChange('The time of the last change of the return, including its items.', 'rw'),
    UserID: lastEditor('the return', 'rw'),
  },
  filters: {
    rmastatusid: equalTo('statusId'),
    rmareasonid: equalTo('reasonId'),
    rmamethodid: equalTo('methodId'),
    catalogid: anyItem(rmaItemRows, equalTo('productId')),
    sku: anyItem(rmaItemRows, exactly('sku', skuForms)),
    datestart: since('rmaDate'),
    dateend: until('rmaDate'),
    ...changed,
  },
  subResources: { Items: nested('RMAItemList', 'catalogid', { methods: ['GET'] }) },
  rules: {
    events: returnKinds,
    isFinalOnceWritten: true,
    check: returnRules,
    isOneByOne: true,
    effects: returnEffects,
  },
  pages: {
    nouns: ['return', 'returns'],
    groups: { 'Order, reason and status': 'RMAID' },
    finders: returnFinders,
    explains,
  },
})
