import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { placeOrder } from '../../../../src/resources/orders/place-order.ts'
import { merchantIn } from '../../../support/signed-in.ts'
import { openServer, type TestServer, type TestStore } from '../../../support/store.ts'

let server: TestServer
let shop: TestStore
let now: number

beforeAll(async () => {
  server = await openServer()
  now = server.clock.ms
})

beforeEach(async () => {
  server.clock.ms = now
  shop = await server.openStore({ timeZone: 'Europe/Berlin' })
  await shop.call('POST', '/Products', {
    body: { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 1234.5, Stock: 1_000 } },
  })
})

afterAll(() => server?.close())

/** Places an order for 1,234.50 apiece at a moment; its id. */
async function orderAt(moment: string, { quantity = 1, of = shop } = {}): Promise<number> {
  server.clock.ms = Date.parse(moment)
  const { id } = await placeOrder(of.caller, {
    BillingEmail: 'guest@shop.example',
    // Paid, so that its status is New.
    BillingOnLinePayment: true,
    OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: quantity }],
  })
  server.clock.ms = now
  return id
}

/** Another one, that sells lamps too. */
async function otherStore(): Promise<TestStore> {
  const other = await server.openStore()
  await other.call('POST', '/Products', { body: { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 5, Stock: 9 } } })
  return other
}

/** What the merchant reads. */
async function words(): Promise<string> {
  const { statusCode, body } = await (await merchantIn(server, shop.store)).open('/admin')
  expect(statusCode).toBe(200)
  return body
    .slice(body.indexOf('<main'))
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ')
}

test('a new store sees its name, its address and what to do next', async () => {
  await server.services.db.subscription.deleteMany({ where: { storeId: shop.store.id } })
  await orderAt('2026-03-10T15:00:00Z', { of: await otherStore() })
  const merchant = await merchantIn(server, shop.store)

  const { body } = await merchant.open('/admin')
  expect(body).toContain(`<h1>${shop.store.name}</h1>`)
  expect(body).toContain(`<a href="${shop.store.secureUrl}"`)
  expect(await words()).toMatch(/There are no orders yet\..*No application works for your store yet\./)
  for (const address of ['/admin/orders/new', '/admin/modules/rest-api']) expect(body).toContain(`href="${address}"`)
})

test('orders of today and of the last seven days are counted and summed by the days of the store’s time zone', async () => {
  // It is March 10, 17:00 in Berlin.
  await orderAt('2026-03-09T23:00:00Z', { quantity: 2 })
  await orderAt('2026-03-10T15:59:59Z')
  await orderAt('2026-03-09T22:59:59Z')
  await orderAt('2026-03-03T23:00:00Z')
  await orderAt('2026-03-03T22:59:59Z')

  expect(await words()).toContain('Today $3,703.50 2 orders Last 7 days $6,172.50 4 orders')
})

test('a week in which the clocks change still begins at midnight', async () => {
  shop = await server.openStore({ timeZone: 'America/New_York' })
  await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 1234.5, Stock: 9 } } })
  // March 4, on this side of midnight and on that; between then and now an hour was skipped.
  await orderAt('2026-03-04T05:00:00Z')
  await orderAt('2026-03-04T04:59:59Z')

  expect(await words()).toContain('Today $0.00 0 orders Last 7 days $1,234.50 1 order ')
})

test('cancelled orders, those that were never completed, and another store’s are not counted', async () => {
  const [cancelled, incomplete] = [await orderAt('2026-03-10T15:00:00Z'), await orderAt('2026-03-10T15:00:00Z')]
  await shop.call('PUT', `/Orders/${cancelled}`, { body: { OrderStatusID: 5 } })
  await shop.call('PUT', `/Orders/${incomplete}`, { body: { OrderStatusID: 7 } })
  await orderAt('2026-03-10T15:00:00Z')
  await orderAt('2026-03-10T15:00:00Z', { of: await otherStore() })

  expect(await words()).toContain('Today $1,234.50 1 order Last 7 days $1,234.50 1 order Waiting 1 ')
})

test('what waits is counted under the merchant’s own name of the status New, and leads to those orders', async () => {
  await orderAt('2026-01-10T15:00:00Z')
  const shipped = await orderAt('2026-03-10T15:00:00Z')
  await shop.call('PUT', `/Orders/${shipped}`, { body: { OrderStatusID: 4 } })
  await server.services.db.orderStatus.updateMany({
    where: { storeId: shop.store.id, id: 1 },
    data: { text: 'To do <now>' },
  })

  const { body } = await (await merchantIn(server, shop.store)).open('/admin')
  expect(body).toContain('<strong>1</strong> <a href="/admin/orders?status=1">in status To do &lt;now&gt;</a>')
})

test('products without stock are counted and led to, and so are applications', async () => {
  const other = await otherStore()
  await other.call('POST', '/Products', { body: { SKUInfo: { SKU: 'SHADE', Name: 'Shade', Stock: 0 } } })
  await orderAt('2026-03-10T15:00:00Z')
  await shop.call('POST', '/Products', {
    body: [0, -2, 1].map((Stock) => ({ SKUInfo: { SKU: `S${Stock}`, Name: 'Shade', Stock } })),
  })

  const { body } = await (await merchantIn(server, shop.store)).open('/admin')
  expect(body).toContain('<strong>2</strong> <a href="/admin/products?stockto=0">products</a>')
  expect(await words()).toContain('1 application works for your store.')
})

test('beyond a thousand, what waits is not counted on', async () => {
  const id = await orderAt('2026-01-10T15:00:00Z')
  const { db } = server.services
  const row = await db.order.findFirstOrThrow({ where: { storeId: shop.store.id, id } })
  await db.order.createMany({
    data: Array.from({ length: 1_000 }, (_, index) => {
      return { ...row, id: 10_000 + index, invoiceNumber: 10_000 + index, details: {} }
    }),
  })
  expect(await words()).toContain('Waiting 1,000+ in status New')

  await db.order.deleteMany({ where: { storeId: shop.store.id, id: 10_000 } })
  expect(await words()).toContain('Waiting 1,000 in status New')
})
