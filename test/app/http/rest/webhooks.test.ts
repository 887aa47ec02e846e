import { beforeEach, describe, expect, test } from 'vitest'
import { createRecord, updateRecord } from '../../../../src/engine/changing/change.ts'
import { webhooks } from '../../../../src/shop/webhooks/webhooks.ts'
import { hold, untilItWaits, untilWaiting } from '../../../support/held.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { refusalOf } from './fixture.ts'
import {
  delivery,
  kindsInWords,
  newWebhook,
  numberedEvent,
  stored,
  storedDeliveries,
  webhookBody,
} from './webhooks-fixture.ts'

// The records of the Webhooks service (contract §2, §4.2; rest-resources §10), beyond what the conformance suite asks of all.

let shop: TestStore

const server = await sharedServer()
beforeEach(async () => {
  shop = await server.openStore()
})

/** For bodies that are taken and not documented. */
const tolerant: TestStore['call'] = (method, path, options) => shop.call(method, path, { ...options, tolerated: true })

/** What a body with this member is answered. */
async function refusalTo(member: Record<string, unknown>) {
  return refusalOf(await shop.call('POST', '/Webhooks', { body: webhookBody(member), tolerated: true }))
}

describe('a webhook', () => {
  test('is shown as it was given, in the order of the contract, with dates of the store’s zone to the minute', async () => {
    const tokyo = await server.openStore({ timeZone: 'Asia/Tokyo' })
    const id = await newWebhook(tokyo.call, { Format: 'XML' })
    server.clock.ms += 3_600_000

    await tokyo.call('PUT', `/Webhooks/${id}`, { body: { Name: 'Desk 2' } })

    const { body } = await tokyo.call('GET', `/Webhooks/${id}`)
    server.clock.ms -= 3_600_000
    expect(body).toBe(
      `[{"Id":${id},"Name":"Desk 2","Url":"https://desk.example/orders","EventType":1,"DateCreated":"03/11/2026 01:00","DateUpdated":"03/11/2026 02:00","Format":"XML","Enabled":true}]`,
    )
  })

  test.each([
    ['XML', 'XML'],
    [' xml ', 'XML'],
    ['Json', 'JSON'],
    ['', 'JSON'],
    ['  ', 'JSON'],
    [null, 'JSON'],
  ])('of the Format %j has %s', async (given, shown) => {
    const id = await newWebhook(tolerant, { Format: given })

    expect((await shop.call('GET', `/Webhooks/${id}?$select=Format`)).json()).toEqual([{ Format: shown }])
  })

  test.each(['JSON/XML ', 'yaml', 'JSONX', 5, true])('of the Format %j is refused', async (Format) => {
    expect(await refusalTo({ Format })).toEqual({
      statusCode: 400,
      field: 'Format',
      status: '400',
      message: 'Format must be JSON or XML',
    })
  })

  test('may lead anywhere that http or https can: where that is, is looked at with each delivery', async () => {
    for (const Url of [
      'http://127.0.0.1:8080/x',
      'https://desk.example/?token=a%20b&c=d',
      'http://[::1]/',
      'HTTPS://DESK.EXAMPLE',
    ]) {
      const id = await newWebhook(shop.call, { Url: `  ${Url}\t` })
      expect((await shop.call('GET', `/Webhooks/${id}`)).json()[0].Url).toBe(Url)
    }
  })

  test.each([
    ['desk.example', 'Url is not a web address; allowed: http or https, such as https://shop.example/path'],
    ['https://me:secret@desk.example/', 'Url must not hold a user name or password'],
    ['https://desk.example/\torders', 'Url must not hold a control character, such as a tab or a line break'],
  ])('that would lead to %j is refused', async (Url, message) => {
    expect(await refusalTo({ Url })).toEqual({ statusCode: 400, field: 'Url', status: '400', message })
    const id = await newWebhook(shop.call)
    const answer = await shop.call('PUT', `/Webhooks/${id}`, { body: { Url }, tolerated: true })
    expect(refusalOf(answer)).toMatchObject({ statusCode: 400, message })
  })

  test.each([0, 99, 64, -1, 1.5, 'Order New', {}])(
    'for the EventType %j is refused with those that there are',
    async (EventType) => {
      expect(await refusalTo({ EventType })).toEqual({
        statusCode: 400,
        field: 'EventType',
        status: '400',
        message: `EventType must be one of ${kindsInWords}`,
      })
    },
  )

  test('keeps its EventType whatever an update says of it', async () => {
    const id = await newWebhook(shop.call, { EventType: 3 })

    for (const EventType of [2, 64, 'nonsense', null]) {
      const answer = await shop.call('PUT', `/Webhooks/${id}`, { body: { EventType }, tolerated: true })
      expect(answer.statusCode).toBe(200)
    }

    expect((await shop.call('GET', `/Webhooks/${id}`)).json()[0].EventType).toBe(3)
  })

  test('may be there twice with one address and kind', async () => {
    const ids = [await newWebhook(shop.call), await newWebhook(shop.call)]
    expect((await shop.call('GET', '/Webhooks')).json()).toHaveLength(2)
    expect(new Set(ids).size).toBe(2)
  })

  test('comes in XML under the names of the documentation too', async () => {
    const members = '<Name>Desk</Name><Url>https://desk.example/</Url><EventType>2</EventType><Enabled>1</Enabled>'
    const contentType = 'application/xml'
    for (const root of ['Webhook', 'WebhookPOST', 'webhookpost', 'WebhookPUT']) {
      const body = `<${root}>${members}</${root}>`
      const answer = await shop.call('POST', '/Webhooks', { body, contentType, tolerated: root === 'webhookpost' })
      expect(answer.statusCode, root).toBe(201)
    }
    for (const root of ['Webhook', 'WebhookPOST']) {
      const body = `<ArrayOf${root}><${root}>${members}</${root}></ArrayOf${root}>`
      const answer = await shop.call('POST', '/Webhooks', { body, contentType, tolerated: true })
      expect(answer.statusCode, root).toBe(201)
    }
    const id = await newWebhook(shop.call)
    const body = '<WebhookPUT><Format>XML</Format></WebhookPUT>'
    expect((await shop.call('PUT', `/Webhooks/${id}`, { body, contentType })).statusCode).toBe(200)
    expect((await shop.call('GET', `/Webhooks/${id}`)).json()[0].Format).toBe('XML')

    const mixed = await shop.call('POST', '/Webhooks', {
      body: `<ArrayOfWebhookPOST><Webhook>${members}</Webhook></ArrayOfWebhookPOST>`,
      contentType,
    })
    expect(refusalOf(mixed).message).toBe('ArrayOfWebhookPOST holds Webhook; its items are named WebhookPOST')
    const other = await shop.call('POST', '/Webhooks', { body: '<Order />', contentType })
    expect(refusalOf(other).message).toContain('the root element must be Webhook or ArrayOfWebhook, not Order')
  })
})

