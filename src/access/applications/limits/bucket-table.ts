import { type Db, execute, queryRows } from '../../../foundation/database/client.ts'
import { constant, sql } from '../../../foundation/database/sql.ts'
import type { RateLimit } from '../../stores/rate-limit.ts'
import { type Bucket, type BucketReading, fillBucket, inMillionths, REQUEST } from './leaky-bucket.ts'

/** A bucket with its level at this moment. */
type KeyedBucket = Omit<Bucket, 'atMs'> & { readonly key: string }

/** In milliseconds since 1970; null: by PostgreSQL. */
const clock = (nowMs: number | null) =>
  sql`COALESCE(${nowMs}::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)`

/** What a row's bucket holds: what its last statement found, and the request of that if it fitted, without what has leaked. */
const levelAt = (nowMs: number | null, leakPerMs = sql`"kept"."leakPerMs"`) => sql`GREATEST(0, "kept"."before"
  + CASE WHEN "kept"."before" + ${constant(REQUEST)} <= "kept"."most" THEN ${constant(REQUEST)} ELSE 0 END
  - GREATEST(0, ${clock(nowMs)} - "kept"."atMs") * ${leakPerMs})`

/**
 * Adds levels, and a request to each bucket whose `most` has room for it. The clock is read after the wait for the row's lock, so that it
 * does not go back between two statements. The rows are in order, or two statements could wait for one another.
 */
const fill = (buckets: readonly (KeyedBucket & { readonly most: number })[], nowMs: number | null) => sql`
  INSERT INTO "RateBucket" AS "kept" ("key", "before", "most", "leakPerMs", "atMs")
  SELECT "key", "level", "most", "leakPerMs", ${clock(nowMs)} FROM json_to_recordset(${JSON.stringify(buckets)}::text::json)
    AS "given" ("key" text, "level" bigint, "most" bigint, "leakPerMs" bigint) ORDER BY "key"
  ON CONFLICT ("key") DO UPDATE SET
    "before" = EXCLUDED."before" + ${levelAt(nowMs, sql`EXCLUDED."leakPerMs"`)},
    "atMs" = ${clock(nowMs)}, "most" = EXCLUDED."most", "leakPerMs" = EXCLUDED."leakPerMs"
  RETURNING "before"::float8, "atMs"::float8`

/**
 * The buckets that several processes share: rows of PostgreSQL, by PostgreSQL's clock. Each statement commits by itself,
 * because in a transaction it would hold up everyone who takes of the same bucket.
 */
export class BucketTable {
  readonly #db: Db
  readonly #nowMs: () => number | null

  constructor(db: Db, nowMs: () => number | null = () => null) {
    this.#db = db
    this.#nowMs = nowMs
  }

  async take(key: string, rateLimit: RateLimit): Promise<BucketReading> {
    const { most, leakPerMs } = inMillionths(rateLimit)
    const statement = fill([{ key, level: 0, most, leakPerMs }], this.#nowMs())
    const [row] = await queryRows<{ before: number; atMs: number }>(this.#db, statement)
    const { before = 0, atMs = 0 } = row ?? {}
    return fillBucket({ level: before, atMs, leakPerMs }, rateLimit, atMs)
  }

  /** Adds to buckets, whatever their capacity. */
  async add(buckets: readonly KeyedBucket[]): Promise<void> {
    // No request fits into a capacity of 0.
    const filled = buckets.map((bucket) => ({ ...bucket, most: 0 }))
    await execute(this.#db, fill(filled, this.#nowMs()))
  }

  /** Takes all buckets out of the table. */
  removeAll(): Promise<KeyedBucket[]> {
    const level = levelAt(this.#nowMs())
    return queryRows(
      this.#db,
      sql`DELETE FROM "RateBucket" AS "kept" RETURNING "key", ${level}::float8 AS "level", "leakPerMs"::float8`,
    )
  }

  /** Deletes the buckets that have run empty, without those that somebody fills at the moment. */
  async deleteEmpty(): Promise<void> {
    const empty = sql`SELECT "key" FROM "RateBucket" AS "kept" WHERE ${levelAt(this.#nowMs())} = 0 FOR UPDATE SKIP LOCKED`
    await execute(this.#db, sql`DELETE FROM "RateBucket" WHERE "key" IN (${empty})`)
  }
}
