import { beforeEach, describe, expect, test } from 'vitest'
import { customerErased, eventKind, eventKinds } from '../../../../src/engine/definition/event-kinds.ts'
import { leases } from '../../../../src/foundation/database/leases.ts'
import { redeliver } from '../../../../src/shop/webhooks/deliveries.ts'
import { resourceOf } from '../../../../src/shop/webhooks/notified.ts'
import { resumeWebhook } from '../../../../src/shop/webhooks/status.ts'
import { hold, untilItWaits } from '../../../support/held.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { claimAll } from '../../shop/webhooks/dispatch-stage.ts'
import { refusalOf } from './fixture.ts'
import { delivery, newWebhook, numberedEvent, stored, storedDeliveries } from './webhooks-fixture.ts'

// What a webhook sent, sending it again, tests, how it does, and resuming it. Its sender is not running here.

let shop: TestStore
/** A webhook of new orders. */
let id: number

const server = await sharedServer()
beforeEach(async () => {
  shop = await server.openStore()
  id = await newWebhook(shop.call)
})

const DAY_MS = 86_400_000
const unknownIds = ['400000', '9007199254740991']
const notIds = ['0', '-1', 'abc', '1.5', '9007199254740992', '99999999999999999999', '%00', "1'--"]

describe('GET /Webhooks/{id}/Deliveries', () => {
  let ids: { delivered: number; failed: number; pending: number }

  beforeEach(async () => {
    const add = async (sequence: number, known: Parameters<typeof delivery>[4]) => {
      const event = await numberedEvent(server, shop, { sequence, recordId: 100 + sequence })
      return delivery(server, shop, id, event, known)
    }
    ids = {
      delivered: await add(1, { state: 'delivered', status: 204 }),
      failed: await add(2, { state: 'failed', attempts: 10, status: 500, reason: 'The receiver answered 500' }),
      pending: await add(3, { state: 'pending', attempts: 0 }),
    }
  })

  const listed = async (query = '') => {
    const answer = await shop.call('GET', `/Webhooks/${id}/Deliveries${query}`)
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.json<{ DeliveryID: number }[]>().map(({ DeliveryID }) => DeliveryID)
  }

  test('lists them, the newest first, with what was sent and what came of it', async () => {
    const answer = await shop.call('GET', `/Webhooks/${id}/Deliveries`)

    const event = { EventType: 1, EventName: 'Order New', Id: expect.stringMatching(/^evt_[\da-f]{32}$/) }
    const now = '2026-03-10T12:00:00'
    const one = (State: keyof typeof ids, Sequence: number, came: object) => {
      const [DateDue, DateEnded] = State === 'pending' ? [now, ''] : ['', now]
      const facts = { DeliveryID: ids[State], Sequence, RecordID: 100 + Sequence, IsTest: false, State }
      return { ...event, ...facts, DateCreated: now, DateDue, DateEnded, ...came }
    }
    expect(answer.json()).toEqual([
      one('pending', 3, { Attempts: 0, Status: 0, Reason: '' }),
      one('failed', 2, { Attempts: 10, Status: 500, Reason: 'The receiver answered 500' }),
      one('delivered', 1, { Attempts: 1, Status: 204, Reason: '' }),
    ])
    const { messageId } = await server.database.db.event.findFirstOrThrow({
      where: { storeId: shop.store.id, sequence: 3 },
    })
    expect(answer.json()[0].Id).toBe(`evt_${messageId.replaceAll('-', '')}`)
  })

  test('lists those of one state', async () => {
    for (const [state, found] of Object.entries(ids)) expect(await listed(`?state=${state}`)).toEqual([found])
    const other = await shop.call('GET', `/Webhooks/${id}/Deliveries?state=%20PENDING`, { tolerated: true })
    expect(other.json()).toHaveLength(1)
    expect(refusalOf(await shop.call('GET', `/Webhooks/${id}/Deliveries?state=lost`))).toEqual({
      statusCode: 400,
      field: 'state',
      status: '400',
      message: 'state must be one of pending, delivered, failed; "lost" was given',
    })
  })

  test('pages by the Link, with the state kept; the last page has none', async () => {
    const first = await shop.call('GET', `/Webhooks/${id}/Deliveries?limit=2`)
    const [, url = ''] = /^<([^>]+)>; rel="next"$/.exec(String(first.headers.link)) ?? []
    const { pathname, search } = new URL(url)
    expect(search).toBe(`?limit=2&cursor=${ids.failed}`)

    const next = await server.app.inject({ url: pathname + search, headers: shop.credentials })

    expect(next.json()).toMatchObject([{ DeliveryID: ids.delivered }])
    expect(next.headers.link).toBeUndefined()
    expect(await listed('?limit=1&cursor=9007199254740991')).toEqual([ids.pending])
    expect(await listed(`?state=failed&cursor=${ids.pending}`)).toEqual([ids.failed])
    // Who follows cursors to the end must not meet a refusal there.
    expect(await listed(`?cursor=${ids.delivered}`)).toEqual([])
  })

  test('is an empty 404 where there are none, and for an unknown webhook', async () => {
    const quiet = await newWebhook(shop.call)
    const others = await server.openStore()
    for (const [call, path] of [
      [shop.call, `/Webhooks/${quiet}/Deliveries`],
      [shop.call, `/Webhooks/${quiet}/Deliveries?state=failed`],
      [shop.call, '/Webhooks/400000/Deliveries'],
      [others.call, `/Webhooks/${id}/Deliveries`],
    ] as const) {
      const answer = await call('GET', path)
      expect([path, answer.statusCode, answer.body]).toEqual([path, 404, ''])
    }
  })

  test.each([
    ['limit=abc', 'limit'],
    ['cursor=0', 'cursor'],
    ['cursor=9007199254740992', 'cursor'],
    ['$select=Nothing', '$select'],
    ['$orderby=Nothing', '$orderby'],
  ])('refuses ?%s', async (query, field) => {
    const answer = await shop.call('GET', `/Webhooks/${id}/Deliveries?${query}`)
    expect(refusalOf(answer)).toMatchObject({ statusCode: 400, field })
  })
})

