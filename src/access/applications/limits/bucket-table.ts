import { type Db, execute, queryRows } from '../../../foundation/database/client.ts'
import { constant, type Sql, sql } from '../../../foundation/database/sql.ts'
import type { RateLimit } from '../../stores/rate-limit.ts'
import { type BucketReading, fillBucket, inMillionths, type KeyedBucket, REQUEST } from './leaky-bucket.ts'

/** In milliseconds since 1970. */
const databaseClock = () => sql`floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`

/**
 * The buckets that several processes share: rows of PostgreSQL, by PostgreSQL's clock. Each statement commits by itself,
 * because in a transaction it would hold up everyone who takes of the same bucket.
 */
export class BucketTable {
  readonly #db: Db
  readonly #clock: () => Sql

  constructor(db: Db, clock = databaseClock) {
    this.#db = db
    this.#clock = clock
  }

  async take(key: string, rateLimit: RateLimit): Promise<BucketReading> {
    const { most, leakPerMs } = inMillionths(rateLimit)
    const [{ before, atMs } = { before: 0, atMs: 0 }] = await this.#fill([{ key, level: 0, leakPerMs }], most)
    return fillBucket({ level: before, atMs, leakPerMs }, rateLimit, atMs)
  }

  /** Adds to buckets, whatever their capacity. */
  async add(buckets: readonly KeyedBucket[]): Promise<void> {
    // No request fits into a capacity of 0.
    await this.#fill(buckets, 0)
  }

  /** Takes all buckets out of the table. */
  removeAll(): Promise<KeyedBucket[]> {
    const level = this.#level()
    return queryRows<KeyedBucket>(this.#db)`
      DELETE FROM "RateBucket" AS "kept" RETURNING "key", ${level}::float8 AS "level", "leakPerMs"::float8`
  }

  /** Deletes the buckets that have run empty, without those that somebody fills at the moment. */
  async deleteEmpty(): Promise<void> {
    const empty = sql`SELECT "key" FROM "RateBucket" AS "kept" WHERE ${this.#level()} = 0 FOR UPDATE SKIP LOCKED`
    await execute(this.#db)`DELETE FROM "RateBucket" WHERE "key" IN (${empty})`
  }

  /**
   * Adds levels, and a request to each bucket if `most` has room for it. The clock is read after the wait for the row's lock, so
   * that it does not go back between two statements. The rows are in order, or two statements could wait for one another.
   */
  #fill(buckets: readonly KeyedBucket[], most: number) {
    return queryRows<{ before: number; atMs: number }>(this.#db)`
      INSERT INTO "RateBucket" AS "kept" ("key", "before", "most", "leakPerMs", "atMs")
      SELECT "key", "level", ${most}::bigint, "leakPerMs", ${this.#clock()} 
        FROM json_to_recordset(${JSON.stringify(buckets)}::text::json)
        AS "given" ("key" text, "level" bigint, "leakPerMs" bigint) ORDER BY "key"
      ON CONFLICT ("key") DO UPDATE SET
        "before" = EXCLUDED."before" + ${this.#level(sql`EXCLUDED."leakPerMs"`)},
        "atMs" = ${this.#clock()}, "most" = EXCLUDED."most", "leakPerMs" = EXCLUDED."leakPerMs"
      RETURNING "before"::float8, "atMs"::float8`
  }

  /** What a row's bucket holds: what its last statement found, and the request of that if it fitted, without what has leaked. */
  #level(leakPerMs = sql`"kept"."leakPerMs"`): Sql {
    return sql`GREATEST(0, "kept"."before"
      + CASE WHEN "kept"."before" + ${constant(REQUEST)} <= "kept"."most" THEN ${constant(REQUEST)} ELSE 0 END
      - GREATEST(0, ${this.#clock()} - "kept"."atMs") * ${leakPerMs})`
  }
}
