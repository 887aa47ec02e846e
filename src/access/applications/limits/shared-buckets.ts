import { setTimeout as delay } from 'node:timers/promises'
import type { ProcessRegistry } from '../../../foundation/database/process-registry.ts'
import type { Log } from '../../../foundation/process/log.ts'
import { createLoop, type Loop } from '../../../foundation/process/loop.ts'
import type { RateLimit } from '../../stores/rate-limit.ts'
import type { BucketTable } from './bucket-table.ts'
import { type BucketReading, MemoryBuckets } from './leaky-bucket.ts'

interface SharingOptions {
  readonly table: BucketTable
  readonly processes: ProcessRegistry
  readonly now: () => Date
  readonly log: Pick<Log, 'info' | 'warn'>
  /** How often the process looks for others. */
  readonly everyMs?: number
}

/** After a statement that failed, which may have cost its connection. */
const PAUSE_MS = 1_000
const COMPLAINT = 'the rate limits cannot be shared'

/**
 * Buckets that are the same in every process on the database. A process that is alone counts in its memory. Otherwise the table
 * counts, and the memory holds what the process knows of it, from where it goes on by itself while the table does not answer.
 */
export class SharedBuckets {
  readonly #table: BucketTable
  readonly #processes: ProcessRegistry
  readonly #now: () => Date
  readonly #log: SharingOptions['log']
  readonly #memory: MemoryBuckets
  readonly #beats: Loop
  /**
   * Null: the table counts. Otherwise the memory holds what the table does not, and counts until this time by `performance.now()`,
   * from when on others may take this process for gone.
   */
  #aloneUntilMs: number | null = null
  /** Settles when buckets have moved between memory and table; never rejects. */
  #moving: Promise<void> | null = null
  /** The requests that ask the table. */
  #asking = 0
  /** By `performance.now()`. */
  #nextTryMs = 0

  constructor({ table, processes, now, log, everyMs = 1_000 }: SharingOptions) {
    this.#table = table
    this.#processes = processes
    this.#now = now
    this.#log = log
    this.#memory = new MemoryBuckets(now)
    this.#beats = createLoop(() => this.#beat(), { log, complaint: COMPLAINT, everyMs })
  }

  /** Whether the memory counts because no other process does. */
  readonly isAlone = (): boolean => performance.now() < (this.#aloneUntilMs ?? 0)

  /**
   * Resolves when the other processes have noticed and shared: in a second at most, or three where one was killed. Call it before the
   * first request. Never rejects: a process that cannot see the others is not alone.
   */
  async start(): Promise<void> {
    await this.#processes.join().catch((error) => this.#log.warn({ err: error }, COMPLAINT))
    this.#beats.start()
    await this.#beats.idle()
  }

  /** Shares what this process counted with those that stay or come. Never rejects. */
  async stop(): Promise<void> {
    await this.#beats.stop()
    await this.#move(null).catch(() => {})
    await this.#processes.leave().catch(() => {})
  }

  /** Counts a request. Never rejects. */
  async take(key: string, rateLimit: RateLimit): Promise<BucketReading> {
    while (this.#moving) await this.#moving
    const isAsked = !this.isAlone() && performance.now() >= this.#nextTryMs
    // Other processes only add, so that the table would refuse what is refused by what is known of it.
    if (!isAsked || !this.#memory.look(key, rateLimit).accepted) return this.#memory.take(key, rateLimit)
    try {
      if (this.#aloneUntilMs === null) return await this.#ask(key, rateLimit)
      await this.#move(null)
    } catch {
      this.#nextTryMs = performance.now() + PAUSE_MS
    }
    return this.take(key, rateLimit)
  }

  async #ask(key: string, rateLimit: RateLimit): Promise<BucketReading> {
    this.#asking++
    // From before the table's clock was read, so that a bucket is never believed to be full for longer than it is.
    const atMs = this.#now().getTime()
    try {
      const reading = await this.#table.take(key, rateLimit)
      this.#memory.set(key, { ...reading.bucket, atMs })
      return reading
    } finally {
      this.#asking--
    }
  }

  /** Looks for other processes, and moves the buckets to where they are to be counted. */
  async #beat(): Promise<void> {
    const wasAlone = this.isAlone()
    // Known first: of two that look at once, at least one sees the other.
    if (!wasAlone) await this.#processes.renew()
    const aloneUntilMs = performance.now() + this.#processes.leaseMs
    const { at, others } = await this.#processes.look()
    if (others > 0) {
      if (wasAlone) this.#log.info({}, 'another process runs on the database: rate limits are shared')
      if (this.#aloneUntilMs !== null) await this.#move(null)
      await this.#table.deleteEmpty()
    }
    await this.#processes.renew(at)
    // Where it was alone and the lease has run out since, others may have taken this process for gone.
    if (others > 0 || wasAlone !== this.isAlone()) return
    if (wasAlone) this.#aloneUntilMs = aloneUntilMs
    else await this.#move(aloneUntilMs)
  }

  /** Moves the buckets to where they count from then on: into the table (null), or all into the memory. Requests wait meanwhile. */
  async #move(aloneUntilMs: number | null): Promise<void> {
    while (this.#moving) await this.#moving
    const moved = this.#moveNow(aloneUntilMs).finally(() => {
      this.#moving = null
    })
    this.#moving = moved.catch(() => {})
    await moved
  }

  async #moveNow(aloneUntilMs: number | null): Promise<void> {
    while (this.#asking > 0) await delay(1)
    if (this.#aloneUntilMs !== null) {
      this.#aloneUntilMs = 0
      await this.#table.add(this.#memory.filled())
      this.#aloneUntilMs = null
    }
    if (aloneUntilMs === null) return
    const buckets = await this.#table.removeAll()
    const atMs = this.#now().getTime()
    for (const { key, ...bucket } of buckets) this.#memory.set(key, { ...bucket, atMs })
    this.#aloneUntilMs = aloneUntilMs
  }
}
