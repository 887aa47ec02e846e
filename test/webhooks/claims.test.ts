import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Webhook } from '../../src/database/generated/client.ts'
import {
  BYTES,
  type Claim,
  claimDue,
  type FreeSlots,
  keyOf,
  LEASE_MS,
  SLOTS_OF_ALL_FAILING,
} from '../../src/webhooks/dispatch/claim.ts'
import { Slots } from '../../src/webhooks/dispatch/slots.ts'
import { held, openReceiver, type Receiver, status } from './dispatch-receiver.ts'
import { everything, hold, openStage, SECOND_MS, type Stage } from './dispatch-stage.ts'

let stage: Stage
let storeId: number
let receiver: Receiver

beforeAll(async () => {
  stage = await openStage()
  storeId = await stage.addStore()
})
beforeEach(async () => {
  receiver = await openReceiver()
})
afterEach(() => stage.clear())
afterAll(() => stage.close())

const settle = () => stage.openProcess().dispatcher.settle()
const addWebhook = (changes: Partial<Webhook> = {}) => stage.addWebhook(storeId, { url: receiver.url, ...changes })
const key = ({ id }: Webhook) => ({ storeId_id: { storeId, id } })

/** Deliveries that wait for their first attempt, without one being made. */
async function pendingOf(webhook: Webhook, count = 1): Promise<void> {
  for (let number = 1; number <= count; number++) {
    const event = await stage.addEvent(storeId, { eventType: 200, sequence: BigInt(number) })
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
    const free = { ...everything, slots: 15 }
    const one: Claim[] = []
    const commit = await hold(stage.db, async (tx) => one.push(...(await claimDue(tx, stage.now(), free))))
    const other = await claimDue(stage.db, stage.now(), free)
    await commit()
    expect(new Set([...one, ...other].map(({ id }) => id)).size).toBe(30)
  })
})

describe('a process that is killed', () => {
  test('leaves its claims to others as soon as they are over, and not before', async () => {
    const webhook = await addWebhook()
    await pendingOf(webhook)
    const claimed = await claimDue(stage.db, stage.now(), everything)
    expect(claimed).toMatchObject([{ attempts: 1, triesBefore: 0 }])

    stage.clock.ms += LEASE_MS - 1
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
    const { release, answer } = held(status(500))
    receiver.answer = answer
    const frozen = stage.openProcess()
    const first = frozen.dispatcher.settle()
    await receiver.came(1)

    stage.clock.ms += LEASE_MS
    receiver.answer = status(200)
    await settle()
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered', attempts: 2, status: 200 }])
    const [once, again] = receiver.arrivals
    expect(again?.headers['webhook-id']).toBe(once?.headers['webhook-id'])
    expect(again?.text).toBe(once?.text)

    stage.clock.ms -= LEASE_MS
    release()
    await first
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered', attempts: 2, status: 200 }])
    expect(await stage.attemptsOf(webhook)).toMatchObject([
      { number: 2, status: 200 },
      { number: 1, status: 500 },
    ])
  })
})