describe('an application', () => {
  test('knows of its own webhooks alone; those of others and of the administration do not exist for it', async () => {
    const { call: other } = await shop.as()
    const id = await newWebhook(shop.call)
    const merchants = { ...shop.caller, application: null, privileges: null }
    const ofMerchant = await createRecord(merchants, webhooks, webhookBody())
    const event = await numberedEvent(server, shop, { sequence: 1 })
    const deliveries = new Map<number, number>()
    for (const each of [id, ofMerchant]) {
      deliveries.set(each, await delivery(server, shop, each, event, { state: 'delivered' }))
    }

    for (const [call, foreign] of [
      [other, id],
      [other, ofMerchant],
      [shop.call, ofMerchant],
    ] as const) {
      for (const [method, path, body] of [
        ['GET', ''],
        ['PUT', '', { Enabled: false }],
        ['DELETE', ''],
        ['GET', '/Secret'],
        ['POST', '/Secret'],
        ['GET', '/Status'],
        ['POST', '/Test'],
        ['POST', '/Resume'],
        ['POST', '/Resume', { CatchUp: true }],
        ['GET', '/Deliveries'],
        ['GET', `/Deliveries/${deliveries.get(foreign)}`],
        ['POST', `/Deliveries/${deliveries.get(foreign)}/Redeliver`],
      ] as const) {
        const answer = await call(method, `/Webhooks/${foreign}${path}`, body && { body })
        expect([method, path, answer.statusCode, answer.body]).toEqual([method, path, 404, ''])
      }
    }
    expect((await other('GET', '/Webhooks')).statusCode).toBe(404)
    expect((await other('GET', '/Webhooks?countonly=1')).json()).toEqual({ TotalCount: 0 })
    expect((await other('GET', `/Webhooks?id=${id}`)).statusCode).toBe(404)
    const own = await shop.call('GET', '/Webhooks', { headers: { prefer: 'count=exact' } })
    expect([own.json().map(({ Id }: { Id: number }) => Id), own.headers['x-total-count']]).toEqual([[id], '1'])
    for (const each of [id, ofMerchant]) {
      expect(await stored(server, shop, each)).toMatchObject({ enabled: true, secretRotatedAt: null })
      expect(await storedDeliveries(server, shop, each)).toMatchObject([{ state: 'delivered' }])
    }
    expect(await stored(server, shop, ofMerchant)).toMatchObject({ subscriptionId: null })
  })

  test('cannot make a webhook for what it may not read: 401 that names the service, and nothing is made', async () => {
    const privileges = { Webhooks: ['read', 'write'], Orders: ['write'], Customers: ['read'] } as const
    const { call } = await shop.as({ privileges })

    for (const [EventType, service] of [
      [1, 'Orders'],
      [2, 'Orders'],
      [4, 'Products'],
      [5, 'Products'],
      [6, 'Products'],
      [7, 'Products'],
    ]) {
      const answer = await call('POST', '/Webhooks', { body: webhookBody({ EventType }) })
      expect(refusalOf(answer)).toEqual({
        statusCode: 401,
        field: service,
        status: '401',
        message: `The application lacks the read privilege for ${service}`,
      })
    }
    expect((await call('GET', '/Webhooks')).statusCode).toBe(404)
    await newWebhook(call, { EventType: 3 })
  })

  test('has at most 100 webhooks in a store, also when two are made at once', async () => {
    const { call: other } = await shop.as()
    const id = await newWebhook(shop.call)
    await server.database.db.$executeRaw`
      INSERT INTO "Webhook" SELECT (json_populate_record(t, json_build_object('id', 1000 + n))).*
      FROM "Webhook" t, generate_series(1, 98) n WHERE t."storeId" = ${shop.store.id} AND t."id" = ${id}`

    // Whoever inserts a webhook has to wait, having counted those that there are.
    const holding = await hold(server, shop, ({ db }) => {
      return db.$queryRaw`SELECT 1 FROM "Store" WHERE "id" = ${shop.store.id} FOR UPDATE`
    })
    const asked = [1, 2].map(() => shop.call('POST', '/Webhooks', { body: webhookBody() }))
    await untilWaiting(server.database, 2)
    await holding.commit()

    const answers = (await Promise.all(asked)).toSorted((one, other) => one.statusCode - other.statusCode)
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 400])
    expect(answers[1]?.json()).toEqual([
      {
        Key: 'Error',
        Value: '',
        Status: '400',
        Message:
          'There are 100 webhooks already; an application, or the administration, may have at most 100 in a store',
      },
    ])
    expect((await shop.call('GET', '/Webhooks?countonly=1')).json()).toEqual({ TotalCount: 100 })
    await newWebhook(other)
    await shop.call('DELETE', `/Webhooks/${id}`)
    await newWebhook(shop.call)
  })

  test('takes its webhooks and their deliveries along when it is unsubscribed', async () => {
    const { call: other, caller } = await shop.as()
    const [own, others] = [await newWebhook(shop.call), await newWebhook(other)]
    const event = await numberedEvent(server, shop, { sequence: 1 })
    for (const id of [own, others]) await delivery(server, shop, id, event, { state: 'pending' })

    await server.database.db.subscription.delete({ where: { id: caller.application?.subscriptionId ?? 0 } })

    expect(await server.database.db.webhook.findMany({ where: { storeId: shop.store.id } })).toMatchObject([
      { id: own },
    ])
    expect(await server.database.db.delivery.findMany({ where: { eventId: event } })).toMatchObject([
      { webhookId: own },
    ])
  })
})

