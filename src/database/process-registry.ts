import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Db, execute, queryRows } from './client.ts'
import type { Pool } from './pool.ts'
import { type Sql, sql } from './sql.ts'

// Which processes run on the database, by a row that each renews. Not by locks or notifications, because a process behind
// a pooler such as PgBouncer has no session of its own.

/** What a process keeps in its memory while it is alone, and in the database while there are others. */
export interface Shared {
  /** Stores what this process keeps in its memory. */
  readonly share: () => Promise<void>
  /** Takes what is stored into the memory of this process. */
  readonly takeOver: () => Promise<void>
}

interface RegistryOptions {
  readonly db: Db | Pool
  readonly log: { warn(details: object, message: string): void; info(details: object, message: string): void }
  /** How often the row is renewed; default: every second. */
  readonly everyMs?: number
  /** A row that was not renewed for this long is of a process that is gone; default: 3 s. */
  readonly leaseMs?: number
}

const EVERY_MS = 1_000
const LEASE_MS = 3_000
/** While a process that starts waits for others to share. */
const LOOK_EVERY_MS = 50
/** Longer than a lease, so that it ends for a process that lives and cannot share. */
const JOIN_MS_MAX = 10_000

const nothing: Shared = { share: async () => {}, takeOver: async () => {} }

/** What a process knows of the others on its database. It is not alone until it has joined them. */
export class ProcessRegistry {
  readonly #options: Required<RegistryOptions>
  readonly #id = randomUUID()
  readonly #stopping = new AbortController()
  #shared = nothing
  /** By `performance.now()`: until then no other process takes this one for gone. 0: not alone. */
  #aloneUntilMs = 0
  /** What the row says: true before the process counts alone, and until it has shared what it counted. */
  #countsAlone = false
  /** Why the last beat failed; empty: it did not. Each reason is logged once. */
  #failure = ''
  #running: Promise<void> | undefined

  constructor(options: RegistryOptions) {
    this.#options = { everyMs: EVERY_MS, leaseMs: LEASE_MS, ...options }
  }

  /** Whether this process may keep in its memory what it would share with others. */
  readonly isAlone = (): boolean => {
    if (this.#aloneUntilMs !== 0 && performance.now() >= this.#aloneUntilMs) this.#aloneUntilMs = 0
    return this.#aloneUntilMs !== 0
  }

  /**
   * Makes this process known, and waits until no other is alone: a second at most, or three where another was killed. Call
   * it before the first request. Never rejects: a process that cannot see the others is not alone.
   */
  async join(shared: Shared): Promise<void> {
    this.#shared = shared
    const startedAtMs = performance.now()
    const look = () => this.#look().catch(() => ({ alone: 0 }))
    await look()
    // Only a statement behind the one that made this process known sees everyone who does not know it.
    while ((await look()).alone > 0) {
      if (performance.now() - startedAtMs > JOIN_MS_MAX) {
        this.#options.log.warn({}, 'another process on the database does not share its rate limits')
        break
      }
      await delay(LOOK_EVERY_MS)
    }
    await this.#tryBeat()
    this.#running = this.#beatOn()
  }

  /** Stores what this process counted, for those that stay or come, and makes it unknown. Never rejects. */
  async leave(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    this.#aloneUntilMs = 0
    await this.#shared.share().catch(() => {})
    await execute(this.#options.db, sql`DELETE FROM "ServerProcess" WHERE "id" = ${this.#id}`).catch(() => {})
  }

  async #beatOn(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await delay(this.#options.everyMs, undefined, { signal, ref: false }).catch(() => {})
      if (!signal.aborted) await this.#tryBeat()
    }
  }

  async #tryBeat(): Promise<void> {
    try {
      await this.#beat()
      this.#failure = ''
    } catch (error) {
      const { message } = error as Error
      if (message !== this.#failure) this.#options.log.warn({ err: error }, 'the rate limits cannot be shared')
      this.#failure = message
    }
  }

  async #beat(): Promise<void> {
    const sentAtMs = performance.now()
    const { others } = await this.#look()
    if (others > 0) await this.#share()
    else if (this.isAlone()) this.#aloneUntilMs = sentAtMs + this.#options.leaseMs
    else await this.#claim()
  }

  async #share(): Promise<void> {
    if (this.isAlone()) this.#options.log.info({}, 'another process runs on the database: rate limits are shared')
    this.#aloneUntilMs = 0
    if (!this.#countsAlone) return
    await this.#shared.share()
    this.#countsAlone = false
    await this.#look()
  }

  /** Says that it is alone, and looks again: of two processes that do so at once, at least one sees the other. */
  async #claim(): Promise<void> {
    this.#countsAlone = true
    await this.#look()
    const sentAtMs = performance.now()
    const { others } = await this.#look()
    if (others > 0) return this.#share()
    await this.#shared.takeOver()
    this.#aloneUntilMs = sentAtMs + this.#options.leaseMs
  }

  /** Renews the row. Returns how many others there are, and how many of them are alone or were so and have not shared yet. */
  async #look(): Promise<{ others: number; alone: number }> {
    const { db, leaseMs } = this.#options
    const isGone: Sql = sql`"seenAt" <= clock_timestamp() - make_interval(secs => ${leaseMs / 1_000}::float8)`
    const [found] = await queryRows<{ others: number; alone: number }>(
      db,
      sql`
      WITH "renewed" AS (
        INSERT INTO "ServerProcess" ("id", "seenAt", "countsAlone") VALUES (${this.#id}, clock_timestamp(), ${this.#countsAlone})
        ON CONFLICT ("id") DO UPDATE SET "seenAt" = EXCLUDED."seenAt", "countsAlone" = EXCLUDED."countsAlone"
      ), "removed" AS (
        DELETE FROM "ServerProcess" WHERE "id" IN (
          SELECT "id" FROM "ServerProcess" WHERE "id" <> ${this.#id} AND ${isGone} FOR UPDATE SKIP LOCKED)
      )
      SELECT count(*)::int AS "others", (count(*) FILTER (WHERE "countsAlone"))::int AS "alone"
      FROM "ServerProcess" WHERE "id" <> ${this.#id} AND NOT (${isGone})`,
    )
    return found ?? { others: 0, alone: 0 }
  }
}
