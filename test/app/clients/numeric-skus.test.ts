import { beforeAll, expect, test } from 'vitest'
import { sharedServer } from '../../support/store.ts'
import { operator } from '../engine/transfer/fixture.ts'

// A client whose SKUs are numbers of twenty digits, and that writes them as JSON numbers. Its bodies are texts, as JavaScript cannot
// hold such numbers.

const [mug, cup] = ['90000000000000000001', '90000000000000000000']

const server = await sharedServer()
const shop = await server.openStore()

beforeAll(async () => {
  const product = (sku: string) => `{ "SKUInfo": { "SKU": ${sku}, "Name": "Product ${sku}", "Price": 5, "Stock": 10 } }`
  const body = `[${product(cup)}, ${product(mug)}]`
  expect((await shop.call('POST', '/Products', { body, tolerated: true })).statusCode).toBe(201)
})

const stocks = async () => {
  const answer = await shop.call('GET', '/Products/SkuInfo')
  return Object.fromEntries(answer.json().map(({ SKU, Stock }: { SKU: string; Stock: number }) => [SKU, Stock]))
}

const placeOrder = (body: string, headers: Record<string, string> = {}) =>
  server.app.inject({
    method: 'POST',
    url: `/admin/stores/${shop.store.id}/orders`,
    headers: { ...operator(server), 'content-type': 'application/json', ...headers },
    payload: body,
  })

test('sets the stock of the product that it names, in a list and in a body of more than one piece', async () => {
  const padding = JSON.stringify('x'.repeat(40_000))
  const body = `[{ "SKUInfo": { "SKU": ${mug}, "Stock": 7 } }, { "Keywords": ${padding}, "SKUInfo": { "SKU": ${cup}, "Stock": 9 } }]`

  const answer = await shop.call('PUT', '/Products', { body, tolerated: true })

  expect(answer.statusCode, answer.body).toBe(200)
  expect(await stocks()).toEqual({ [mug]: 7, [cup]: 9 })
})

test('finds a product by its SKU', async () => {
  const answer = await shop.call('GET', `/Products?sku=${mug}`)

  expect(answer.json()).toMatchObject([{ SKUInfo: { SKU: mug } }])
})

test('sells the product that an order names, and keeps the digits of its tracking code', async () => {
  const before = await stocks()

  const placed = await placeOrder(
    `{ "BillingEmail": "guest@shop.example", "OrderItemList": [{ "ItemID": ${mug}, "ItemQuantity": 2 }] }`,
  )

  expect(placed.statusCode, placed.body).toBe(201)
  expect(await stocks()).toEqual({ ...before, [mug]: before[mug] - 2 })
  const id = placed.json()[0].Value
  const shipment = '{ "ShipmentList": [{ "ShipmentID": 0, "ShipmentTrackingCode": 9400111899223856929347 }] }'
  expect((await shop.call('PUT', `/Orders/${id}`, { body: shipment, tolerated: true })).statusCode).toBe(200)
  const [order] = (await shop.call('GET', `/Orders/${id}`)).json()
  expect(order.OrderItemList).toMatchObject([{ ItemID: mug, ItemQuantity: 2 }])
  expect(order.ShipmentList).toMatchObject([{ ShipmentTrackingCode: '9400111899223856929347' }])
})

test('an order with the same Idempotency-Key that differs in the last digit is another body', async () => {
  const order = (sku: string) =>
    `{ "BillingEmail": "guest@shop.example", "OrderItemList": [{ "ItemID": ${sku}, "ItemQuantity": 1 }] }`
  const headers = { 'idempotency-key': 'numeric-skus' }

  expect((await placeOrder(order(mug), headers)).statusCode).toBe(201)
  expect((await placeOrder(order(cup), headers)).statusCode).toBe(422)
})

test('a number with a fraction of zeros goes on naming the product without it', async () => {
  const body = '[{ "SKUInfo": { "SKU": 621518, "Name": "A number", "Stock": 1 } }]'
  expect((await shop.call('POST', '/Products', { body, tolerated: true })).statusCode).toBe(201)

  const answer = await shop.call('PUT', '/Products', {
    body: '[{ "SKUInfo": { "SKU": 621518.0, "Stock": 4 } }]',
    tolerated: true,
  })

  expect(answer.statusCode, answer.body).toBe(200)
  expect(await stocks()).toMatchObject({ '621518': 4 })
})
