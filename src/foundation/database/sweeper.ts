import { setTimeout as delay } from 'node:timers/promises'
import { createLoop } from '../process/loop.ts'
import type { Db } from './client.ts'
import { identifier, type Sql, sql } from './sql.ts'

const HOUR_MS = 3_600_000

/** Deletes what is old, in batches that are small enough to wait for; `isStopping` ends it after one. */
export type Sweep = (isStopping: () => boolean) => Promise<void>

const REST_MS_MAX = 1_000

/**
 * Runs `batch` with what the batch before returned, from `first` on, until one returns null or `isStopping`. Rests after each as long as
 * it took, a second at most, so that what is deleted never takes more than half of a processor from requests.
 */
export async function inBatches<Cursor>(
  isStopping: () => boolean,
  first: Cursor,
  batch: (after: Cursor) => Promise<Cursor | null>,
): Promise<void> {
  for (let after: Cursor | null = first; after !== null && !isStopping(); ) {
    const from: Cursor = after
    after = await rested(() => batch(from))
  }
}

/** Rests after `work` as long as it took, a second at most. */
export async function rested<T>(work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const result = await work()
  await delay(Math.min(performance.now() - startedAt, REST_MS_MAX))
  return result
}

interface AgedTable {
  readonly table: string
  /** A column with an index. */
  readonly time: string
  /** SQL: which rows may go at all; default: every one. */
  readonly mayGo?: Sql
  /** Rows of a statement; default: a thousand. */
  readonly batch?: number
}

const BATCH_MAX = 1_000

/** Deletes rows whose time is not after `until`, from the oldest on. Rows that a transaction holds stay until the next sweep. */
export function sweepByTime(
  db: Db,
  { table, time, mayGo = sql`true`, batch = BATCH_MAX }: AgedTable,
  until: () => Date,
): Sweep {
  const [rows, at] = [identifier(table), identifier(time)]
  return (isStopping) => {
    const end = until()
    return inBatches(isStopping, '-infinity', async (after) => {
      const [deleted] = await db.$queryRaw<{ last: string | null }[]>(sql`
        WITH past AS MATERIALIZED (
          SELECT ctid, ${at} AS "at" FROM ${rows} WHERE ${at} >= ${after}::timestamptz AND ${at} <= ${end} AND ${mayGo}
          ORDER BY ${at} LIMIT ${batch}::int FOR UPDATE SKIP LOCKED),
        deleted AS (DELETE FROM ${rows} WHERE ctid = ANY (ARRAY (SELECT ctid FROM past)))
        SELECT CASE count(*) WHEN ${batch}::int THEN max("at")::text END AS "last" FROM past`)
      return deleted?.last ?? null
    })
  }
}

interface Options {
  readonly log: { warn(details: object, message: string): void }
  /** By what they delete, in words. */
  readonly sweeps: Readonly<Record<string, Sweep>>
}

/** Runs sweeps one after another, from its start on and every hour. Any number of processes may do so on one database. */
export function createSweeper({ log, sweeps }: Options) {
  return createLoop(sweepAll, { log, complaint: 'old rows could not be deleted', everyMs: HOUR_MS })

  async function sweepAll(isStopping: () => boolean): Promise<void> {
    for (const [what, sweep] of Object.entries(sweeps)) {
      if (isStopping()) return
      await sweep(isStopping).catch((error) => log.warn({ err: error }, `${what} could not be deleted`))
    }
  }
}

/** A table with an `id` that follows the time, whose rows are archived and then deleted. */
export interface ArchivedTable {
  readonly table: string
  readonly time: string
  /** SQL: which rows are archived at all. */
  readonly archived: Sql
  /** Deletes rows that are in a file; those that are gone already are no error. */
  readonly remove: (db: Db, ids: readonly number[]) => Promise<void>
}