describe('slots', () => {
  test('a webhook has twenty; the next of its deliveries go as soon as one ends, and others do not wait', async () => {
    const slow = await addWebhook()
    const quick = await openReceiver()
    const other = await addWebhook({ url: quick.url })
    const { release, answer } = held()
    receiver.answer = answer
    await stage.addEvents(storeId, 50)
    const { dispatcher } = stage.openProcess({ pollMs: 600_000 })
    dispatcher.start()
    await quick.came(50)
    await receiver.came(20)
    await vi.waitUntil(async () => (await stage.attemptsOf(other)).length === 50)
    expect(receiver.arrivals).toHaveLength(20)

    release()
    await receiver.came(50)
    await dispatcher.settle()
    const deliveries = await stage.deliveriesOf(slow)
    expect(deliveries.every(({ state, attempts }) => state === 'delivered' && attempts === 1)).toBe(true)
    expect(receiver.arrivals).toHaveLength(50)
  })

  test('one of which the last attempt failed has two, and twenty again as soon as one succeeds', async () => {
    const webhook = await addWebhook({ failingSince: stage.now() })
    await pendingOf(webhook, 30)
    const { release, answer } = held()
    receiver.answer = (response, arrival) => (receiver.arrivals.length <= 2 ? status(200) : answer)(response, arrival)
    // Until then, nobody can note that it is well again.
    const commit = await hold(stage.db, (tx) => tx.webhook.update({ where: key(webhook), data: { name: 'Another' } }))
    const { dispatcher } = stage.openProcess({ pollMs: 600_000 })
    dispatcher.start()
    await receiver.came(2 + 2)
    const underWay = { [keyOf({ storeId, webhookId: webhook.id })]: 2 }
    expect(await claimDue(stage.db, stage.now(), { ...everything, underWay })).toEqual([])

    await commit()
    await receiver.came(2 + 20)
    expect(receiver.arrivals).toHaveLength(2 + 20)
    release()
    await dispatcher.settle()
    expect(receiver.arrivals).toHaveLength(30)
  })

  test('failing ones have 250 together, and the others all the rest of 500', async () => {
    const failing = await Promise.all(
      Array.from({ length: 126 }, () => addWebhook({ eventType: 200, failingSince: stage.now() })),
    )
    const others = await Promise.all(Array.from({ length: 13 }, () => addWebhook({ eventType: 201 })))
    await stage.db.$executeRaw`
      INSERT INTO "Event" ("storeId", "eventType", "recordId", "body", "createdAt")
      SELECT ${storeId}, "type", n, '{}', ${stage.now()}
      FROM (VALUES (200, 2), (201, 20)) AS "wanted" ("type", "count"), generate_series(1, "count") AS n`
    const { release, answer } = held()
    receiver.answer = answer
    const settled = stage.openProcess().dispatcher.settle()
    await receiver.came(500)
    const underWay = await stage.db.delivery.groupBy({ by: ['webhookId'], where: { attempts: 1 }, _count: true })
    const countOf = (webhooks: Webhook[]) =>
      underWay
        .filter(({ webhookId }) => webhooks.some(({ id }) => id === webhookId))
        .reduce((sum, { _count }) => sum + _count, 0)
    expect(countOf(failing)).toBe(250)
    expect(countOf(others)).toBe(250)

    release()
    await settled
    expect(receiver.arrivals).toHaveLength(126 * 2 + 13 * 20)
  })

  test('where there are too few, webhooks have their turn one after the other', async () => {
    const webhooks = [await addWebhook(), await addWebhook(), await addWebhook()]
    for (const webhook of webhooks) await pendingOf(webhook, 2)
    const ids = webhooks.map(({ id }) => id)
    const claim = async (after: FreeSlots['after']) => {
      const claims = await claimDue(stage.db, stage.now(), { ...everything, slots: 1, after })
      return claims[0] ?? null
    }
    let last: { storeId: number; webhookId: number } = { storeId: 0, webhookId: 0 }
    const turns: (number | undefined)[] = []
    for (let turn = 0; turn < 7; turn++) {
      const claimed = await claim(last)
      turns.push(claimed?.webhookId)
      last = claimed ?? last
    }
    expect(turns).toEqual([...ids, ...ids, undefined])
  })

  test('webhooks whose last answer took two seconds have those of failing ones, so that a quick one finds room', async () => {
    await Promise.all(Array.from({ length: 30 }, () => addWebhook({ eventType: 200 })))
    const happen = (count: number) => stage.db.$executeRaw`
      WITH "event" AS (
        INSERT INTO "Event" ("storeId", "sequence", "eventType", "recordId", "body", "createdAt")
        SELECT ${storeId}, n, 200, n, '{}', ${stage.now()} FROM generate_series(1, ${count}::int) AS n RETURNING "id"
      )
      INSERT INTO "Delivery" ("storeId", "webhookId", "eventId", "state", "dueAt", "createdAt")
      SELECT "storeId", "Webhook"."id", "event"."id", 'pending', ${stage.now()}, ${stage.now()} FROM "Webhook", "event"`
    const slots = new Slots()
    const claim = async () => {
      const free = slots.free()
      if (!free) return []
      const claims = await claimDue(stage.db, stage.now(), free)
      slots.occupy(free, claims)
      return claims
    }
    await happen(1)
    for (const each of await claim()) slots.release(each, 2_000)

    await happen(20)
    const ofSlow = await claim()
    expect(ofSlow).toHaveLength(SLOTS_OF_ALL_FAILING)
    const quick = await addWebhook({ eventType: 201 })
    await pendingOf(quick, 3)
    expect((await claim()).map(({ webhookId }) => webhookId)).toEqual([quick.id, quick.id, quick.id])

    // One quick answer, and it is among the others again.
    const [first] = ofSlow
    if (!first) throw new Error('Nothing was claimed')
    slots.release(first, 1_999)
    expect(slots.free()?.slow).toHaveLength(29)
    expect(slots.free()?.slow).not.toContain(keyOf(first))
  })
})

