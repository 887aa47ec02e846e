import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  type Allotment,
  afterAnswer,
  allot,
  failing,
  type Grade,
  SLOT_BYTES,
  type Standing,
  type Usage,
  unknown,
} from '../../../src/webhooks/dispatch/allot.ts'
import type { Claim, DueWebhook } from '../../../src/webhooks/dispatch/claim.ts'
import type { Outcome } from '../../../src/webhooks/dispatch/decide.ts'
import { Slots } from '../../../src/webhooks/dispatch/slots.ts'

const best: Standing = { grade: 'proven', limit: 20 }

/** A webhook that shares nothing with one of another number. */
function dueWebhook(number: number, changes: Partial<DueWebhook> = {}): DueWebhook {
  const secrets = { secretSealed: '', formerSecretSealed: null, secretRotatedAt: null }
  return {
    storeId: number,
    webhookId: number,
    applicationId: number,
    url: `https://receiver-${number}.example/hook`,
    format: 'JSON',
    enabled: true,
    failingSince: null,
    subscriptionId: number,
    agreed: null,
    asked: null,
    bytes: 100,
    ...secrets,
    ...changes,
  }
}

/** So many of them, that have earned everything or what `changes` say. */
function webhooks(count: number, changes: (number: number) => Partial<Allotment> = () => ({})): Allotment[] {
  return Array.from({ length: count }, (_, index) => {
    const number = index + 1
    const webhook = { ...dueWebhook(number), ...changes(number) }
    const sharers = [`store ${webhook.storeId}`, `receiver ${number}`, `application ${number}`]
    const key = `${webhook.storeId}/${number}`
    return { sharers, ...best, turn: 0, storeTurn: 0, deliveries: 0, slots: 0, isShort: false, ...webhook, key }
  })
}

function allotted(candidates: Allotment[], underWay: readonly Usage[] = []): Allotment[] {
  allot(candidates, underWay)
  return candidates
}

/** What is under way once everything allotted has begun. */
function begun(candidates: Allotment[], underWay: readonly Usage[] = []): Allotment[] {
  return allotted(candidates, underWay).filter(({ deliveries }) => deliveries > 0)
}

function slotsIn(usages: readonly Usage[]): number {
  return usages.reduce((sum, { slots }) => sum + slots, 0)
}

describe('a webhook earns slots by its answers', () => {
  test.each<[string, Standing, boolean, number, Standing]>([
    ['a first good answer', unknown, true, 10, { grade: 'proven', limit: 2 }],
    ['a good answer', { grade: 'proven', limit: 8 }, true, 1_999, { grade: 'proven', limit: 16 }],
    ['a good answer with nearly all slots', { grade: 'proven', limit: 16 }, true, 10, best],
    ['a good answer with all slots', best, true, 10, best],
    ['a good answer that took long', best, true, 2_000, { grade: 'suspect', limit: 20 }],
    ['a first good answer that took long', unknown, true, 2_000, { grade: 'suspect', limit: 2 }],
    ['a good answer after failures', failing, true, 10, { grade: 'proven', limit: 2 }],
    ['a failure', best, false, 10, { grade: 'proven', limit: 10 }],
    ['another failure', { grade: 'proven', limit: 5 }, false, 10, { grade: 'proven', limit: 2 }],
    ['the last of several failures', { grade: 'proven', limit: 2 }, false, 10, failing],
    ['a first failure', unknown, false, 10, failing],
    ['a failure that took long', best, false, 15_000, failing],
    ['a failure of a slow one', { grade: 'suspect', limit: 20 }, false, 10, { grade: 'suspect', limit: 10 }],
  ])('%s', (_, before, isSuccess, durationMs, after) => {
    expect(afterAnswer(before, isSuccess, durationMs)).toEqual(after)
  })
})

