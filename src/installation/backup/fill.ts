import pg from 'pg'
import { locks } from '../../database/advisory-locks.ts'
import { type Query, qualified } from '../../database/query.ts'
import { StartupError } from '../../process/startup-error.ts'
import type { Sequence, Table } from './tables.ts'

// Filling an empty database with rows from elsewhere, as a restore and a move do.

/** Throws `StartupError` while a server runs on the database: each holds an advisory lock on a connection of its own. */
export async function refuseServers({ query }: Query, whatToDo: string): Promise<void> {
  const servers = await query(
    `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND classid = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [locks.process],
  )
  if (servers.length > 0) throw new StartupError(`A server runs on this database. ${whatToDo}`)
}

/** The name of a table that only one of the lists has, or that has other columns in the other; null: there is none. */
export function otherTable(one: readonly Table[], other: readonly Table[]): string | null {
  const described = (list: readonly Table[]) => list.map((table) => `${table.name}: ${table.columns.toSorted().join()}`)
  const [found] = new Set(described(one)).symmetricDifference(new Set(described(other)))
  return found?.split(': ', 1)[0] ?? null
}

/** The names of the tables that have rows. */
export async function findFilled({ query }: Query, tables: readonly Table[]): Promise<string[]> {
  if (tables.length === 0) return []
  const filled = await query<{ name: string }>(
    tables
      .map(({ name }) => `SELECT ${pg.escapeLiteral(name)} AS "name" WHERE EXISTS (SELECT FROM ${qualified(name)})`)
      .join(' UNION ALL '),
  )
  return filled.map(({ name }) => name)
}

/** Its parts are SQL. */
export interface ForeignKey {
  readonly table: string
  readonly name: string
  readonly definition: string
}

/**
 * The foreign keys in the order in which they were made. They are dropped while rows are stored, and made anew behind that, so that
 * the order of the tables does not matter and PostgreSQL looks at all rows of a key at once.
 */
export function findForeignKeys({ query }: Query): Promise<ForeignKey[]> {
  return query(`
    SELECT format('%I.%I', n.nspname, c.relname) AS "table", quote_ident(k.conname) AS "name", pg_get_constraintdef(k.oid) AS "definition"
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE k.contype = 'f' AND n.nspname = 'public' ORDER BY k.oid`)
}

export function dropForeignKey({ table, name }: ForeignKey): string {
  return `ALTER TABLE ${table} DROP CONSTRAINT ${name}`
}

export function addForeignKey({ table, name, definition }: ForeignKey): string {
  return `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`
}

export function restartSequence({ name, next }: Sequence): string {
  return `ALTER SEQUENCE ${qualified(name)} RESTART WITH ${next}`
}
