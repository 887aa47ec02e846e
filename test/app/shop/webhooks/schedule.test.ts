import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Webhook } from '../../../../src/foundation/database/generated/client.ts'
import { leases } from '../../../../src/foundation/database/leases.ts'
import { nextTry } from '../../../../src/foundation/outbound/retry-schedule.ts'
import { holdIn, untilItWaits } from '../../../support/held.ts'
import { holdAnswers } from '../../../support/receiver.ts'
import { retryWaits as waits } from '../../../support/retry-waits.ts'
import { openReceiver, type Receiver, status } from './dispatch-receiver.ts'
import { CUSTOMER_NEW, DAY_MS, HOUR_MS, MINUTE_MS, openStage, SECOND_MS, type Stage } from './dispatch-stage.ts'

const at = new Date('2026-03-01T12:00:00Z')
const waited = (date: Date | null) => (date === null ? null : date.getTime() - at.getTime())

describe('the next try', () => {
  test.each(waits.map((wait, index) => [index + 1, wait] as const))(
    'after number %i comes %i ms later, a fifth more or less',
    (tries, wait) => {
      expect(waited(nextTry(tries, at, null, 0))).toBe(wait * 0.8)
      expect(waited(nextTry(tries, at, null, 0.5))).toBe(wait)
      expect(waited(nextTry(tries, at, null, 0.999_999))).toBeGreaterThan(wait * 1.199)
      expect(waited(nextTry(tries, at, null, 0.999_999))).toBeLessThanOrEqual(wait * 1.2)
    },
  )

  test('after number 10 does not come, whatever the receiver asks for', () => {
    expect(nextTry(10, at, null, 0.5)).toBeNull()
    expect(nextTry(10, at, '60', 0.5)).toBeNull()
    expect(nextTry(11, at, null, 0.5)).toBeNull()
  })

  test('all nine waits make about 75 hours', () => {
    expect(waits.reduce((sum, wait) => sum + wait) / HOUR_MS).toBeCloseTo(75.6, 1)
  })

  test.each([
    ['seconds', '120', 120 * SECOND_MS],
    ['a date', 'Sun, 01 Mar 2026 12:10:00 GMT', 10 * MINUTE_MS],
    ['a date as RFC 850 writes it', 'Sunday, 01-Mar-26 12:10:00 GMT', 10 * MINUTE_MS],
    ['a date as C writes it', 'Sun Mar  1 12:10:00 2026', 10 * MINUTE_MS],
    ['more than a day', '1000000', DAY_MS],
    ['more than numbers can say', '9'.repeat(400), DAY_MS],
    ['a date in a year', 'Mon, 01 Mar 2027 12:00:00 GMT', DAY_MS],
  ])('waits for as long as the receiver asks, a day at most: %s', (_, retryAfter, wait) => {
    expect(waited(nextTry(1, at, retryAfter, 0.5))).toBe(wait)
  })

  test.each([
    ['less than the schedule', '1'],
    ['nothing', '0'],
    ['the past', 'Sun, 01 Mar 2020 12:00:00 GMT'],
    ['a negative number', '-100'],
    ['a fraction', '100.5'],
    ['two values', '100, 200'],
    ['words', 'tomorrow'],
    ['nonsense', '\u0000'],
    ['an empty text', ''],
  ])('is not moved by a receiver that asks for %s', (_, retryAfter) => {
    expect(waited(nextTry(1, at, retryAfter, 0.5))).toBe(5 * SECOND_MS)
  })
})