describe('a process', () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  const isHeldBack = { isHeldBack: true }

  function outcome(changes: Partial<Outcome> = {}): Outcome {
    const good = { status: 200, reason: '', durationMs: 10, answer: '', retryAfter: null, isHeldBack: false }
    return { ...good, at: new Date(0), ...changes }
  }

  /** Claims one delivery of each webhook that may begin one. */
  function begin(slots: Slots, due: readonly DueWebhook[]): Claim[] {
    const allotments = slots.allot(due)
    const claims = allotments
      .filter(({ deliveries }) => deliveries > 0)
      .map((allotment) => ({ ...allotment, slots: 1, isMoreDue: true }) as unknown as Claim)
    slots.occupy(allotments, claims)
    return claims
  }

  /** The deliveries that a webhook may begin, one of which then ends. */
  function attempt(slots: Slots, webhook: DueWebhook, changes: Partial<Outcome> = {}): number {
    const [{ deliveries } = { deliveries: 0 }] = slots.allot([webhook])
    for (const claim of begin(slots, [webhook])) slots.release(claim, outcome(changes))
    return deliveries
  }

  test('counts answers for ten minutes', () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const clock = vi.spyOn(performance, 'now')
    const slots = new Slots()
    const attemptAt = (ms: number) => {
      clock.mockReturnValue(1 + ms)
      // The cache looks at the clock once in a millisecond.
      vi.advanceTimersByTime(1)
      return attempt(slots, dueWebhook(1))
    }
    expect([0, 1, 2, 600_002, 1_200_003].map(attemptAt)).toEqual([1, 2, 4, 8, 1])
  })

  test('knows that a webhook fails from the database, until it answers', () => {
    const slots = new Slots()
    const webhook = dueWebhook(1, { failingSince: new Date(0) })
    expect(slots.allot([webhook])).toMatchObject([{ grade: 'suspect', deliveries: 1 }])
    attempt(slots, webhook)
    expect(slots.allot([webhook])).toMatchObject([{ grade: 'proven', deliveries: 2 }])
  })

  test('learns nothing from what was never sent', () => {
    const slots = new Slots()
    attempt(slots, dueWebhook(1), { reason: 'The webhook is not enabled', ...isHeldBack })
    expect(slots.allot([dueWebhook(1)])).toMatchObject([{ grade: 'new', deliveries: 1 }])
  })

  test.each<[string, (number: number) => Partial<DueWebhook>, number]>([
    ['nothing', () => ({}), 325],
    ['a store', () => ({ storeId: 1_000 }), 163],
    ['an application', () => ({ applicationId: 1_000 }), 163],
    ['a receiver', (number) => ({ url: `https://one.example/${number}` }), 163],
    ['a host with two ports', (number) => ({ url: `https://one.example:${number % 2 ? 443 : 8_443}/${number}` }), 217],
    ['the administration', () => ({ applicationId: null, subscriptionId: null }), 325],
  ])('bounds what new webhooks use together that share %s', (_, changes, count) => {
    const due = Array.from({ length: 400 }, (_, index) => dueWebhook(index, changes(index)))
    expect(begin(new Slots(), due)).toHaveLength(count)
  })

  test('has stores take turns however many webhooks they have, and so the webhooks of a store', () => {
    const slots = new Slots()
    // One slot of those for new webhooks is free.
    begin(
      slots,
      Array.from({ length: 324 }, (_, index) => dueWebhook(100 + index)),
    )
    const due = [1, 2, 3].map((number) => dueWebhook(number, { storeId: 1 }))
    due.push(dueWebhook(4))
    const served = Array.from({ length: 8 }, () => {
      const claims = begin(slots, due)
      for (const claim of claims) slots.release(claim, outcome(isHeldBack))
      return claims.map(({ webhookId }) => webhookId)
    })
    expect(served).toEqual([[1], [4], [2], [4], [3], [4], [1], [4]])
  })

  test('looks again when an attempt ends that deliveries may wait for', () => {
    const slots = new Slots()
    const [first] = begin(slots, [dueWebhook(1)])
    const allotments = slots.allot([dueWebhook(2)])
    const [one] = allotments.map((allotment) => ({ ...allotment, slots: 1, isMoreDue: false }) as unknown as Claim)
    if (!first || !one) throw new Error('Nothing was claimed')
    // The claiming of the second one is under way.
    expect(slots.release(first, outcome())).toBe(true)
    expect(slots.occupy(allotments, [one])).toBe(false)
    expect(slots.release(one, outcome())).toBe(false)
    expect(slots.release(one, outcome())).toBe(false)
  })

  test('looks again at once when slots were not used that others wait for', () => {
    const slots = new Slots()
    begin(
      slots,
      Array.from({ length: 322 }, (_, index) => dueWebhook(100 + index)),
    )
    const store = { storeId: 1 }
    const allotments = slots.allot([1, 2, 3, 4].map((number) => dueWebhook(number, store)))
    expect(allotments.map(({ deliveries, isShort }) => [deliveries, isShort])).toEqual([
      [1, false],
      [1, false],
      [0, true],
      [0, true],
    ])
    const [one] = allotments.map((allotment) => ({ ...allotment, slots: 1, isMoreDue: false }) as unknown as Claim)
    expect(slots.occupy(allotments, one ? [one] : [])).toBe(true)
  })
})

