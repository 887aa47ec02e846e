import { z } from 'zod'
import { networkOf } from '../../../foundation/values/address-blocks.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject } from '../../../foundation/values/input.ts'
import { type BucketReading, MemoryBuckets, type RateLimit } from './leaky-bucket.ts'
import type { SharedBuckets } from './shared-buckets.ts'

/** contract §8 */
export const contractRateLimit: RateLimit = { capacity: 50, leakPerSecond: 2 }

const CAPACITY_MAX = 1_000_000
const LEAK_PER_SECOND_MAX = 10_000

const capacity = `must be a whole number from 1 to ${CAPACITY_MAX}`
const leak = `must be a number from 0.001 to ${LEAK_PER_SECOND_MAX} with at most three decimals`

/** What the members of a rate limit say. */
export const throttleWords = {
  Capacity: 'The maximum number of requests in one burst.',
  LeakPerSecond: 'The sustained number of requests per second.',
}

/** Validates `{"Capacity": 50, "LeakPerSecond": 2}`. Null: the contract's rate limit. */
export const throttleInput = namedObject({
  Capacity: z.int(capacity).min(1, capacity).max(CAPACITY_MAX, capacity).describe(throttleWords.Capacity),
  LeakPerSecond: z
    .number(leak)
    .min(0.001, leak)
    .max(LEAK_PER_SECOND_MAX, leak)
    .refine((value) => Number(value.toFixed(3)) === value, leak)
    .describe(throttleWords.LeakPerSecond),
})
  .transform(({ Capacity, LeakPerSecond }): RateLimit => ({ capacity: Capacity, leakPerSecond: LeakPerSecond }))
  .nullable()
  .optional()
  .describe('The rate limit. Null, or left out on creation: a burst of 50 requests, then 2 per second.')

/** The columns of a rate limit, on a store or an application. */
export function rateLimitColumns(rateLimit: RateLimit | null | undefined) {
  const { capacity: throttleCapacity = null, leakPerSecond: throttleLeakPerSecond = null } = rateLimit ?? {}
  return { throttleCapacity, throttleLeakPerSecond }
}

export function rateLimitOf(row: {
  throttleCapacity: number | null
  throttleLeakPerSecond: number | { toNumber(): number } | null
}): RateLimit | null {
  const { throttleCapacity: capacity, throttleLeakPerSecond: leakPerSecond } = row
  return capacity === null || leakPerSecond === null ? null : { capacity, leakPerSecond: Number(leakPerSecond) }
}

/** Sets the rate limit headers of a response, as on every throttled route. Throws `throttled` for a refused request. */
export function showBucket(
  reply: { headers(values: Record<string, string>): unknown },
  { capacity, leakPerSecond }: RateLimit,
  reading: BucketReading,
): void {
  const { accepted, remaining, resetSeconds, retryAfterSeconds } = reading
  reply.headers({
    'x-ratelimit-limit': String(capacity),
    'x-ratelimit-remaining': String(remaining),
    'ratelimit-policy': `"default";q=${capacity};w=${Math.ceil(capacity / leakPerSecond)}`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
    ...(!accepted && { 'retry-after': String(retryAfterSeconds) }),
  })
  if (!accepted) throw tooMany(reading)
}

/** The error for a request that the bucket refused. */
export function tooMany({ retryAfterSeconds }: BucketReading): StoreFailure {
  return new StoreFailure('throttled', `Too many requests; come back in ${retryAfterSeconds} s`, { retryAfterSeconds })
}

/**
 * Bodies that come without a session or credentials in the headers, of one network. Wide enough for offices and hosted
 * programs behind one address; narrow enough that what they cost does not matter.
 */
const anonymousRateLimit: RateLimit = { capacity: 1_000, leakPerSecond: 10 }

export type Throttle = ReturnType<typeof createThrottle>

/** Counts requests in buckets; without `buckets`, in those of this process alone. */
export function createThrottle(now: () => Date, buckets: SharedBuckets | MemoryBuckets = new MemoryBuckets(now)) {
  // Each process has its own, because they bound its work before it knows who asks.
  const anonymous = new MemoryBuckets(now)
  return {
    /** Counts a request in the bucket `key`. Never rejects. */
    take: async (key: string, rateLimit: RateLimit) => buckets.take(key, rateLimit),
    /** Counts a 401 in the bucket of the client's network, with the contract's rate limit (rest-protocol §6). */
    takeRefused: async (address: string) => buckets.take(`refused ${networkOf(address)}`, contractRateLimit),
    /** Counts a request before its body says who sent it. Throws `throttled` after too many from the client's network. */
    requireAnonymous: (address: string) => {
      const reading = anonymous.take(networkOf(address), anonymousRateLimit)
      if (!reading.accepted) throw tooMany(reading)
    },
    /** Takes back what `requireAnonymous` counted, because the body had valid credentials. */
    returnAnonymous: (address: string) => anonymous.giveBack(networkOf(address)),
  }
}
