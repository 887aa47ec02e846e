import { expect, test } from 'vitest'
import { shared } from '../../../../support/shared.ts'
import { openReturns, type Returns, type Wire } from './fixture.ts'

// Several requests for one order at the same time.

const returns = await shared(openReturns())

const ROUNDS = 5

/** Work for orders of 3 of the 10 pieces of a product, several times: a race that is won by chance is lost once. */
async function eachRound(work: (order: Awaited<ReturnType<Returns['sold']>>) => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) await work(await returns.sold())
}

function item(CatalogID: number, RestockQuantity: number) {
  return { RMAItemList: [{ CatalogID, RestockQuantity }] }
}

test.each([
  ['added', (_: number, body: Wire) => returns.shop.call('POST', '/RMA', { body }), 201],
  ['raised', returns.put, 200],
] as const)('of returns that are %s at once to more than was sold, as many succeed as fit', async (_, send, status) => {
  await eachRound(async ({ orderId: OrderID, productId }) => {
    const ids = status === 200 ? [await returns.rma({ OrderID }), await returns.rma({ OrderID })] : [0, 0, 0, 0]
    const answers = await Promise.all(ids.map((id) => send(id, { OrderID, ...item(productId, 2) })))

    const refused = ids.slice(1).map(() => 400)
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([status, ...refused])
    expect(await returns.stockOf(productId)).toBe(9)
    expect(await returns.movements(productId)).toHaveLength(2)
  })
})

test('twenty equal changes of a return move the stock once', async () => {
  await eachRound(async ({ orderId: OrderID, productId }) => {
    const id = await returns.rma({ OrderID })

    const answers = await Promise.all(Array.from({ length: 20 }, () => returns.put(id, item(productId, 2))))

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(20).fill(200))
    expect(await returns.stockOf(productId)).toBe(9)
    expect(await returns.movements(productId)).toHaveLength(2)
  })
})

test('returns, a deleted one and the cancellation of their order give back what was sold, whoever is first', async () => {
  await eachRound(async ({ orderId: OrderID, productId }) => {
    const id = await returns.rma({ OrderID, ...item(productId, 1) })
    await Promise.all([
      returns.rma({ OrderID, ...item(productId, 1) }),
      returns.setStatus(OrderID, 5),
      returns.shop.call('DELETE', `/RMA/${id}`),
      returns.rma({ OrderID, ...item(productId, 1) }),
    ])
    expect(await returns.stockOf(productId)).toBe(10)

    await returns.setStatus(OrderID, 2)
    expect(await returns.stockOf(productId)).toBe(9)
  })
})

test('of a return and an order’s line that is lowered below it, one is refused', async () => {
  await eachRound(async ({ orderId: OrderID, productId }) => {
    const [{ ItemIndexID }] = (await returns.read('Orders', OrderID)).OrderItemList
    const lines = { OrderItemList: [{ ItemIndexID, ItemQuantity: 1 }] }

    const answers = await Promise.all([
      returns.shop.call('POST', '/RMA', { body: { OrderID, ...item(productId, 3) } }),
      returns.shop.call('PUT', `/Orders/${OrderID}`, { body: lines }),
    ])

    const [stored, lowered] = answers.map(({ statusCode }) => statusCode)
    expect([
      [201, 400],
      [400, 200],
    ]).toContainEqual([stored, lowered])
    expect(await returns.stockOf(productId)).toBe(stored === 201 ? 10 : 9)
  })
})

test('returns that are moved between two orders, to and fro, keep the stock', async () => {
  const { id: CatalogID } = await returns.product()
  const lines = [{ CatalogID, ItemQuantity: 2 }]
  const [first, second] = [await returns.order(lines), await returns.order(lines)]
  const ids = [
    await returns.rma({ OrderID: first, ...item(CatalogID, 1) }),
    await returns.rma({ OrderID: second, ...item(CatalogID, 1) }),
  ]
  for (let round = 0; round < ROUNDS; round++) {
    const moves = ids.flatMap((id) => [first, second].map((OrderID) => returns.put(id, { OrderID })))

    for (const { statusCode, body } of await Promise.all(moves)) expect(statusCode, body).toBe(200)

    expect(await returns.stockOf(CatalogID)).toBe(8)
  }
})

test('a product that is deleted while it goes back leaves a return without it', async () => {
  await eachRound(async ({ orderId: OrderID, productId, sku }) => {
    const [posted, deleted] = await Promise.all([
      returns.shop.call('POST', '/RMA', { body: { OrderID, RMAItemList: [{ SKU: sku, RestockQuantity: 1 }] } }),
      returns.shop.call('DELETE', `/Products/${productId}`),
    ])

    expect([posted.statusCode, deleted.statusCode], posted.body).toEqual([201, 200])
    const { RMAItemList } = await returns.read('RMA', posted.json()[0].Value)
    expect(RMAItemList).toMatchObject([{ CatalogID: 0, SKU: sku, RestockQuantity: 1 }])
  })
})
