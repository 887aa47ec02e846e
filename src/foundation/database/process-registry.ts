import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Db, execute, queryRows } from './client.ts'
import { leases } from './leases.ts'
import { sql } from './sql.ts'

/** While a process that starts waits for the others. */
const LOOK_EVERY_MS = 50

/**
 * Which processes run on the database, by a row that each renews. Not by locks or notifications, because a process behind a
 * pooler such as PgBouncer has no session of its own.
 */
export class ProcessRegistry {
  readonly #db: Db
  readonly #id = randomUUID()
  /** A process whose row was not renewed for this long is gone. */
  readonly leaseMs: number

  constructor(db: Db, leaseMs: number = leases.process.ms) {
    this.#db = db
    this.leaseMs = leaseMs
  }

  /** Makes this process known, and waits until the others have looked since, or are gone. */
  async join(): Promise<void> {
    await this.renew()
    const { at } = await this.look()
    while ((await this.look(at)).others > 0) {
      await delay(LOOK_EVERY_MS)
      await this.renew()
    }
  }

  /** Says that this process has looked, at that time or now, and shared before others that it saw. */
  async renew(at: number | null = null): Promise<void> {
    await execute(this.#db)`
      INSERT INTO "ServerProcess" ("id", "seenAt") VALUES (${this.#id}, COALESCE(to_timestamp(${at}::float8), now()))
      ON CONFLICT ("id") DO UPDATE SET "seenAt" = EXCLUDED."seenAt"`
  }

  /** Counts the others, or those that have not looked since; `at` is now, in seconds since 1970. Deletes those that are gone. */
  async look(since: number | null = null): Promise<{ at: number; others: number }> {
    const isGone = sql`"seenAt" <= now() - make_interval(secs => ${this.leaseMs / 1_000}::float8)`
    const [found] = await queryRows<{ at: number; others: number }>(this.#db)`
      WITH "deleted" AS (DELETE FROM "ServerProcess" WHERE "id" <> ${this.#id} AND ${isGone})
      SELECT extract(epoch FROM now())::float8 AS "at", count(*)::int AS "others" FROM "ServerProcess"
      WHERE "id" <> ${this.#id} AND NOT (${isGone}) AND "seenAt" <= COALESCE(to_timestamp(${since}::float8), 'infinity')`
    return found ?? { at: 0, others: 0 }
  }

  async leave(): Promise<void> {
    await execute(this.#db)`DELETE FROM "ServerProcess" WHERE "id" = ${this.#id}`
  }
}
