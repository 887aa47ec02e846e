import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createLoop, type Loop } from '../process/loop.ts'
import { type Db, execute, queryRows } from './client.ts'
import { leases } from './leases.ts'
import { sql } from './sql.ts'

// Which processes run on the database, by a row that each renews. Not by locks or notifications, because a process behind
// a pooler such as PgBouncer has no session of its own.

/** What a process keeps in its memory while it is alone, and in the database while there are others. */
export interface Shared {
  /** Stores what only this process keeps. */
  readonly share: () => Promise<void>
  /** Takes what is stored into the memory of this process. */
  readonly takeOver: () => Promise<void>
}

interface RegistryOptions {
  readonly db: Db
  readonly log: { warn(details: object, message: string): void; info(details: object, message: string): void }
  /** How often the row is renewed. */
  readonly everyMs?: number
  /** A row that was not renewed for this long is of a process that is gone. */
  readonly leaseMs?: number
}

/** While a process that starts waits for others to share. */
const LOOK_EVERY_MS = 50
const COMPLAINT = 'the rate limits cannot be shared'

/** What a process knows of the others on its database. It is not alone until it has joined them. */
export class ProcessRegistry {
  readonly #options: Required<RegistryOptions>
  readonly #id = randomUUID()
  readonly #beats: Loop
  #shared: Shared = { share: async () => {}, takeOver: async () => {} }
  /** By `performance.now()`: until then no other process takes this one for gone. */
  #aloneUntilMs = 0

  constructor(options: RegistryOptions) {
    this.#options = { everyMs: 1_000, leaseMs: leases.process.ms, ...options }
    const { log, everyMs } = this.#options
    this.#beats = createLoop(() => this.#beat(), { log, complaint: COMPLAINT, everyMs })
  }

  /** Whether this process may keep in its memory what it would share with others. */
  readonly isAlone = (): boolean => performance.now() < this.#aloneUntilMs

  /**
   * Makes this process known, and waits until the others have noticed and shared: a second at most, or three where one was
   * killed. Call it before the first request. Never rejects: a process that cannot see the others is not alone.
   */
  async join(shared: Shared): Promise<void> {
    this.#shared = shared
    await this.#awaitOthers().catch((error) => this.#options.log.warn({ err: error }, COMPLAINT))
    this.#beats.start()
    await this.#beats.idle()
  }

  async #awaitOthers(): Promise<void> {
    await this.#renew()
    const { at } = await this.#look()
    while ((await this.#look(at)).others > 0) {
      await delay(LOOK_EVERY_MS)
      await this.#renew()
    }
  }

  /** Stores what this process counted, for those that stay or come, and makes it unknown. Never rejects. */
  async leave(): Promise<void> {
    await this.#beats.stop()
    this.#aloneUntilMs = 0
    await this.#shared.share().catch(() => {})
    await execute(this.#options.db, sql`DELETE FROM "ServerProcess" WHERE "id" = ${this.#id}`).catch(() => {})
  }

  async #beat(): Promise<void> {
    const wasAlone = this.isAlone()
    // Known first: of two that look at once, at least one sees the other.
    if (!wasAlone) await this.#renew()
    const sentAtMs = performance.now()
    const { at, others } = await this.#look()
    if (others > 0) {
      if (wasAlone) this.#options.log.info({}, 'another process runs on the database: rate limits are shared')
      this.#aloneUntilMs = 0
      await this.#shared.share()
    }
    await this.#renew(at)
    // Where it was alone and the lease has run out since, others may have taken this process for gone.
    if (others > 0 || wasAlone !== this.isAlone()) return
    this.#aloneUntilMs = sentAtMs + this.#options.leaseMs
    if (wasAlone) return
    await this.#shared.takeOver().catch((error) => {
      this.#aloneUntilMs = 0
      throw error
    })
  }

  /** Says that this process has seen what there was at that time, and shared before others that it saw. */
  async #renew(at: number | null = null): Promise<void> {
    await execute(
      this.#options.db,
      sql`
      INSERT INTO "ServerProcess" ("id", "seenAt") VALUES (${this.#id}, COALESCE(to_timestamp(${at}::float8), now()))
      ON CONFLICT ("id") DO UPDATE SET "seenAt" = EXCLUDED."seenAt"`,
    )
  }

  /** Counts the others, or those that have not looked since; `at` is now, in seconds since 1970. Deletes those that are gone. */
  async #look(since: number | null = null): Promise<{ at: number; others: number }> {
    const { db, leaseMs } = this.#options
    const isGone = sql`"seenAt" <= now() - make_interval(secs => ${leaseMs / 1_000}::float8)`
    const [found] = await queryRows<{ at: number; others: number }>(
      db,
      sql`
      WITH "deleted" AS (DELETE FROM "ServerProcess" WHERE "id" <> ${this.#id} AND ${isGone})
      SELECT extract(epoch FROM now())::float8 AS "at", count(*)::int AS "others" FROM "ServerProcess"
      WHERE "id" <> ${this.#id} AND NOT (${isGone}) AND "seenAt" <= COALESCE(to_timestamp(${since}::float8), 'infinity')`,
    )
    return found ?? { at: 0, others: 0 }
  }
}
