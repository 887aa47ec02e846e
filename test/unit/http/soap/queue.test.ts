import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bucket, type BucketReading, fillBucket } from '../../../../src/access/applications/limits/leaky-bucket.ts'
import { contractRateLimit } from '../../../../src/access/applications/limits/throttle.ts'
import type { RateLimit } from '../../../../src/access/stores/rate-limit.ts'
import { Queue, type Turn } from '../../../../src/http/soap/queue.ts'
import { createTestClock } from '../../../support/clock.ts'

/** A queue before buckets that answer at once, or when `answering` says so, as buckets elsewhere do. */
function openQueue(answering?: () => Promise<unknown>) {
  const clock = createTestClock(Date.parse('2026-03-10T16:00:00Z'))
  const timers = new Set<object>()
  const buckets = new Map<string, Bucket>()
  const take = (key: string, rateLimit: RateLimit): BucketReading => {
    const reading = fillBucket(buckets.get(key), rateLimit, clock.ms)
    buckets.set(key, reading.bucket)
    return reading
  }
  const queue = new Queue({
    throttle: { take: answering ? (key, rateLimit) => answering().then(() => take(key, rateLimit)) : take },
    now: () => new Date(clock.ms),
    setTimer: (callback, ms) => {
      const timer = {}
      timers.add(timer)
      const cancel = clock.setTimer(() => {
        timers.delete(timer)
        callback()
      }, ms)
      return () => {
        timers.delete(timer)
        cancel()
      }
    },
  })
  const turns: { readonly name: string; readonly turn: Turn | string; readonly atMs: number }[] = []
  const startMs = clock.ms
  const ask = (name: string, { key = 'store', rateLimit = contractRateLimit, left = new AbortController() } = {}) => {
    queue.takeTurn(key, rateLimit, left.signal).then(
      (turn) => turns.push({ name, turn, atMs: clock.ms - startMs }),
      (error: Error) => turns.push({ name, turn: error.message, atMs: clock.ms - startMs }),
    )
    return left
  }
  const kinds = () => turns.map(({ name, turn }) => `${name} ${typeof turn === 'string' ? turn : turn.kind}`)
  return { clock, queue, take, ask, turns, kinds, timers }
}

const one = { capacity: 1, leakPerSecond: 1 }

describe('Queue', () => {
  const asked = fc.record({
    gapMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000 })),
    key: fc.constantFrom('one', 'other'),
    /** How long the client stays. */
    patienceMs: fc.option(fc.integer({ min: 0, max: 20_000 })),
  })

  test('grants in the order of arrival within the rateLimit, keeps nobody longer than 30 s, and keeps nothing', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(asked, { maxLength: 150 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 40 }),
        async (requests, capacity, tenths) => {
          const rateLimit = { capacity, leakPerSecond: tenths / 10 }
          const { clock, queue, ask, turns, timers } = openQueue()
          const arrivals = new Map<string, { readonly key: string; readonly atMs: number }>()
          const startMs = clock.ms
          for (const [index, { gapMs, key, patienceMs }] of requests.entries()) {
            await clock.pass(gapMs)
            arrivals.set(String(index), { key, atMs: clock.ms - startMs })
            const left = ask(String(index), { key, rateLimit })
            if (patienceMs !== null) clock.setTimer(() => left.abort(), patienceMs)
            await setImmediate()
          }
          await clock.pass(30_000)
          expect([turns.length, queue.size, timers.size]).toEqual([requests.length, 0, 0])
          for (const { name, atMs } of turns) {
            expect(atMs - (arrivals.get(name)?.atMs ?? 0)).toBeLessThanOrEqual(30_000)
          }
          for (const key of ['one', 'other']) {
            const granted = turns.filter(
              ({ name, turn }) =>
                arrivals.get(name)?.key === key && typeof turn !== 'string' && turn.kind === 'granted',
            )
            expect(granted.map(({ name }) => Number(name))).toEqual(
              granted.map(({ name }) => Number(name)).toSorted((first, second) => first - second),
            )
            for (const [from, { atMs }] of granted.entries()) {
              for (const [more, later] of granted.slice(from).entries()) {
                const most = capacity * 1_000_000 + tenths * 100 * (later.atMs - atMs)
                expect((more + 1) * 1_000_000).toBeLessThanOrEqual(most)
              }
            }
          }
        },
      ),
      { numRuns: 40 },
    ))

  test('lets 1,000 wait in all, and those of a store that is not full go on', async () => {
    const { clock, queue, ask, kinds } = openQueue()
    for (let store = 0; store < 17; store++) {
      for (let call = 0; call < 60; call++)
        ask('wide', { key: `store ${store}`, rateLimit: { ...one, leakPerSecond: 2 } })
    }
    await setImmediate()
    expect(queue.size).toBe(1_000)
    expect(kinds().filter((kind) => kind === 'wide refused')).toHaveLength(17 * 60 - 17 - 1_000)
    ask('new', { key: 'another store' })
    await setImmediate()
    expect(kinds().at(-1)).toBe('new granted')
    await clock.pass(30_000)
    expect(queue.size).toBe(0)
  })

  test('lets 60 wait for one bucket, however fast it is', async () => {
    const { clock, queue, ask, kinds } = openQueue()
    for (let call = 0; call < 63; call++) ask('fast', { rateLimit: { ...one, leakPerSecond: 100 } })
    await setImmediate()
    expect([queue.size, kinds()]).toEqual([60, ['fast granted', 'fast refused', 'fast refused']])
    await clock.pass(600)
    expect(kinds().filter((kind) => kind === 'fast granted')).toHaveLength(61)
  })

  test('does not ask the bucket for a client that is gone', async () => {
    const { take, ask, kinds } = openQueue()
    const left = new AbortController()
    left.abort()
    ask('gone', { left, rateLimit: one })
    await setImmediate()
    expect([kinds(), take('store', one).accepted]).toEqual([['gone left'], true])
  })

  test('ends every wait when it is stopped; then there is a slot at once, or none', async () => {
    const { queue, ask, kinds, timers } = openQueue()
    for (const name of ['first', 'second']) ask(name, { rateLimit: one })
    await setImmediate()
    queue.stop()
    ask('third', { rateLimit: one })
    ask('fourth', { rateLimit: one, key: 'another store' })
    await setImmediate()
    expect(kinds()).toEqual(['first granted', 'second stopped', 'third stopped', 'fourth granted'])
    expect([queue.size, timers.size]).toEqual([0, 0])
  })
})

