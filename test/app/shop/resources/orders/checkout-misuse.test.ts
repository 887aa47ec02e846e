import type { FastifyInstance } from 'fastify'
import { afterAll, describe, expect, test } from 'vitest'
import { createAuthenticator } from '../../../../../src/access/applications/authenticate.ts'
import { buildApp } from '../../../../../src/app.ts'
import { connect } from '../../../../../src/foundation/database/client.ts'
import { openLine } from '../../../../support/line.ts'
import { sharedServer } from '../../../../support/store.ts'

// What checkout.test.ts says of one process and of reasonable bodies holds for several processes, and for bodies that nobody needs.

const server = await sharedServer()
const shop = await server.openStore({
  privileges: { Checkout: ['write'], Products: ['read', 'write'], Orders: ['read', 'write'] },
})
const line = await openLine(server.database.url)
/** Another process, with connections and a memory of its own. */
const db = connect(line.url, { poolMax: 10 })
const authenticator = createAuthenticator({ db, secrets: server.services.secrets, now: server.services.now })
const other = buildApp({ ...server.services, db, authenticator })
afterAll(async () => {
  await other.close()
  await db.$disconnect()
  line.close()
})

const goods = async (Stock: number) => {
  const SKU = `P-${++serial}`
  return { SKU, id: await shop.add('/Products', { SKUInfo: { SKU, Name: 'Tote Bag', Price: 20, Stock } }) }
}
var serial = 0
const order = ({ id }: { id: number }, ItemQuantity = 1) => ({
  BillingEmail: 'guest@shop.example',
  OrderItemList: [{ CatalogID: id, ItemQuantity }],
})
const stockOf = async ({ id }: { id: number }) => (await shop.call('GET', `/Products/${id}`)).json()[0].SKUInfo.Stock
const ordersOf = () => server.database.db.order.count({ where: { storeId: shop.store.id } })

interface How {
  by?: object
  contentType?: string
}
async function place(
  app: FastifyInstance,
  key: string,
  body: object | string,
  { by, contentType = 'application/json' }: How = {},
) {
  const answer = await app.inject({
    method: 'POST',
    url: '/StoreWebAPI/v1/Checkout',
    headers: { ...shop.credentials, 'idempotency-key': key, 'content-type': contentType, ...by },
    payload: body,
  })
  return { status: answer.statusCode, body: answer.body, replayed: answer.headers['idempotency-replayed'] === 'true' }
}
/** Twenty requests, by turns to each process. */
const atOnce = (key: string, bodyOf: (number: number) => object) =>
  Promise.all(Array.from({ length: 20 }, (_, n) => place(n % 2 === 0 ? server.app : other, key, bodyOf(n))))

describe('two processes', () => {
  test('that are sent the same key at once sell the last piece once, and give one answer', async () => {
    const bag = await goods(1)
    const before = await ordersOf()
    const answers = await atOnce('both', () => order(bag))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
    expect([answers[0]?.status, answers.filter(({ replayed }) => !replayed).length]).toEqual([201, 1])
    expect([await ordersOf(), await stockOf(bag)]).toEqual([before + 1, 0])
  })

  test('that are sent one key with two bodies sell one of them, and refuse the other', async () => {
    const bag = await goods(10)
    const answers = await atOnce('two-bodies', (number) => order(bag, number < 10 ? 1 : 2))
    const sold = answers.filter(({ status }) => status === 201)
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(20 - sold.length)
    expect([sold.length, new Set(sold.map(({ body }) => body)).size]).toEqual([10, 1])
    expect(10 - (await stockOf(bag))).toBe(answers[0]?.status === 201 ? 1 : 2)
  })

  test('of which one loses the word that the order is placed do not place it again', async () => {
    const bag = await goods(10)
    const before = await ordersOf()
    line.cutAfterCommit()
    expect((await place(other, 'lost', order(bag))).status).toBeOneOf([201, 503])
    const again = [await place(other, 'lost', order(bag)), await place(server.app, 'lost', order(bag))]
    expect(again.map(({ status, replayed }) => [status, replayed])).toEqual([
      [201, true],
      [201, true],
    ])
    expect([again[0]?.body, await ordersOf(), await stockOf(bag)]).toEqual([again[1]?.body, before + 1, 9])
  })
})

describe('a key', () => {
  test('of an order that was changed and cancelled since answers what it comes to now, and sells nothing', async () => {
    const bag = await goods(10)
    const [placed] = JSON.parse((await place(server.app, 'changed', order(bag))).body)
    const changed = { SalesTax: 3, OrderAmount: 23, OrderStatusID: 5 }
    expect((await shop.call('PUT', `/Orders/${placed.Value}`, { body: changed })).statusCode).toBe(200)
    await server.clock.pass(366 * 24 * 60 * 60 * 1_000)
    const again = await place(other, 'changed', order(bag))
    expect([again.status, JSON.parse(again.body)]).toEqual([201, [{ ...placed, OrderAmount: 23 }]])
    expect(await stockOf(bag)).toBe(10)
  })

  test('of another application, in this store or another, tells nothing of that one’s order', async () => {
    const bag = await goods(10)
    const first = await place(server.app, 'guessed', order(bag))
    const { PublicKey, PrivateKey } = (
      await server.operate('POST', '/admin/applications', { Name: 'Another', Privileges: { Checkout: ['write'] } })
    ).json()
    const subscribed = await server.operate('POST', `/admin/stores/${shop.store.id}/subscriptions`, { PublicKey })
    const by = { privatekey: PrivateKey, token: subscribed.json().Token }
    const second = await place(server.app, 'guessed', order(bag), { by })
    expect([second.status, second.replayed]).toEqual([201, false])
    expect(JSON.parse(second.body)[0].Value).not.toBe(JSON.parse(first.body)[0].Value)
    const elsewhere = await server.openStore({ privileges: { Checkout: ['write'] } })
    const third = await place(server.app, 'guessed', order({ id: 1_000_000 }), { by: elsewhere.credentials })
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
  expect((await place(server.app, name.replaceAll(' ', '-'), order(await goods(1)))).status).toBe(201)
})

function listOf(item: string, count: number): string {
  return `{"BillingEmail":"guest@shop.example","OrderItemList":[${`${item},`.repeat(count - 1)}${item}]}`
}

function xmlOf(item: string, count: number): string {
  return `<Checkout><OrderItemList>${item.repeat(count)}</OrderItemList></Checkout>`
}
