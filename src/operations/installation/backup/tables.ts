import pg from 'pg'
import { MOVE_TABLE } from '../../../foundation/database/moved.ts'
import { type Query, qualified } from '../../../foundation/database/query.ts'
import { StartupError } from '../../../foundation/process/startup-error.ts'

export interface Table {
  readonly name: string
  readonly columns: readonly string[]
}

export interface Sequence {
  readonly name: string
  /** The number that it gives next. */
  readonly next: number
}

/** Holds lines of the file of erasures from the transaction of a restore until the tables of erasures exist, which an old backup lacks. */
export const ERASED_TABLE = '_erased'

/**
 * The tables of the catalogue by name, without those of the migrations and of a move, which are no data of stores, and without
 * unlogged ones, which hold nothing that outlives the processes. Throws `StartupError` where a restore was broken off before its end.
 */
export async function findTables({ query }: Query): Promise<Table[]> {
  const tables = await query<Table>(`
    SELECT c.relname::text AS "name", array_agg(a.attname::text ORDER BY a.attnum) AS "columns"
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
      AND c.relname NOT IN ('_prisma_migrations', '${MOVE_TABLE}')
    GROUP BY c.relname ORDER BY c.relname::text COLLATE "C"`)
  if (tables.some(({ name }) => name === ERASED_TABLE))
    throw new StartupError('A restore of this database was broken off. Start the server, which ends it, and try again')
  return tables
}

/** The sequences of the catalogue, as they are now: they are no part of a snapshot, and never behind it. */
export async function findSequences({ query }: Query): Promise<Sequence[]> {
  const names = await query<{ name: string }>(`
    SELECT relname::text AS "name" FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'S' ORDER BY relname::text COLLATE "C"`)
  if (names.length === 0) return []
  const next = names.map(
    ({ name }) => `
    SELECT ${pg.escapeLiteral(name)} AS "name", ("last_value" + CASE WHEN "is_called" THEN 1 ELSE 0 END)::float8 AS "next"
    FROM ${qualified(name)}`,
  )
  return query<Sequence>(next.join(' UNION ALL '))
}

/** The table and its columns as COPY names them. */
export function target({ name, columns }: Table): string {
  return `${qualified(name)} (${columns.map((column) => pg.escapeIdentifier(column)).join(', ')})`
}
