import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Db, Transaction } from '../../../../src/foundation/database/client.ts'
import type { Webhook } from '../../../../src/foundation/database/generated/client.ts'
import { leases } from '../../../../src/foundation/database/leases.ts'
import { claimDue, DUE_MAX, findDue } from '../../../../src/shop/webhooks/dispatch/claim.ts'
import type { Dispatcher } from '../../../../src/shop/webhooks/dispatch/dispatcher.ts'
import { SLOT_BYTES } from '../../../../src/shop/webhooks/dispatch/slots.ts'
import { newSealedSecret } from '../../../../src/shop/webhooks/secret.ts'
import { holdIn } from '../../../support/held.ts'
import { holdAnswers } from '../../../support/receiver.ts'
import { shared } from '../../../support/shared.ts'
import { openReceiver, type Receiver, status } from './dispatch-receiver.ts'
import { allotted, CUSTOMER_NEW, claimAll, MINUTE_MS, openStage, SECOND_MS } from './dispatch-stage.ts'

let receiver: Receiver

const stage = await shared(openStage())
const storeId = await stage.addStore()
beforeEach(async () => {
  receiver = await openReceiver()
})
afterEach(() => stage.clear())

const settle = () => stage.settle()
const addWebhook = (changes: Partial<Webhook> = {}) => stage.addWebhook(storeId, { url: receiver.url, ...changes })
const key = ({ id }: Webhook) => ({ storeId_id: { storeId, id } })

/** Deliveries that wait for their first attempt, without one being made. */
async function pendingOf(webhook: Webhook, count = 1): Promise<void> {
  for (let number = 1; number <= count; number++) {
    const event = await stage.addEvent(storeId, { eventType: 28, sequence: BigInt(number) })
    const at = stage.now()
    const row = { storeId, webhookId: webhook.id, eventId: event.id, state: 'pending', dueAt: at, createdAt: at }
    await stage.db.delivery.create({ data: row })
  }
}

describe('two processes on one database', () => {
  test('deliver each event once between them, to each webhook', async () => {
    const webhooks = [await addWebhook(), await addWebhook(), await addWebhook()]
    const processes = [stage.openProcess(), stage.openProcess()]
    for (const { dispatcher } of processes) dispatcher.start()
    await stage.addEvents(storeId, 300)
    for (const { dispatcher } of processes) dispatcher.wake()
    await receiver.came(900)
    await Promise.all(processes.map(({ dispatcher }) => dispatcher.settle()))

    expect(receiver.arrivals).toHaveLength(900)
    const perEvent = Map.groupBy(receiver.arrivals, ({ headers }) => headers['webhook-id'])
    expect([...perEvent.values()].map((each) => each.length)).toEqual(Array(300).fill(3))
    for (const webhook of webhooks) {
      const deliveries = await stage.deliveriesOf(webhook)
      expect(deliveries).toHaveLength(300)
      expect(deliveries.every(({ state, attempts }) => state === 'delivered' && attempts === 1)).toBe(true)
      expect(await stage.attemptsOf(webhook)).toHaveLength(300)
    }
    expect(stage.warnings).toEqual([])
  })

  test('claim different deliveries, also at the same moment, without waiting for each other', async () => {
    await pendingOf(await addWebhook(), 30)
    const half = await allotted(stage.db, stage.now(), { deliveries: 15, slots: 15 })
    const ids: number[] = []
    const claim = async (db: Db | Transaction) => {
      const claims = await claimDue(db, stage.now(), half)
      ids.push(...claims.map(({ id }) => id))
    }
    const commit = await holdIn(stage.db, claim)
    await claim(stage.db)
    await commit()
    expect(new Set(ids).size).toBe(30)
  })
})

test('a webhook of a kind of event that only a later version knows is left to its servers', async () => {
  const webhook = await addWebhook({ eventType: 200 })
  await pendingOf(webhook)
  await settle()
  expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'pending', attempts: 0 }])
})

