import { slicedMigrations } from '../../foundation/database/migration.ts'
import { progressOf } from '../../foundation/database/slices.ts'
import { openSnapshot } from '../../foundation/database/snapshot.ts'
import { type Check, checks } from './checks.ts'

export interface Finding {
  /** Null: the record belongs to no store. */
  readonly storeId: number | null
  /** Such as `Order 12`. */
  readonly record: string
  readonly found: string
}

export interface Outcome {
  readonly check: Check
  readonly count: number
  /** The first of them, by store and record. */
  readonly findings: readonly Finding[]
}

/**
 * Makes every check on one snapshot of the database and yields the outcome of each, with at most `shown` findings. Only reads,
 * so the server never waits for it. PostgreSQL does the work, so memory is bounded here.
 */
export async function* checkDatabase(url: string, shown: number): AsyncGenerator<Outcome> {
  const snapshot = await openSnapshot(url)
  try {
    const open: string[] = []
    for (const each of slicedMigrations()) if (!(await progressOf(snapshot, each)).isDone) open.push(each.name)
    for (const check of checks) {
      if (open.some((name) => check.rewrittenBy?.test(name))) {
        yield { check, count: 0, findings: [] }
        continue
      }
      const sql = typeof check.sql === 'string' ? check.sql : await check.sql(snapshot)
      const [row] = await snapshot.query<{ count: string; findings: Finding[] }>(
        `WITH "finding" AS MATERIALIZED (${sql})
         SELECT (SELECT count(*) FROM "finding") AS "count", coalesce((
           SELECT json_agg(f) FROM (
             SELECT * FROM "finding" ORDER BY "storeId", length("record"), "record", "found" LIMIT $1::int) f), '[]') AS "findings"`,
        [shown],
      )
      yield { check, count: Number(row?.count), findings: row?.findings ?? [] }
    }
  } finally {
    await snapshot.close()
  }
}
