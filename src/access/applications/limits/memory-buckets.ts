import { LRUCache } from 'lru-cache'
import type { RateLimit } from '../../stores/rate-limit.ts'
import { type Bucket, type BucketReading, fillBucket, levelAt, REQUEST } from './leaky-bucket.ts'

/**
 * Above this bound, the least recently used bucket is evicted. One of the contract's rate limit is empty 25 s after its
 * last request, so it is evicted with requests in it only when more than this many others were used within 25 s.
 */
const BUCKETS_MAX = 50_000

/** Buckets in this process's memory, by the process's clock. Empty ones are dropped. */
export class MemoryBuckets {
  readonly #now: () => Date
  // With `max`, room for all would be taken at once: 1 MB.
  readonly #kept = new LRUCache<string, Bucket>({ maxSize: BUCKETS_MAX, sizeCalculation: () => 1 })

  constructor(now: () => Date) {
    this.#now = now
  }

  /** Returns what `take` would. */
  look(key: string, rateLimit: RateLimit): BucketReading {
    return fillBucket(this.#kept.get(key), rateLimit, this.#now().getTime())
  }

  take(key: string, rateLimit: RateLimit): BucketReading {
    const reading = this.look(key, rateLimit)
    this.set(key, reading.bucket)
    return reading
  }

  /** Takes back a request that was accepted. */
  giveBack(key: string): void {
    const kept = this.#kept.get(key)
    if (kept) this.set(key, { ...kept, level: Math.max(0, kept.level - REQUEST) })
  }

  /** Drops at most two empty buckets besides, oldest first: none stays in the long run, and no request waits. */
  set(key: string, bucket: Bucket): void {
    this.#kept.set(key, bucket)
    for (let count = 0; count < 2; count++) {
      const oldest = this.#kept.rkeys().next().value
      if (oldest === undefined || this.#levelOf(oldest) > 0) break
      this.#kept.delete(oldest)
    }
  }

  /** The buckets that are not empty, with their levels at this moment. */
  filled(): (Bucket & { readonly key: string })[] {
    const filled = [...this.#kept].map(([key, bucket]) => ({ ...bucket, key, level: this.#levelOf(key) }))
    return filled.filter(({ level }) => level > 0)
  }

  #levelOf(key: string): number {
    return levelAt(this.#kept.peek(key), this.#now().getTime())
  }
}
