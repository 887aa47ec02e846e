import { LRUCache } from 'lru-cache'
import type { RateLimit } from '../../stores/rate-limit.ts'

export interface Bucket {
  /** In millionths of a request, so that with rates of three decimals the leak per millisecond is a whole number. */
  readonly level: number
  readonly atMs: number
  /** In millionths of a request, by the rate limit of its last request. */
  readonly leakPerMs: number
}

/** A bucket with its level at this moment. */
export type KeyedBucket = Omit<Bucket, 'atMs'> & { readonly key: string }

export const REQUEST = 1_000_000

/** The figures of a rate limit in millionths of a request. */
export function inMillionths({ capacity, leakPerSecond }: RateLimit) {
  return { most: capacity * REQUEST, leakPerMs: Math.round(leakPerSecond * 1000) }
}

/** The level of the bucket (undefined: an empty bucket) at a time. If the clock went back, nothing leaks. */
function levelAt(bucket: Bucket | undefined, nowMs: number, leakPerMs = bucket?.leakPerMs ?? 0): number {
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
    /** The number of further requests that would be accepted now. */
    remaining: Math.max(0, Math.floor((most - level) / REQUEST)),
    /** Whole seconds until the bucket is empty; 0 when it is empty. */
    resetSeconds: Math.ceil(level / leakPerMs / 1000),
    /** Whole milliseconds until a refused request will be accepted, at least 1; 0 for an accepted request. */
    retryAfterMs,
    retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
  }
}

/**
 * Above this bound, the least recently used bucket is evicted. One of the contract's rate limit is empty 25 s after its
 * last request, so it is evicted with requests in it only when more than this many others were used within 25 s.
 */
const BUCKETS_MAX = 50_000

// With `max`, room for all would be taken at once: 1 MB.
const openCache = () => new LRUCache<string, Bucket>({ maxSize: BUCKETS_MAX, sizeCalculation: () => 1 })

/** Buckets in this process's memory, by the process's clock. */
export class MemoryBuckets {
  readonly #now: () => Date
  readonly #ofCallers = openCache()
  /** Separate, so that refused networks cannot evict a caller's bucket. */
  readonly #ofNetworks = openCache()

  constructor(now: () => Date) {
    this.#now = now
  }

  /** Returns what `take` would. */
  look(key: string, rateLimit: RateLimit): BucketReading {
    return fillBucket(this.#cacheOf(key).get(key), rateLimit, this.#now().getTime())
  }

  take(key: string, rateLimit: RateLimit): BucketReading {
    const reading = this.look(key, rateLimit)
    this.set(key, reading.bucket)
    return reading
  }

  /** Takes back a request that was accepted. */
  giveBack(key: string): void {
    const kept = this.#cacheOf(key).get(key)
    if (kept) this.set(key, { ...kept, level: Math.max(0, kept.level - REQUEST) })
  }

  /** Drops the oldest bucket besides if it is empty: none stays in the long run, and no request waits. */
  set(key: string, bucket: Bucket): void {
    const cache = this.#cacheOf(key)
    cache.set(key, bucket)
    const oldest = cache.rkeys().next().value
    if (oldest !== undefined && levelAt(cache.peek(oldest), this.#now().getTime()) === 0) cache.delete(oldest)
  }

  /** The buckets that are not empty, with their levels at this moment. */
  filled(): KeyedBucket[] {
    const nowMs = this.#now().getTime()
    return [...this.#ofCallers, ...this.#ofNetworks]
      .map(([key, bucket]) => ({ key, level: levelAt(bucket, nowMs), leakPerMs: bucket.leakPerMs }))
      .filter(({ level }) => level > 0)
  }

  #cacheOf(key: string) {
    return key.startsWith('refused ') ? this.#ofNetworks : this.#ofCallers
  }
}