describe('the memory', () => {
  /** Deliveries of records of so many bytes. */
  async function pendingOfSize(webhook: Webhook, ...sizes: number[]): Promise<void> {
    for (const size of sizes) {
      await stage.db.$executeRaw`
        WITH "event" AS (
          INSERT INTO "Event" ("storeId", "sequence", "eventType", "recordId", "body", "createdAt")
          SELECT ${storeId}, coalesce(max("sequence"), 0) + 1, 200, 1, '"' || repeat('x', ${size}::int - 2) || '"', ${stage.now()}
          FROM "Event" RETURNING "id"
        )
        INSERT INTO "Delivery" ("storeId", "webhookId", "eventId", "state", "dueAt", "createdAt")
        SELECT ${storeId}, ${webhook.id}, "id", 'pending', ${stage.now()}, ${stage.now()} FROM "event"`
    }
  }

  test('holds 64 MB of records at once; the rest goes as those end', async () => {
    const webhook = await addWebhook()
    await pendingOfSize(webhook, ...Array(19).fill(BYTES / 16))
    const { release, answer } = held()
    receiver.answer = answer
    const { dispatcher } = stage.openProcess({ pollMs: 600_000 })
    dispatcher.start()
    await receiver.came(16)
    expect(await stage.db.delivery.count({ where: { attempts: 1 } })).toBe(16)

    release()
    await receiver.came(19)
    await dispatcher.settle()
    const deliveries = await stage.deliveriesOf(webhook)
    expect(deliveries.every(({ state, attempts }) => state === 'delivered' && attempts === 1)).toBe(true)
  })

  test('takes one record however large, if there is no other', async () => {
    await pendingOfSize(await addWebhook(), 1_000, 10)
    expect(await claimDue(stage.db, stage.now(), { ...everything, bytes: 999, isIdle: false })).toEqual([])
    expect(await claimDue(stage.db, stage.now(), { ...everything, bytes: 999 })).toHaveLength(1)
  })

  test('is not filled by failing webhooks alone', async () => {
    const failing = await Promise.all(Array.from({ length: 4 }, () => addWebhook({ failingSince: stage.now() })))
    for (const webhook of failing) await pendingOfSize(webhook, BYTES / 8, BYTES / 8)
    const well = await addWebhook()
    await pendingOfSize(well, 100)
    const claims = await claimDue(stage.db, stage.now(), everything)
    expect(claims.map(({ webhookId }) => webhookId)).toContain(well.id)
  })

  test('where it is full of large records, webhooks have their turn one after the other', async () => {
    const large = await addWebhook()
    const small = await addWebhook()
    await pendingOfSize(large, ...Array(20).fill(BYTES / 8))
    await pendingOfSize(small, 100)
    const slots = new Slots()
    const claimed: Claim[] = []
    for (let turn = 0; turn < 3 && !claimed.some(({ webhookId }) => webhookId === small.id); turn++) {
      const [oldest] = slots.claims
      if (oldest) slots.release(oldest, 0)
      const free = slots.free()
      if (!free) throw new Error('There are no free slots')
      const claims = await claimDue(stage.db, stage.now(), free)
      slots.occupy(free, claims)
      claimed.push(...claims)
    }
    expect(claimed.map(({ webhookId }) => webhookId)).toContain(small.id)
  })
})

describe('a webhook that changes while an attempt is under way', () => {
  test('deleted: nothing is left, and nothing goes wrong', async () => {
    const webhook = await addWebhook()
    const other = await addWebhook()
    await stage.addEvent(storeId)
    const { release, answer } = held()
    receiver.answer = answer
    const settled = stage.openProcess().dispatcher.settle()
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
    const { release, answer } = held()
    receiver.answer = answer
    const settled = stage.openProcess().dispatcher.settle()
    await receiver.came(2)
    const commit = await hold(stage.db, (tx) => tx.webhook.delete({ where: key(webhook) }))
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
    const commit = await hold(stage.db, (tx) => tx.webhook.update({ where: key(webhook), data: { name: 'Another' } }))
    const { release, answer } = held()
    later.answer = answer
    receiver.answer = (response) => response.writeHead(500).end(release)
    const settled = stage.openProcess().dispatcher.settle()
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
    const { release, answer } = held()
    receiver.answer = answer
    const settled = stage.openProcess().dispatcher.settle()
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
    const { release, answer } = held(status(500))
    receiver.answer = answer
    const settled = stage.openProcess().dispatcher.settle()
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
    const { release, answer } = held(status(500))
    receiver.answer = answer
    const settled = stage.openProcess().dispatcher.settle()
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
    await stage.addEvents(storeId, 21)
    const { release, answer } = held()
    receiver.answer = answer
    const { dispatcher, end } = stage.openProcess()
    dispatcher.start()
    await receiver.came(20)
    const stopped = dispatcher.stop()
    release()
    await stopped
    dispatcher.wake()
    await end()
    const states = (await stage.deliveriesOf(webhook)).map(({ state, attempts }) => `${state} ${attempts}`)
    expect(states.toSorted()).toEqual([...Array(20).fill('delivered 1'), 'pending 0'])
    expect(receiver.arrivals).toHaveLength(20)
  })

  test('does not send what was claimed at that moment', async () => {
    const webhook = await addWebhook()
    await pendingOf(webhook)
    const commit = await hold(stage.db, (tx) => tx.$executeRaw`LOCK TABLE "Event" IN ACCESS EXCLUSIVE MODE`)
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
    const { release, answer } = held(status(500))
    receiver.answer = answer
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
    const settled = stage.openProcess().dispatcher.settle()
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
    stage.clock.ms += LEASE_MS
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
