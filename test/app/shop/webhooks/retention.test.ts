import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Webhook } from '../../../../src/foundation/database/generated/client.ts'
import { createSweeper } from '../../../../src/foundation/database/sweeper.ts'
import { deliverySweep } from '../../../../src/shop/webhooks/dispatch/retention.ts'
import { holdIn } from '../../../support/held.ts'
import { shared } from '../../../support/shared.ts'
import { openReceiver, type Receiver, status } from './dispatch-receiver.ts'
import { CUSTOMER_NEW, DAY_MS, HOUR_MS, ORDER_NEW, openStage } from './dispatch-stage.ts'

const KEPT_MS = 30 * DAY_MS

let storeId: number
let receiver: Receiver
let webhook: Webhook

const stage = await shared(openStage())
beforeEach(async () => {
  storeId = await stage.addStore()
  receiver = await openReceiver()
  webhook = await stage.addWebhook(storeId, { url: receiver.url })
})
afterEach(() => stage.clear())

const settle = () => stage.settle()
const sweep = () => deliverySweep(stage)(() => false)

async function left() {
  const { db } = stage
  const cut = await db.eventCut.findFirst({ where: { storeId, eventType: ORDER_NEW } })
  return {
    events: await db.event.count({ where: { storeId } }),
    deliveries: await db.delivery.count({ where: { storeId } }),
    attempts: await db.deliveryAttempt.count({ where: { delivery: { storeId } } }),
    deletedThrough: Number(cut?.deletedThrough ?? 0),
  }
}

test('attempts, deliveries and events are kept for 30 days, and the feed tells how far it was cut', async () => {
  await stage.addEvents(storeId, 2)
  await settle()
  stage.clock.ms += HOUR_MS
  await stage.addEvent(storeId)
  await settle()
  stage.clock.ms += KEPT_MS - HOUR_MS
  await sweep()
  expect(await left()).toEqual({ events: 3, deliveries: 3, attempts: 3, deletedThrough: 0 })

  stage.clock.ms += 1
  await sweep()
  expect(await left()).toEqual({ events: 1, deliveries: 1, attempts: 1, deletedThrough: 2 })
  expect(Number((await stage.db.eventFeed.findUniqueOrThrow({ where: { storeId } })).lastSequence)).toBe(3)

  stage.clock.ms += HOUR_MS
  await sweep()
  expect(await left()).toEqual({ events: 0, deliveries: 0, attempts: 0, deletedThrough: 3 })
  await sweep()
  expect(await left()).toEqual({ events: 0, deliveries: 0, attempts: 0, deletedThrough: 3 })
})

test('the numbers go on where they were', async () => {
  await stage.addEvents(storeId, 2)
  await settle()
  stage.clock.ms += KEPT_MS + 1
  await sweep()
  const { id } = await stage.addEvent(storeId)
  await settle()
  expect((await stage.db.event.findUniqueOrThrow({ where: { id } })).sequence).toBe(3n)
})

test('what still waits for an attempt stays however old, with its event; its attempts go', async () => {
  receiver.answer = status(500)
  await stage.addEvents(storeId, 2)
  await settle()
  await stage.db.delivery.updateMany({ data: { dueAt: new Date(stage.clock.ms + 2 * KEPT_MS) } })
  const [first] = await stage.deliveriesOf(webhook)
  await stage.db.delivery.update({
    where: { id: first?.id ?? 0n },
    data: { state: 'failed', dueAt: null, endedAt: stage.now() },
  })
  stage.clock.ms += KEPT_MS + 1
  await sweep()
  expect(await left()).toEqual({ events: 1, deliveries: 1, attempts: 0, deletedThrough: 1 })
  expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'pending', attempts: 1 }])
})

test('a delivery that ended late stays for 30 days from then, and so does its event', async () => {
  receiver.answer = status(500)
  await stage.addEvent(storeId)
  await settle()
  await stage.db.delivery.updateMany({ data: { dueAt: new Date(stage.clock.ms + 3 * DAY_MS) } })
  stage.clock.ms += 3 * DAY_MS
  receiver.answer = status(200)
  await settle()
  stage.clock.ms += KEPT_MS - HOUR_MS
  await sweep()
  expect(await left()).toEqual({ events: 1, deliveries: 1, attempts: 1, deletedThrough: 0 })
})

test('an event that nobody has numbered yet stays', async () => {
  await stage.addEvent(storeId)
  stage.clock.ms += KEPT_MS + 1
  await sweep()
  expect(await left()).toMatchObject({ events: 1 })
  expect(stage.warnings).toEqual([])
})

