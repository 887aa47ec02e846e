import { defineResource, nested } from '../../../engine/definition/define.ts'
import { giftRegistryKinds } from '../../../engine/definition/event-kinds.ts'
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
  price,
  reference,
  text,
} from '../../../engine/definition/fields.ts'
import { anyItem, equalTo, exactly, since, until } from '../../../engine/definition/filters.ts'
import { byFilter, byId, byWords } from '../../../engine/definition/finders.ts'
import { identifier, type Sql, sql } from '../../../foundation/database/sql.ts'
import { refuseErased } from '../../personal/refuse.ts'
import { changed, lastChange, lastEditor, recordNumber, secondLine } from '../common-fields.ts'
import { plainSku, skuForms } from '../products/sku.ts'
import { sourcesFor } from '../searched-words.ts'
import explains from './explains.json' with { type: 'json' }

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
  description: 'A list of products that somebody wishes for an occasion, with the address where the gifts go.',
  maxRecords: 500,
  fields: {
    CustomerAddressBook: object(
      'CustomerAddressBook',
      {
        // A registry has one address, so the registry's id identifies it.
        CustomerAddressId: integer({
          sql: sql`t."id"`,
          label: 'Address number',
          description: 'The number of the address, which is that of the registry.',
        }),
        ...needing('Customers', {
          FirstName: text(50, { description: 'The first name of the person who gets the gifts.' }),
          LastName: text(50, { description: 'The last name of the person who gets the gifts.' }),
          Address1: text(255, { label: 'Street', description: 'The street and house number for the gifts.' }),
          Address2: secondLine('Address line 2', 'the address for the gifts'),
          City: text(100, { description: 'The town of the address for the gifts.' }),
          State: text(100, { description: 'The state, province or county of the address for the gifts.' }),
          ZipCode: text(20, { label: 'Postal code', description: 'The postal code of the address for the gifts.' }),
          Country: text(100, {
            isCountry: true,
            description: 'The country of the address for the gifts, such as `US`.',
          }),
          Company: text(255, { description: 'The company in the address for the gifts.' }),
          PhoneNumber: text(50, {
            label: 'Phone',
            description: 'The telephone number of the person who gets the gifts.',
          }),
        }),
      },
      'The address where the gifts go.',
    ),
    GiftRegistryID: recordNumber('Registry number', 'The number of the registry in the store.'),
    Name: text(50, {
      column: 'name',
      required: true,
      description: 'The name of the registry, such as `Ada and Paul’s wedding`.',
    }),
    Created: date({
      column: 'createdAt',
      access: 'ro',
      label: 'Created on',
      description: 'The time at which the registry was created.',
    }),
    LastUpdate: lastChange('The time of the last change of the registry, including its items.'),
    Expires: date({
      column: 'expiresAt',
      nullable: true,
      label: 'Expires on',
      description: 'The last day on which the storefront shows the registry. The platform does nothing then.',
    }),
    Event: date({
      column: 'eventAt',
      nullable: true,
      label: 'Day of the event',
      description: 'The day of the wedding or birthday for which the gifts are wished.',
    }),
    Message: text(LONG_TEXT, { description: 'A message to people who look at the registry.' }),
    ShipToAddress: boolean({
      label: 'Ship gifts to this address',
      description:
        'True: gifts are sent to the address of the registry. False: to those who buy them. The checkout keeps to it.',
    }),
    Sold: integer({
      sql: sumOfItems('sold'),
      label: 'Pieces bought',
      description: 'The number of pieces bought: the sum of Sold over the items.',
    }),
    Items: integer({
      sql: sumOfItems('listed'),
      label: 'Pieces wished for',
      description: 'The number of pieces wished for: the sum of Listed over the items.',
    }),
    GiftRegistryItemList: list(
      'GiftRegistryItem',
      {
        CatalogID: reference(
          'productId',
          'The product wished for, by its number in `/Products`. It becomes 0 when the product is deleted.',
          'Product',
        ),
        SKU: text(300, {
          column: 'sku',
          normalise: plainSku,
          description: 'The SKU of the product or of one of its advanced options, as sent: it is not looked up.',
        }),
        ItemName: text(LONG_TEXT, {
          column: 'name',
          label: 'Name',
          description: 'The name of the product, as sent: it is not read from the product.',
        }),
        Listed: integer({
          column: 'listed',
          min: 0,
          label: 'Wished for',
          description: 'The number of pieces wished for.',
        }),
        Price: price({ column: 'price', description: 'The price per piece, as sent: it does not follow the product.' }),
        Subtotal: money({
          sql: sql`r."listed" * r."price"`,
          label: 'Sum',
          description: 'The price of all pieces wished for: Listed times Price.',
        }),
        Sold: integer({
          column: 'sold',
          min: 0,
          label: 'Bought here',
          description: 'The number of pieces bought in the shop. Orders do not count it up: send it.',
        }),
        SoldOffline: integer({
          column: 'soldOffline',
          min: 0,
          label: 'Bought elsewhere',
          description: 'The number of pieces bought elsewhere, which Sold of the registry does not include.',
        }),
      },
      {
        labels: ['Wished product', 'Wished products'],
        rows: itemRows,
        description: 'The products wished for. Items have no keys: send all that are to stay.',
      },
    ),
  },
  privateFields: { UserID: lastEditor('the registry', 'rw') },
  filters: {
    catalogid: anyItem(itemRows, equalTo('productId')),
    sku: anyItem(itemRows, exactly('sku', skuForms)),
    datestartcreated: since('createdAt'),
    dateendcreated: until('createdAt'),
    datestartevent: since('eventAt'),
    dateendevent: until('eventAt'),
    datestartexpiration: since('expiresAt'),
    dateendexpiration: until('expiresAt'),
    ...changed,
  },
  subResources: { Items: nested('GiftRegistryItemList', 'catalogid', { methods: ['GET'] }) },
  rules: { events: giftRegistryKinds, isFinalOnceWritten: true, check: refuseErased },
  pages: {
    groups: { Address: 'CustomerAddressBook', Registry: 'GiftRegistryID' },
    explains,
    finders: [
      byId('GiftRegistry'),
      byFilter('GiftRegistry', anyItem(itemRows, exactly('sku', skuForms))),
      ...byWords('GiftRegistries', sourcesFor),
    ],
  },
})