describe('since when a webhook fails', () => {
  const failingSince = new Date('2026-03-07T12:00:00Z')

  test('is forgotten when it gets another address, and by no other change', async () => {
    const id = await newWebhook(shop.call)
    const key = { storeId_id: { storeId: shop.store.id, id } }
    const failing = { failingSince, lastFailedAt: failingSince }
    await server.database.db.webhook.update({ where: key, data: failing })

    await shop.call('PUT', `/Webhooks/${id}`, { body: webhookBody({ Name: 'Another' }) })
    expect(await stored(server, shop, id)).toMatchObject(failing)
    await shop.call('PUT', `/Webhooks/${id}`, { body: { Url: 'https://desk.example/elsewhere' } })
    expect(await stored(server, shop, id)).toMatchObject({ failingSince: null, lastFailedAt: null, enabled: true })
  })

  test('is kept through another address while it is paused: a resume sends again what failed from then on', async () => {
    const id = await newWebhook(shop.call)
    const event = await numberedEvent(server, shop, { sequence: 1 })
    const endedAt = new Date('2026-03-09T12:00:00Z')
    await delivery(server, shop, id, event, { state: 'failed', attempts: 10, endedAt })
    const paused = { enabled: false, failingSince, disabledAt: server.services.now(), disabledAtSequence: 1 }
    await server.database.db.webhook.update({ where: { storeId_id: { storeId: shop.store.id, id } }, data: paused })

    await shop.call('PUT', `/Webhooks/${id}`, { body: { Url: 'https://desk.example/elsewhere' } })
    await shop.call('POST', `/Webhooks/${id}/Resume`, { body: { CatchUp: true } })

    expect(await storedDeliveries(server, shop, id)).toMatchObject([{ state: 'pending' }])
  })
})

