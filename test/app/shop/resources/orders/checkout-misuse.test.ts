import type { FastifyInstance } from 'fastify'
import { describe, expect, test } from 'vitest'
import { otherProcess } from '../../../../support/other-process.ts'
import { shared } from '../../../../support/shared.ts'
import { line, openCheckout, order } from './checkout-fixture.ts'

// What checkout.test.ts says of one process and of reasonable bodies holds for several processes, and for bodies that nobody needs.

const { server, shop, goods, stockOf, ordersOf } = await openCheckout({
  Checkout: ['write'],
  Products: ['read', 'write'],
  Orders: ['write'],
})
const { app: other, cutAfterCommit } = await shared(otherProcess(server, 10))

async function place(
  app: FastifyInstance,
  key: string,
  body: object | string,
  { by = shop, contentType = 'application/json', version = 'v1' } = {},
) {
  const answer = await app.inject({
    method: 'POST',
    url: `/StoreWebAPI/${version}/Checkout`,
    headers: { ...by.credentials, 'idempotency-key': key, 'content-type': contentType },
    payload: body,
  })
  return { status: answer.statusCode, body: answer.body, replayed: answer.headers['idempotency-replayed'] === 'true' }
}
/** Twenty requests, by turns to each process. */
const atOnce = (key: string, bodyOf: (number: number) => object) =>
  Promise.all(Array.from({ length: 20 }, (_, n) => place(n % 2 === 0 ? server.app : other, key, bodyOf(n))))

describe('two processes', () => {
  test('that are sent the same key at once sell the last piece once, and give one answer', async () => {
    const bag = await goods({ Stock: 1 })
    const before = await ordersOf()
    const answers = await atOnce('both', () => order([line(bag)]))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
    expect([answers[0]?.status, answers.filter(({ replayed }) => !replayed).length]).toEqual([201, 1])
    expect([await ordersOf(), await stockOf(bag)]).toEqual([before + 1, 0])
  })

  test('that are sent one key with two bodies sell one of them, and refuse the other', async () => {
    const bag = await goods()
    const answers = await atOnce('two-bodies', (number) => order([line(bag, number < 10 ? 1 : 2)]))
    const sold = answers.filter(({ status }) => status === 201)
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(20 - sold.length)
    expect([sold.length, new Set(sold.map(({ body }) => body)).size]).toEqual([10, 1])
    expect(10 - (await stockOf(bag))).toBe(answers[0]?.status === 201 ? 1 : 2)
  })

  test('of which one loses the word that the order is placed do not place it again', async () => {
    const bag = await goods()
    const before = await ordersOf()
    cutAfterCommit()
    expect((await place(other, 'lost', order([line(bag)]))).status).toBeOneOf([201, 503])
    const again = [await place(other, 'lost', order([line(bag)])), await place(server.app, 'lost', order([line(bag)]))]
    expect(again.map(({ status, replayed }) => [status, replayed])).toEqual([
      [201, true],
      [201, true],
    ])
    expect([again[0]?.body, await ordersOf(), await stockOf(bag)]).toEqual([again[1]?.body, before + 1, 9])
  })
})

describe('a key', () => {
  test('stands for the order as long as it is there, in both versions: changed and cancelled, it sells nothing again', async () => {
    const bag = await goods()
    const [placed] = JSON.parse((await place(server.app, 'changed', order([line(bag)]))).body)
    const changed = { SalesTax: 3, OrderAmount: 23, OrderStatusID: 5 }
    expect((await shop.call('PUT', `/Orders/${placed.Value}`, { body: changed })).statusCode).toBe(200)
    await shop.call('PUT', `/Products/${bag.id}`, { body: { SKUInfo: { Price: 99, Stock: 0 } } })
    await server.clock.pass(366 * 24 * 60 * 60 * 1_000)
    for (const version of ['v1', 'v2']) {
      const { status, replayed, body } = await place(other, 'changed', order([line(bag)]), { version })
      expect([status, replayed, JSON.parse(body)]).toEqual([201, true, [{ ...placed, OrderAmount: 23 }]])
    }
    expect([(await place(other, 'changed', order([line(bag, 2)]))).status, await stockOf(bag)]).toEqual([422, 0])
  })

  test('of another application, in this store or another, tells nothing of that one’s order', async () => {
    const body = order([line(await goods())])
    const first = await place(server.app, 'guessed', body)
    const second = await place(server.app, 'guessed', body, {
      by: await shop.as({ privileges: { Checkout: ['write'] } }),
    })
    expect([second.status, second.replayed]).toEqual([201, false])
    expect(JSON.parse(second.body)[0].Value).not.toBe(JSON.parse(first.body)[0].Value)
    const elsewhere = await server.openStore({ privileges: { Checkout: ['write'] } })
    const third = await place(server.app, 'guessed', order([line({ id: 1_000_000 })]), { by: elsewhere })
    expect([third.status, third.replayed]).toEqual([400, false])
  })
})

test.each([
  ['a million lines', 'application/json', listOf('{}', 1_000_000), 400],
  ['a million prices', 'application/json', listOf('{"ItemUnitPrice":1}', 500_000), 400],
  ['as many lines as a body may have', 'application/json', listOf('{"CatalogID":1,"ItemQuantity":1}', 9_999), 400],
  ['a price in each of them', 'application/json', listOf('{"CatalogID":1,"ItemUnitPrice":1}', 9_999), 400],
  ['an unknown member in each of them', 'application/json', listOf(`{"${'x'.repeat(900)}":1}`, 9_999), 400],
  ['a million lines in XML', 'application/xml', xmlOf('<a/>', 1_000_000), 400],
  ['more bytes than a body may have', 'application/json', listOf('{"CatalogID":1,"ItemQuantity":1}', 1_000_000), 413],
])('%s are refused soon and in few words, and leave the key free', async (name, contentType, body, status) => {
  const before = await ordersOf()
  const startedAt = performance.now()
  const answer = await place(server.app, name.replaceAll(' ', '-'), body, { contentType })
  // A hundred times what it takes, and less than what grows with the square of the lines would.
  expect(performance.now() - startedAt).toBeLessThan(15_000)
  expect([answer.status, answer.body.length < 100_000, await ordersOf()]).toEqual([status, true, before])
  expect((await place(server.app, name.replaceAll(' ', '-'), order([line(await goods())]))).status).toBe(201)
})

function listOf(item: string, count: number): string {
  return `{"BillingEmail":"guest@shop.example","OrderItemList":[${`${item},`.repeat(count - 1)}${item}]}`
}

function xmlOf(item: string, count: number): string {
  return `<Checkout><OrderItemList>${item.repeat(count)}</OrderItemList></Checkout>`
}