describe('GET /Webhooks/{id}/Deliveries/{deliveryid}', () => {
  test('shows one whole: the record as it was sent, and its last attempts, the newest first', async () => {
    const event = await numberedEvent(server, shop, { sequence: 1 })
    const one = await delivery(server, shop, id, event, { state: 'failed', attempts: 2, status: 500, reason: 'Twice' })
    await server.database.db.deliveryAttempt.createMany({
      data: [
        { number: 1, status: null, reason: 'No answer', answer: '' },
        { number: 2, status: 500, reason: 'Twice', answer: 'a "quoted" <answer>' },
      ].map((attempt) => ({ ...attempt, deliveryId: one, at: server.services.now(), durationMs: 12 })),
    })

    const answer = await shop.call('GET', `/Webhooks/${id}/Deliveries/${one}`)

    expect(answer.json()).toMatchObject([
      {
        DeliveryID: one,
        Record: { OrderID: 1, InvoiceNumberPrefix: 'AB-', InvoiceNumber: 1000 },
        AttemptList: [
          {
            Number: 2,
            Date: '2026-03-10T12:00:00',
            Status: 500,
            Reason: 'Twice',
            DurationMs: 12,
            Answer: 'a "quoted" <answer>',
          },
          { Number: 1, Status: 0, Reason: 'No answer', Answer: '' },
        ],
      },
    ])
    const { body } = await shop.call('GET', `/Webhooks/${id}/Deliveries/${one}`, { accept: 'application/xml' })
    expect(body).toContain('<Record><Order><InvoiceNumberPrefix>AB-</InvoiceNumberPrefix>')
    expect(body).toContain('<ShipmentList><Shipment><ShipmentID>0</ShipmentID>')
    expect(body).toContain('<Answer>a "quoted" &lt;answer&gt;</Answer>')
    const chosen = await shop.call('GET', `/Webhooks/${id}/Deliveries/${one}?$select=State,AttemptList/Number,Record`)
    expect(Object.keys(chosen.json()[0])).toEqual(['State', 'Record', 'AttemptList'])
    expect(chosen.json()[0].AttemptList).toEqual([{ Number: 2 }, { Number: 1 }])
  })

  test('is kept from an application that may not read the record any more; the list is not', async () => {
    const { call, caller } = await shop.as({ privileges: { Webhooks: ['read', 'write'], Orders: ['read'] } })
    const own = await newWebhook(call)
    const event = await numberedEvent(server, shop, { sequence: 1 })
    const one = await delivery(server, shop, own, event, { state: 'failed', reason: 'It may not be told' })
    expect((await call('GET', `/Webhooks/${own}/Deliveries/${one}`)).statusCode).toBe(200)

    await server.database.db.subscription.update({
      where: { id: caller.application?.subscriptionId ?? 0 },
      data: { privileges: { Webhooks: ['read', 'write'], Products: ['read'] } },
    })
    server.services.authenticator.invalidate()

    const answer = await call('GET', `/Webhooks/${own}/Deliveries/${one}`)
    expect(refusalOf(answer)).toEqual({
      statusCode: 401,
      field: 'Orders',
      status: '401',
      message: 'The application lacks the read privilege for Orders',
    })
    expect(answer.body).not.toContain('BillingFirstName')
    const list = await call('GET', `/Webhooks/${own}/Deliveries`)
    expect([list.statusCode, list.json()]).toMatchObject([200, [{ DeliveryID: one, State: 'failed' }]])
    expect((await shop.call('GET', `/Webhooks/${id}/Deliveries/${one}`)).statusCode).toBe(404)
  })

  test('shows at most the last hundred attempts', async () => {
    const event = await numberedEvent(server, shop, { sequence: 1 })
    const one = await delivery(server, shop, id, event, { state: 'failed', attempts: 120 })
    await server.database.db.deliveryAttempt.createMany({
      data: Array.from({ length: 120 }, (_, index) => ({
        deliveryId: one,
        number: index + 1,
        at: server.services.now(),
        reason: '',
        durationMs: 1,
        answer: '',
      })),
    })

    const [{ AttemptList }] = (await shop.call('GET', `/Webhooks/${id}/Deliveries/${one}`)).json()

    expect(AttemptList).toHaveLength(100)
    expect([AttemptList[0].Number, AttemptList.at(-1).Number]).toEqual([120, 21])
  })

  test('is an empty 404 for one that there is not, and for one of another webhook; not an id is a 400', async () => {
    const event = await numberedEvent(server, shop, { sequence: 1 })
    const ofOther = await delivery(server, shop, await newWebhook(shop.call), event, { state: 'delivered' })
    for (const one of [...unknownIds, ofOther]) {
      for (const [method, end] of [
        ['GET', ''],
        ['POST', '/Redeliver'],
      ] as const) {
        const answer = await shop.call(method, `/Webhooks/${id}/Deliveries/${one}${end}`)
        expect([one, answer.statusCode, answer.body]).toEqual([one, 404, ''])
      }
    }
    for (const wrong of notIds) {
      const answer = await shop.call('GET', `/Webhooks/${id}/Deliveries/${wrong}`)
      expect(refusalOf(answer), wrong).toMatchObject({ statusCode: 400, field: 'deliveryid' })
    }
  })
})