describe('before buckets that answer later', () => {
  /** Each answer of a bucket waits until it is let through. */
  function openSlowly() {
    const pending: (() => void)[] = []
    const opened = openQueue(() => {
      const { promise, resolve } = Promise.withResolvers<void>()
      pending.push(resolve)
      return promise
    })
    const answer = async () => {
      pending.shift()?.()
      await setImmediate()
    }
    return { ...opened, pending, answer }
  }

  test('nobody overtakes: one question at a time, and its slot is the first in line’s', async () => {
    const { ask, kinds, pending, answer } = openSlowly()
    const rateLimit = { ...one, capacity: 2 }
    for (const name of ['first', 'second', 'third']) ask(name, { rateLimit })
    expect(pending).toHaveLength(1)
    for (let times = 0; times < 3; times++) await answer()
    expect([kinds(), pending.length]).toEqual([['first granted', 'second granted'], 0])
  })

  test('the slot of a client that left meanwhile goes to the next', async () => {
    const { ask, kinds, answer } = openSlowly()
    const first = ask('first', { rateLimit: one })
    ask('second', { rateLimit: one })
    first.abort()
    await answer()
    expect(kinds()).toEqual(['first left', 'second granted'])
  })

  test('a slot that another process took is waited for again, and no longer than 30 s in all', async () => {
    const { clock, take, ask, turns, answer } = openSlowly()
    take('store', one)
    ask('first', { rateLimit: one })
    await answer()
    for (let second = 1; second <= 30; second++) {
      take('store', one)
      await clock.pass(1_000)
      take('store', one)
      await answer()
    }
    expect(turns).toMatchObject([{ name: 'first', turn: { kind: 'refused' } }])
    expect(turns[0]?.atMs).toBeLessThanOrEqual(30_000)
  })

  test('where the bucket fails, all in line fail, and who comes then asks again', async () => {
    const outcomes = [Promise.reject(new Error('no bucket')), Promise.resolve()]
    const { ask, kinds } = openQueue(() => outcomes.shift() ?? Promise.resolve())
    ask('first', { rateLimit: one })
    ask('second', { rateLimit: one })
    await setImmediate()
    ask('third', { rateLimit: one })
    await setImmediate()
    expect(kinds()).toEqual(['first no bucket', 'second no bucket', 'third granted'])
  })
})
