import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bucket, fillBucket } from '../../../../src/access/applications/limits/leaky-bucket.ts'
import { contractRateLimit, createThrottle } from '../../../../src/access/applications/limits/throttle.ts'

const full: Bucket = { level: 50_000_000, atMs: 0, leakPerMs: 2_000 }

describe('fillBucket', () => {
  test.each([
    { name: 'an empty bucket takes a request', bucket: undefined, nowMs: 0, accepted: true, remaining: 49, retry: 0 },
    { name: 'a full bucket refuses', bucket: full, nowMs: 0, accepted: false, remaining: 0, retry: 1 },
    {
      name: 'a millisecond short of a leak still refuses',
      bucket: full,
      nowMs: 499,
      accepted: false,
      remaining: 0,
      retry: 1,
    },
    { name: 'half a second leaks one request', bucket: full, nowMs: 500, accepted: true, remaining: 0, retry: 0 },
    { name: 'a bucket is empty after 25 s', bucket: full, nowMs: 25_000, accepted: true, remaining: 49, retry: 0 },
    {
      name: 'a clock that went back leaks nothing',
      bucket: full,
      nowMs: -60_000,
      accepted: false,
      remaining: 0,
      retry: 1,
    },
  ])('$name', ({ bucket, nowMs, accepted, remaining, retry }) => {
    const reading = fillBucket(bucket, contractRateLimit, nowMs)
    expect(reading).toMatchObject({ accepted, remaining, retryAfterSeconds: retry })
  })

  test('a refused request does not fill the bucket', () => {
    expect(fillBucket(full, contractRateLimit, 0)).toMatchObject({ bucket: full, resetSeconds: 25 })
  })

  test('figures that became smaller refuse until the bucket has leaked below them', () => {
    const smaller = { capacity: 10, leakPerSecond: 1 }
    expect(fillBucket(full, smaller, 0)).toMatchObject({ accepted: false, remaining: 0, retryAfterSeconds: 41 })
    expect(fillBucket(full, smaller, 41_000)).toMatchObject({ accepted: true })
  })

  const load = fc.record({
    capacity: fc.integer({ min: 1, max: 20 }),
    leakPerSecond: fc.integer({ min: 1, max: 20_000 }).map((thousandths) => thousandths / 1000),
    gapsMs: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3000 })), { maxLength: 120 }),
  })

  /** What no window may exceed, in millionths of a request: contract §8. */
  const bound = (capacity: number, leakPerSecond: number, ms: number) =>
    capacity * 1_000_000 + Math.round(leakPerSecond * 1000) * ms

  test('no window ever holds more than capacity + leak × time, and nothing that fits is refused', () => {
    fc.assert(
      fc.property(load, ({ capacity, leakPerSecond, gapsMs }) => {
        const acceptedAt: number[] = []
        let bucket: Bucket | undefined
        let nowMs = 0
        for (const gapMs of gapsMs) {
          nowMs += gapMs
          const reading = fillBucket(bucket, { capacity, leakPerSecond }, nowMs)
          bucket = reading.bucket
          const fits = [...acceptedAt, nowMs].every((start, index) => {
            const requests = acceptedAt.length - index + 1
            return requests * 1_000_000 <= bound(capacity, leakPerSecond, nowMs - start)
          })
          expect(reading.accepted).toBe(fits)
          if (reading.accepted) acceptedAt.push(nowMs)
        }
      }),
    )
  })

  test('a refused request is accepted after the seconds it was told, and not a second sooner', () => {
    fc.assert(
      fc.property(load, ({ capacity, leakPerSecond, gapsMs }) => {
        const rateLimit = { capacity, leakPerSecond }
        let bucket: Bucket | undefined
        let nowMs = 0
        for (const gapMs of gapsMs) {
          nowMs += gapMs
          const reading = fillBucket(bucket, rateLimit, nowMs)
          bucket = reading.bucket
          if (reading.accepted) continue
          const { retryAfterSeconds } = reading
          expect(fillBucket(bucket, rateLimit, nowMs + retryAfterSeconds * 1000).accepted).toBe(true)
          const sooner = fillBucket(bucket, rateLimit, nowMs + (retryAfterSeconds - 1) * 1000)
          expect(sooner.accepted).toBe(false)
        }
      }),
    )
  })
})

describe('createThrottle', () => {
  const throttled = () => {
    const clock = { ms: 1_772_366_400_000 }
    return { clock, throttle: createThrottle(() => new Date(clock.ms)) }
  }

  test('a bucket in use outlives others that came and ran empty meanwhile', async () => {
    const { clock, throttle } = throttled()
    const slow = { capacity: 50, leakPerSecond: 0.001 }
    for (let count = 0; count < 50; count++) throttle.take('slow', slow)
    for (let count = 0; count < 1000; count++) {
      clock.ms += 1000
      throttle.take(`other ${count}`, contractRateLimit)
    }
    expect(await throttle.take('slow', slow)).toMatchObject({ accepted: true, remaining: 0 })
    expect(await throttle.take('slow', slow)).toMatchObject({ accepted: false })
  })
})
