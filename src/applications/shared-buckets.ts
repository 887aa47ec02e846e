import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BucketRow, BucketTable, Wanted } from './bucket-table.ts'
import { type BucketReading, fillBucket, type RateLimit, REQUEST } from './leaky-bucket.ts'
import { MemoryBuckets } from './memory-buckets.ts'

/** How a process shares its buckets with the others on its database. */
export interface Sharing {
  readonly table: BucketTable
  /** Whether no other process counts. */
  readonly isAlone: () => boolean
}

/** Bounds the time that a statement holds its rows. */
const KEYS_MAX = 500
const TURNS_MAX = 32
/** Statements that are further apart are no burst. */
const SOON_MS = 20
/** After a statement that failed, which may have cost its connection. */
const PAUSE_MS = 1_000

/** What is to be taken of one bucket by the next statement, and who waits for it. */
interface Queued extends Wanted {
  readonly asked: number
  readonly added: number
  readonly waiting: readonly Waiting[]
}

interface Waiting {
  readonly resolve: (reading: BucketReading) => void
  /** By what was known of the table. */
  readonly expected: BucketReading
}

/**
 * Buckets that are the same in every process. A process that is alone counts in its memory; otherwise the table counts. A
 * statement takes all that was asked for while the one before it ran. When it fails, the process goes by what it knows of
 * the table, counts in its memory, and adds that to the table with the next request of the bucket.
 */
export class SharedBuckets {
  readonly #now: () => Date
  readonly #sharing: Sharing | null
  /** What the table does not have. Those of networks are separate, so that they cannot evict a caller's. */
  readonly #own: Readonly<Record<'refused' | 'anonymous' | 'caller', MemoryBuckets>>
  /**
   * What a bucket of the table holds at least: its last level, and what was asked for since. Other processes only add to
   * it, so that what it refuses the table would refuse, and nothing is asked.
   */
  readonly #known: MemoryBuckets
  #queued = new Map<string, Queued>()
  #working: Promise<void> | undefined
  /** The number of requests that the last statement took, and when by `performance.now()`. */
  #last = { taken: 0, atMs: 0 }
  /** By `performance.now()`. */
  #nextTryMs = 0

  /** Without `sharing` the process is always alone. */
  constructor(now: () => Date, sharing: Sharing | null) {
    this.#now = now
    this.#sharing = sharing
    this.#own = { refused: new MemoryBuckets(now), anonymous: new MemoryBuckets(now), caller: new MemoryBuckets(now) }
    this.#known = new MemoryBuckets(now)
  }

