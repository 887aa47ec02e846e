import { afterEach, beforeEach, expect, test } from 'vitest'
import { deliveriesChannel } from '../../../../src/engine/recording/events.ts'
import { listen } from '../../../../src/foundation/database/connection.ts'
import { numberEvents } from '../../../../src/shop/webhooks/dispatch/number.ts'
import { holdIn } from '../../../support/held.ts'
import { shared } from '../../../support/shared.ts'
import { openReceiver } from './dispatch-receiver.ts'
import { CUSTOMER_NEW, ORDER_NEW, openStage } from './dispatch-stage.ts'

let storeId: number

const stage = await shared(openStage())
beforeEach(async () => {
  storeId = await stage.addStore()
})
afterEach(() => stage.clear())

const settle = () => stage.openProcess().dispatcher.settle()

/** Sequences of the store's events in the order of their ids. */
async function sequences(ofStore = storeId): Promise<(number | null)[]> {
  const events = await stage.db.event.findMany({ where: { storeId: ofStore }, orderBy: { id: 'asc' } })
  return events.map(({ sequence }) => (sequence === null ? null : Number(sequence)))
}

async function lastSequence(): Promise<number> {
  const feed = await stage.db.eventFeed.findUniqueOrThrow({ where: { storeId } })
  return Number(feed.lastSequence)
}

test('events of each store are numbered from 1, without gaps and in the order of their ids, also those that nobody is told of', async () => {
  const other = await stage.addStore()
  for (const each of [storeId, other, storeId, storeId, other]) await stage.addEvent(each)
  await settle()
  expect(await sequences()).toEqual([1, 2, 3])
  expect(await sequences(other)).toEqual([1, 2])

  await stage.addEvent(storeId, { eventType: CUSTOMER_NEW })
  await settle()
  expect(await sequences()).toEqual([1, 2, 3, 4])
  expect(await lastSequence()).toBe(4)
})

test('many events are numbered in several steps, which join without a gap', async () => {
  await stage.addEvents(storeId, 1_201)
  await settle()
  expect(await sequences()).toEqual(Array.from({ length: 1_201 }, (_, index) => index + 1))
  expect(await lastSequence()).toBe(1_201)
})

test('what would make more than about 5,000 deliveries is numbered in several steps, an event at least in each', async () => {
  const addWebhooks = (from: number, to: number) => stage.db.$executeRaw`
    INSERT INTO "Webhook"
      ("storeId", "id", "name", "url", "eventType", "format", "enabled", "createdAt", "updatedAt", "updatedBy", "secretSealed")
    SELECT ${storeId}, n, '', 'http://127.0.0.1:1/', ${ORDER_NEW}, 'JSON', TRUE, ${stage.now()}, ${stage.now()}, '', ''
    FROM generate_series(${from}::int, ${to}::int) AS n`
  const number = () => numberEvents(stage.db, stage.now(), [], 'a process')
  await addWebhooks(1, 2_500)
  await stage.addEvents(storeId, 5)
  expect(await number()).toMatchObject({ events: 2, deliveries: 5_000, isFull: true })
  expect(await number()).toMatchObject({ events: 2, deliveries: 5_000, isFull: true })
  expect(await number()).toMatchObject({ events: 1, deliveries: 2_500, isFull: false })
  expect(await sequences()).toEqual([1, 2, 3, 4, 5])

  await addWebhooks(2_501, 5_001)
  await stage.addEvents(storeId, 2)
  expect(await number()).toMatchObject({ events: 1, deliveries: 5_001, isFull: true })
  expect(await number()).toMatchObject({ events: 1, deliveries: 5_001, isFull: false })
})

test('an event that is committed late gets a number after those that were seen before it, though its id is lower', async () => {
  const commitEarly = await holdIn(stage.db, (tx) => stage.addEvent(storeId, {}, tx))
  const commitLate = await holdIn(stage.db, (tx) => stage.addEvent(storeId, {}, tx))
  await stage.addEvent(storeId)
  await settle()
  expect(await sequences()).toEqual([1])

  await commitLate()
  await settle()
  expect(await sequences()).toEqual([2, 1])

  await commitEarly()
  await settle()
  expect(await sequences()).toEqual([3, 2, 1])
})