test('a test leaves nothing in the feed, also when it goes', async () => {
  await stage.addEvent(storeId)
  await settle()
  await stage.addEvent(storeId, { sequence: 0n, createdAt: new Date(stage.clock.ms - HOUR_MS) })
  stage.clock.ms += KEPT_MS - HOUR_MS + 1
  await sweep()
  expect(await left()).toMatchObject({ events: 1, deletedThrough: 0 })
})

test('other stores keep their own account', async () => {
  const other = await stage.addStore()
  await stage.addEvents(other, 3)
  await settle()
  stage.clock.ms += KEPT_MS
  await stage.addEvent(storeId)
  await settle()
  stage.clock.ms += 1
  await sweep()
  expect(await stage.db.eventCut.findMany()).toEqual([{ storeId: other, eventType: ORDER_NEW, deletedThrough: 3n }])
})

test('each kind has its own account of how far it was cut', async () => {
  for (const eventType of [CUSTOMER_NEW, ORDER_NEW, CUSTOMER_NEW]) await stage.addEvent(storeId, { eventType })
  await settle()
  stage.clock.ms += DAY_MS
  await stage.addEvent(storeId)
  await settle()
  stage.clock.ms += KEPT_MS - DAY_MS + 1
  await sweep()
  expect(await stage.db.eventCut.findMany({ orderBy: { eventType: 'asc' } })).toEqual([
    { storeId, eventType: ORDER_NEW, deletedThrough: 2n },
    { storeId, eventType: CUSTOMER_NEW, deletedThrough: 3n },
  ])
})

test('thousands go in small steps, past what has to stay', async () => {
  await stage.addEvents(storeId, 2_500)
  await stage.db.webhook.updateMany({ where: { id: { not: webhook.id } }, data: { enabled: false } })
  await settle()
  await stage.db.delivery.updateMany({
    where: { storeId, event: { recordId: { lte: 1_100 } } },
    data: { endedAt: new Date(stage.clock.ms + DAY_MS) },
  })
  stage.clock.ms += KEPT_MS + 1
  await sweep()
  expect(await left()).toEqual({ events: 1_100, deliveries: 1_100, attempts: 0, deletedThrough: 2_500 })
})

test('what somebody holds stays until the next time, and nobody waits for it', async () => {
  await stage.addEvents(storeId, 2)
  await settle()
  stage.clock.ms += KEPT_MS + 1
  const [first] = await stage.deliveriesOf(webhook)
  const id = first?.id ?? 0n
  const commit = await holdIn(stage.db, (tx) => tx.delivery.update({ where: { id }, data: { reason: 'held' } }))
  await sweep()
  expect(await left()).toMatchObject({ events: 1, deliveries: 1 })
  await commit()
  await sweep()
  expect(await left()).toMatchObject({ events: 0, deliveries: 0 })
  expect(stage.warnings).toEqual([])
})

test('of a webhook that is deleted, what waits goes with it, and its log with the next sweep; its events stay', async () => {
  const other = await stage.addWebhook(storeId, { url: receiver.url })
  await stage.addEvents(storeId, 1_200)
  await settle()
  receiver.answer = status(500)
  await stage.addEvent(storeId)
  await settle()
  const countOf = (id: number) => stage.db.delivery.count({ where: { storeId, webhookId: id } })
  expect(await countOf(webhook.id)).toBe(1_201)

  await stage.db.webhook.delete({ where: { storeId_id: { storeId, id: webhook.id } } })
  expect(await countOf(webhook.id)).toBe(1_200)
  expect(await stage.db.delivery.count({ where: { storeId, webhookId: webhook.id, state: 'pending' } })).toBe(0)
  await sweep()
  expect(await countOf(webhook.id)).toBe(0)
  expect(await countOf(other.id)).toBe(1_201)
  expect(await left()).toMatchObject({ events: 1_201, attempts: 1_201 })
})

test('two processes do so at once', async () => {
  await stage.addEvents(storeId, 1_500)
  await settle()
  stage.clock.ms += KEPT_MS + 1
  await Promise.all([sweep(), sweep()])
  await sweep()
  expect(await left()).toEqual({ events: 0, deliveries: 0, attempts: 0, deletedThrough: 1_500 })
  expect(stage.warnings).toEqual([])
})

test('a process does so when it starts, and goes on after a sweep that failed', async () => {
  await stage.addEvent(storeId)
  await settle()
  stage.clock.ms += KEPT_MS + 1
  const log = { warn: vi.fn() }
  const failing = () => Promise.reject(new Error('away'))
  const sweeper = createSweeper({ log, sweeps: { 'old things': failing, 'old events': deliverySweep(stage) } })
  sweeper.start()
  await vi.waitUntil(async () => (await left()).events === 0)
  await sweeper.stop()
  expect(log.warn.mock.calls).toEqual([[{ err: new Error('away') }, 'old things could not be deleted']])
})
