import { setTimeout as delay } from 'node:timers/promises'
import type { RateLimit } from '../../stores/rate-limit.ts'
import type { BucketTable } from './bucket-table.ts'
import type { BucketReading } from './leaky-bucket.ts'
import { MemoryBuckets } from './memory-buckets.ts'

/** How a process shares its buckets with the others on its database. */
export interface Sharing {
  readonly table: BucketTable
  /** Whether no other process counts. */
  readonly isAlone: () => boolean
}

/** After a statement that failed, which may have cost its connection. */
const PAUSE_MS = 1_000

/**
 * Buckets that are the same in every process. A process that is alone counts in its memory. Otherwise the table counts, and
 * the memory holds what the process knows of it, from where it goes on by itself while the table does not answer.
 */
export class SharedBuckets {
  readonly #now: () => Date
  readonly #sharing: Sharing | null
  readonly #ofCallers: MemoryBuckets
  /** Separate, so that refused networks cannot evict a caller's bucket. */
  readonly #ofNetworks: MemoryBuckets
  /** Whether the memory holds what the table does not. */
  #isOwner = false
  /** Settles when buckets have moved between memory and table; never rejects. */
  #moving: Promise<void> | null = null
  /** The requests that ask the table. */
  #asking = 0
  /** By `performance.now()`. */
  #nextTryMs = 0

  /** Without `sharing` the process is always alone. */
  constructor(now: () => Date, sharing: Sharing | null) {
    this.#now = now
    this.#sharing = sharing
    this.#ofCallers = new MemoryBuckets(now)
    this.#ofNetworks = new MemoryBuckets(now)
  }

  /** Counts a request. Never rejects. */
  async take(key: string, rateLimit: RateLimit): Promise<BucketReading> {
    while (this.#moving) await this.#moving
    const memory = this.#memoryOf(key)
    const isAsked = this.#sharing && !this.#sharing.isAlone() && performance.now() >= this.#nextTryMs
    // Other processes only add, so that the table would refuse what is refused by what is known of it.
    if (!isAsked || !memory.look(key, rateLimit).accepted) return memory.take(key, rateLimit)
    try {
      if (!this.#isOwner) return await this.#ask(this.#sharing.table, key, rateLimit)
      await this.share()
      return await this.take(key, rateLimit)
    } catch {
      this.#nextTryMs = performance.now() + PAUSE_MS
      return memory.take(key, rateLimit)
    }
  }

  /** Adds to the table what only this process knows of, and deletes there what has run empty. */
  async share(): Promise<void> {
    await this.#move(() => this.#addOwn())
    await this.#sharing?.table.deleteEmpty()
  }

  /** Takes all buckets out of the table into the memory of this process. */
  takeOver(): Promise<void> {
    return this.#move(async () => {
      while (this.#asking > 0) await delay(1)
      await this.#addOwn()
      const buckets = (await this.#sharing?.table.removeAll()) ?? []
      const atMs = this.#now().getTime()
      for (const { key, level, leakPerMs } of buckets) this.#memoryOf(key).set(key, { level, leakPerMs, atMs })
      this.#isOwner = true
    })
  }

  async #ask(table: BucketTable, key: string, rateLimit: RateLimit): Promise<BucketReading> {
    this.#asking++
    // From before the table's clock was read, so that a bucket is never believed to be full for longer than it is.
    const atMs = this.#now().getTime()
    try {
      const reading = await table.take(key, rateLimit)
      this.#memoryOf(key).set(key, { ...reading.bucket, atMs })
      return reading
    } finally {
      this.#asking--
    }
  }

  async #addOwn(): Promise<void> {
    if (!this.#isOwner) return
    await this.#sharing?.table.add([...this.#ofCallers.filled(), ...this.#ofNetworks.filled()])
    this.#isOwner = false
  }

  /** Runs `work` while requests wait. */
  async #move(work: () => Promise<void>): Promise<void> {
    while (this.#moving) await this.#moving
    const moved = work().finally(() => {
      this.#moving = null
    })
    this.#moving = moved.catch(() => {})
    await moved
  }

  #memoryOf(key: string): MemoryBuckets {
    return key.startsWith('refused ') ? this.#ofNetworks : this.#ofCallers
  }
}
