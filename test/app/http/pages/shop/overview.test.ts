import { beforeEach, describe, expect, test } from 'vitest'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { memberIn, merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'
import { pageAt, storedDelivery, storedWebhook, wordsOf } from './webhooks-fixture.ts'

let shop: TestStore

const server = await sharedServer()
const now = server.clock.ms

beforeEach(async () => {
  server.clock.ms = now
  shop = await server.openStore({ timeZone: 'Europe/Berlin' })
  await shop.call('POST', '/Products', {
    body: { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 1234.5, Stock: 1_000 } },
  })
})

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

/** Signed in once, because sign-ins from one address are limited. */
const merchants = new Map<TestStore, TestPerson>()

async function page(): Promise<string> {
  const merchant = merchants.get(shop) ?? (await merchantIn(server, shop.store))
  merchants.set(shop, merchant)
  return pageAt(merchant, '/admin')
}

/** What the merchant reads. */
async function words(): Promise<string> {
  return wordsOf(await page())
}

/** The rows of the table of days that have orders: day, orders, amount. */
async function soldDays(): Promise<string[][]> {
  const rows = [
    ...(await page()).matchAll(
      /<tr><th scope="row" class="nowrap"><a href="[^"]*">(.*?)<\/a><\/th><td.*?>(.*?)<\/td><td.*?>(.*?)</g,
    ),
  ]
  expect(rows).toHaveLength(30)
  return rows.map(([, ...cells]) => cells).filter(([, orders]) => orders !== '0')
}

describe('a store without orders', () => {
  test('sees its name, its address and what to do first', async () => {
    shop = await server.openStore()
    await server.services.db.subscription.deleteMany({ where: { storeId: shop.store.id } })
    await orderAt('2026-03-10T15:00:00Z', { of: await otherStore() })

    const body = await page()
    expect(body).toContain(`<h1>${shop.store.name}</h1>`)
    expect(body).toContain(`<a href="${shop.store.secureUrl}"`)
    expect(wordsOf(body)).toContain('First steps There are no orders yet.')
    const [steps = ''] = /<section class="steps".*?<\/section>/s.exec(body) ?? []
    const links = [...steps.matchAll(/href="([^"]+)"/g)].map(([, path]) => String(path))
    for (const path of ['settings', 'products/new', 'products/csv', 'modules/rest-api', 'orders/new']) {
      expect(links).toContain(`/admin/${path}`)
    }
    // The merchant may do all that is named.
    for (const path of links) expect([path, (await merchants.get(shop)?.open(path))?.statusCode]).toEqual([path, 200])
    expect(body).not.toContain('<svg')
    expect(body).not.toContain('>done<')
  })

  test('sees which of the first steps are done', async () => {
    expect(await words()).toMatch(
      /settings Name, .* Add products done Invite .* Protect .* Let an application in done Place an order by hand A first/,
    )
  })

  test('keeps what is left of the first steps in one line when orders come, until all are done', async () => {
    await orderAt('2026-03-10T15:00:00Z')
    expect(await words()).toContain('First steps 3 of 6 are done Check your store’s settings Name')
    const { db } = server.services
    const { id } = shop.store
    await db.store.update({ where: { id }, data: { country: 'DE' } })
    await memberIn(server, shop, 'reader')
    expect(await words()).toMatch(/5 of 6 are done .*Invite who works with you done Protect your sign-in With a second/)
    const user = await db.storeUser.findFirstOrThrow({ where: { storeId: id }, orderBy: { id: 'asc' } })
    await db.identity.update({ where: { id: user.identityId }, data: { totpSince: server.services.now() } })
    expect(await words()).not.toContain('First steps')
  })

  test('is warned of what fails already', async () => {
    await storedWebhook(server, shop, { failingSince: server.services.now() })
    expect(await words()).toMatch(/do not get through: 1 failing\. See why First steps .* Warehouse webhook failing/)
  })
})