describe('POST /Webhooks/{id}/Deliveries/{deliveryid}/Redeliver', () => {
  test.each(['delivered', 'failed', 'pending'] as const)(
    'sends one again that is %s: before all others of the webhook, its tries begun anew',
    async (state) => {
      const event = await numberedEvent(server, shop, { sequence: 1 })
      const one = await delivery(server, shop, id, event, { state, attempts: 10, status: 500, reason: 'Ten times' })
      await server.database.db.delivery.updateMany({
        where: { id: one, state: 'pending' },
        data: { dueAt: new Date(server.clock.ms + DAY_MS) },
      })
      const attempt = { deliveryId: one, number: 10, reason: 'Ten times', durationMs: 1, answer: '' }
      await server.database.db.deliveryAttempt.create({ data: { ...attempt, at: server.services.now() } })

      const answer = await shop.call('POST', `/Webhooks/${id}/Deliveries/${one}/Redeliver`)

      expect([answer.statusCode, answer.json()]).toEqual([
        200,
        [{ Key: 'DeliveryID', Value: String(one), Status: '200', Message: 'updated successfully' }],
      ])
      expect(await storedDeliveries(server, shop, id)).toMatchObject([
        {
          state: 'pending',
          dueAt: new Date(0),
          endedAt: null,
          attempts: 10,
          triesBefore: 10,
          status: null,
          reason: '',
        },
      ])
    },
  )

  test('leaves one alone that is being sent', async () => {
    const event = await numberedEvent(server, shop, { sequence: 1 })
    const one = await delivery(server, shop, id, event, { state: 'pending', attempts: 0 })
    await claimAll(server.database.db, server.services.now())
    const before = await storedDeliveries(server, shop, id)
    const leaseEnd = new Date(server.clock.ms + leases.delivery.ms)
    expect(before).toMatchObject([{ state: 'pending', attempts: 1, triesBefore: 0, dueAt: leaseEnd }])

    const answer = await shop.call('POST', `/Webhooks/${id}/Deliveries/${one}/Redeliver`)

    expect([answer.statusCode, answer.json()]).toMatchObject([200, [{ Key: 'DeliveryID', Value: String(one) }]])
    expect(await storedDeliveries(server, shop, id)).toEqual(before)
  })

  test('is refused while the webhook is not enabled', async () => {
    const event = await numberedEvent(server, shop, { sequence: 1 })
    const one = await delivery(server, shop, id, event, { state: 'delivered' })
    await shop.call('PUT', `/Webhooks/${id}`, { body: { Enabled: false } })

    const answer = await shop.call('POST', `/Webhooks/${id}/Deliveries/${one}/Redeliver`)

    expect(refusalOf(answer)).toEqual({
      statusCode: 409,
      field: 'Enabled',
      status: '409',
      message: 'The webhook is not enabled; enable or resume it, and then send again',
    })
    await expect(redeliver(shop.caller, id, one)).rejects.toMatchObject({ status: 409 })
    expect(await storedDeliveries(server, shop, id)).toMatchObject([{ state: 'delivered' }])
  })

  test('waits for who disables the webhook at the same time, and is then refused', async () => {
    const event = await numberedEvent(server, shop, { sequence: 1 })
    const one = await delivery(server, shop, id, event, { state: 'failed' })
    const disabling = await hold(server, shop, async ({ db }) => {
      await db.$executeRaw`SELECT 1 FROM "Webhook" WHERE "storeId" = ${shop.store.id} AND "id" = ${id} FOR NO KEY UPDATE`
      await db.$executeRaw`UPDATE "Webhook" SET "enabled" = false WHERE "storeId" = ${shop.store.id} AND "id" = ${id}`
    })

    const asking = shop.call('POST', `/Webhooks/${id}/Deliveries/${one}/Redeliver`)
    await untilItWaits(server.database, asking)
    await disabling.commit()

    expect((await asking).statusCode).toBe(409)
    expect(await storedDeliveries(server, shop, id)).toMatchObject([{ state: 'failed' }])
  })
})