describe('a process that is killed', () => {
  test('leaves its claims to others as soon as they are over, and not before', async () => {
    const webhook = await addWebhook()
    await pendingOf(webhook)
    const claimed = await claimAll(stage.db, stage.now())
    expect(claimed).toMatchObject([{ attempts: 1, triesBefore: 0 }])

    stage.clock.ms += leases.delivery.ms - 1
    await settle()
    expect(receiver.arrivals).toEqual([])

    stage.clock.ms += 1
    await settle()
    expect(receiver.arrivals).toHaveLength(1)
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered', attempts: 2 }])
    expect(await stage.attemptsOf(webhook)).toMatchObject([{ number: 2 }])
  })

  test('does not keep a notification from being repeated under the same id, and decides nothing when it lives on', async () => {
    const webhook = await addWebhook()
    await stage.addEvent(storeId)
    const { release } = holdAnswers(receiver, status(500))
    const frozen = stage.openProcess()
    const first = frozen.dispatcher.settle()
    await receiver.came(1)

    stage.clock.ms += leases.delivery.ms
    receiver.answer = status(200)
    await settle()
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered', attempts: 2, status: 200 }])
    const [once, again] = receiver.arrivals
    expect(again?.headers['webhook-id']).toBe(once?.headers['webhook-id'])
    expect(again?.text).toBe(once?.text)

    stage.clock.ms -= leases.delivery.ms
    release()
    await first
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered', attempts: 2, status: 200 }])
    expect(await stage.attemptsOf(webhook)).toMatchObject([
      { number: 2, status: 200 },
      { number: 1, status: 500 },
    ])
  })
})

describe('claiming', () => {
  /** Deliveries of records of so many bytes. */
  async function pendingOfSize(webhook: Webhook, ...sizes: number[]): Promise<void> {
    for (const size of sizes) {
      const body = `"${'x'.repeat(size - 2)}"`
      const event = await stage.addEvent(storeId, { eventType: 28, sequence: BigInt(size), body })
      const at = stage.now()
      const row = { storeId, webhookId: webhook.id, eventId: event.id, state: 'pending', dueAt: at, createdAt: at }
      await stage.db.delivery.create({ data: row })
    }
  }

  test('finds what a webhook shares, and the size of its first record', async () => {
    const { applicationId, subscriptionId } = await stage.addSubscription(storeId, { asked: null, agreed: null })
    const webhook = await addWebhook({ subscriptionId, failingSince: stage.now() })
    const other = await addWebhook()
    await pendingOfSize(webhook, 70_000, 10)
    await pendingOfSize(other, 20)
    const due = await findDue(stage.db, stage.now(), { storeId, webhookId: webhook.id })
    expect(due).toMatchObject([
      { webhookId: other.id, url: receiver.url, applicationId: null, failingSince: null, bytes: 20 },
      { webhookId: webhook.id, url: receiver.url, applicationId, failingSince: stage.now(), bytes: 70_000 },
    ])
  })

  const claim = async (deliveries: number, slots: number) =>
    claimDue(stage.db, stage.now(), await allotted(stage.db, stage.now(), { deliveries, slots }))

  test('takes as many deliveries as are allotted', async () => {
    await pendingOf(await addWebhook(), 3)
    expect(await claim(1, 20)).toMatchObject([{ sequence: 1 }])
    expect(await claim(3, 20)).toMatchObject([{ sequence: 2 }, { sequence: 3 }])
  })

  test('takes records that fit into the slots: the oldest ones, without passing over a large one', async () => {
    await pendingOfSize(await addWebhook(), SLOT_BYTES, 20, SLOT_BYTES + 1, 10)
    const sizes = async (slots: number) => (await claim(20, slots)).map(({ body }) => body.length)
    expect(await sizes(1)).toEqual([SLOT_BYTES])
    expect(await sizes(1)).toEqual([20])
    expect(await sizes(1)).toEqual([])
    expect(await sizes(2)).toEqual([SLOT_BYTES + 1, 10])
  })

  test('reaches a webhook behind more of others than one statement finds', async () => {
    const otherStore = await stage.addStore()
    const hanging = await openReceiver(() => {})
    await stage.db.$executeRaw`
      INSERT INTO "Webhook" ("storeId", "id", "name", "url", "eventType", "format", "enabled", "createdAt", "updatedAt",
        "updatedBy", "secretSealed")
      SELECT ${storeId}, 1_000_000 + n, '', ${hanging.url}, 28, 'JSON', TRUE, ${stage.now()}, ${stage.now()}, '',
        ${newSealedSecret(stage.secrets)}
      FROM generate_series(1, ${DUE_MAX}::int) AS n`
    const last = await stage.addWebhook(otherStore, { url: receiver.url, eventType: 28 })
    // All that hang still have something due when they have begun.
    for (const [each, sequence] of [
      [storeId, 1n],
      [storeId, 2n],
      [otherStore, 1n],
    ] as const) {
      await stage.addEvent(each, { eventType: 28, sequence })
    }
    await stage.db.$executeRaw`
      INSERT INTO "Delivery" ("storeId", "webhookId", "eventId", "state", "dueAt", "createdAt")
      SELECT "storeId", "Webhook"."id", "Event"."id", 'pending', ${stage.now()}, ${stage.now()}
      FROM "Webhook" JOIN "Event" USING ("storeId")`
    const { dispatcher } = stage.openProcess({ pollMs: 600_000, stopMs: 0 })
    dispatcher.start()
    await receiver.came(1)
    await vi.waitUntil(async () => (await stage.deliveriesOf(last))[0]?.state === 'delivered')
  })
})