describe('sales', () => {
  test('are summed by the days of the store’s time zone', async () => {
    // It is March 10, 17:00 in Berlin.
    await orderAt('2026-03-09T23:00:00Z', { quantity: 2 })
    await orderAt('2026-03-10T15:59:59Z')
    await orderAt('2026-03-09T22:59:59Z')
    await orderAt('2026-03-03T23:00:00Z')
    await orderAt('2026-03-03T22:59:59Z')
    await orderAt('2026-02-08T23:00:00Z')
    await orderAt('2026-02-08T22:59:59Z')

    expect(await soldDays()).toEqual([
      ['Tue, Mar 10', '2', '$3,703.50'],
      ['Mon, Mar 9', '1', '$1,234.50'],
      ['Wed, Mar 4', '1', '$1,234.50'],
      ['Tue, Mar 3', '1', '$1,234.50'],
      ['Mon, Feb 9', '1', '$1,234.50'],
    ])
    const text = await words()
    expect(text).toContain('Today $3,703.50 2 orders')
    expect(text).toContain('Last 7 days $6,172.50 4 orders of $1,543.13 on average')
    expect(text).toContain('Last 30 days $8,641.50 6 orders')
  })

  test('begin at midnight on days when the clocks change, and where zones differ by quarters of an hour', async () => {
    for (const [timeZone, midnight] of [
      // An hour was skipped on March 8.
      ['America/New_York', '2026-03-04T05:00:00Z'],
      ['Asia/Kathmandu', '2026-03-03T18:15:00Z'],
    ] as const) {
      shop = await server.openStore({ timeZone })
      await shop.call('POST', '/Products', {
        body: { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 1234.5, Stock: 9 } },
      })
      await orderAt(midnight)
      await orderAt(new Date(Date.parse(midnight) - 1_000).toISOString())
      expect(await soldDays()).toEqual([
        ['Wed, Mar 4', '1', '$1,234.50'],
        ['Tue, Mar 3', '1', '$1,234.50'],
      ])
    }
  })

  test('are compared with the period before, up to the same time, in words', async () => {
    // Up to 17:00 in Berlin, to the quarter of an hour.
    await orderAt('2026-03-09T15:59:00Z', { quantity: 2 })
    await orderAt('2026-03-09T16:00:00Z', { quantity: 100 })
    await orderAt('2026-03-10T10:00:00Z')
    // March 3, the last of the seven days before.
    await orderAt('2026-03-03T15:59:00Z', { quantity: 50 })
    await orderAt('2026-03-03T16:00:00Z', { quantity: 100 })
    // February 25, the first of them, and the day before it.
    await orderAt('2026-02-24T23:00:00Z', { quantity: 3 })
    await orderAt('2026-02-24T22:59:59Z', { quantity: 100 })

    const body = await page()
    const text = wordsOf(body)
    expect(text).toContain('Today $1,234.50 1 order 50% less than yesterday by this time ($2,469.00)')
    expect(text).toContain(
      '3 orders of $42,384.50 on average 94% more than the 7 days before, by this time ($65,428.50)',
    )
    expect(text).toContain('7 orders of $62,783.14 on average $0.00 in the 30 days before, by this time')
    const tones = [...body.matchAll(/<dd><small class="(\w+)"/g)].map(([, tone]) => tone)
    expect(tones).toEqual(['down', 'up', 'quiet'])
  })

  test('that hardly differ are about as much', async () => {
    await orderAt('2026-03-09T15:00:00Z', { quantity: 201 })
    await orderAt('2026-03-10T15:00:00Z', { quantity: 200 })
    expect(await words()).toContain('1 order About as much as yesterday by this time ($248,134.50)')
  })

  test('leave out cancelled and incomplete orders, those of another store, and those deleted', async () => {
    const at = '2026-03-10T15:00:00Z'
    const [cancelled, incomplete, deleted] = [await orderAt(at), await orderAt(at), await orderAt(at)]
    await shop.call('PUT', `/Orders/${cancelled}`, { body: { OrderStatusID: 5 } })
    await shop.call('PUT', `/Orders/${incomplete}`, { body: { OrderStatusID: 7 } })
    await server.services.db.order.delete({ where: { storeId_id: { storeId: shop.store.id, id: deleted } } })
    await orderAt(at, { of: await otherStore() })
    const id = await orderAt(at)
    expect(await soldDays()).toEqual([['Tue, Mar 10', '1', '$1,234.50']])

    // What was left out counts again, and a changed amount or day moves.
    await shop.call('PUT', `/Orders/${incomplete}`, { body: { OrderStatusID: 1 } })
    await server.services.db.order.update({
      where: { storeId_id: { storeId: shop.store.id, id } },
      data: { orderAmount: 7, orderDate: new Date('2026-03-08T15:00:00Z') },
    })
    expect(await soldDays()).toEqual([
      ['Tue, Mar 10', '1', '$1,234.50'],
      ['Sun, Mar 8', '1', '$7.00'],
    ])
  })

  test('of orders that are placed at the same time are all there', async () => {
    server.clock.ms = Date.parse('2026-03-10T15:00:00Z')
    const body = { BillingEmail: 'guest@shop.example', OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 1 }] }
    await Promise.all(Array.from({ length: 12 }, () => placeOrder(shop.caller, body)))
    server.clock.ms = now
    expect(await soldDays()).toEqual([['Tue, Mar 10', '12', '$14,814.00']])
  })

  test('are in the store’s currency', async () => {
    await orderAt('2026-03-10T15:00:00Z')
    await server.services.db.store.update({ where: { id: shop.store.id }, data: { currency: 'JPY' } })
    const body = await page()
    expect(wordsOf(body)).toContain('Today ¥1,235 1 order')
    expect(body).toContain('aria-label="Bar chart of the sales of the last 30 days: ¥1,235, 1 order.')
  })

  test('are a chart without scripts and styles of its own, that says what it shows and leads to the orders', async () => {
    await orderAt('2026-03-10T15:00:00Z')
    await orderAt('2026-03-02T15:00:00Z', { quantity: 2 })
    await orderAt('2026-01-31T15:00:00Z', { quantity: 3 })
    const body = await page()
    const [chart = ''] = /<svg viewBox[\s\S]*?<\/svg>/.exec(body) ?? []
    expect(chart).toContain(
      'role="group" aria-label="Bar chart of the sales of the last 30 days: $3,703.50, 2 orders. Most were on Mon, Mar 2: $2,469.00.',
    )
    expect(body).not.toMatch(/style=|<script(?! src)/)
    const bars = [...chart.matchAll(/class="bar" x="([\d.]+)" y="([\d.]+)" width="7" height="([\d.]+)"/g)]
    expect(bars).toHaveLength(30)
    // The upper edge is $4,000.
    expect(bars.flatMap(([, x, y, height]) => (height === '0' ? [] : [[x, y, height].map(Number)]))).toEqual([
      [211.5, 38.28, 61.72],
      [291.5, 69.14, 30.86],
    ])
    expect(chart).toContain(
      '<a href="/admin/orders?datestart=2026-03-02&amp;dateend=2026-03-02"><title>Mon, Mar 2: $2,469.00, 1 order; 30 days before: $3,703.50</title>',
    )
    expect(chart).toContain('H210V7.41H220V100')
    expect(wordsOf(body)).toContain('$4K$2K$0 Feb 17Feb 24Mar 3Today')
  })

  test('have a small line each: of the hours of today, and of days', async () => {
    // It is 17:00 in Berlin, an hour ahead.
    await orderAt('2026-03-10T10:59:00Z', { quantity: 2 })
    await orderAt('2026-03-10T15:00:00Z')
    const lines = async () =>
      [...(await page()).matchAll(/<path d="M([^"]*)"/g)].map(([, path]) => path?.split('L') ?? [])
    const [hours = [], week = [], month = []] = await lines()
    expect([hours.length, week.length, month.length]).toEqual([18, 7, 30])
    expect(hours.flatMap((point) => (point.endsWith(' 100') ? [] : [point]))).toEqual(['110 0', '160 50'])
    expect(week.at(-1)).toBe('60 0')
  })
})