describe('POST /Webhooks/{id}/Test', () => {
  test.each(eventKinds)('lets a webhook of $name be told of a made-up record of its kind', async (kind) => {
    const { type, service } = kind
    const webhook = await newWebhook(shop.call, { EventType: type })

    const answer = await shop.call('POST', `/Webhooks/${webhook}/Test`)

    expect(answer.statusCode, answer.body).toBe(201)
    const [{ Key, Value, Message }] = answer.json()
    expect({ Key, Message }).toEqual({ Key: 'DeliveryID', Message: 'Created successfully' })
    const [one] = (await shop.call('GET', `/Webhooks/${webhook}/Deliveries/${Value}`)).json()
    expect(one).toMatchObject({
      Sequence: 0,
      IsTest: true,
      State: 'pending',
      Attempts: 0,
      EventType: type,
      RecordID: 1,
    })
    // The whole is held against the reference with each answer: no member of the record is missing.
    const erased = kind === customerErased && { CustomerID: 1 }
    expect(one.Record).toMatchObject(
      erased ||
        {
          Orders: { OrderID: 1, InvoiceNumber: 1000, OrderItemList: [{ ItemQuantity: 2 }], ShipmentList: [{}] },
          Customers: { CustomerID: 1, Email: 'shopper@example.com', BillingFirstName: 'Sample' },
          Products: { SKUInfo: { CatalogID: 1, SKU: 'SAMPLE-1' } },
          RMA: { RMAID: 1, OrderID: 1, RMAItemList: [{ SKU: 'SAMPLE-1' }] },
          Category: { CategoryID: 1, CategoryName: 'Sample Category' },
          Manufacturers: { ManufacturerID: 1, ManufacturerName: 'Sample Manufacturer' },
          Distributors: { DistributorID: 1, CompanyName: 'Sample Distributor' },
          CustomerGroups: { CustomerGroupID: 1, Name: 'Sample Group' },
          GiftRegistries: { GiftRegistryID: 1, Name: 'Sample Registry', GiftRegistryItemList: [{ Listed: 2 }] },
        }[service],
    )
    const { body } = await shop.call('GET', `/Webhooks/${webhook}/Deliveries/${Value}`, { accept: 'application/xml' })
    expect(body).toContain(`<Record><${resourceOf(kind).typeName}>`)
  })

  test('does so while the webhook is not enabled too, and stands in no feed', async () => {
    await shop.call('PUT', `/Webhooks/${id}`, { body: { Enabled: false } })

    expect((await shop.call('POST', `/Webhooks/${id}/Test`)).statusCode).toBe(201)

    expect(await storedDeliveries(server, shop, id)).toMatchObject([{ state: 'pending', dueAt: new Date(0) }])
    expect((await shop.call('GET', '/Events')).json()).toEqual([])
  })
})