describe('disabling a webhook', () => {
  test('gives up what waits for it, and notes how far the feed has come; what is over stays as it was', async () => {
    const id = await newWebhook(shop.call)
    const events = [
      await numberedEvent(server, shop, { sequence: 1 }),
      await numberedEvent(server, shop, { sequence: 2 }),
      await numberedEvent(server, shop, { sequence: 3 }),
    ] as const
    await delivery(server, shop, id, events[0], { state: 'delivered', status: 200 })
    await delivery(server, shop, id, events[1], { state: 'failed', reason: 'The receiver answered 500' })
    await delivery(server, shop, id, events[2], { state: 'pending', attempts: 4 })
    const other = await newWebhook(shop.call)
    await delivery(server, shop, other, events[2], { state: 'pending' })

    const answer = await shop.call('PUT', `/Webhooks/${id}`, { body: { Enabled: false } })

    expect(answer.statusCode).toBe(200)
    const now = server.services.now()
    expect(await stored(server, shop, id)).toMatchObject({
      enabled: false,
      disabledAt: now,
      disabledAtSequence: 3n,
      pauseReason: null,
    })
    expect(await storedDeliveries(server, shop, id)).toMatchObject([
      { state: 'delivered', reason: '' },
      { state: 'failed', reason: 'The receiver answered 500' },
      { state: 'failed', reason: 'The webhook was disabled', dueAt: null, endedAt: now, attempts: 4 },
    ])
    expect(await storedDeliveries(server, shop, other)).toMatchObject([{ state: 'pending' }])
  })

  test('waits for a numbering under way, and gives up what that still handed to it', async () => {
    const id = await newWebhook(shop.call)
    // As the numbering of events does it: the webhook locked against deletion.
    const numbering = await hold(server, shop, async ({ db }) => {
      await db.$queryRaw`SELECT 1 FROM "Webhook" WHERE "storeId" = ${shop.store.id} AND "id" = ${id} FOR KEY SHARE`
      const at = server.services.now()
      const storeId = shop.store.id
      const event = await db.event.create({
        data: { storeId, sequence: 1, eventType: 1, recordId: 1, body: '{}', createdAt: at },
      })
      await db.eventFeed.create({ data: { storeId, lastSequence: 1 } })
      await db.delivery.create({
        data: { storeId, webhookId: id, eventId: event.id, state: 'pending', dueAt: at, createdAt: at },
      })
    })

    const disabling = shop.call('PUT', `/Webhooks/${id}`, { body: { Enabled: false } })
    await untilItWaits(server.database, disabling)
    await numbering.commit()

    expect((await disabling).statusCode).toBe(200)
    expect(await stored(server, shop, id)).toMatchObject({ disabledAtSequence: 1n })
    expect(await storedDeliveries(server, shop, id)).toMatchObject([
      { state: 'failed', reason: 'The webhook was disabled' },
    ])
  })

  test('is undone by enabling it, which clears why it was disabled and since when it failed', async () => {
    const id = await newWebhook(shop.call)
    await server.database.db.webhook.update({
      where: { storeId_id: { storeId: shop.store.id, id } },
      data: {
        enabled: false,
        disabledAt: server.services.now(),
        disabledAtSequence: 7,
        failingSince: server.services.now(),
        pauseReason: 'It failed for five days',
      },
    })

    await shop.call('PUT', `/Webhooks/${id}`, { body: { Name: 'Still disabled' } })
    expect(await stored(server, shop, id)).toMatchObject({
      disabledAtSequence: 7n,
      pauseReason: 'It failed for five days',
    })
    await shop.call('PUT', `/Webhooks/${id}`, { body: { Enabled: true } })

    expect(await stored(server, shop, id)).toMatchObject({
      enabled: true,
      disabledAt: null,
      disabledAtSequence: null,
      failingSince: null,
      pauseReason: null,
    })
  })

  test('from the start notes how far the feed had come, so that it can catch up later', async () => {
    await numberedEvent(server, shop, { sequence: 5 })
    const id = await newWebhook(shop.call, { Enabled: false })
    const first = await server.openStore()
    const unnumbered = await newWebhook(first.call, { Enabled: false })

    expect(await stored(server, shop, id)).toMatchObject({ disabledAtSequence: 5n, disabledAt: server.services.now() })
    expect(await stored(server, first, unnumbered)).toMatchObject({ disabledAtSequence: 0n })
  })

  test('and sending again at once leave nothing that waits for a webhook which is disabled', async () => {
    const merchants = { ...shop.caller, application: null, privileges: null }
    for (let round = 1; round <= 10; round++) {
      const id = await newWebhook(shop.call)
      const event = await numberedEvent(server, shop, { sequence: round })
      const failed = await delivery(server, shop, id, event, { state: 'failed' })

      await Promise.all([
        updateRecord(merchants, webhooks, id, { Enabled: false }),
        shop.call('POST', `/Webhooks/${id}/Deliveries/${failed}/Redeliver`),
      ])

      expect(await storedDeliveries(server, shop, id)).toMatchObject([{ state: 'failed' }])
    }
  })
})

