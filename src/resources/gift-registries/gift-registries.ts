import { identifier, type Sql, sql } from '../../database/sql.ts'
import { defineResource, nested } from '../../engine/definition/define.ts'
import { giftRegistryKinds } from '../../engine/definition/event-kinds.ts'
import {
  boolean,
  date,
  integer,
  type ListRows,
  LONG_TEXT,
  list,
  money,
  needing,
  object,
  reference,
  text,
} from '../../engine/definition/fields.ts'
import { anyItem, equalTo, exactly, since, until } from '../../engine/definition/filters.ts'
import { plainSku, skuForms } from '../../values/sku.ts'

const itemRows: ListRows = { table: 'GiftRegistryItem', parent: 'registryId', position: 'position' }

/** The sum over the items of the registry, at most 2147483647 because clients read 32 bits. */
function sumOfItems(column: 'listed' | 'sold'): Sql {
  return sql`(SELECT least(coalesce(sum(i.${identifier(column)}), 0), 2147483647) FROM "GiftRegistryItem" i
    WHERE i."storeId" = t."storeId" AND i."registryId" = t."id")`
}

/** Gift registries: lists of wishes with a shipping address (rest-resources §8). */
export const giftRegistries = defineResource({
  service: 'GiftRegistries',
  typeName: 'GiftRegistry',
  maxRecords: 500,
  fields: {
    CustomerAddressBook: object('CustomerAddressBook', {
      // A registry has one address, so the registry's id identifies it.
      CustomerAddressId: integer({ sql: sql`t."id"` }),
      ...needing('Customers', {
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
    GiftRegistryItemList: list(
      'GiftRegistryItem',
      {
        CatalogID: reference('productId'),
        SKU: text(300, { column: 'sku', normalise: plainSku }),
        ItemName: text(LONG_TEXT, { column: 'name' }),
        Listed: integer({ column: 'listed', min: 0 }),
        Price: money({ column: 'price' }),
        Subtotal: money({ sql: sql`r."listed" * r."price"` }),
        Sold: integer({ column: 'sold', min: 0 }),
        SoldOffline: integer({ column: 'soldOffline', min: 0 }),
      },
      { rows: itemRows },
    ),
  },
  privateFields: { UserID: text(50, { column: 'updatedBy' }) },
  groups: { Address: 'CustomerAddressBook', Registry: 'GiftRegistryID' },
  filters: {
    catalogid: anyItem(itemRows, equalTo('productId')),
    sku: anyItem(itemRows, exactly('sku', skuForms)),
    datestartcreated: since('createdAt'),
    dateendcreated: until('createdAt'),
    datestartevent: since('eventAt'),
    dateendevent: until('eventAt'),
    datestartexpiration: since('expiresAt'),
    dateendexpiration: until('expiresAt'),
  },
  events: giftRegistryKinds,
  isFinalOnceWritten: true,
  subResources: { Items: nested('GiftRegistryItemList', 'catalogid', { methods: ['GET'] }) },
})