/** Notes a webhook as the platform pauses it. */
async function paused(failingSinceMs: number, sequence: number): Promise<void> {
  await server.database.db.webhook.update({
    where: { storeId_id: { storeId: shop.store.id, id } },
    data: {
      enabled: false,
      failingSince: new Date(failingSinceMs),
      disabledAt: server.services.now(),
      disabledAtSequence: sequence,
      pauseReason: 'It failed for five days',
    },
  })
}

describe('GET /Webhooks/{id}/Status', () => {
  const status = async () => (await shop.call('GET', `/Webhooks/${id}/Status`)).json()

  test('of a webhook that nothing happened to', async () => {
    expect(await status()).toEqual([
      {
        Id: id,
        Enabled: true,
        FailingSince: '',
        DateDisabled: '',
        PauseReason: '',
        Pending: 0,
        Failed: 0,
        Missed: 0,
        DateLastDelivered: '',
      },
    ])
  })

  test('says why and since when a webhook is not enabled, and how much it missed', async () => {
    const startMs = server.clock.ms
    for (const [sequence, state, ageDays] of [
      [1, 'delivered', 9],
      [2, 'failed', 8],
      [3, 'failed', 2],
      [4, 'failed', 1],
      [5, 'pending', 0],
    ] as const) {
      const event = await numberedEvent(server, shop, { sequence })
      await delivery(server, shop, id, event, { state, endedAt: new Date(startMs - ageDays * DAY_MS) })
    }
    const old = await numberedEvent(server, shop, { sequence: 6, eventType: 2 })
    await delivery(server, shop, id, old, { state: 'failed', endedAt: new Date(startMs - 31 * DAY_MS) })
    await paused(startMs - 5 * DAY_MS, 6)
    await numberedEvent(server, shop, { sequence: 7 })
    await numberedEvent(server, shop, { sequence: 8, eventType: 3 })
    await numberedEvent(server, shop, { sequence: 9 })
    await shop.call('POST', `/Webhooks/${id}/Test`)
    await server.database.db.delivery.updateMany({
      where: { storeId: shop.store.id, event: { sequence: 0 } },
      data: { state: 'failed', dueAt: null, endedAt: server.services.now() },
    })

    expect(await status()).toMatchObject([
      {
        Enabled: false,
        FailingSince: '2026-03-05T11:00:00',
        DateDisabled: '2026-03-10T12:00:00',
        PauseReason: 'It failed for five days',
        Pending: 1,
        Failed: 4,
        // Those of the last two days, and two events of its kind: no test, and nothing of before it failed.
        Missed: 4,
        DateLastDelivered: '2026-03-01T11:00:00',
      },
    ])
    const { body } = await shop.call('GET', `/Webhooks/${id}/Status`, { accept: 'application/xml' })
    expect(body).toContain(`<ArrayOfWebhookStatus `)
    expect(body).toContain('<PauseReason>It failed for five days</PauseReason>')
  })
})