describe('slots', () => {
  /** Keeps answers until `next` lets the oldest one go. */
  function keepAnswers() {
    const kept: (() => unknown)[] = []
    receiver.answer = (response) => kept.push(() => response.end())
    return async () => {
      await vi.waitUntil(() => kept.length > 0)
      kept.shift()?.()
    }
  }

  /** Has each webhook answer often enough for all the slots that it can earn. */
  async function earn(dispatcher: Dispatcher): Promise<void> {
    await stage.addEvents(storeId, 5)
    await dispatcher.settle()
  }

  test('a webhook begins with one, and each good answer doubles them', async () => {
    const webhook = await addWebhook()
    const next = keepAnswers()
    await stage.addEvents(storeId, 50)
    const { dispatcher } = stage.openProcess({ pollMs: 600_000 })
    dispatcher.start()
    for (const [answered, limit] of [1, 2, 4, 8, 16, 20, 20].entries()) {
      if (answered > 0) await next()
      await receiver.came(answered + limit)
    }
    const quick = await openReceiver()
    const other = await addWebhook({ url: quick.url, eventType: CUSTOMER_NEW })
    await stage.addEvent(storeId, { eventType: CUSTOMER_NEW })
    dispatcher.wake()
    await vi.waitUntil(async () => (await stage.attemptsOf(other)).length === 1)
    expect(receiver.arrivals).toHaveLength(26)

    for (let left = 50 - 6; left > 0; left--) await next()
    await dispatcher.settle()
    const deliveries = await stage.deliveriesOf(webhook)
    expect(deliveries).toHaveLength(50)
    expect(deliveries.every(({ state, attempts }) => state === 'delivered' && attempts === 1)).toBe(true)
  })

  test('a webhook with all of them leaves slots for others, and uses them again as soon as one ends', async () => {
    const slow = await addWebhook()
    const quick = await openReceiver()
    const { dispatcher } = stage.openProcess({ pollMs: 600_000 })
    await earn(dispatcher)
    const other = await addWebhook({ url: quick.url })
    const { release } = holdAnswers(receiver)
    await stage.addEvents(storeId, 50)
    dispatcher.start()
    await quick.came(50)
    await receiver.came(5 + 20)
    await vi.waitUntil(async () => (await stage.attemptsOf(other)).length === 50)
    expect(receiver.arrivals).toHaveLength(5 + 20)

    release()
    await receiver.came(5 + 50)
    await dispatcher.settle()
    const deliveries = await stage.deliveriesOf(slow)
    expect(deliveries.every(({ state, attempts }) => state === 'delivered' && attempts === 1)).toBe(true)
    expect(receiver.arrivals).toHaveLength(5 + 50)
  })

  test('one that fails loses them, and earns them again by its first good answer, whatever the database says', async () => {
    const webhook = await addWebhook()
    const { dispatcher } = stage.openProcess({ pollMs: 600_000 })
    await earn(dispatcher)
    receiver.answer = status(500)
    await stage.addEvents(storeId, 20)
    await dispatcher.settle()
    expect(receiver.arrivals).toHaveLength(5 + 20)
    expect(await stage.webhookNow(webhook)).toMatchObject({ failingSince: stage.now() })

    const next = keepAnswers()
    stage.clock.ms += MINUTE_MS
    // Until then, nobody can note that it is well again.
    const commit = await holdIn(stage.db, (tx) => tx.webhook.update({ where: key(webhook), data: { name: 'Another' } }))
    dispatcher.start()
    await receiver.came(25 + 1)
    await next()
    await receiver.came(25 + 1 + 2)
    expect(receiver.arrivals).toHaveLength(25 + 1 + 2)
    await commit()
    for (let left = 19; left > 0; left--) await next()
    await dispatcher.settle()
    expect((await stage.deliveriesOf(webhook)).every(({ state }) => state === 'delivered')).toBe(true)
  })

  test('large records use more of them: what does not fit goes as others end', async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => stage.addStore()))
    for (const store of stores) {
      await stage.addWebhook(store, {
        url: receiver.url.replace('127.0.0.1', `large-${store}.example`),
        eventType: 28,
      })
      await stage.db.$executeRaw`
        INSERT INTO "Event" ("storeId", "eventType", "recordId", "body", "createdAt")
        SELECT ${store}, 28, 1, '"' || repeat('x', ${64 * SLOT_BYTES - 2}::int) || '"', ${stage.now()}`
    }
    const { release } = holdAnswers(receiver)
    const { dispatcher } = stage.openProcess({ pollMs: 600_000, outbound: { lookup: async () => ['127.0.0.1'] } })
    dispatcher.start()
    // Of 250 slots for webhooks that are not proven: three times 64, and one more because 58 were free.
    await receiver.came(4)
    expect(await stage.db.delivery.count({ where: { attempts: 1 } })).toBe(4)

    release()
    await receiver.came(8)
    await dispatcher.settle()
    expect(await stage.db.delivery.count({ where: { state: 'delivered', attempts: 1 } })).toBe(8)
  })
})

