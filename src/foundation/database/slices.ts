import { setTimeout as delay } from 'node:timers/promises'
import { StartupError } from '../process/startup-error.ts'
import type { Migration, Slices } from './migration.ts'
import type { Query } from './query.ts'

// What a migration would rewrite in one statement is rewritten after the start, in slices by the primary key. The row of "Upgrade" with the
// migration's name says how far; whoever holds it is at work.

/** Rows of a slice: some tens of milliseconds. */
export const SLICE_ROWS = 500
const WAIT_MS = 100

/** How far the rows of a migration are rewritten. */
export interface Progress {
  readonly rows: number
  readonly isDone: boolean
}

interface Kept {
  /** The key of the last rewritten row, by column; null: none is yet. */
  readonly position: readonly number[] | null
  readonly rows: number
  readonly isDone: boolean
}

/**
 * Rewrites the next slice in the transaction of `database`, which is its own; `isLast`: with it all are done. Null: another process is at work. A kill at any line leaves the slice
 * to the next one.
 */
export async function rewriteSlice(
  database: Query,
  { name, slices }: Migration,
  rowsMax = SLICE_ROWS,
): Promise<(Progress & { readonly isLast: boolean }) | null> {
  if (slices === null) throw new Error(`${name} has no slices`)
  await database.query(`INSERT INTO "Upgrade" ("name") VALUES ($1) ON CONFLICT DO NOTHING`, [name])
  const [kept] = await database.query<Kept>(
    `SELECT "position", "rows"::float8 AS "rows", "doneAt" IS NOT NULL AS "isDone" FROM "Upgrade"
     WHERE "name" = $1 FOR UPDATE SKIP LOCKED`,
    [name],
  )
  if (kept === undefined || kept.isDone) return kept === undefined ? null : { ...kept, isLast: false }
  const { count, end } = await nextSlice(database, slices, kept.position, rowsMax)
  if (count > 0) await database.query(slices.sql.replaceAll('$slice', between(slices, kept.position, end)))
  const isDone = count < rowsMax
  const progress = { rows: kept.rows + count, isDone, isLast: isDone }
  await database.query(
    `UPDATE "Upgrade" SET "position" = $2::jsonb, "rows" = $3, "doneAt" = CASE WHEN $4 = 1 THEN clock_timestamp() END WHERE "name" = $1`,
    [name, JSON.stringify(end), progress.rows, Number(progress.isDone)],
  )
  return progress
}

async function nextSlice(
  { query }: Query,
  slices: Slices,
  position: Kept['position'],
  rowsMax: number,
): Promise<{ count: number; end: Kept['position'] }> {
  const key = slices.key.map((column) => `r."${column}"`).join(', ')
  const [slice] = await query<{ count: number; end: number[] | null }>(`
    SELECT count(*)::int AS "count", (array_agg("key" ORDER BY "place" DESC))[1] AS "end" FROM (
      SELECT json_build_array(${key}) AS "key", row_number() OVER (ORDER BY ${key}) AS "place"
      FROM "${slices.table}" r WHERE ${between(slices, position, null)} ORDER BY ${key} LIMIT ${rowsMax}) s`)
  return { count: slice?.count ?? 0, end: slice?.end ?? position }
}

/** Whether a row is behind one place, and not behind another. */
function between({ key }: Slices, after: Kept['position'], until: Kept['position']): string {
  const columns = key.map((column) => `r."${column}"`).join(', ')
  const compared = [after && `(${columns}) > (${after.join(', ')})`, until && `(${columns}) <= (${until.join(', ')})`]
  return compared.filter((each) => each !== null).join(' AND ') || 'true'
}

/** Rewrites what is left in one go, for a migration that needs it. Throws `StartupError` where servers run, which go on by themselves. */
export async function finishSlices(
  database: Query,
  migration: Migration,
  { isAlone, warn }: { readonly isAlone: boolean; readonly warn: (message: string) => void },
): Promise<void> {
  const { rows, table, isDone } = await progressOf(database, migration)
  if (isDone) return
  if (!isAlone)
    throw new StartupError(
      `Servers still rewrite rows for migration ${migration.name}: ${rows} of about ${table} are done. Start again when all are`,
    )
  warn(`Migration ${migration.name} has rewritten ${rows} of about ${table} rows; the rest is rewritten now`)
  for (let isLeft = true; isLeft; ) {
    await database.query('BEGIN')
    const progress = await rewriteSlice(database, migration, SLICE_ROWS * 20)
    await database.query('COMMIT')
    isLeft = progress?.isDone !== true
    // Another process that starts is at it.
    if (progress === null) await delay(WAIT_MS)
  }
}

/** `table`: about how many rows the table has. */
export async function progressOf(
  { query }: Query,
  { name, slices }: Migration,
): Promise<Progress & { readonly table: number }> {
  const [found] = await query<Progress & { table: number }>(
    `SELECT coalesce("rows", 0)::float8 AS "rows", "doneAt" IS NOT NULL AS "isDone",
       greatest("reltuples", 0)::float8 AS "table"
     FROM pg_class LEFT JOIN "Upgrade" ON "name" = $1 WHERE pg_class.oid = to_regclass($2)`,
    [name, `"public"."${slices?.table}"`],
  )
  return found ?? { rows: 0, isDone: true, table: 0 }
}
