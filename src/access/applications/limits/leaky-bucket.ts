import type { RateLimit } from '../../stores/rate-limit.ts'

export interface Bucket {
  /** In millionths of a request, so that with rates of three decimals the leak per millisecond is a whole number. */
  readonly level: number
  readonly atMs: number
  /** In millionths of a request, by the rate limit of its last request. */
  readonly leakPerMs: number
}

export const REQUEST = 1_000_000

/** The figures of a rate limit in millionths of a request. */
export function inMillionths({ capacity, leakPerSecond }: RateLimit) {
  return { most: capacity * REQUEST, leakPerMs: Math.round(leakPerSecond * 1000) }
}

/** The level of the bucket (undefined: an empty bucket) at a time. If the clock went back, nothing leaks. */
export function levelAt(bucket: Bucket | undefined, nowMs: number, leakPerMs = bucket?.leakPerMs ?? 0): number {
  return bucket === undefined ? 0 : Math.max(0, bucket.level - Math.max(0, nowMs - bucket.atMs) * leakPerMs)
}

export type BucketReading = Readonly<ReturnType<typeof fillBucket>>

/** Adds a request to the bucket (undefined: an empty bucket). `BucketTable` does the same in SQL. */
export function fillBucket(bucket: Bucket | undefined, rateLimit: RateLimit, nowMs: number) {
  const { most, leakPerMs } = inMillionths(rateLimit)
  const before = levelAt(bucket, nowMs, leakPerMs)
  const accepted = before + REQUEST <= most
  const level = accepted ? before + REQUEST : before
  const retryAfterMs = accepted ? 0 : Math.ceil((before + REQUEST - most) / leakPerMs)
  return {
    accepted,
    /** The new state of the bucket. A refused request adds nothing. */
    bucket: { level, atMs: nowMs, leakPerMs },
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
