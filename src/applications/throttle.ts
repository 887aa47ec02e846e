import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { networkOf } from '../values/address-blocks.ts'
import { StoreFailure } from '../values/failure.ts'
import { namedObject } from '../values/input.ts'

export interface RateLimit {
  /** The number of requests allowed in one burst. */
  readonly capacity: number
  /** The sustained number of requests per second, with at most three decimals. */
  readonly leakPerSecond: number
}

/** contract §8 */
export const contractRateLimit: RateLimit = { capacity: 50, leakPerSecond: 2 }

const CAPACITY_MAX = 1_000_000
const LEAK_PER_SECOND_MAX = 10_000

const capacity = `must be a whole number from 1 to ${CAPACITY_MAX}`
const leak = `must be a number from 0.001 to ${LEAK_PER_SECOND_MAX} with at most three decimals`

/** Validates `{"Capacity": 50, "LeakPerSecond": 2}`. Null: the contract's rate limit. */
export const throttleInput = namedObject({
  Capacity: z.int(capacity).min(1, capacity).max(CAPACITY_MAX, capacity),
  LeakPerSecond: z
    .number(leak)
    .min(0.001, leak)
    .max(LEAK_PER_SECOND_MAX, leak)
    .refine((value) => Number(value.toFixed(3)) === value, leak),
})
  .transform(({ Capacity, LeakPerSecond }): RateLimit => ({ capacity: Capacity, leakPerSecond: LeakPerSecond }))
  .nullable()
  .optional()

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

export interface Bucket {
  /** In millionths of a request, so that with rates of three decimals the leak per millisecond is a whole number. */
  readonly level: number
  readonly atMs: number
}

const REQUEST = 1_000_000

export type BucketReading = Readonly<ReturnType<typeof fillBucket>>

/** Adds a request to the bucket (undefined: an empty bucket). If the clock went back, nothing leaks. */
export function fillBucket(bucket: Bucket | undefined, { capacity, leakPerSecond }: RateLimit, nowMs: number) {
  const leakPerMs = Math.round(leakPerSecond * 1000)
  const most = capacity * REQUEST
  const leaked = bucket ? Math.max(0, nowMs - bucket.atMs) * leakPerMs : 0
  const before = Math.max(0, (bucket?.level ?? 0) - leaked)
  const accepted = before + REQUEST <= most
  const level = accepted ? before + REQUEST : before
  const retryAfterMs = accepted ? 0 : Math.ceil((before + REQUEST - most) / leakPerMs)
  return {
    accepted,
    /** The new state of the bucket. A refused request adds nothing. */
    bucket: { level, atMs: nowMs },
    /** In requests; fractional while a request is leaking. */
    level: level / REQUEST,
    /** The number of further requests that would be accepted now. */
    remaining: Math.max(0, Math.floor((most - level) / REQUEST)),
    /** Whole seconds until the bucket is empty; 0 when it is empty. */
    resetSeconds: Math.ceil(level / leakPerMs / 1000),
    /** Whole milliseconds until a refused request will be accepted, at least 1; 0 for an accepted request. */
    retryAfterMs,
    retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
  }
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
 * Above this bound, the least recently used bucket is evicted. One of the contract's rate limit is empty 25 s after its
 * last request, so it is evicted with requests in it only when more than this many others were used within 25 s.
 */
const BUCKETS_MAX = 50_000

/**
 * Bodies that come without a session or credentials in the headers, of one network. Wide enough for offices and hosted
 * programs behind one address; narrow enough that what they cost does not matter.
 */
const anonymousRateLimit: RateLimit = { capacity: 1_000, leakPerSecond: 10 }

export type Throttle = ReturnType<typeof createThrottle>

/** Creates buckets in this process's memory. Those of networks are separate, so that they cannot evict a caller's. */
export function createThrottle(now: () => Date) {
  const refused = createBuckets(now)
  const anonymous = createBuckets(now)
  return {
    /** Counts a request in the bucket `key`. */
    take: createBuckets(now).take,
    /** Counts a 401 in the bucket of the client's network, with the contract's rate limit (rest-protocol §6). */
    takeRefused: (address: string) => refused.take(networkOf(address), contractRateLimit),
    /** Counts a request before its body says who sent it. Throws `throttled` after too many from the client's network. */
    requireAnonymous: (address: string) => {
      const reading = anonymous.take(networkOf(address), anonymousRateLimit)
      if (!reading.accepted) throw tooMany(reading)
    },
    /** Takes back what `requireAnonymous` counted, because the body had valid credentials. */
    returnAnonymous: (address: string) => anonymous.giveBack(networkOf(address)),
  }
}

function createBuckets(now: () => Date) {
  /** With the time at which the bucket is empty and can be dropped. */
  const kept = new LRUCache<string, { readonly bucket: Bucket; readonly emptyAtMs: number }>({
    // With `max`, room for all would be taken at once: 1 MB.
    maxSize: BUCKETS_MAX,
    sizeCalculation: () => 1,
  })
  const take = (key: string, rateLimit: RateLimit): BucketReading => {
    const nowMs = now().getTime()
    const reading = fillBucket(kept.get(key)?.bucket, rateLimit, nowMs)
    kept.set(key, { bucket: reading.bucket, emptyAtMs: nowMs + reading.resetSeconds * 1000 })
    // Drops at most two empty buckets per request, oldest first: none stays in the long run, and no request waits.
    for (let count = 0; count < 2; count++) {
      const oldest = kept.rkeys().next().value
      if (oldest === undefined || (kept.peek(oldest)?.emptyAtMs ?? 0) > nowMs) break
      kept.delete(oldest)
    }
    return reading
  }
  const giveBack = (key: string): void => {
    const found = kept.peek(key)
    if (!found) return
    const { level, atMs } = found.bucket
    kept.set(key, { ...found, bucket: { level: Math.max(0, level - REQUEST), atMs } })
  }
  return { take, giveBack }
}