describe('orders that wait', () => {
  test('are counted in each visible status, under the merchant’s own name, with the oldest', async () => {
    const oldest = await orderAt('2026-03-07T15:00:00Z')
    await orderAt('2026-03-08T15:00:00Z')
    const statuses = [2, 3, 4, 5, 6, 7, 8, 9, 11, 12]
    for (const OrderStatusID of statuses) {
      await shop.call('PUT', `/Orders/${await orderAt('2026-03-10T14:00:00Z')}`, { body: { OrderStatusID } })
    }
    const { db } = server.services
    const storeId = shop.store.id
    await db.orderStatus.updateMany({ where: { storeId, id: 1 }, data: { text: 'To do <now>' } })
    await db.orderStatus.updateMany({ where: { storeId, id: 8 }, data: { text: 'Engrave', visible: true } })
    await db.orderStatus.updateMany({ where: { storeId, id: 12 }, data: { visible: false } })

    const body = await page()
    expect(body).toContain('<a href="/admin/orders?orderstatus=1">To do &lt;now&gt;</a>')
    expect(body).toContain(`The oldest is <a href="/admin/orders/${oldest}">AB-1000</a>, placed 3 days ago.`)
    const listed = [...body.matchAll(/status=(\d+)">(.*?)<\/a><\/th><td class="right">(.*?)<.*?right nowrap">(.*?)</g)]
    expect(listed.map(([, id, , count, age]) => [Number(id), count, age])).toEqual([
      [1, '2', '3 days ago'],
      ...[2, 3, 6, 8, 11].map((id) => [id, '1', '2 hours ago']),
    ])
  })

  test('stand with what is still to be paid, and have the names of the reader’s language', async () => {
    await orderAt('2026-03-10T15:00:00Z')
    expect(await words()).not.toContain('still to be paid')
    const guest = { BillingEmail: 'guest@shop.example', OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 1 }] }
    const { id } = await placeOrder(shop.caller, guest)
    const { id: cancelled } = await placeOrder(shop.caller, guest)
    await shop.call('PUT', `/Orders/${cancelled}`, { body: { OrderStatusID: 5 } })
    await shop.add(`/Orders/${id}/Transactions`, { TransactionType: 'Sale', TransactionAmount: 10 })

    const body = await page()
    expect(body).toContain('<a href="/admin/orders?payment=to-be-paid">1 order still to be paid</a>')
    const titles = [...body.matchAll(/<h2 id="([^"]+)"/g)].map(([, title]) => title)
    expect(titles.slice(0, 3)).toEqual(['sales', 'waiting', 'low-stock'])
    const german = (await merchants.get(shop)?.open('/admin', { 'accept-language': 'de-DE' }))?.body
    expect(german).toContain('<a href="/admin/orders?payment=to-be-paid">1 Bestellung noch zu bezahlen</a>')
    expect(german).toContain('<a href="/admin/orders?orderstatus=11">Unbezahlt</a>')
  })

  test('are none where all are shipped', async () => {
    const shipped = await orderAt('2026-03-10T15:00:00Z')
    await shop.call('PUT', `/Orders/${shipped}`, { body: { OrderStatusID: 4 } })
    await orderAt('2026-03-10T15:00:00Z', { of: await otherStore() })
    expect(await words()).toContain('Orders that wait No order waits.')
  })

  test('are not counted beyond a thousand', async () => {
    const id = await orderAt('2026-01-10T15:00:00Z')
    const { db } = server.services
    const row = await db.order.findFirstOrThrow({ where: { storeId: shop.store.id, id } })
    await db.order.createMany({
      data: Array.from({ length: 1_000 }, (_, index) => {
        return { ...row, id: 10_000 + index, invoiceNumber: 10_000 + index, details: {} }
      }),
    })
    expect(await words()).toContain('New1,000+59 days ago')

    await db.order.deleteMany({ where: { storeId: shop.store.id, id: 10_000 } })
    expect(await words()).toContain('New1,00059 days ago')
  })
})