describe('a webhook', () => {
  test('has its limit, less what is under way', () => {
    const [one] = allotted(webhooks(1))
    expect(one).toMatchObject({ deliveries: 20, slots: 20, isShort: false })
    const underWay = [{ ...(one as Allotment), slots: 12 }]
    expect(allotted(webhooks(1), underWay)).toMatchObject([{ deliveries: 8, isShort: false }])
    const limited = webhooks(1, () => unknown)
    expect(allotted(limited, underWay)).toMatchObject([{ deliveries: 0, isShort: false }])
  })

  test.each([
    [SLOT_BYTES, 20, 20],
    [SLOT_BYTES + 1, 19, 20],
    [19 * SLOT_BYTES, 2, 20],
    [1_000 * SLOT_BYTES, 1, 1_000],
  ])('uses a slot for each 64 kB of its next record: %i bytes', (bytes, deliveries, slots) => {
    expect(allotted(webhooks(1, () => ({ bytes })))).toMatchObject([{ deliveries, slots }])
  })
})

describe('webhooks that share nothing', () => {
  const many = (grade: Grade) => webhooks(600, () => ({ grade }))

  test.each<[Grade, number]>([
    ['suspect', 150],
    ['new', 325],
    ['proven', 500],
  ])('%s: %i slots in all', (grade, count) => {
    const candidates = allotted(many(grade))
    expect(slotsIn(candidates)).toBe(count)
    expect(candidates.every(({ isShort }) => isShort)).toBe(true)
  })

  test('leave slots to those of better grades, and use what those leave', () => {
    const suspect = begun(many('suspect'))
    const unproven = [...suspect, ...begun(many('new'), suspect)]
    expect(slotsIn(unproven)).toBe(325)
    const all = [...unproven, ...begun(many('proven'), unproven)]
    expect(slotsIn(all)).toBe(500)
    expect(begun(many('suspect'), all)).toEqual([])
    expect(begun(many('new'), begun(many('proven')))).toEqual([])
  })

  test('use the slots of one large record too many at most, and others still find some', () => {
    const large = begun(webhooks(600, () => ({ ...failing, bytes: 160 * SLOT_BYTES })))
    expect(slotsIn(large)).toBe(160)
    expect(slotsIn(allotted(many('new'), large))).toBe(325 - 160)
  })

  test('get one slot each before any gets two, where slots are few', () => {
    const others = begun(webhooks(495, () => ({ ...best, limit: 1 }))).map((usage) => {
      return { ...usage, key: `other ${usage.key}`, sharers: usage.sharers.map((sharer) => `other ${sharer}`) }
    })
    const candidates = webhooks(54, (number) => ({ storeId: Math.max(1, number - 49) }))
    expect(begun(candidates, others).map(({ storeId, slots }) => [storeId, slots])).toEqual(
      [1, 2, 3, 4, 5].map((id) => [id, 1]),
    )
  })
})

describe('webhooks that share a bound', () => {
  const sharers = ['store 1000']

  test.each<[Grade, number]>([
    ['suspect', 75],
    ['new', 163],
    ['proven', 250],
  ])('%s: %i slots, which are half', (grade, count) => {
    const candidates = allotted(webhooks(200, () => ({ sharers, grade })))
    expect(slotsIn(candidates)).toBe(count)
    expect(candidates.every(({ isShort }) => isShort)).toBe(true)
    const other = webhooks(1, () => ({ grade, storeId: 2_000 }))
    expect(allotted(other, candidates)).toMatchObject([{ deliveries: 20 }])
  })

  test('leave slots to better ones that share it', () => {
    const suspect = begun(webhooks(200, () => ({ sharers, ...failing, storeId: 1 })))
    const fresh = begun(
      webhooks(200, () => ({ sharers, ...unknown, storeId: 2 })),
      suspect,
    )
    expect(slotsIn(fresh)).toBe(88)
    const proven = webhooks(1, () => ({ sharers, storeId: 3 }))
    expect(allotted(proven, [...suspect, ...fresh])).toMatchObject([{ deliveries: 20 }])
  })
})
