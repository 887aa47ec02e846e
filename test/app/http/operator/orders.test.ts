import { beforeAll, expect, test } from 'vitest'
import { operatorCaller } from '../../../../src/access/stores/caller-store.ts'
import { createRecord } from '../../../../src/engine/changing/change.ts'
import { getRecord } from '../../../../src/engine/reading/read.ts'
import { orders } from '../../../../src/shop/resources/orders/orders.ts'
import { products } from '../../../../src/shop/resources/products/products.ts'
import { newStore } from '../../../support/access.ts'
import { refused } from '../../../support/refused.ts'
import { shared } from '../../../support/shared.ts'
import { openAdmin } from './fixture.ts'

let CatalogID: number
const admin = await shared(openAdmin())
const storeId = (await newStore(admin.services)).id

beforeAll(async () => {
  const operator = await operatorCaller(admin.services, storeId)
  CatalogID = await createRecord(operator, products, { SKUInfo: { SKU: 'SKU-9', Name: 'Mug', Price: 8, Stock: 9 } })
})

const body = (changes: object = {}) => ({
  BillingEmail: 'guest@shop.example',
  ShipmentList: [{ ShipmentFirstName: 'Ann', ShipmentMethodName: 'Ground', ShipmentCost: 6.5 }],
  OrderItemList: [{ CatalogID, ItemQuantity: 1 }],
  ...changes,
})

test('POST /admin/stores/{id}/orders places an order and answers 201 with its OrderID', async () => {
  const answer = await admin.call('POST', `/admin/stores/${storeId}/orders`, body({ SalesTax: 1.23 }))
  expect(answer.statusCode).toBe(201)
  const [item] = answer.json()
  expect(answer.json()).toEqual([
    { Key: 'OrderID', Value: expect.stringMatching(/^\d+$/), Status: '201', Message: 'Created successfully' },
  ])
  const operator = await operatorCaller(admin.services, storeId)
  expect(JSON.parse(await getRecord(operator, orders, Number(item.Value)))).toMatchObject({
    OrderAmount: 15.73,
    UserID: 'operator',
    OrderItemList: [{ CatalogID, ItemID: 'SKU-9' }],
  })
})

test.each([
  '203.0.113.9',
  '2001:db8:85a3:8d3:1319:8a2e:370:7348',
  'fe80::ffff:ffff:ffff:ffff%eth0',
  '0000:0000:0000:0000:0000:ffff:192.168.100.228',
])('the order of a buyer at %s keeps the address', async (IP) => {
  const answer = await admin.call('POST', `/admin/stores/${storeId}/orders`, body({ IP }))

  expect(answer.statusCode, answer.body).toBe(201)
  const operator = await operatorCaller(admin.services, storeId)
  expect(JSON.parse(await getRecord(operator, orders, Number(answer.json()[0].Value)))).toMatchObject({ IP })
})

test.each<[string, number, string, object | undefined]>([
  ['what is computed', 400, 'OrderAmount', { OrderAmount: 1 }],
  ['an unknown SKU', 400, 'OrderItemList[0].ItemID', { OrderItemList: [{ ItemID: 'NONE', ItemQuantity: 1 }] }],
  ['a stranger’s customer', 400, 'CustomerID', { CustomerID: 4711 }],
  [
    'what is out of stock',
    409,
    'OrderItemList[0].ItemQuantity',
    { OrderItemList: [{ ItemID: 'sku-9', ItemQuantity: 10 }] },
  ],
])('%s is refused with %i, by name', async (_case, statusCode, field, changes) => {
  const answer = await admin.call('POST', `/admin/stores/${storeId}/orders`, body(changes))
  expect(refused(answer)).toMatchObject({ statusCode, field, key: 'Error' })
})

test('a store that is not there is a 404, and a body without an order a 400', async () => {
  expect(refused(await admin.call('POST', '/admin/stores/999999/orders', body()))).toMatchObject({ statusCode: 404 })
  expect(refused(await admin.call('POST', `/admin/stores/${storeId}/orders`))).toMatchObject({ statusCode: 400 })
  expect(refused(await admin.call('POST', `/admin/stores/${storeId}/orders`, []))).toMatchObject({ statusCode: 400 })
})