describe('200 receivers that never answer', () => {
  const BAD = 27
  const EVENTS = 20
  const options = { pollMs: 600_000, stopMs: 0, outbound: { lookup: async () => ['127.0.0.1'] } }

  interface BadWebhook {
    readonly storeId: number
    readonly host: string
    readonly subscriptionId?: number
  }

  /** Each has more to send than a webhook has slots. */
  async function addBad(webhookOf: (index: number) => BadWebhook): Promise<Receiver> {
    const bad = await openReceiver(() => {})
    const webhooks = Array.from({ length: 200 }, (_, index) => webhookOf(index))
    for (const { host, ...webhook } of webhooks) {
      const url = bad.url.replace('127.0.0.1', host)
      await stage.addWebhook(webhook.storeId, { ...webhook, eventType: BAD, url })
    }
    for (const store of new Set(webhooks.map(({ storeId }) => storeId))) {
      await stage.db.$executeRaw`
        INSERT INTO "Event" ("storeId", "eventType", "recordId", "body", "createdAt")
        SELECT ${store}, ${BAD}, n, '{}', ${stage.now()} FROM generate_series(1, ${EVENTS}::int) AS n`
    }
    return bad
  }

  const addStores = (count: number) => Promise.all(Array.from({ length: count }, () => stage.addStore()))

  async function subscribe(storeId: number, applicationId: number): Promise<number> {
    const tokens = { tokenHash: `token of ${storeId}`, tokenSealed: '' }
    const { id } = await stage.db.subscription.create({
      data: { storeId, applicationId, createdAt: stage.now(), ...tokens },
    })
    return id
  }

  test('delay neither webhooks that have answered, in whatever store, nor new ones of other stores', async () => {
    const stores = await addStores(4)
    const [badStore = 0] = stores
    await addWebhook({ eventType: CUSTOMER_NEW })
    await stage.addWebhook(badStore, { url: receiver.url, eventType: CUSTOMER_NEW })
    const happen = async (...storeIds: number[]) => {
      for (const each of storeIds) await stage.addEvent(each, { eventType: CUSTOMER_NEW })
    }
    const { dispatcher } = stage.openProcess(options)
    await happen(storeId, badStore)
    await dispatcher.settle()
    const bad = await addBad((index) => ({ storeId: stores[index % 4] ?? 0, host: `bad-${index}.example` }))
    dispatcher.start()
    await bad.came(200)

    const newStore = await stage.addStore()
    const newOne = await stage.addWebhook(newStore, { url: receiver.url, eventType: CUSTOMER_NEW })
    await happen(storeId, badStore, newStore)
    dispatcher.wake()
    await receiver.came(2 + 3)
    await vi.waitUntil(async () => (await stage.attemptsOf(newOne)).length === 1)
    // One slot for each of the bad ones.
    expect(bad.arrivals).toHaveLength(200)
  })

  test.each(['store', 'application', 'receiver'])('of one %s leave half of the slots to others', async (shared) => {
    const stores = shared === 'store' ? [storeId] : await addStores(4)
    const { applicationId } = await stage.addSubscription(storeId, { asked: null, agreed: null })
    const subscriptions =
      shared === 'application' ? await Promise.all(stores.map((each) => subscribe(each, applicationId))) : []
    const bad = await addBad((index) => {
      const subscriptionId = subscriptions[index % 4]
      return {
        storeId: stores[index % stores.length] ?? 0,
        host: shared === 'receiver' ? 'bad.example' : `bad-${index}.example`,
        ...(subscriptionId !== undefined && { subscriptionId }),
      }
    })
    const { dispatcher } = stage.openProcess(options)
    dispatcher.start()
    // Of the 250 of webhooks that are not proven.
    await bad.came(125)

    const other = await stage.addWebhook(await stage.addStore(), { url: receiver.url })
    await stage.addEvents(other.storeId, 5)
    dispatcher.wake()
    await receiver.came(5)
    await vi.waitUntil(async () => (await stage.attemptsOf(other)).length === 5)
    expect(bad.arrivals).toHaveLength(125)
  })
})

