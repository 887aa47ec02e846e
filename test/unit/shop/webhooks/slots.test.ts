import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Claim, DueWebhook } from '../../../../src/shop/webhooks/dispatch/claim.ts'
import type { Outcome } from '../../../../src/shop/webhooks/dispatch/decide.ts'
import { type Allotment, SLOT_BYTES, Slots } from '../../../../src/shop/webhooks/dispatch/slots.ts'

let slots: Slots
beforeEach(() => {
  slots = new Slots()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

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

function webhooks(count: number, first: number, changes: Partial<DueWebhook> = {}): DueWebhook[] {
  return Array.from({ length: count }, (_, index) => dueWebhook(first + index, changes))
}

function claimOf(allotment: Allotment): Claim {
  return allotment as unknown as Claim
}

/** Begins what is allotted to these webhooks. */
function begin(due: readonly DueWebhook[]): Claim[] {
  const claims = slots.allot(due).map(claimOf)
  for (const claim of claims) slots.claims.add(claim)
  return claims
}

function end(claims: readonly Claim[], changes: Partial<Outcome> = {}): void {
  const good = { status: 200, reason: '', durationMs: 10, answer: '', retryAfter: null, isHeldBack: false }
  for (const claim of claims) slots.release(claim, { ...good, at: new Date(0), ...changes })
}

/** So many quick successes. */
function prove(due: readonly DueWebhook[], count = 5): void {
  for (const webhook of due) for (let made = 0; made < count; made++) end(begin([webhook]))
}

function slotsIn(claims: readonly Pick<Allotment, 'slots'>[]): number {
  return claims.reduce((sum, claim) => sum + claim.slots, 0)
}

const quick = {}
const slow = { durationMs: 2_000 }
const failed = { reason: 'The answer has the status 500' }

test.each<[string, Partial<Outcome>[], isProven: boolean, deliveries: number]>([
  ['nothing', [], false, 1],
  ['a quick success', [quick], true, 2],
  ['four of them', [quick, quick, quick, quick], true, 16],
  ['six of them', [quick, quick, quick, quick, quick, quick], true, 20],
  ['a success just below 2 s', [{ durationMs: 1_999 }], true, 2],
  ['a slow success', [slow], false, 2],
  ['a slow one after quick ones', [quick, quick, slow], false, 8],
  ['a failure', [failed], false, 1],
  ['a failure after successes', [quick, quick, quick, failed], true, 4],
  ['so many that one slot is left', [quick, quick, failed, failed], false, 1],
  ['a slow failure', [quick, quick, quick, quick, { ...failed, ...slow }], false, 1],
  ['a success after failures', [failed, failed, quick], true, 2],
  ['what was never sent', [{ ...failed, isHeldBack: true }], false, 1],
])('a webhook earns slots by its answers: %s', (_, outcomes, isProven, deliveries) => {
  for (const outcome of outcomes) end(begin([dueWebhook(1)]), outcome)
  expect(slots.allot([dueWebhook(1)])).toMatchObject([{ isProven, deliveries }])
})

test('an answer counts for ten minutes', () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const clock = vi.spyOn(performance, 'now')
  const attemptAt = (ms: number) => {
    clock.mockReturnValue(1 + ms)
    // The cache looks at the clock once in a millisecond.
    vi.advanceTimersByTime(1)
    const claims = begin([dueWebhook(1)])
    end(claims)
    return claims.map(({ deliveries }) => deliveries)
  }
  expect([0, 1, 2, 600_002, 1_200_003].flatMap(attemptAt)).toEqual([1, 2, 4, 8, 1])
})

test.each<[string, (number: number) => Partial<DueWebhook>, unproven: number, proven: number]>([
  ['nothing', () => ({}), 250, 500],
  ['a store', () => ({ storeId: 1_000 }), 125, 250],
  ['an application', () => ({ applicationId: 1_000 }), 125, 250],
  ['a receiver', (number) => ({ url: `https://one.example/${number}` }), 125, 250],
  ['a host with two ports', (number) => ({ url: `https://one.example:${number % 2 ? 443 : 8_443}/` }), 167, 334],
  ['the administration', () => ({ applicationId: null, subscriptionId: null }), 250, 500],
])('webhooks that share %s leave slots to others', (_, changes, unproven, proven) => {
  // Keeps the order of equal ones.
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const due = Array.from({ length: 600 }, (_, index) => dueWebhook(index, changes(index)))
  const claims = begin(due)
  expect(slotsIn(claims)).toBe(unproven)
  end(claims, { ...failed, isHeldBack: true })
  prove(due, 1)
  expect(slotsIn(begin(due))).toBe(proven)
})

test('two that share their bounds with nobody get the same, whatever came first', () => {
  const stores = [1_000, 2_000].map((storeId) => webhooks(300, storeId, { storeId }))
  prove(stores.flat(), 1)
  const [one = [], other = []] = [...Map.groupBy(begin(stores.flat()), ({ storeId }) => storeId).values()]
  expect(Math.abs(slotsIn(one) - slotsIn(other))).toBeLessThan(60)
  expect(slotsIn(begin([dueWebhook(1)]))).toBe(1)
})

test('where slots are few, the store that uses the fewest comes first', () => {
  begin(webhooks(247, 10_000))
  begin([dueWebhook(1)])
  const due = [1, 2, 3].flatMap((storeId) => webhooks(50, storeId * 100, { storeId }))
  for (let run = 0; run < 20; run++) {
    const claims = begin(due)
    expect(claims.map(({ storeId }) => storeId).toSorted()).toEqual([2, 3])
    end(claims, { ...failed, isHeldBack: true })
  }
})

test('of webhooks that use equally many slots, each has its turn', () => {
  begin(webhooks(249, 10_000))
  const due = [...webhooks(3, 1, { storeId: 1 }), dueWebhook(4)]
  const served = Array.from({ length: 400 }, () => {
    const claims = begin(due)
    end(claims, { ...failed, isHeldBack: true })
    return claims.map(({ webhookId }) => webhookId)
  })
  expect(served.every(({ length }) => length === 1)).toBe(true)
  for (const { webhookId } of due) expect(served.filter(([id]) => id === webhookId).length).toBeGreaterThan(50)
})

test.each([
  [SLOT_BYTES, 20, 20],
  [SLOT_BYTES + 1, 19, 20],
  [19 * SLOT_BYTES, 2, 20],
  [1_000 * SLOT_BYTES, 1, 1_000],
])('a record uses a slot for each 64 kB: of %i bytes', (bytes, deliveries, used) => {
  prove([dueWebhook(1)])
  expect(slots.allot([dueWebhook(1, { bytes })])).toMatchObject([{ deliveries, slots: used }])
})

test('large records use the slots of one too many at most, and others still find some', () => {
  const good = dueWebhook(1)
  prove([good])
  expect(slotsIn(begin(webhooks(600, 100, { bytes: 160 * SLOT_BYTES })))).toBe(320)
  expect(begin([good])).toMatchObject([{ deliveries: 20 }])
})
