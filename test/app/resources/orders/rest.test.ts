import { afterAll, beforeAll, expect, test } from 'vitest'
import { placeOrder } from '../../../../src/resources/orders/place-order.ts'
import { operatorCaller } from '../../../../src/stores/stores.ts'
import { openServer, type TestServer, type TestStore } from '../../../support/store.ts'

let server: TestServer
let shop: TestStore
let productId: number
beforeAll(async () => {
  server = await openServer()
  shop = await server.openStore()
  const made = await shop.call('POST', '/Products', {
    body: { SKUInfo: { SKU: 'BAG', Name: 'Bag', Price: 20, Stock: 500 } },
  })
  productId = Number(made.json()[0].Value)
})
afterAll(() => server.close())

/** An order of 3 bags, placed at the operator's door. */
async function place(): Promise<number> {
  const operator = await operatorCaller(server.services, shop.store.id)
  const OrderItemList = [{ CatalogID: productId, ItemQuantity: 3 }]
  return (await placeOrder(operator, { BillingEmail: 'guest@shop.example', OrderItemList })).id
}

const read = async (id: number) => (await shop.call('GET', `/Orders/${id}`)).json()[0]
const stock = async () => (await shop.call('GET', `/Products/${productId}`)).json()[0].SKUInfo.Stock

test('orders take neither POST nor DELETE', async () => {
  const id = await place()
  for (const [method, path] of [
    ['POST', '/Orders'],
    ['DELETE', `/Orders/${id}`],
    ['DELETE', '/Orders'],
  ] as const) {
    const answer = await shop.call(method, path, { body: {} })
    expect(answer.statusCode).toBe(405)
    expect(answer.headers.allow).not.toContain(method)
    const [{ Message }] = answer.json()
    expect(Message).toBe(
      `Method not allowed: this address takes ${answer.headers.allow}${method === 'POST' ? '. Orders are placed by POST /admin/stores/{id}/orders, with the key of the operator' : ''}`,
    )
  }
  const elsewhere = await shop.call('POST', `/Orders/${id}`, { body: {} })
  expect([elsewhere.statusCode, elsewhere.json()[0].Message]).toEqual([405, expect.not.stringContaining('placed')])
})

test('PUT /Orders/{id}/Shipments/0 changes the order’s status and answers with the key 0', async () => {
  const id = await place()
  const body = { ShipmentID: 0, ShipmentOrderStatus: 4, ShipmentTrackingCode: '1Z999' }
  const answer = await shop.call('PUT', `/Orders/${id}/Shipments/0`, { body })
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual([{ Key: 'ShipmentID', Value: '0', Status: '200', Message: 'updated successfully' }])
  expect(await read(id)).toMatchObject({ OrderStatusID: 4, ShipmentList: [{ ShipmentTrackingCode: '1Z999' }] })
})

test('a list in which one order is cancelled already is a 206, with the text that clients compare', async () => {
  const [cancelled, open] = [await place(), await place()]
  const before = await stock()
  await shop.call('PUT', `/Orders/${cancelled}`, { body: { OrderStatusID: 5 } })
  expect(await stock()).toBe(before + 3)
  const body = [cancelled, open].map((OrderID) => ({ OrderID, OrderStatusID: 2, InternalComments: 'seen' }))
  const answer = await shop.call('PUT', '/Orders', { body })
  expect(answer.statusCode).toBe(206)
  const [refusal, success] = answer.json()
  expect(refusal).toMatchObject({
    Key: 'Error',
    Status: '400',
    Message: 'Not updated. Requested Change Status not allowed',
  })
  expect(success).toMatchObject({ Key: 'OrderID', Value: String(open), Status: '200' })
  expect(await read(cancelled)).toMatchObject({ OrderStatusID: 5, InternalComments: '' })
  expect(await read(open)).toMatchObject({ OrderStatusID: 2, InternalComments: 'seen' })
})

test('an item posted by XML takes its stock', async () => {
  const id = await place()
  const before = await stock()
  const answer = await shop.call('POST', `/Orders/${id}/Items`, {
    body: `<OrderItem><CatalogID>${productId}</CatalogID><ItemQuantity>2</ItemQuantity></OrderItem>`,
    contentType: 'application/xml',
  })
  expect(answer.statusCode).toBe(201)
  expect(answer.json()).toMatchObject([{ Key: 'ItemIndexID', Status: '201' }])
  expect(await stock()).toBe(before - 2)
})

test('an answered question is a result under QuestionID', async () => {
  const id = await place()
  const body = { QuestionID: 3, QuestionAnswer: 'yes' }
  const answer = await shop.call('POST', `/Orders/${id}/Questions`, { body })
  const { QuestionAnswerIndexID } = (await read(id)).QuestionList[0]
  expect(answer.json()).toMatchObject([{ Key: 'QuestionID', Value: String(QuestionAnswerIndexID) }])
})