describe('with a moved clock', () => {
  let stage: Stage
  let storeId: number
  let receiver: Receiver
  let webhook: Webhook

  beforeAll(async () => {
    stage = await openStage()
    storeId = await stage.addStore()
  })
  beforeEach(async () => {
    receiver = await openReceiver(status(500))
    webhook = await stage.addWebhook(storeId, { url: receiver.url })
  })
  afterEach(async () => {
    // A statement that failed explains what is missing.
    const warnings = [...stage.warnings]
    await stage.clear()
    expect(warnings).toEqual([])
  })
  afterAll(() => stage.close())

  const settle = () => stage.settle()
  const key = () => ({ storeId_id: { storeId, id: webhook.id } })

  async function delivery() {
    const [found, ...others] = await stage.deliveriesOf(webhook)
    expect(others).toEqual([])
    if (!found) throw new Error('There is no delivery')
    return found
  }

  /** To the moment that the delivery is due, and not a millisecond more. */
  async function untilDue() {
    stage.clock.ms = (await delivery()).dueAt?.getTime() ?? Number.NaN
  }

  test('the whole schedule: ten attempts, each when it is due and not before, then it is given up', async () => {
    await stage.addEvent(storeId)
    for (const [index, wait] of waits.entries()) {
      await settle()
      const { state, dueAt, endedAt, attempts, reason } = await delivery()
      expect({ state, endedAt, attempts, reason, arrived: receiver.arrivals.length }).toEqual({
        state: 'pending',
        endedAt: null,
        attempts: index + 1,
        reason: 'The answer has the status 500',
        arrived: index + 1,
      })
      const dueInMs = (dueAt?.getTime() ?? 0) - stage.clock.ms
      expect(dueInMs).toBeGreaterThanOrEqual(wait * 0.8)
      expect(dueInMs).toBeLessThanOrEqual(wait * 1.2)
      await untilDue()
      stage.clock.ms -= 1
      await settle()
      expect(receiver.arrivals).toHaveLength(index + 1)
      stage.clock.ms += 1
    }
    await settle()
    expect(await delivery()).toMatchObject({
      state: 'failed',
      dueAt: null,
      endedAt: stage.now(),
      attempts: 10,
      status: 500,
      reason: 'The answer has the status 500',
    })
    expect(receiver.arrivals).toHaveLength(10)
    const ids = new Set(receiver.arrivals.map(({ headers }) => headers['webhook-id']))
    expect(ids.size).toBe(1)
    const timestamps = new Set(receiver.arrivals.map(({ headers }) => headers['webhook-timestamp']))
    expect(timestamps.size).toBe(10)
    expect((await stage.attemptsOf(webhook)).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    stage.clock.ms += 30 * DAY_MS
    await settle()
    expect(receiver.arrivals).toHaveLength(10)
    // Only five days of failures pause it, and these were three.
    expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: true, pauseReason: null })
  })

  test('waits are not all the same', async () => {
    await stage.addEvents(storeId, 10)
    await settle()
    const dueAt = (await stage.deliveriesOf(webhook)).map((each) => each.dueAt?.getTime())
    expect(new Set(dueAt).size).toBeGreaterThan(1)
  })

  test('a success after failures ends it, and forgets them', async () => {
    await stage.addEvent(storeId)
    await settle()
    expect(await stage.webhookNow(webhook)).toMatchObject({ failingSince: stage.now() })
    const failedAt = stage.now()
    await untilDue()
    await settle()
    expect(await stage.webhookNow(webhook)).toMatchObject({ failingSince: failedAt })
    await untilDue()
    receiver.answer = status(204)
    await settle()
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 3, status: 204, reason: '', dueAt: null })
    expect(await stage.webhookNow(webhook)).toMatchObject({ failingSince: null })
  })

  test('Retry-After of any failed answer makes it later', async () => {
    receiver.answer = status(503, { 'retry-after': '3600' })
    await stage.addEvent(storeId)
    await settle()
    expect((await delivery()).dueAt).toEqual(new Date(stage.clock.ms + HOUR_MS))
  })

  test('sent again by hand, it begins the schedule anew', async () => {
    await stage.addEvent(storeId)
    await settle()
    await stage.db.delivery.updateMany({ data: { attempts: 10, triesBefore: 10, dueAt: stage.now() } })
    await settle()
    const { dueAt, state, attempts } = await delivery()
    expect({ state, attempts }).toEqual({ state: 'pending', attempts: 11 })
    expect((dueAt?.getTime() ?? 0) - stage.clock.ms).toBeLessThanOrEqual(6 * SECOND_MS)
  })

  test('a tenth attempt in which the process was killed is the last one', async () => {
    await stage.addEvent(storeId)
    await settle()
    await stage.db.delivery.updateMany({ data: { attempts: 10, dueAt: stage.now() } })
    await settle()
    expect(receiver.arrivals).toHaveLength(1)
    expect(await delivery()).toMatchObject({ state: 'failed', reason: 'The last attempt did not come to an end' })
  })

  describe('pausing', () => {
    const gone = 'The receiver answered 410: it wants no more notifications'
    const failing = 'Every attempt of five days failed'

    test('410 pauses the webhook at once and gives up what waits, with the reason; nothing is deleted', async () => {
      const other = await stage.addWebhook(storeId, { url: (await openReceiver(status(500))).url })
      await stage.addEvents(storeId, 2)
      await settle()
      const dueAt = (await stage.deliveriesOf(webhook)).map((each) => each.dueAt?.getTime() ?? Number.NaN)
      stage.clock.ms = Math.min(...dueAt)
      receiver.answer = status(410)
      await settle()
      expect(await stage.webhookNow(webhook)).toMatchObject({
        enabled: false,
        pauseReason: gone,
        disabledAt: stage.now(),
        disabledAtSequence: 2n,
      })
      const outcomes = (await stage.deliveriesOf(webhook)).map(({ state, reason }) => `${state}: ${reason}`)
      expect(outcomes.toSorted()).toEqual([
        'failed: The answer has the status 410',
        `failed: The webhook was paused: ${gone}`,
      ])
      expect(await stage.webhookNow(other)).toMatchObject({ enabled: true, pauseReason: null, disabledAt: null })
      expect(await stage.deliveriesOf(other)).toMatchObject([{ state: 'pending' }, { state: 'pending' }])

      await stage.addEvent(storeId)
      await settle()
      expect(await stage.deliveriesOf(webhook)).toHaveLength(2)
      expect(await stage.deliveriesOf(other)).toHaveLength(3)
    })

    const fail = async () => {
      await stage.addEvent(storeId)
      await settle()
    }

    test('a failure five days after the first of nothing but failures pauses it', async () => {
      for (const waitMs of [0, 2 * DAY_MS, 2 * DAY_MS, DAY_MS - 1]) {
        stage.clock.ms += waitMs
        await fail()
        expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: true })
      }
      stage.clock.ms += 1
      await fail()
      expect(await stage.webhookNow(webhook)).toMatchObject({
        enabled: false,
        pauseReason: failing,
        disabledAt: stage.now(),
        disabledAtSequence: 5n,
      })
      const deliveries = await stage.deliveriesOf(webhook)
      expect(deliveries.map(({ state }) => state)).toEqual(Array(5).fill('failed'))
      expect(deliveries.at(-1)).toMatchObject({
        reason: `The webhook was paused: ${failing}`,
        endedAt: stage.now(),
        dueAt: null,
      })
    })

    test('two failures with months of silence between them do not: they begin anew', async () => {
      await fail()
      await stage.db.delivery.updateMany({ data: { state: 'failed', dueAt: null, endedAt: stage.now() } })
      stage.clock.ms += 60 * DAY_MS
      await fail()
      const failingSince = stage.now()
      expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: true, pauseReason: null, failingSince })

      for (const waitMs of [2 * DAY_MS, 2 * DAY_MS, DAY_MS]) {
        stage.clock.ms += waitMs
        expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: true, failingSince })
        await fail()
      }
      expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: false, pauseReason: failing })
    })

    test.each([
      ['410', 410, null],
      ['the last failure of five days', 500, 5 * DAY_MS],
    ] as const)(
      '%s from the former address does not pause it, when it has another one by now',
      async (_, code, ageMs) => {
        const failingSince = ageMs === null ? null : new Date(stage.clock.ms - ageMs)
        await stage.db.webhook.update({
          where: key(),
          data: { failingSince, lastFailedAt: failingSince && stage.now() },
        })
        await stage.addEvent(storeId)
        const { release } = holdAnswers(receiver, status(code))
        const settled = settle()
        await receiver.came(1)
        await stage.db.webhook.update({ where: key(), data: { url: 'http://127.0.0.1:1/moved' } })
        release()
        await settled
        expect(await stage.attemptsOf(webhook)).toMatchObject([{ status: code }])
        expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: true, pauseReason: null, disabledAt: null })
      },
    )

    test('one success in five days is enough to go on', async () => {
      await stage.addEvent(storeId)
      await settle()
      stage.clock.ms += 3 * DAY_MS
      receiver.answer = status(200)
      await settle()
      stage.clock.ms += 2 * DAY_MS
      receiver.answer = status(500)
      await stage.addEvent(storeId)
      await settle()
      expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: true, failingSince: stage.now() })
    })

    test('a success while the last failure was under way counts', async () => {
      const failingSince = new Date(stage.clock.ms - 5 * DAY_MS)
      await stage.db.webhook.update({ where: key(), data: { failingSince } })
      await stage.addEvent(storeId)
      const { release } = holdAnswers(receiver, status(500))
      const settled = settle()
      await receiver.came(1)
      await stage.db.webhook.update({ where: key(), data: { failingSince: null } })
      release()
      await settled
      expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: true, failingSince: stage.now() })
    })

    test('who disables it at the same moment is not overruled', async () => {
      await stage.addEvent(storeId)
      const { release } = holdAnswers(receiver, status(410))
      const settled = settle()
      await receiver.came(1)
      const disabledAt = new Date(stage.clock.ms - MINUTE_MS)
      const commit = await holdIn(stage.db, (tx) =>
        tx.webhook.update({ where: key(), data: { enabled: false, disabledAt, disabledAtSequence: 1 } }),
      )
      release()
      await commit()
      await settled
      expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: false, pauseReason: null, disabledAt })
    })

    test('waits for who is changing the webhook; the results of others do not', async () => {
      await stage.db.webhook.update({ where: key(), data: { failingSince: stage.now() } })
      receiver.answer = status(410)
      const commit = await holdIn(stage.db, (tx) => tx.webhook.update({ where: key(), data: { name: 'Another' } }))
      await stage.addEvent(storeId)
      const { dispatcher } = stage.openProcess()
      dispatcher.start()
      await vi.waitUntil(async () => (await stage.attemptsOf(webhook)).length === 1)
      const { url } = await openReceiver()
      const other = await stage.addWebhook(storeId, { url, eventType: CUSTOMER_NEW })
      await stage.addEvent(storeId, { eventType: CUSTOMER_NEW })
      dispatcher.wake()
      await vi.waitUntil(async () => (await stage.attemptsOf(other)).length === 1)
      expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: true })
      await commit()
      await dispatcher.settle()
      expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: false, name: 'Another', pauseReason: gone })
    })

    test('an event that gets its number at the same moment is given up with the others, and known to be told of', async () => {
      await stage.db.webhook.update({ where: key(), data: { failingSince: stage.now() } })
      await stage.addEvent(storeId)
      await settle()
      await stage.db.delivery.updateMany({ data: { dueAt: stage.now() } })
      // As another process that numbers an event does.
      const commit = await holdIn(stage.db, async (tx) => {
        await tx.$queryRaw`SELECT 1 FROM "Webhook" WHERE "storeId" = ${storeId} AND "id" = ${webhook.id} FOR KEY SHARE`
        await tx.eventFeed.update({ where: { storeId }, data: { lastSequence: 2 } })
        const { id: eventId } = await stage.addEvent(storeId, { sequence: 2n }, tx)
        const times = { dueAt: new Date(stage.clock.ms + DAY_MS), createdAt: stage.now() }
        await tx.delivery.create({ data: { storeId, webhookId: webhook.id, eventId, state: 'pending', ...times } })
      })
      receiver.answer = status(410)
      const settled = settle()
      await untilItWaits(stage, settled)
      await commit()
      await settled
      expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: false, disabledAtSequence: 2n })
      expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'failed' }, { state: 'failed' }])
    })

    test('two processes do so once', async () => {
      await stage.addEvents(storeId, 2)
      receiver.answer = status(410)
      await Promise.all([settle(), settle()])
      expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: false, pauseReason: gone })
      expect((await stage.deliveriesOf(webhook)).every(({ state }) => state === 'failed')).toBe(true)
      expect(stage.warnings).toEqual([])
    })
  })

  describe('a test', () => {
    const addTest = async () => {
      const event = await stage.addEvent(storeId, { sequence: 0n })
      const row = { storeId, webhookId: webhook.id, eventId: event.id, state: 'pending' }
      await stage.db.delivery.create({ data: { ...row, dueAt: stage.now(), createdAt: stage.now() } })
    }

    test('is tried once, and its failure says nothing about the webhook, not even 410', async () => {
      receiver.answer = status(410, { 'retry-after': '5' })
      await addTest()
      await settle()
      expect(await delivery()).toMatchObject({ state: 'failed', attempts: 1, status: 410, endedAt: stage.now() })
      expect(await stage.webhookNow(webhook)).toMatchObject({ enabled: true, failingSince: null, pauseReason: null })
    })

    test('does not end a row of failures', async () => {
      const failingSince = new Date(stage.clock.ms - DAY_MS)
      await stage.db.webhook.update({ where: key(), data: { failingSince } })
      receiver.answer = status(200)
      await addTest()
      await settle()
      expect(await delivery()).toMatchObject({ state: 'delivered' })
      expect(await stage.webhookNow(webhook)).toMatchObject({ failingSince })
    })

    test('is sent although the webhook is disabled, with the sequence 0', async () => {
      await stage.db.webhook.update({ where: key(), data: { enabled: false } })
      receiver.answer = status(200)
      await addTest()
      await settle()
      expect(await delivery()).toMatchObject({ state: 'delivered' })
      expect(receiver.arrivals[0]?.headers['webhook-sequence']).toBe('0')
    })

    test('is not repeated when the process was killed in it', async () => {
      await addTest()
      await stage.db.delivery.updateMany({
        data: { attempts: 1, dueAt: new Date(stage.clock.ms + leases.delivery.ms) },
      })
      stage.clock.ms += leases.delivery.ms
      await settle()
      expect(receiver.arrivals).toEqual([])
      expect(await delivery()).toMatchObject({ state: 'failed', reason: 'The last attempt did not come to an end' })
    })
  })
})
