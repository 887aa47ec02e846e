import { LRUCache } from 'lru-cache'
import { type Bucket, type BucketReading, fillBucket, levelAt, type RateLimit } from './leaky-bucket.ts'

/**
 * Above this bound, the least recently used bucket is evicted. One of the contract's rate limit is empty 25 s after its
 * last request, so it is evicted with requests in it only when more than this many others were used within 25 s.
 */
const BUCKETS_MAX = 50_000

interface Kept {
  readonly bucket: Bucket
  readonly rateLimit: RateLimit
}

/** Buckets in this process's memory, by the process's clock. Empty ones are dropped. */
export class MemoryBuckets {
  readonly #now: () => Date
  readonly #kept = new LRUCache<string, Kept>({
    // With `max`, room for all would be taken at once: 1 MB.
    maxSize: BUCKETS_MAX,
    sizeCalculation: () => 1,
  })

  constructor(now: () => Date) {
    this.#now = now
  }

  get size(): number {
    return this.#kept.size
  }

  keys(): Iterable<string> {
    return [...this.#kept.keys()]
  }

  take(key: string, rateLimit: RateLimit): BucketReading {
    const nowMs = this.#now().getTime()
    const reading = fillBucket(this.#kept.get(key)?.bucket, rateLimit, nowMs)
    this.set(key, rateLimit, reading.bucket)
    return reading
  }

  set(key: string, rateLimit: RateLimit, bucket: Bucket): void {
    this.#kept.set(key, { bucket, rateLimit })
    this.#dropEmpty()
  }

  /** Adds millionths of a request, whatever the capacity; negative ones leave an empty bucket at least. */
  add(key: string, rateLimit: RateLimit, millionths: number): void {
    const level = Math.max(0, this.#levelOf(key) + millionths)
    this.set(key, rateLimit, { level, atMs: this.#now().getTime() })
  }

  /** Forgets a bucket. Returns its level, 0 for an empty one. */
  remove(key: string): { level: number; rateLimit: RateLimit | undefined } {
    const level = this.#levelOf(key)
    const rateLimit = this.#kept.peek(key)?.rateLimit
    this.#kept.delete(key)
    return { level, rateLimit }
  }

  #levelOf(key: string): number {
    const kept = this.#kept.peek(key)
    return kept === undefined ? 0 : levelAt(kept.bucket, kept.rateLimit, this.#now().getTime())
  }

  /** Drops at most two empty buckets per request, oldest first: none stays in the long run, and no request waits. */
  #dropEmpty(): void {
    for (let count = 0; count < 2; count++) {
      const oldest = this.#kept.rkeys().next().value
      if (oldest === undefined || this.#levelOf(oldest) > 0) break
      this.#kept.delete(oldest)
    }
  }
}