describe('GET /Webhooks/Events', () => {
  const names = (
    'Order New, Order Status Change, Customer New, Product New, Product Changed, Product Deleted, ' +
    'Product Stock Changed, Order Changed, Customer Changed, Customer Deleted, Return New, ' +
    'Return Changed, Category New, Category Changed, Category Deleted, Manufacturer New, ' +
    'Manufacturer Changed, Manufacturer Deleted, Distributor New, Distributor Changed, ' +
    'Distributor Deleted, Customer Group New, Customer Group Changed, Customer Group Deleted, ' +
    'Gift Registry New, Gift Registry Changed, Gift Registry Deleted, Return Deleted, Customer Erased'
  ).split(', ')
  const all = names.map((EventName, index) => ({ EventType: index + 1, EventName }))
  const read = async (query: string, tolerated = false) =>
    (await shop.call('GET', `/Webhooks/Events${query}`, { tolerated })).json()

  test('lists all kinds of event, in v1 and v2, by every name of the service', async () => {
    for (const path of ['/Webhooks/Events', '/webhooks/events/', '/Webhook/Events']) {
      for (const version of ['v1', 'v2'] as const) {
        const answer = await shop.call('GET', path, { version })
        expect([answer.statusCode, answer.body]).toEqual([200, JSON.stringify(all)])
      }
    }
  })

  test('pages, counts, filters, chooses and sorts as other lists do', async () => {
    expect(await read('?limit=2')).toEqual(all.slice(0, 2))
    expect(await read('?limit=2&offset=0')).toEqual(all.slice(0, 2))
    expect(await read('?limit=3&offset=6')).toEqual(all.slice(5, 8))
    expect(await read('?limit=1&cursor=6')).toEqual(all.slice(6, 7))
    expect(await read(`?cursor=${all.length}`)).toEqual([])
    expect(await read('?countonly=1')).toEqual({ TotalCount: all.length })
    expect(await read('?countonly=1&name=product')).toEqual({ TotalCount: 4 })
    expect(await read('?countonly=1&name=nothing')).toEqual({ TotalCount: 0 })
    expect(await read('?name=order%20new')).toEqual(all.slice(0, 1))
    expect(await read('?name=STATUS')).toEqual(all.slice(1, 2))
    expect(await read('?$select=EventName&limit=1')).toEqual([{ EventName: 'Order New' }])
    expect(await read('?$orderby=EventName%20desc&limit=2')).toEqual([all[1], all[0]])
    expect(await read('?limit=0')).toEqual(all)
    const page = await shop.call('GET', '/Webhooks/Events?limit=3', { headers: { prefer: 'count=exact' } })
    expect(page.headers).toMatchObject({
      'x-total-count': String(all.length),
      link: expect.stringMatching(/limit=3&cursor=3>/),
    })
  })

  test.each([
    ['limit=abc', 'limit'],
    ['offset=x', 'offset'],
    ['countonly=2', 'countonly'],
    ['cursor=0', 'cursor'],
    ['cursor=1&offset=1', 'cursor'],
    [`offset=${names.length + 1}`, 'offset'],
    ['$select=Nothing', '$select'],
    ['$orderby=Nothing', '$orderby'],
  ])('refuses ?%s', async (query, field) => {
    const answer = await shop.call('GET', `/Webhooks/Events?${query}`)
    expect(refusalOf(answer)).toMatchObject({ statusCode: 400, field })
  })

  test('needs the privilege to read Webhooks, and takes GET alone', async () => {
    const writer = await shop.as({ privileges: { Webhooks: ['write'], Orders: ['read'] } })
    expect(refusalOf(await writer.call('GET', '/Webhooks/Events'))).toMatchObject({
      statusCode: 401,
      field: 'Webhooks',
    })
    const reader = await shop.as({ privileges: { Webhooks: ['read'] } })
    expect((await reader.call('GET', '/Webhooks/Events')).statusCode).toBe(200)
    for (const method of ['POST', 'PUT', 'DELETE'] as const) {
      const answer = await shop.call(method, '/Webhooks/Events')
      expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, HEAD'])
    }
  })
})
