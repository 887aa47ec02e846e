import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Db, execute, queryRows } from '../../../foundation/database/client.ts'
import { leases } from '../../../foundation/database/leases.ts'
import { sql } from '../../../foundation/database/sql.ts'
import type { Log } from '../../../foundation/process/log.ts'
import { createLoop, type Loop } from '../../../foundation/process/loop.ts'
import type { RateLimit } from '../../stores/rate-limit.ts'
import { BucketTable } from './bucket-table.ts'
import { type BucketReading, MemoryBuckets } from './leaky-bucket.ts'

interface SharingOptions {
  readonly db: Db
  readonly table?: BucketTable
  readonly now: () => Date
  readonly log: Pick<Log, 'info' | 'warn'>
  /** A process whose row was not renewed for this long is gone. */
  readonly leaseMs?: number
  /** How often the process looks for others. */
  readonly everyMs?: number
}

/** After a statement that failed, which may have cost its connection. */
const PAUSE_MS = 1_000
/** While a process that starts waits for the others. */
const LOOK_EVERY_MS = 50
const COMPLAINT = 'the rate limits cannot be shared'

/**
 * Buckets that are the same in every process on the database. A process that is alone counts in its memory. Otherwise the table
 * counts, and the memory holds what the process knows of it, from where it goes on by itself while the table does not answer.
 *
 * Processes know of each other by a row that each renews. Not by locks or notifications, because a process behind a pooler such as
 * PgBouncer has no session of its own.
 */
export class SharedBuckets {
  readonly #options: Required<SharingOptions>
  readonly #id = randomUUID()
  readonly #memory: MemoryBuckets
  readonly #beats: Loop
  /** Whether the table counts. Otherwise the memory holds what the table does not. */
  #isShared = true
  /** From when on others may take this process for gone, by `performance.now()`. */
  #knownUntilMs = 0
  /** Settles when buckets have moved between memory and table; never rejects. */
  #moving: Promise<void> | null = null
  /** The requests that ask the table. */
  #asking = 0
  /** By `performance.now()`. */
  #nextTryMs = 0

  constructor(options: SharingOptions) {
    const { db, now, log, everyMs = 1_000 } = options
    this.#options = { table: new BucketTable(db), leaseMs: leases.process.ms, everyMs, ...options }
    this.#memory = new MemoryBuckets(now)
    this.#beats = createLoop(() => this.#beat(), { log, complaint: COMPLAINT, everyMs })
  }

  /** Whether the memory counts because no other process does. */
  readonly isAlone = (): boolean => !this.#isShared && performance.now() < this.#knownUntilMs

  /**
   * Resolves when the other processes have noticed and shared: in a second at most, or three where one was killed. Call it before the
   * first request. Never rejects: a process that cannot see the others is not alone.
   */
  async start(): Promise<void> {
    await this.#join().catch((error) => this.#options.log.warn({ err: error }, COMPLAINT))
    this.#beats.start()
    await this.#beats.idle()
  }