describe('POST /Webhooks/{id}/Resume', () => {
  /** Two that failed since it began to, one that failed before, a test, and two events that nobody told it of. */
  async function missMuch(): Promise<void> {
    const startMs = server.clock.ms
    for (const [sequence, ageDays] of [
      [1, 8],
      [2, 2],
      [3, 1],
    ] as const) {
      const event = await numberedEvent(server, shop, { sequence })
      const endedAt = new Date(startMs - ageDays * DAY_MS)
      await delivery(server, shop, id, event, { state: 'failed', attempts: 10, reason: 'Ten times', endedAt })
    }
    await paused(startMs - 5 * DAY_MS, 3)
    for (const [sequence, eventType] of [
      [4, 1],
      [5, 3],
      [6, 1],
    ] as const) {
      await numberedEvent(server, shop, { sequence, eventType })
    }
  }

  const states = async () => {
    const found = await server.database.db.delivery.findMany({
      where: { storeId: shop.store.id, webhookId: id },
      include: { event: true },
      orderBy: { event: { sequence: 'asc' } },
    })
    return found.map(({ state, event: { sequence } }) => `${sequence} ${state}`)
  }

  test('enables it again and sends nothing of what it missed', async () => {
    await missMuch()

    const answer = await shop.call('POST', `/Webhooks/${id}/Resume`)

    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      [{ Key: 'Id', Value: String(id), Status: '200', Message: 'updated successfully' }],
    ])
    expect(await stored(server, shop, id)).toMatchObject({
      enabled: true,
      failingSince: null,
      disabledAt: null,
      disabledAtSequence: null,
      pauseReason: null,
      updatedBy: shop.caller.actor,
    })
    expect(await states()).toEqual(['1 failed', '2 failed', '3 failed'])
  })

  test.each([
    ['application/json', '{"CatchUp": true}'],
    ['application/xml', '<Resume><CatchUp>true</CatchUp></Resume>'],
  ])('with CatchUp in %s sends it, each event once, also when it is asked twice', async (contentType, body) => {
    await missMuch()

    const answer = await shop.call('POST', `/Webhooks/${id}/Resume`, { contentType, body })

    expect(answer.json()[0].Message).toBe('updated successfully; 4 notifications are sent again')
    expect(await states()).toEqual(['1 failed', '2 pending', '3 pending', '4 pending', '6 pending'])
    const [, second, , fourth] = await storedDeliveries(server, shop, id)
    expect(second).toMatchObject({
      dueAt: server.services.now(),
      endedAt: null,
      attempts: 10,
      triesBefore: 10,
      reason: '',
    })
    expect(fourth).toMatchObject({ dueAt: server.services.now(), attempts: 0 })
    const again = await shop.call('POST', `/Webhooks/${id}/Resume`, { contentType, body })
    expect(again.json()[0].Message).toBe('updated successfully')
    expect(await states()).toHaveLength(5)
  })

  test('by an update that enables it sends nothing of what it missed', async () => {
    await missMuch()
    await shop.call('PUT', `/Webhooks/${id}`, { body: { Enabled: true } })
    expect(await states()).toEqual(['1 failed', '2 failed', '3 failed'])
  })

  test('sends what it gave up when somebody disabled it', async () => {
    const event = await numberedEvent(server, shop, { sequence: 1 })
    await delivery(server, shop, id, event, { state: 'pending' })
    await shop.call('PUT', `/Webhooks/${id}`, { body: { Enabled: false } })
    await numberedEvent(server, shop, { sequence: 2 })

    await shop.call('POST', `/Webhooks/${id}/Resume`, { body: { CatchUp: true } })

    expect(await states()).toEqual(['1 pending', '2 pending'])
  })

  test('does not send again what arrives at the same moment', async () => {
    const event = await numberedEvent(server, shop, { sequence: 1 })
    const one = await delivery(server, shop, id, event, { state: 'pending' })
    await shop.call('PUT', `/Webhooks/${id}`, { body: { Enabled: false } })
    // As an answer is written that came although the webhook had been disabled meanwhile.
    const data = { state: 'delivered', status: 200, reason: '', endedAt: server.services.now() }
    const answered = await hold(server, shop, ({ db }) => db.delivery.update({ where: { id: one }, data }))

    const resuming = shop.call('POST', `/Webhooks/${id}/Resume`, { body: { CatchUp: true } })
    await untilItWaits(server.database, resuming)
    await answered.commit()

    expect((await resuming).json()[0].Message).toBe('updated successfully')
    expect(await storedDeliveries(server, shop, id)).toMatchObject([data])
  })

  test('twice at once sends each event once', async () => {
    await missMuch()

    const first = await hold(server, shop, (tx) => resumeWebhook(tx, id, { catchUp: true }))
    const second = shop.call('POST', `/Webhooks/${id}/Resume`, { body: { CatchUp: true } })
    await untilItWaits(server.database, second)
    await first.commit()

    expect((await second).json()[0].Message).toBe('updated successfully')
    expect(await states()).toEqual(['1 failed', '2 pending', '3 pending', '4 pending', '6 pending'])
  })

  test('sends what a numbering under way, which took it for disabled, numbers meanwhile', async () => {
    await missMuch()
    // As the numbering of events does it: the webhook locked against deletion, and no delivery made for it.
    const numbering = await hold(server, shop, async ({ db }) => {
      await db.$queryRaw`SELECT 1 FROM "Webhook" WHERE "storeId" = ${shop.store.id} AND "id" = ${id} FOR KEY SHARE`
      await db.event.create({
        data: {
          storeId: shop.store.id,
          sequence: 7,
          eventType: 1,
          recordId: 9,
          body: '{}',
          createdAt: server.services.now(),
        },
      })
      await db.eventFeed.update({ where: { storeId: shop.store.id }, data: { lastSequence: 7 } })
    })

    const resuming = shop.call('POST', `/Webhooks/${id}/Resume`, { body: { CatchUp: true } })
    await untilItWaits(server.database, resuming)
    await numbering.commit()

    expect((await resuming).json()[0].Message).toBe('updated successfully; 5 notifications are sent again')
    expect(await states()).toEqual(['1 failed', '2 pending', '3 pending', '4 pending', '6 pending', '7 pending'])
  })

  test('with more missed than one catch-up sends is refused, and nothing is changed', async () => {
    await paused(server.clock.ms, 0)
    // A statement must end within the time limit of the database, on a busy machine too.
    for (let first = 1; first <= 200_001; first += 20_000)
      await server.database.db.$executeRaw`
        INSERT INTO "Event" ("storeId", "sequence", "eventType", "recordId", "body", "createdAt")
        SELECT ${shop.store.id}, n, 1, 1, '{}', ${server.services.now()}
        FROM generate_series(${first}::int, ${Math.min(first + 19_999, 200_001)}::int) n`
    // Else the connections may keep the plans of their foreign keys from when the table was empty.
    await server.database.db.$executeRaw`ANALYZE "Event"`

    const answer = await shop.call('POST', `/Webhooks/${id}/Resume`, { body: { CatchUp: true } })

    expect(refusalOf(answer)).toEqual({
      statusCode: 409,
      field: 'CatchUp',
      status: '409',
      message:
        'The webhook missed more than 200000 notifications. Resume without CatchUp, and read them from the feed of events',
    })
    expect(await stored(server, shop, id)).toMatchObject({ enabled: false, pauseReason: 'It failed for five days' })
    expect(await storedDeliveries(server, shop, id)).toEqual([])
    const [{ Missed }] = (await shop.call('GET', `/Webhooks/${id}/Status`)).json()
    expect(Missed).toBe(1_000)
    await server.database.db.$executeRaw`TRUNCATE "Event" CASCADE`
  })

  test.each([
    ['{"CatchUp": "perhaps"}', 'CatchUp', 'CatchUp must be true or false (or 1 or 0)'],
    ['[{}, {}]', '', 'The address names one record; the body must hold one record, not a list'],
    ['{', '', /^Invalid JSON/],
  ])('refuses %s', async (body, field, message) => {
    const answer = await shop.call('POST', `/Webhooks/${id}/Resume`, { body, contentType: 'application/json' })
    expect(refusalOf(answer)).toMatchObject({ statusCode: 400, field })
    expect(refusalOf(answer).message).toMatch(message)
  })
})

