import { expect, test } from 'vitest'
import { sharedServer } from '../../../../support/store.ts'

const server = await sharedServer()
const shop = await server.openStore()
const productId = await shop.add('/Products', { SKUInfo: { SKU: 'BAG', Name: 'Bag', Price: 20, Stock: 500 } })

/** An order of 3 bags, placed at the operator's door. */
const place = () => shop.placeOrder([{ CatalogID: productId, ItemQuantity: 3 }])

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
      `Method not allowed: this address takes ${answer.headers.allow}${method === 'POST' ? '. Orders are placed by POST /Checkout, and by POST /admin/stores/{id}/orders with the key of the operator' : ''}`,
    )
  }
  const elsewhere = await shop.call('POST', `/Orders/${id}`, { body: {} })
  expect([elsewhere.statusCode, elsewhere.json()[0].Message]).toEqual([405, expect.not.stringContaining('placed')])
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