describe('a webhook that changes while an attempt is under way', () => {
  test('deleted: nothing is left, and nothing goes wrong', async () => {
    const webhook = await addWebhook()
    const other = await addWebhook()
    await stage.addEvent(storeId)
    const { release } = holdAnswers(receiver)
    const settled = settle()
    await receiver.came(2)
    await stage.db.webhook.delete({ where: key(webhook) })
    release()
    await settled
    expect(await stage.db.delivery.count()).toBe(1)
    expect(await stage.deliveriesOf(other)).toMatchObject([{ state: 'delivered' }])
    expect(stage.warnings).toEqual([])
  })

  test('being deleted: the results of others do not wait', async () => {
    const webhook = await addWebhook()
    const other = await addWebhook()
    await stage.addEvent(storeId)
    const { release } = holdAnswers(receiver)
    const settled = settle()
    await receiver.came(2)
    const commit = await holdIn(stage.db, (tx) => tx.webhook.delete({ where: key(webhook) }))
    release()
    await vi.waitUntil(async () => (await stage.attemptsOf(other)).length === 1)
    expect(await stage.attemptsOf(webhook)).toEqual([])
    await commit()
    await settled
    expect(stage.warnings).toEqual([])
  })

  test('held by somebody else: what a first failure means for it is written when it is free, and others do not wait', async () => {
    const webhook = await addWebhook()
    const later = await openReceiver()
    const other = await addWebhook({ url: later.url })
    await stage.addEvent(storeId)
    const commit = await holdIn(stage.db, (tx) => tx.webhook.update({ where: key(webhook), data: { name: 'Another' } }))
    const { release } = holdAnswers(later)
    receiver.answer = (response) => response.writeHead(500).end(release)
    const settled = settle()
    await vi.waitUntil(async () => (await stage.attemptsOf(other)).length === 1)
    expect(await stage.attemptsOf(webhook)).toEqual([])

    await commit()
    await settled
    expect(await stage.webhookNow(webhook)).toMatchObject({ name: 'Another', failingSince: stage.now() })
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'pending', attempts: 1 }])
    expect(await stage.attemptsOf(webhook)).toHaveLength(1)
  })

  test('disabled: an answer that comes all the same is what counts', async () => {
    const [good, bad] = [await addWebhook(), await addWebhook()]
    await stage.addEvent(storeId)
    const { release } = holdAnswers(receiver)
    const settled = settle()
    await receiver.came(2)
    // As whoever disables a webhook does.
    const data = { state: 'failed', dueAt: null, endedAt: stage.now(), reason: 'The webhook was disabled' }
    await stage.db.webhook.updateMany({ where: { storeId }, data: { enabled: false } })
    await stage.db.delivery.updateMany({ where: { storeId, state: 'pending' }, data })
    await stage.db.delivery.updateMany({ where: { webhookId: bad.id }, data: { attempts: 2 } })
    release()
    await settled
    expect(await stage.deliveriesOf(good)).toMatchObject([{ state: 'delivered', reason: '', status: 200 }])
    // Another claim has been made of it since.
    expect(await stage.deliveriesOf(bad)).toMatchObject([{ state: 'failed', reason: 'The webhook was disabled' }])
  })

  test('disabled, and the attempt fails: the delivery stays given up', async () => {
    const webhook = await addWebhook()
    await stage.addEvent(storeId)
    const { release } = holdAnswers(receiver, status(500))
    const settled = settle()
    await receiver.came(1)
    const data = { state: 'failed', dueAt: null, endedAt: stage.now(), reason: 'The webhook was disabled' }
    await stage.db.delivery.updateMany({ where: { webhookId: webhook.id }, data })
    release()
    await settled
    expect(await stage.deliveriesOf(webhook)).toMatchObject([data])
    expect(await stage.attemptsOf(webhook)).toMatchObject([{ status: 500 }])
  })

  test('sent again by hand: the new round does not end with the last attempt of the former one', async () => {
    const webhook = await addWebhook()
    await pendingOf(webhook)
    await stage.db.delivery.updateMany({ data: { attempts: 9 } })
    const { release } = holdAnswers(receiver, status(500))
    const settled = settle()
    await receiver.came(1)
    const newRound = { triesBefore: 10, dueAt: new Date(stage.clock.ms + SECOND_MS) }
    await stage.db.delivery.updateMany({ data: newRound })
    release()
    await settled
    expect(await stage.attemptsOf(webhook)).toMatchObject([{ number: 10, status: 500 }])
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'pending', attempts: 10, ...newRound }])
  })
})

