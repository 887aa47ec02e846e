import { defineResource, nested } from '../../engine/definition/define.ts'
import { returnKinds } from '../../engine/definition/event-kinds.ts'
import { date, integer, text } from '../../engine/definition/fields.ts'
import { anyItem, equalTo, exactly, since, until } from '../../engine/definition/filters.ts'
import { skuForms } from '../../values/sku.ts'
import { rmaItemList, rmaItemRows } from './items.ts'
import { returnRules } from './rules.ts'

/** Returns: the returned lines of an order and the quantities put back in stock (rest-resources §9). */
export const rma = defineResource({
  service: 'RMA',
  typeName: 'RMA',
  table: 'Rma',
  maxRecords: 500,
  fields: {
    RMAID: integer({ column: 'id', access: 'key' }),
    RmaDate: date({ column: 'rmaDate', defaultNow: true }),
    // Only an import stores a return without an order.
    OrderID: integer({ column: 'orderId', min: 0, nullable: true, required: true }),
    // Numbers that the merchant defines (order-statuses §3).
    RMAReasonID: integer({ column: 'reasonId', min: 0 }),
    RMAMethodID: integer({ column: 'methodId', min: 0 }),
    RMAStatusID: integer({ column: 'statusId', min: 0, default: 1 }),
    Comments: text(),
    InternalComments: text(),
    StaffComments: text(),
    RMAItemList: rmaItemList,
  },
  privateFields: { LastUpdate: date({ column: 'updatedAt' }), UserID: text(50, { column: 'updatedBy' }) },
  filters: {
    rmastatusid: equalTo('statusId'),
    rmareasonid: equalTo('reasonId'),
    rmamethodid: equalTo('methodId'),
    catalogid: anyItem(rmaItemRows, equalTo('productId')),
    sku: anyItem(rmaItemRows, exactly('sku', skuForms)),
    datestart: since('rmaDate'),
    dateend: until('rmaDate'),
  },
  subResources: { Items: nested('RMAItemList', 'catalogid', { methods: ['GET'] }) },
  events: returnKinds,
  isFinalOnceWritten: true,
  rules: returnRules,
  isOneByOne: true,
})