describe('the addresses below a webhook', () => {
  const operations = [
    ['GET', '/Secret'],
    ['POST', '/Secret'],
    ['GET', '/Status'],
    ['POST', '/Test'],
    ['POST', '/Resume'],
    ['GET', '/Deliveries'],
    ['GET', '/Deliveries/{deliveryid}'],
    ['POST', '/Deliveries/{deliveryid}/Redeliver'],
  ] as const

  test.each(operations)('%s %s needs the privilege of its method for Webhooks, and no other', async (method, path) => {
    const [needed, other] = method === 'GET' ? (['read', 'write'] as const) : (['write', 'read'] as const)
    const address = `/Webhooks/1${path.replace('{deliveryid}', '1')}`
    const refused = await shop.as({ privileges: { Webhooks: [other], Orders: ['read', 'write'] } })
    expect(refusalOf(await refused.call(method, address))).toEqual({
      statusCode: 401,
      field: 'Webhooks',
      status: '401',
      message: `The application lacks the ${needed} privilege for Webhooks`,
    })
    const admitted = await shop.as({ privileges: { Webhooks: [needed] } })
    expect((await admitted.call(method, address)).statusCode).toBe(404)
  })

  test.each(operations)('%s %s answers 400 for what is no identifier, 404 for an unknown one', async (method, path) => {
    const end = path.replace('{deliveryid}', '1')
    for (const wrong of ['0', 'abc', '2147483648']) {
      const answer = await shop.call(method, `/Webhooks/${wrong}${end}`)
      expect(refusalOf(answer), wrong).toMatchObject({ statusCode: 400, field: 'id' })
    }
    const answer = await shop.call(method, `/Webhooks/400000${end}`)
    expect([answer.statusCode, answer.body]).toEqual([404, ''])
  })

  test('take no other methods', async () => {
    for (const path of new Set(operations.map(([, each]) => each))) {
      const taken = operations.flatMap(([method, each]) => (each === path ? [method] : []))
      const others = (['GET', 'POST', 'PUT', 'DELETE'] as const).filter((method) => !taken.includes(method as 'GET'))
      for (const method of others) {
        const answer = await shop.call(method, `/Webhooks/${id}${path.replace('{deliveryid}', '1')}`)
        expect(answer.statusCode, `${method} ${path}`).toBe(405)
        expect(answer.headers.allow).toBe(
          taken.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each])).join(', '),
        )
      }
    }
  })
})

test('a kind of event that is not there any more does not break the list', async () => {
  expect(eventKind(99)).toBeNull()
  await server.database.db.event.create({
    data: {
      storeId: shop.store.id,
      sequence: 1,
      eventType: 99,
      recordId: 1,
      body: '{}',
      createdAt: server.services.now(),
    },
  })
  const event = await server.database.db.event.findFirstOrThrow({ where: { storeId: shop.store.id } })
  await delivery(server, shop, id, event.id, { state: 'delivered' })
  expect((await shop.call('GET', `/Webhooks/${id}/Deliveries`)).json()).toMatchObject([
    { EventType: 99, EventName: '' },
  ])
})
