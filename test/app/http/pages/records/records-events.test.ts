import { describe, expect, test } from 'vitest'
import type { TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { withMerchant } from '../shop/merchant-fixture.ts'
import { pageAt, storedDelivery, storedWebhook, wordsOf } from '../shop/webhooks-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson
let id: number

withMerchant(async (scene) => {
  ;({ server, shop, merchant } = scene)
  id = await newProduct(shop)
})

async function newProduct(of: TestStore): Promise<number> {
  const body = { SKUInfo: { SKU: 'LAMP', Name: 'Lamp' } }
  return await of.add('/Products', body)
}

async function tell(times: number, of = { storeId: shop.store.id, recordId: id, eventType: 7 }) {
  const createdAt = server.services.now()
  await server.services.db.event.createMany({
    data: Array.from({ length: times }, (_, at) => ({ ...of, sequence: at + 1, body: '{}', createdAt })),
  })
}

const page = (address: string) => pageAt(merchant, address)

const placesIn = (body: string) =>
  [...body.matchAll(/data-label="Place in the feed" class="right">(\d+)</g)].map(([, place]) => Number(place))

describe('the page of a record', () => {
  test('shows the events that told of it, newest first, with what became of each delivery', async () => {
    const event = { recordId: id, eventType: 7 }
    const webhook = await storedWebhook(server, shop, { eventType: 7, name: 'Ware & house' })
    const pending = {
      state: 'pending',
      endedAt: null,
      dueAt: server.services.now(),
      attempts: 2,
      status: 503,
      reason: 'The answer has the status 503',
    }
    const delivery = await storedDelivery(server, webhook, { event: { ...event, sequence: 41 }, ...pending })
    await storedDelivery(server, { ...webhook, id: 9_999 }, { event: { ...event, sequence: 42 } })

    const body = await page(`/admin/products/${id}`)
    const words = wordsOf(body)
    expect(words).toContain(
      'Product Stock Changed Mar 10, 2026, 12:00 PM 42 a deleted webhook delivered 1 attempt: 200',
    )
    expect(words).toContain(
      'Product Stock Changed Mar 10, 2026, 12:00 PM 41 Ware &amp; house pending 2 attempts: The answer has the status 503',
    )
    expect(words).toContain('Product New Mar 10, 2026, 12:00 PM not yet none')
    expect(placesIn(body)).toEqual([42, 41])
    expect(body).toContain(`href="/admin/webhooks/${webhook.id}/deliveries/${delivery}"`)
  })

  test('shows ten, and the pages before them have each of the others once', async () => {
    await tell(25)
    let body = await page(`/admin/products/${id}`)
    const seen = placesIn(body)
    expect(seen).toHaveLength(10)
    for (let next = earlierOf(body); next !== undefined; next = earlierOf(body)) {
      body = await page(next)
      seen.push(...placesIn(body))
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, at) => 25 - at))
    expect(placesIn(await page(`/admin/products/${id}/events`))).toEqual(seen.slice(0, 10))
  })

  test('has no events of other records, of other services, of tests or of other stores', async () => {
    const { store } = shop
    await tell(2, { storeId: store.id, recordId: id + 1, eventType: 7 })
    await tell(2, { storeId: store.id, recordId: id, eventType: 3 })
    await tell(2, { storeId: (await server.openStore()).store.id, recordId: id, eventType: 7 })
    const webhook = await storedWebhook(server, shop, { eventType: 7 })
    await storedDelivery(server, webhook, { event: { recordId: id, sequence: 0 } })
    const words = wordsOf(await page(`/admin/products/${id}/events`))
    expect(words).not.toContain('Stock Changed')
    expect(words).not.toContain('Customer New')
  })

  test('tells of the kinds of its own service', async () => {
    const answer = await shop.call('POST', '/Manufacturers', { body: { ManufacturerName: 'Alder' } })
    const address = `/admin/manufacturers/${answer.json()[0].Value}`
    for (const each of [address, `${address}/events`]) expect(await page(each)).toContain('Manufacturer New')
  })
})

describe('the page of events', () => {
  test('does not exist for another store, and refuses what is no place in it', async () => {
    const other = await merchantIn(server, (await server.openStore()).store)
    expect((await other.open(`/admin/products/${id}/events`)).statusCode).toBe(404)
    const refused = await merchant.open(`/admin/products/${id}/events?before=x`)
    expect([refused.statusCode, refused.body.includes('before')]).toEqual([400, true])
  })
})

function earlierOf(body: string): string | undefined {
  return /href="([^"]*\/events\?before=\d+)"/.exec(body)?.[1]
}
