import type { Migration, Slices } from './migration.ts'
import type { Query } from './query.ts'

// What a migration would rewrite in one statement is rewritten after the start, in slices by the primary key. The row of "Upgrade" with the
// migration's name says how far; whoever holds it is at work.

/** Rows of a slice: some tens of milliseconds, in which nobody else changes them, of a table with a dozen indexes. */
export const SLICE_ROWS = 100
/** Rows of such a table, a second, by a processor of a small machine. */
export const REWRITTEN_A_SECOND = 5_000
/** A migration waits no longer for a table, nor a slice for what its triggers lock: others wait behind it meanwhile. */
export const LOCK_MS_MAX = 200

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
 * Rewrites the next slice in the transaction of `database`, which is its own; `isLast`: with it all are done. Null: another process is at
 * work. Throws 55P03 while somebody else holds one of its rows. A kill at any line leaves the slice to the next one.
 */
export async function rewriteSlice(database: Query, { name, slices }: Migration, rowsMax = SLICE_ROWS) {
  if (slices === null) throw new Error(`${name} has no slices`)
  await database.query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`)
  await database.query(`INSERT INTO "Upgrade" ("name") VALUES ($1) ON CONFLICT DO NOTHING`, [name])
  const [kept] = await database.query<Kept>(
    `SELECT "position", "rows"::float8 AS "rows", "doneAt" IS NOT NULL AS "isDone" FROM "Upgrade"
     WHERE "name" = $1 FOR UPDATE SKIP LOCKED`,
    [name],
  )
  if (kept === undefined) return null
  if (kept.isDone) return { ...kept, isLast: false }
  const { count, end } = await nextSlice(database, slices, kept.position, rowsMax)
  if (count > 0) await database.query(slices.sql.replaceAll('$slice', between(slices, kept.position, end)))
  const rows = kept.rows + count
  const isLast = count < rowsMax
  await database.query(
    `UPDATE "Upgrade" SET "position" = $2::jsonb, "rows" = $3, "doneAt" = CASE WHEN $4 = 1 THEN clock_timestamp() END WHERE "name" = $1`,
    [name, JSON.stringify(end), rows, Number(isLast)],
  )
  return { rows, isDone: isLast, isLast }
}

async function nextSlice({ query }: Query, slices: Slices, position: Kept['position'], rowsMax: number) {
  const key = slices.key.map((column) => `r."${column}"`).join(', ')
  const [slice] = await query<{ count: number; end: number[] | null }>(`
    SELECT count(*)::int AS "count", (array_agg("key"))[count(*)::int] AS "end" FROM (
      SELECT json_build_array(${key}) AS "key" FROM "${slices.table}" r WHERE ${between(slices, position, null)}
      ORDER BY ${key} LIMIT ${rowsMax} FOR NO KEY UPDATE NOWAIT) s`)
  return { count: slice?.count ?? 0, end: slice?.end ?? position }
}

/** Whether a row is behind one place, and not behind another. */
function between({ key }: Slices, after: Kept['position'], until: Kept['position']): string {
  const columns = key.map((column) => `r."${column}"`).join(', ')
  const compared = [after && `(${columns}) > (${after.join(', ')})`, until && `(${columns}) <= (${until.join(', ')})`]
  return compared.filter((each) => each !== null).join(' AND ') || 'true'
}

/** `table`: about how many rows the table has. */
export async function progressOf({ query }: Query, { name, slices }: Migration) {
  const [found] = await query<Progress & { table: number }>(
    `SELECT coalesce("rows", 0)::float8 AS "rows", "doneAt" IS NOT NULL AS "isDone",
       greatest("reltuples", 0)::float8 AS "table"
     FROM pg_class LEFT JOIN "Upgrade" ON "name" = $1 WHERE pg_class.oid = to_regclass($2)`,
    [name, `"public"."${slices?.table}"`],
  )
  return found ?? { rows: 0, isDone: true, table: 0 }
}