  /** Shares what this process counted with those that stay or come. Never rejects. */
  async stop(): Promise<void> {
    await this.#beats.stop()
    await this.#move('to the table').catch(() => {})
    await execute(this.#options.db)`DELETE FROM "ServerProcess" WHERE "id" = ${this.#id}`.catch(() => {})
  }

  /** Counts a request. Never rejects. */
  async take(key: string, rateLimit: RateLimit): Promise<BucketReading> {
    while (this.#moving) await this.#moving
    const isAsked = !this.isAlone() && performance.now() >= this.#nextTryMs
    // Other processes only add, so that the table would refuse what is refused by what is known of it.
    if (!isAsked || !this.#memory.look(key, rateLimit).accepted) return this.#memory.take(key, rateLimit)
    try {
      if (this.#isShared) return await this.#ask(key, rateLimit)
      await this.#move('to the table')
    } catch {
      this.#nextTryMs = performance.now() + PAUSE_MS
    }
    return this.take(key, rateLimit)
  }

  async #ask(key: string, rateLimit: RateLimit): Promise<BucketReading> {
    this.#asking++
    // From before the table's clock was read, so that a bucket is never believed to be full for longer than it is.
    const atMs = this.#options.now().getTime()
    try {
      const reading = await this.#options.table.take(key, rateLimit)
      this.#memory.set(key, { ...reading.bucket, atMs })
      return reading
    } finally {
      this.#asking--
    }
  }

  /** Makes this process known, and waits until the others have looked since, or are gone. */
  async #join(): Promise<void> {
    this.#knownUntilMs = await this.#renew()
    const { at } = await this.#look()
    while ((await this.#look(at)).others > 0) {
      await delay(LOOK_EVERY_MS)
      this.#knownUntilMs = await this.#renew()
    }
  }

  /** Looks for other processes, and moves the buckets to where they are to be counted. */
  async #beat(): Promise<void> {
    const beganMs = performance.now()
    const { at, others } = await this.#look()
    if (others > 0) {
      if (this.isAlone()) this.#options.log.info({}, 'another process runs on the database: rate limits are shared')
      await this.#move('to the table')
      await this.#options.table.deleteEmpty()
    }
    const knownUntilMs = await this.#renew(at, beganMs)
    // Of two that look at once, at least one sees the other, but for one that was taken for gone: it is alone after its next look.
    const mayBeAlone = others === 0 && performance.now() < this.#knownUntilMs
    await this.#move(mayBeAlone ? 'to the memory' : 'to the table')
    this.#knownUntilMs = knownUntilMs
  }

  /** Moves the buckets to where they count from then on, unless they are there. Requests wait meanwhile. */
  async #move(where: 'to the table' | 'to the memory'): Promise<void> {
    while (this.#moving) await this.#moving
    if (this.#isShared === (where === 'to the table')) return
    const moved = (this.#isShared ? this.#takeOver() : this.#share()).finally(() => {
      this.#moving = null
    })
    this.#moving = moved.catch(() => {})
    await moved
  }

  async #share(): Promise<void> {
    // Not alone any more, whatever becomes of the statement.
    this.#knownUntilMs = 0
    await this.#options.table.add(this.#memory.filled())
    this.#isShared = true
  }

  async #takeOver(): Promise<void> {
    while (this.#asking > 0) await delay(1)
    const buckets = await this.#options.table.removeAll()
    const atMs = this.#options.now().getTime()
    for (const { key, ...bucket } of buckets) this.#memory.set(key, { ...bucket, atMs })
    this.#isShared = false
  }

  /** Says that this process has looked, at that time or now, and shared before others that it saw. Returns until when it is known so. */
  async #renew(at: number | null = null, beganMs = performance.now()): Promise<number> {
    await execute(this.#options.db)`
      INSERT INTO "ServerProcess" ("id", "seenAt") VALUES (${this.#id}, COALESCE(to_timestamp(${at}::float8), now()))
      ON CONFLICT ("id") DO UPDATE SET "seenAt" = EXCLUDED."seenAt"`
    return beganMs + this.#options.leaseMs
  }

  /** Counts the others, or those that have not looked since; `at` is now, in seconds since 1970. Deletes those that are gone. */
  async #look(since: number | null = null): Promise<{ at: number; others: number }> {
    const isGone = sql`"seenAt" <= now() - make_interval(secs => ${this.#options.leaseMs / 1_000}::float8)`
    const [found] = await queryRows<{ at: number; others: number }>(this.#options.db)`
      WITH "deleted" AS (DELETE FROM "ServerProcess" WHERE "id" <> ${this.#id} AND ${isGone})
      SELECT extract(epoch FROM now())::float8 AS "at", count(*)::int AS "others" FROM "ServerProcess"
      WHERE "id" <> ${this.#id} AND NOT (${isGone}) AND "seenAt" <= COALESCE(to_timestamp(${since}::float8), 'infinity')`
    return found ?? { at: 0, others: 0 }
  }
}