describe('stopping', () => {
  test('waits for what is under way and writes it, and begins nothing more', async () => {
    const webhook = await addWebhook()
    await stage.addEvents(storeId, 2)
    const { release } = holdAnswers(receiver)
    const { dispatcher, end } = stage.openProcess()
    dispatcher.start()
    await receiver.came(1)
    const stopped = dispatcher.stop()
    release()
    await stopped
    dispatcher.wake()
    await end()
    const states = (await stage.deliveriesOf(webhook)).map(({ state, attempts }) => `${state} ${attempts}`)
    expect(states).toEqual(['delivered 1', 'pending 0'])
    expect(receiver.arrivals).toHaveLength(1)
  })

  test('does not send what was claimed at that moment', async () => {
    const webhook = await addWebhook()
    await pendingOf(webhook)
    const commit = await holdIn(stage.db, (tx) => tx.$executeRaw`LOCK TABLE "Event" IN ACCESS EXCLUSIVE MODE`)
    const { dispatcher } = stage.openProcess()
    dispatcher.start()
    const stopped = dispatcher.stop()
    await commit()
    await stopped
    expect(receiver.arrivals).toEqual([])
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'pending', attempts: 0, dueAt: stage.now() }])
  })

  test('releases what does not end in time: another process sends it at once, as the same attempt', async () => {
    const webhook = await addWebhook()
    await stage.addEvent(storeId)
    const { release } = holdAnswers(receiver, status(500))
    const stopping = stage.openProcess({ stopMs: 0 })
    stopping.dispatcher.start()
    await receiver.came(1)
    await stopping.dispatcher.stop()
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'pending', attempts: 0, dueAt: stage.now() }])

    receiver.answer = status(200)
    await settle()
    release()
    await stopping.end()
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered', attempts: 1 }])
    expect(await stage.attemptsOf(webhook)).toMatchObject([{ number: 1, status: 200 }])
    const [once, again] = receiver.arrivals
    expect(again?.headers['webhook-id']).toBe(once?.headers['webhook-id'])
  })
})