test('what is rolled back leaves no gap', async () => {
  const undone = stage.db.$transaction(async (tx) => {
    await stage.addEvent(storeId, {}, tx)
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  await stage.addEvent(storeId)
  await settle()
  expect(await sequences()).toEqual([1])
})

test('a reader of the feed never passes an event, while four write and two processes give out numbers', async () => {
  const EVENTS = 400
  const processes = [stage.openProcess(), stage.openProcess()]
  for (const { dispatcher } of processes) dispatcher.start()
  const write = async () => {
    for (let written = 0; written < EVENTS / 4; written++) {
      await stage.db.$transaction(async (tx) => {
        await stage.addEvent(storeId, {}, tx)
        // The id is taken; the commit comes later, in another order.
        if (Math.random() < 0.5) await tx.$queryRaw`SELECT 1`
      })
      for (const { dispatcher } of processes) dispatcher.wake()
    }
  }
  const read = async () => {
    const seen: number[] = []
    while (seen.length < EVENTS) {
      const events = await stage.db.event.findMany({
        where: { storeId, sequence: { gt: seen.at(-1) ?? 0 } },
        orderBy: { sequence: 'asc' },
        take: 7,
      })
      seen.push(...events.map(({ sequence }) => Number(sequence)))
    }
    return seen
  }
  const [seen] = await Promise.all([read(), write(), write(), write(), write()])
  expect(seen).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1))
  expect(await stage.db.event.count({ where: { storeId } })).toBe(EVENTS)
})

test('every enabled webhook of the store and the kind gets a delivery, and no other', async () => {
  const other = await stage.addStore()
  const receiver = await openReceiver()
  const { url } = receiver
  const wanted = [await stage.addWebhook(storeId, { url }), await stage.addWebhook(storeId, { url })]
  const unwanted = [
    await stage.addWebhook(storeId, { url, enabled: false }),
    await stage.addWebhook(storeId, { url, eventType: CUSTOMER_NEW }),
    await stage.addWebhook(other, { url }),
  ]
  await stage.addEvent(storeId)
  await settle()
  for (const webhook of wanted) expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered' }])
  for (const webhook of unwanted) expect(await stage.deliveriesOf(webhook)).toEqual([])
  expect(receiver.arrivals).toHaveLength(2)
})

test('other processes are told of new deliveries, and not of events without any', async () => {
  let told = 0
  const connected = Promise.withResolvers<void>()
  const listening = await listen(
    stage.url,
    { [deliveriesChannel]: () => (told += 1), heard: () => connected.resolve() },
    { onConnect: () => undefined, onLost: () => undefined },
  )
  try {
    await stage.addEvent(storeId)
    await settle()
    const receiver = await openReceiver()
    await stage.addWebhook(storeId, { url: receiver.url })
    await stage.addEvent(storeId)
    await settle()
    // Notifications come in the order of their commits.
    await stage.db.$executeRaw`SELECT pg_notify('heard', '')`
    await connected.promise
    expect(told).toBe(1)
  } finally {
    await listening.stop()
  }
})

test('while a webhook is being resumed, no event of its store gets past it; other stores do not wait', async () => {
  const other = await stage.addStore()
  const receiver = await openReceiver()
  const webhook = await stage.addWebhook(storeId, { url: receiver.url, enabled: false })
  await stage.addEvent(storeId)
  await stage.addEvent(other)
  const commit = await holdIn(stage.db, async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM "Webhook" WHERE "storeId" = ${storeId} AND "id" = ${webhook.id} FOR UPDATE`
    await tx.webhook.update({ where: { storeId_id: { storeId, id: webhook.id } }, data: { enabled: true } })
  })
  await settle()
  expect(await sequences()).toEqual([null])
  expect(await sequences(other)).toEqual([1])

  await commit()
  await settle()
  expect(await sequences()).toEqual([1])
  expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered' }])
})

test('five hundred events that have to wait do not keep those of other stores from their turn', async () => {
  const other = await stage.addStore()
  const webhook = await stage.addWebhook(storeId, { url: 'http://127.0.0.1:1/' })
  await stage.addEvents(storeId, 501)
  await stage.addEvent(other)
  const commit = await holdIn(stage.db, (tx) =>
    tx.webhook.delete({ where: { storeId_id: { storeId, id: webhook.id } } }),
  )
  await settle()
  expect(await sequences(other)).toEqual([1])
  expect((await sequences()).every((sequence) => sequence === null)).toBe(true)
  await commit()
})

test('a webhook that is deleted meanwhile gets no delivery, and the event its number all the same', async () => {
  const webhook = await stage.addWebhook(storeId, { url: 'http://127.0.0.1:1/' })
  await stage.addEvent(storeId)
  const commit = await holdIn(stage.db, (tx) =>
    tx.webhook.delete({ where: { storeId_id: { storeId, id: webhook.id } } }),
  )
  const process = stage.openProcess({ pollMs: 50 })
  process.dispatcher.start()
  await process.dispatcher.settle()
  expect(await sequences()).toEqual([null])
  await commit()
  while ((await sequences())[0] === null);
  expect(await sequences()).toEqual([1])
  expect(await stage.db.delivery.count()).toBe(0)
  expect(stage.warnings).toEqual([])
})

test('events without a kind that anybody knows are numbered too', async () => {
  await stage.addEvent(storeId, { eventType: ORDER_NEW + 200 })
  await settle()
  expect(await sequences()).toEqual([1])
})
