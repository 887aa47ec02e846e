import { expect, test } from 'vitest'
import { itemLabel, labelOf, plural, slugOf } from '../../../src/pages/admin/records/labels.ts'

test.each([
  ['BillingFirstName', '', 'Billing first name'],
  ['BillingFirstName', 'Customer', 'Billing first name'],
  ['ManufacturerName', 'Manufacturer', 'Name'],
  ['CategoryID', 'Category', 'ID'],
  ['Category', 'Category', 'Category'],
  ['Categories', 'Category', 'Categories'],
  ['MFGID', 'Product', 'MFGID'],
  ['SKU', '', 'SKU'],
  ['RMAMaxPeriod', '', 'RMA max period'],
  ['SalesTax2', '', 'Sales tax 2'],
  ['ExtraField13', '', 'Extra field 13'],
])('%s of %j is called %j', (name, typeName, label) => {
  expect(labelOf(name, typeName)).toBe(label)
})

test.each([
  ['ImageGalleryList', 'Product', 'Image gallery', 'Image galleries'],
  ['OrderItemList', 'Order', 'Item', 'Items'],
  ['ExternalIdsList', 'Product', 'External id', 'External ids'],
])('an item of %s of a %s is called %j, and all of them %j', (name, typeName, one, all) => {
  expect([itemLabel(name, typeName), plural(one)]).toEqual([one, all])
})

test('a title is a part of an address', () => {
  expect(slugOf('Returns and search engines')).toBe('returns-and-search-engines')
})
