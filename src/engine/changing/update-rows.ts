import { isDeepStrictEqual } from 'node:util'
import { execute, queryRows } from '../../foundation/database/client.ts'
import { anyOfFew, empty, identifier, join, type Sql, sql } from '../../foundation/database/sql.ts'
import type { Caller } from '../caller.ts'
import type { Selected } from '../definition/reader.ts'
import type { Resource } from '../definition/resource.ts'
import type { Row } from '../definition/stored-row.ts'

/** A record's row before and after its change. */
export interface ChangedRow {
  readonly before: Row
  readonly after: Row
  /** Those that differ, where it is known. */
  readonly columns?: readonly string[] | undefined
}

/** The columns that a change gives another value, among these. */
export function changedColumns({ before, after }: ChangedRow, among: readonly string[] = Object.keys(after)): string[] {
  return among.filter((name) => before[name] !== after[name] && !isDeepStrictEqual(before[name], after[name]))
}

/** Gives up the unique texts that records take from one another: their index compares each row with the others as they are. */
export async function freeNames(
  { db, store }: Caller,
  { table, namedBy: column = '' }: Resource,
  updated: readonly ChangedRow[],
  created: readonly Row[],
): Promise<void> {
  if (column === '') return
  const nameOf = (row: Row) => String(row[column]).toLowerCase()
  const renamed = updated.filter(({ before, after }) => nameOf(before) !== nameOf(after))
  const taken = new Set([...renamed.map(({ after }) => after), ...created].map(nameOf))
  const ids = renamed.filter(({ before }) => taken.has(nameOf(before))).map(({ before }) => Number(before.id))
  if (ids.length === 0) return
  await execute(db)`
    UPDATE ${identifier(table)} SET ${identifier(column)} = gen_random_uuid()::text
    WHERE "storeId" = ${store.id}::int AND "id" = ${anyOfFew(ids)}`
}

/** Writes what has changed in rows. With `select`, returns the json array of each record as it is then, by id. */
export async function updateRows(
  { db, store }: Caller,
  resource: Resource,
  changes: readonly ChangedRow[],
  select: Sql | null = null,
): Promise<ReadonlyMap<number, Selected>> {
  if (changes.length === 0) return new Map()
  const table = identifier(resource.table)
  const { columns, assignments } = writtenOf(resource, changes)
  const rows = changes.map(({ after }) => Object.fromEntries(columns.map((name) => [name, after[name]])))
  // The planner expects one row, or a hundred, for which it would read the whole table if it did not see that there are few ids.
  const [given, wanted] =
    rows.length === 1
      ? [sql`json_populate_record(NULL::${table}, ${JSON.stringify(rows[0])}::text::json)`, empty]
      : [
          sql`json_populate_recordset(NULL::${table}, ${JSON.stringify(rows)}::text::json)`,
          sql`AND t."id" = ${anyOfFew(rows.map(({ id }) => Number(id)))}`,
        ]
  const update = sql`UPDATE ${table} AS t SET ${assignments} FROM ${given} n, "Store" s
    WHERE t."storeId" = ${store.id}::int AND t."id" = n."id" ${wanted} AND s."id" = t."storeId"`
  if (select === null) {
    await execute(db)`${update}`
    return new Map()
  }
  const [written] = await queryRows<{ rows: string | null }>(db)`
    WITH written AS (${update} RETURNING json_build_array(t."id", ${select}) AS "row")
    SELECT json_agg("row")::text AS "rows" FROM written`
  return new Map(JSON.parse(written?.rows ?? '[]') as [number, Selected][])
}

/** The columns that an update writes, with the id. */
interface Written {
  readonly columns: readonly string[]
  readonly assignments: Sql
}

/** How many choices of columns have a statement of their own, which PostgreSQL keeps. Any other update writes all columns. */
const CHOICES_MAX = 16

const choices = new WeakMap<Resource, Map<string, Written>>()

function writtenOf(resource: Resource, changes: readonly ChangedRow[]): Written {
  const changed = new Set(changes.flatMap((change) => change.columns ?? changedColumns(change)))
  const wanted = resource.columns.filter((name) => changed.has(name))
  const known = choices.get(resource) ?? new Map<string, Written>()
  choices.set(resource, known)
  const isOneOfFew = wanted.length > 0 && (known.has(wanted.join()) || known.size < CHOICES_MAX)
  const columns = isOneOfFew ? wanted : resource.columns
  const written = known.get(columns.join()) ?? assigning(columns)
  known.set(columns.join(), written)
  return written
}

function assigning(columns: readonly string[]): Written {
  const assignments = join(columns.map(identifier).map((column) => sql`${column} = n.${column}`))
  return { columns: ['id', ...columns], assignments }
}
