import { sql } from '../../database/sql.ts'
import { defineResource } from '../../engine/define.ts'
import { boolean, date, integer, object, text } from '../../engine/fields.ts'
import { anyItem, equalTo, exactlyTrimmed, since, until } from '../../engine/filters.ts'
import { giftRegistryItemList, giftRegistryItemRows, sumOfItems } from './items.ts'

/** Gift registries: lists of wishes with a shipping address (rest-resources §8). */
export const giftRegistries = defineResource({
  service: 'GiftRegistries',
  typeName: 'GiftRegistry',
  idParam: 'giftregistryid',
  table: 'GiftRegistry',
  methods: ['GET', 'POST', 'PUT', 'DELETE'],
  maxRecords: 500,
  fields: {
    CustomerAddressBook: object('CustomerAddressBook', {
      // A registry has one address, so the registry's id identifies it.
      CustomerAddressId: integer({ sql: sql`t."id"` }),
      FirstName: text(50),
      LastName: text(50),
      Address1: text(255),
      Address2: text(50),
      City: text(100),
      State: text(100),
      ZipCode: text(20),
      Country: text(100),
      Company: text(255),
      PhoneNumber: text(50),
    }),
    GiftRegistryID: integer({ column: 'id', access: 'key' }),
    Name: text(50, { column: 'name', required: true }),
    Created: date({ column: 'createdAt', access: 'ro' }),
    LastUpdate: date({ column: 'updatedAt', access: 'ro' }),
    Expires: date({ column: 'expiresAt', nullable: true }),
    Event: date({ column: 'eventAt', nullable: true }),
    Message: text(),
    ShipToAddress: boolean(),
    Sold: integer({ sql: sumOfItems('sold') }),
    Items: integer({ sql: sumOfItems('listed') }),
    GiftRegistryItemList: giftRegistryItemList,
  },
  privateFields: { UserID: text(50, { column: 'updatedBy' }) },
  filters: {
    catalogid: anyItem(giftRegistryItemRows, equalTo('productId')),
    sku: anyItem(giftRegistryItemRows, exactlyTrimmed('sku')),
    datestartcreated: since('createdAt'),
    dateendcreated: until('createdAt'),
    datestartevent: since('eventAt'),
    dateendevent: until('eventAt'),
    datestartexpiration: since('expiresAt'),
    dateendexpiration: until('expiresAt'),
  },
  subResources: {
    Items: { kind: 'nested', list: 'GiftRegistryItemList', methods: ['GET'], idParam: 'catalogid' },
  },
})