describe('stock that runs out', () => {
  const product = (SKU: string, Stock: number, StockAlert = 0) => ({
    SKUInfo: { SKU, Name: `Shade ${SKU}`, Stock },
    StockAlert,
  })
  const add = (of: TestStore, ...body: object[]) => of.call('POST', '/Products', { body })

  test('is at or below its alert, lowest first, without what is sold out and nobody bought', async () => {
    await orderAt('2026-03-10T15:00:00Z')
    await add(shop, product('NONE', 0), product('OWED', -2, 5), product('AT', 5, 5), product('ABOVE', 6, 5))
    await add(shop, product('ONE', 1), product('A&B', 4, 5), product('NEVER', 1, -3))
    await add(await otherStore(), product('OTHER', 0))

    const body = await page()
    expect(wordsOf(body)).toContain('Stock that runs out 4 products, 2 with none left.')
    expect(body).toContain('<a href="/admin/products?stockto=0">2 with none left</a>')
    expect(body).toMatch(/<a href="\/admin\/products\/\d+"><bdi>Shade A&amp;B<\/bdi><\/a>/)
    expect(wordsOf(body)).toContain('ProductLeftSold Shade A&amp;B4– Shade AT5– What sold')

    await shop.call('PUT', '/Products/2', { body: { StockAlert: 0, SKUInfo: { Stock: 3 } } })
    await shop.call('PUT', '/Products/1', { body: { StockAlert: 2_000 } })
    expect(await words()).toContain('4 products, 1 with none left.')
  })

  test('is nothing where there is enough, and at most the ten lowest of a bounded number', async () => {
    await orderAt('2026-03-10T15:00:00Z')
    expect(await words()).toContain('Every product has more than its stock alert.')

    await add(shop, ...Array.from({ length: 11 }, (_, index) => product(`S${index}`, 0)))
    expect(await words()).toContain('11 products, none left.')
    expect(await page()).not.toMatch(/href="\/admin\/products\/\d+"/)
    await add(shop, ...Array.from({ length: 11 }, (_, index) => product(`L${index}`, 1, 1)))
    expect((await page()).match(/href="\/admin\/products\/\d+"/g)).toHaveLength(10)

    const { db } = server.services
    const row = await db.product.findFirstOrThrow({ where: { storeId: shop.store.id, sku: 'S0' } })
    await db.product.createMany({
      data: Array.from({ length: 1_000 }, (_, index) => ({
        ...row,
        id: 10_000 + index,
        sku: `M${index}`,
        details: {},
      })),
    })
    expect(await words()).toContain('1,000+ products, 1,000+ with none left.')
  })

  test('begins with what sold in 30 days, by how long it will last, each with its picture', async () => {
    await orderAt('2026-03-10T15:00:00Z')
    const MainImageFile = 'https://pictures.store-platform.test/assets/sandbox/lamp-amber.svg'
    await add(shop, { ...product('SLOW', 9, 9), MainImageFile }, product('FAST', 9, 9), product('GONE', 6, 0))
    await add(shop, product('LONG-AGO', 9, 9), product('CANCELLED', 9, 9), product('LEFT', 1, 1))
    const sold = async (moment: string, ItemID: string, ItemQuantity: number) => {
      server.clock.ms = Date.parse(moment)
      const { id } = await placeOrder(shop.caller, {
        BillingEmail: 'a@shop.example',
        OrderItemList: [{ ItemID, ItemQuantity }],
      })
      server.clock.ms = now
      return id
    }
    await sold('2026-03-09T15:00:00Z', 'SLOW', 1)
    await sold('2026-02-09T15:00:00Z', 'FAST', 3)
    await sold('2026-03-09T15:00:00Z', 'FAST', 4)
    await sold('2026-03-09T15:00:00Z', 'GONE', 6)
    await sold('2026-01-09T15:00:00Z', 'LONG-AGO', 7)
    const cancelled = await sold('2026-03-09T15:00:00Z', 'CANCELLED', 7)
    await shop.call('PUT', `/Orders/${cancelled}`, { body: { OrderStatusID: 5 } })

    const body = await page()
    expect(wordsOf(body)).toContain(
      'Shade GONE06 Shade FAST27 Shade SLOW81 Shade LEFT1– Shade LONG-AGO2– Shade CANCELLED9– What sold',
    )
    expect(body.match(/<img class="thumbnail" src="\/assets\/sandbox\/lamp-amber.svg[^>]*>/g)).toHaveLength(1)
  })
})

describe('applications and webhooks', () => {
  beforeEach(() => orderAt('2026-03-10T15:00:00Z'))

  const call = (path: string) => shop.call('GET', path)
  const refused = () => call('/Orders?limit=x')
  const nameOf = () => shop.application.name
  const written = () => server.services.callLog.flush()

  test('an application fails when its last three calls were refused, and says what was refused last', async () => {
    await call('/OrderStatus')
    await refused()
    await refused()
    await written()
    expect(await words()).toContain('Nothing fails. Your store has 1 application and 0 webhooks.')

    server.clock.ms += 60_000
    await refused()
    await written()
    server.clock.ms += 120_000
    const body = await page()
    const { id } = await server.services.db.subscription.findFirstOrThrow({ where: { storeId: shop.store.id } })
    expect(wordsOf(body)).toContain('1 application fails. See why')
    expect(body).toContain(`<a href="/admin/modules/rest-api/${id}"><bdi>${nameOf()}</bdi></a>`)
    expect(wordsOf(body)).toContain(
      `${nameOf()} fails 2 minutes ago: GET /StoreWebAPI/v1/Orders was refused with 400: limit must be`,
    )

    await call('/OrderStatus')
    await written()
    expect(await words()).toContain('Nothing fails.')
  })

  test('nothing found is no refusal, what failed a month ago is over, and another store’s calls do not count', async () => {
    for (let count = 0; count < 3; count++) await call('/Products/999')
    const other = await otherStore()
    for (let count = 0; count < 3; count++) await other.call('GET', '/Orders?limit=x')
    await written()
    expect(await words()).toContain('Nothing fails.')

    for (let count = 0; count < 3; count++) await refused()
    await written()
    expect(await words()).toContain('1 application fails.')
    const at = new Date(now - 30 * 86_400_000 - 1)
    await server.services.db.apiCall.updateMany({ where: { status: 400 }, data: { at } })
    expect(await words()).toContain('Nothing fails.')
  })

  test('a store without applications is told that one can be let in', async () => {
    await server.services.db.subscription.deleteMany({ where: { storeId: shop.store.id } })
    expect(await words()).toContain('No application works for your store yet. Let one in')
  })

  test('webhooks that the platform paused and those that fail are listed with the reason', async () => {
    const at = new Date('2026-03-10T12:00:00Z')
    await storedWebhook(server, shop, { name: 'Fine' })
    await storedWebhook(server, shop, { name: 'Off', enabled: false, failingSince: at, disabledAt: at })
    await storedWebhook(server, await otherStore(), { name: 'Other', failingSince: at })
    const failing = await storedWebhook(server, shop, { name: 'Books', failingSince: at })
    await storedDelivery(server, failing, { state: 'failed', reason: 'The answer has the status 500' })
    await storedDelivery(server, failing, { state: 'pending', dueAt: at, reason: '', endedAt: null })
    const pauseReason = 'It answered 410'
    const paused = await storedWebhook(server, shop, { enabled: false, failingSince: at, disabledAt: at, pauseReason })

    const body = await page()
    expect(wordsOf(body)).toContain('Webhooks do not get through: 1 paused, 1 failing. See why')
    expect(wordsOf(body)).toContain(
      'Warehouse webhook paused since Mar 10, 2026, 1:00 PM GMT+1: It answered 410 ' +
        'Books webhook failing since Mar 10, 2026, 1:00 PM GMT+1: The answer has the status 500',
    )
    for (const { id } of [paused, failing]) expect(body).toContain(`<a href="/admin/webhooks/${id}">`)
    for (const name of ['Fine', 'Off', 'Other']) expect(body).not.toContain(`>${name}<`)
  })

  test('of more than ten webhooks that fail, the others are counted', async () => {
    for (let count = 0; count < 12; count++) await storedWebhook(server, shop, { failingSince: server.services.now() })
    const body = await page()
    expect(body.match(/webhook failing/g)).toHaveLength(10)
    expect(body).toContain('<a href="/admin/webhooks">And 2 more</a>')
    expect(wordsOf(body)).toContain('12 failing')
  })
})
