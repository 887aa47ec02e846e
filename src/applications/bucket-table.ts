import { type Db, execute, queryRows } from '../database/client.ts'
import { constant, prepared, sql } from '../database/sql.ts'
import { type BucketReading, fillBucket, inMillionths, type RateLimit, REQUEST } from './leaky-bucket.ts'

export interface KeyedBucket {
  readonly key: string
  /** At this moment. */
  readonly level: number
  readonly leakPerMs: number
}

/** In milliseconds since 1970; null: by PostgreSQL. */
const clock = (nowMs: number | null) =>
  sql`COALESCE(${nowMs}::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)`

/** What a row's bucket holds: what its last statement found, and the request of that if it fitted, without what has leaked. */
const levelAt = (nowMs: number | null, leakPerMs = sql`"kept"."leakPerMs"`) => sql`GREATEST(0, "kept"."before"
  + CASE WHEN "kept"."before" + ${constant(REQUEST)} <= "kept"."most" THEN ${constant(REQUEST)} ELSE 0 END
  - GREATEST(0, ${clock(nowMs)} - "kept"."atMs") * ${leakPerMs})`

/** The clock is read after the wait for the row's lock, so that it does not go back between two statements. */
const fill = prepared((keys: string[], added: number[], most: number[], leakPerMs: number[], nowMs: number | null) => {
  return sql`
  INSERT INTO "RateBucket" AS "kept" ("key", "before", "most", "leakPerMs", "atMs")
  SELECT *, ${clock(nowMs)} FROM unnest(${keys}::text[], ${added}::bigint[], ${most}::bigint[], ${leakPerMs}::bigint[])
  ON CONFLICT ("key") DO UPDATE SET
    "before" = EXCLUDED."before" + ${levelAt(nowMs, sql`EXCLUDED."leakPerMs"`)},
    "atMs" = ${clock(nowMs)}, "most" = EXCLUDED."most", "leakPerMs" = EXCLUDED."leakPerMs"
  RETURNING "before"::float8, "atMs"::float8`
})

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
    const statement = fill([key], [0], [most], [leakPerMs], this.#nowMs())
    const [row] = await queryRows<{ before: number; atMs: number }>(this.#db, statement)
    const { before = 0, atMs = 0 } = row ?? {}
    return fillBucket({ level: before, atMs, leakPerMs }, rateLimit, atMs)
  }

  /** Adds to buckets, whatever their capacity. */
  async add(buckets: readonly KeyedBucket[]): Promise<void> {
    // In one order, or two statements could wait for one another.
    const sorted = buckets.toSorted((one, other) => (one.key < other.key ? -1 : 1))
    const each = <T>(value: (bucket: KeyedBucket) => T) => sorted.map(value)
    const [keys, levels, leaks] = [
      each(({ key }) => key),
      each(({ level }) => level),
      each(({ leakPerMs }) => leakPerMs),
    ]
    // No request fits into a capacity of 0.
    await execute(
      this.#db,
      fill(
        keys,
        levels,
        each(() => 0),
        leaks,
        this.#nowMs(),
      ),
    )
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