describe('a database that refuses', () => {
  const breakLog = () => stage.db.$executeRaw`ALTER TABLE "DeliveryAttempt" RENAME TO "Broken"`
  const mendLog = () => stage.db.$executeRaw`ALTER TABLE "Broken" RENAME TO "DeliveryAttempt"`

  test('gets the results later', async () => {
    const webhook = await addWebhook()
    await stage.addEvent(storeId)
    await breakLog()
    const settled = settle()
    await vi.waitUntil(() => stage.warnings.length > 0)
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'pending', attempts: 1 }])
    await mendLog()
    await settled
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered', attempts: 1 }])
    expect(receiver.arrivals).toHaveLength(1)
  })

  test('loses them when the claim is over; then the notification is sent again', async () => {
    const webhook = await addWebhook()
    await stage.addEvent(storeId)
    await breakLog()
    const process = stage.openProcess()
    const settled = process.dispatcher.settle()
    await vi.waitUntil(() => stage.warnings.length > 0)
    stage.clock.ms += leases.delivery.ms
    await vi.waitUntil(() => stage.warnings.some((warning) => warning.includes('given up')))
    await mendLog()
    await settled
    await process.dispatcher.settle()
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered', attempts: 2 }])
    expect(receiver.arrivals).toHaveLength(2)
  })

  test('is asked again, when events could not be numbered or deliveries not be claimed', async () => {
    const webhook = await addWebhook()
    await stage.addEvent(storeId)
    await stage.db.$executeRaw`ALTER TABLE "Delivery" RENAME TO "Broken"`
    const { dispatcher } = stage.openProcess({ pollMs: 20 })
    dispatcher.start()
    await vi.waitUntil(() => stage.warnings.length >= 2)
    await stage.db.$executeRaw`ALTER TABLE "Broken" RENAME TO "Delivery"`
    await receiver.came(1)
    await dispatcher.settle()
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered' }])
    for (const text of [receiver.url, 'token=', 'BillingFirstName']) expect(stage.warnings.join()).not.toContain(text)
  })
})
