import { type Db, execute, queryRows, queryRowsBehind } from '../database/client.ts'
import type { Pool } from '../database/pool.ts'
import { constant, prepared, type Sql, sql } from '../database/sql.ts'
import { inMillionths, type RateLimit, REQUEST } from './leaky-bucket.ts'

/** What one process wants of one bucket. */
export interface Wanted {
  readonly key: string
  readonly rateLimit: RateLimit
  /** The number of requests to take. */
  readonly asked: number
  /** Millionths of a request to add first, whatever the capacity; negative ones leave an empty bucket at least. */
  readonly added: number
}

/** A bucket as a statement found it, before the requests that it asked for. */
export interface BucketRow {
  readonly key: string
  readonly before: number
  readonly atMs: number
}

/** A bucket that is no longer in the table, with its level at this moment. */
export interface RemovedBucket {
  readonly key: string
  readonly level: number
  readonly rateLimit: RateLimit
}

/** PostgreSQL's clock if null, in milliseconds since 1970. Read anew for each row, behind the wait for its lock. */
const timeOf = (nowMs: number | null) =>
  sql`COALESCE(${nowMs}::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)`

/**
 * What a row's bucket holds behind its last statement. Derived, so that a statement needs the time for one column alone besides
 * that of the time itself.
 */
const level = sql`("kept"."before" + LEAST("kept"."asked", GREATEST(0, ("kept"."most" - "kept"."before") / ${constant(REQUEST)}))
  * ${constant(REQUEST)}::bigint)`

const takeFrom = (wanted: Sql, nowMs: number | null) => sql`
  INSERT INTO "RateBucket" AS "kept" ("key", "before", "atMs", "asked", "most", "leakPerMs", "added")
  SELECT "key", GREATEST(0, "added"), ${timeOf(nowMs)}, "asked", "most", "leakPerMs", "added"
  FROM ${wanted} AS "wanted" ("key", "asked", "most", "leakPerMs", "added")
  ON CONFLICT ("key") DO UPDATE SET
    "before" = GREATEST(0, EXCLUDED."added"
      + GREATEST(0, ${level} - GREATEST(0, ${timeOf(nowMs)} - "kept"."atMs") * EXCLUDED."leakPerMs")),
    "atMs" = ${timeOf(nowMs)}, "asked" = EXCLUDED."asked", "most" = EXCLUDED."most", "leakPerMs" = EXCLUDED."leakPerMs",
    "added" = EXCLUDED."added"
  RETURNING "key", "before"::float8, "atMs"::float8`

type OfEach<T> = readonly T[]

const takeSeveral = prepared(
  (
    keys: OfEach<string>,
    asked: OfEach<number>,
    most: OfEach<number>,
    leakPerMs: OfEach<number>,
    added: OfEach<number>,
    nowMs: number | null,
  ) =>
    takeFrom(
      sql`unnest(${keys}::text[], ${asked}::int[], ${most}::bigint[], ${leakPerMs}::bigint[], ${added}::bigint[])`,
      nowMs,
    ),
)

/** For the usual case, without arrays, which cost both sides a tenth of the statement. */
const takeOne = prepared(
  (key: string, asked: number, most: number, leakPerMs: number, added: number, nowMs: number | null) =>
    takeFrom(
      sql`(VALUES (${key}::text, ${asked}::int, ${most}::bigint, ${leakPerMs}::bigint, ${added}::bigint))`,
      nowMs,
    ),
)

const BATCH_MAX = 1_000

interface TableOptions {
  readonly requestDb?: Db | null
  /** Absent: PostgreSQL's clock. */
  readonly nowMs?: () => number
}

/**
 * The buckets that several processes share: rows of PostgreSQL, by PostgreSQL's clock. Each statement commits by itself,
 * because in a transaction it would hold up everyone who takes of the same bucket.
 */
export class BucketTable {
  readonly #db: Db | Pool
  readonly #requestDb: Db | null
  readonly #nowMs: () => number | null
  readonly #levelNow: () => Sql

  /** `db` is for these statements alone. One that comes with a read of `requestDb` shares the connection of that one. */
  constructor(db: Db | Pool, { requestDb = null, nowMs }: TableOptions = {}) {
    this.#db = db
    this.#requestDb = requestDb
    this.#nowMs = () => nowMs?.() ?? null
    this.#levelNow = () => sql`${level} - GREATEST(0, ${timeOf(this.#nowMs())} - "kept"."atMs") * "kept"."leakPerMs"`
  }

  /** Takes requests of several buckets, each key once. The arithmetic is that of `fillBucket`. */
  take(wanted: readonly Wanted[]): Promise<BucketRow[]> {
    const statement = this.#taking(wanted)
    const alone = () => queryRows<BucketRow>(this.#db, statement)
    return this.#requestDb === null ? alone() : queryRowsBehind(this.#requestDb, statement, alone)
  }

  #taking(wanted: readonly Wanted[]): Sql {
    const nowMs = this.#nowMs()
    const [first, ...others] = wanted
    if (first !== undefined && others.length === 0) {
      const { most, leakPerMs } = inMillionths(first.rateLimit)
      return takeOne(first.key, first.asked, most, leakPerMs, first.added, nowMs)
    }
    // In one order, or two statements could wait for one another.
    const sorted = wanted.toSorted((one, other) => (one.key < other.key ? -1 : 1))
    const limits = sorted.map(({ rateLimit }) => inMillionths(rateLimit))
    return takeSeveral(
      sorted.map(({ key }) => key),
      sorted.map(({ asked }) => asked),
      limits.map(({ most }) => most),
      limits.map(({ leakPerMs }) => leakPerMs),
      sorted.map(({ added }) => added),
      nowMs,
    )
  }

  /** Takes up to a thousand buckets out of the table; none: it is empty. */
  async remove(): Promise<RemovedBucket[]> {
    const rows = await queryRows<{ key: string; level: number; most: number; leakPerMs: number }>(
      this.#db,
      sql`
      DELETE FROM "RateBucket" AS "kept" WHERE "key" IN (SELECT "key" FROM "RateBucket" LIMIT ${BATCH_MAX}::int)
      RETURNING "key", GREATEST(0, ${this.#levelNow()})::float8 AS "level", "most"::float8, "leakPerMs"::float8`,
    )
    return rows.map(({ key, level, most, leakPerMs }) => {
      return { key, level, rateLimit: { capacity: most / REQUEST, leakPerSecond: leakPerMs / 1000 } }
    })
  }

  /** Deletes the buckets that have run empty, a thousand at a time, without those that somebody fills at the moment. */
  async deleteEmpty(isStopping: () => boolean): Promise<void> {
    const deleteBatch = () =>
      execute(
        this.#db,
        sql`
        DELETE FROM "RateBucket" WHERE "key" IN (
          SELECT "key" FROM "RateBucket" AS "kept" WHERE ${this.#levelNow()} <= 0 LIMIT ${BATCH_MAX}::int FOR UPDATE SKIP LOCKED)`,
      )
    while (!isStopping() && (await deleteBatch()) === BATCH_MAX);
  }
}