  /** Takes a request. Never rejects. A promise only if the table is asked. */
  take(key: string, rateLimit: RateLimit): BucketReading | Promise<BucketReading> {
    if (this.#isAlone()) return this.#ownOf(key).take(key, rateLimit)
    const owed = this.#ownOf(key).remove(key).level
    if (owed > 0) this.#add(key, rateLimit, owed)
    const expected = this.#known.take(key, rateLimit)
    if (!expected.accepted) return expected
    const { promise, resolve } = Promise.withResolvers<BucketReading>()
    const { asked = 0, added = 0, waiting = [] } = this.#queued.get(key) ?? {}
    this.#queue({ key, rateLimit, asked: asked + 1, added, waiting: [...waiting, { resolve, expected }] })
    return promise
  }

  /** Takes back a request that was accepted. */
  giveBack(key: string, rateLimit: RateLimit): void {
    if (this.#isAlone()) this.#ownOf(key).add(key, rateLimit, -REQUEST)
    else this.#add(key, rateLimit, -REQUEST)
  }

  /** Adds to the table what this process counted in its memory. Rejects where something of it could not be added. */
  async share(): Promise<void> {
    this.#nextTryMs = 0
    for (const own of Object.values(this.#own)) {
      for (const key of own.keys()) {
        const { level, rateLimit } = own.remove(key)
        if (rateLimit && level > 0) this.#add(key, rateLimit, level)
      }
    }
    while (this.#working) await this.#working
    if (Object.values(this.#own).some(({ size }) => size > 0)) throw new Error('Buckets could not be shared')
  }

  /** Takes all buckets out of the table into the memory of this process. Requests wait meanwhile. */
  async takeOver(): Promise<void> {
    while (this.#working) await this.#working
    const taken = this.#takeAll()
    // Requests go on when the caller knows that this process is alone.
    const goOn = async () => {
      await nextTurn()
      this.#working = undefined
      if (this.#queued.size > 0) this.#work()
    }
    this.#working = taken.then(goOn, goOn)
    await taken
  }

  async #takeAll(): Promise<void> {
    for (;;) {
      const removed = (await this.#sharing?.table.remove()) ?? []
      for (const { key, rateLimit, level } of removed) {
        this.#known.remove(key)
        this.#ownOf(key).add(key, rateLimit, level)
      }
      if (removed.length === 0) return
    }
  }

  #isAlone(): boolean {
    return this.#sharing?.isAlone() ?? true
  }

  #ownOf(key: string): MemoryBuckets {
    const [space = ''] = key.split(' ', 1)
    return space === 'refused' || space === 'anonymous' ? this.#own[space] : this.#own.caller
  }

  #add(key: string, rateLimit: RateLimit, millionths: number): void {
    this.#known.add(key, rateLimit, millionths)
    const { asked = 0, added = 0, waiting = [] } = this.#queued.get(key) ?? {}
    this.#queue({ key, rateLimit, asked, added: added + millionths, waiting })
  }

  #queue(queued: Queued): void {
    this.#queued.set(queued.key, queued)
    this.#work()
  }

  #work(): void {
    this.#working ??= this.#run()
  }

  /** Ends in the moment in which nothing is queued. */
  async #run(): Promise<void> {
    while (this.#queued.size > 0) {
      await this.#waitForMore()
      const batch = [...this.#queued.values()].slice(0, KEYS_MAX)
      for (const { key } of batch) this.#queued.delete(key)
      if (this.#isAlone()) this.#countAlone(batch)
      else await this.#send(batch)
    }
    this.#working = undefined
  }

  /**
   * The more requests the statement before took, the more turns of the event loop the next one waits: behind a busy turn
   * there are more, and an idle one takes no time.
   */
  async #waitForMore(): Promise<void> {
    const { taken, atMs } = this.#last
    const turns = taken > 1 && performance.now() - atMs < SOON_MS ? Math.min(taken, TURNS_MAX) : 0
    for (let turn = 0; turn < turns; turn++) await nextTurn()
  }

  async #send(batch: readonly Queued[]): Promise<void> {
    const { table } = this.#sharing as Sharing
    this.#last = { taken: batch.reduce((sum, { asked }) => sum + asked, 0), atMs: performance.now() }
    // Before the table's clock was read, so that the table is never believed to be full for longer than it is.
    const sentAtMs = this.#now().getTime()
    const rows = performance.now() < this.#nextTryMs ? null : await table.take(batch).catch(() => null)
    if (rows === null) {
      if (performance.now() >= this.#nextTryMs) this.#nextTryMs = performance.now() + PAUSE_MS
      return this.#keep(batch)
    }
    const found = new Map(rows.map((row) => [row.key, row]))
    for (const queued of batch) this.#answer(queued, found.get(queued.key) as BucketRow, sentAtMs)
  }

  #answer({ key, rateLimit, waiting }: Queued, { before, atMs }: BucketRow, sentAtMs: number): void {
    let bucket = { level: before, atMs }
    for (const { resolve } of waiting) {
      const reading = fillBucket(bucket, rateLimit, atMs)
      bucket = reading.bucket
      resolve(reading)
    }
    const { asked = 0, added = 0 } = this.#queued.get(key) ?? {}
    this.#known.set(key, rateLimit, { level: Math.max(0, bucket.level + added) + asked * REQUEST, atMs: sentAtMs })
  }

  #countAlone(batch: readonly Queued[]): void {
    for (const { key, rateLimit, added, waiting } of batch) {
      const own = this.#ownOf(key)
      this.#known.remove(key)
      if (added !== 0) own.add(key, rateLimit, added)
      for (const { resolve } of waiting) resolve(own.take(key, rateLimit))
    }
  }

  /** Counts in memory what the table did not take. What was known of the table stays true. */
  #keep(batch: readonly Queued[]): void {
    for (const { key, rateLimit, added, asked, waiting } of batch) {
      this.#known.add(key, rateLimit, -added - asked * REQUEST)
      this.#ownOf(key).add(key, rateLimit, added + asked * REQUEST)
      for (const { resolve, expected } of waiting) resolve(expected)
    }
  }
}
