import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { holdMigrations } from '../../../foundation/database/migrations.ts'
import { runningVersions } from '../../../foundation/database/process-lock.ts'
import { type Query, qualified, queryOf } from '../../../foundation/database/query.ts'
import { StartupError } from '../../../foundation/process/startup-error.ts'
import { RowCounter, SectionReader } from './rows.ts'
import { findTables, type Sequence, type Table, target } from './tables.ts'

// Filling an empty database with rows from elsewhere, as a restore and a move do.

export interface Contents {
  /** What they are called: the name of a file, or of a database. */
  readonly name: string
  readonly tables: readonly Table[]
  readonly sequences: readonly Sequence[]
  /** The rows of all tables, as `rowsOf` writes them. */
  readonly rows: () => AsyncIterable<Buffer>
  /** Reads what follows the rows. */
  readonly readFurther?: (reader: SectionReader) => Promise<void>
}

export interface FillOptions {
  /** Gets the number of rows stored so far. */
  readonly onRows?: ((rows: number) => void) | undefined
  /** Runs when all rows are stored, and the foreign keys are next. */
  readonly onStored?: (() => void) | undefined
  /** Runs first in the transaction. */
  readonly prepare?: (database: Query) => Promise<void>
  /** Runs last in the transaction, with the number of rows of each table. An error leaves nothing behind. */
  readonly finish: (database: Query, counts: readonly number[]) => Promise<void>
}

/**
 * Fills a migrated database without rows, in one transaction: it succeeds whole, or leaves the database as it was when the
 * connection ends. A server that starts meanwhile waits for it. Throws `StartupError` when the database has rows, or a server runs on it.
 */
export async function fillDatabase(client: pg.Client, contents: Contents, options: FillOptions): Promise<void> {
  await client.query(`BEGIN; SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0; SET LOCAL synchronous_commit = on;
    SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL DateStyle = 'ISO'; SET LOCAL TimeZone = 'UTC'`)
  await fill(client, contents, options)
  await client.query('COMMIT')
  // Without figures and visibility maps, the first statements would read whole tables.
  await client.query(`VACUUM (ANALYZE) ${named(contents.tables)}`)
}

async function fill(client: pg.Client, contents: Contents, options: FillOptions): Promise<void> {
  const { onRows = () => {}, onStored = () => {}, prepare, finish } = options
  const database = { query: queryOf(client) }
  await holdMigrations(client)
  if ((await runningVersions(database)).length > 0)
    throw new StartupError('A server runs on the database that is to be filled. Stop it, and run the command again')
  await prepare?.(database)
  const tables = await findTables(database)
  refuseOtherTables(tables, contents.tables, contents.name)
  await client.query(`LOCK TABLE ${named(tables)}`)
  await refuseFilled(database, tables)
  const foreignKeys = await findForeignKeys(database)
  for (const { table, name } of foreignKeys) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
  // What triggers keep is among the rows.
  for (const { name } of tables) await client.query(`ALTER TABLE ${qualified(name)} DISABLE TRIGGER USER`)
  const counts = await copyRows(client, contents, onRows)
  onStored()
  for (const { name } of tables) await client.query(`ALTER TABLE ${qualified(name)} ENABLE TRIGGER USER`)
  for (const { table, name, definition } of foreignKeys) {
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`)
  }
  for (const { name, next } of contents.sequences) {
    await client.query(`ALTER SEQUENCE ${qualified(name)} RESTART WITH ${next}`)
  }
  await finish(database, counts)
}

async function copyRows(client: pg.Client, { tables, rows, readFurther }: Contents, onRows: (rows: number) => void) {
  const reader = new SectionReader(rows())
  const counter = new RowCounter(onRows)
  for (const table of tables) {
    await reader.begin(table)
    const counted = Readable.from(counter.passing(reader.rows()))
    await pipeline(counted, client.query(copyFrom(`COPY ${target(table)} FROM STDIN`)))
  }
  await readFurther?.(reader)
  await reader.end()
  return counter.counts
}

/** Throws `StartupError` when a table is only in one of the lists, or has other columns in the other. */
export function refuseOtherTables(tables: readonly Table[], given: readonly Table[], name: string): void {
  const described = (list: readonly Table[]) => list.map((table) => `${table.name}: ${table.columns.toSorted().join()}`)
  const [other] = new Set(described(tables)).symmetricDifference(new Set(described(given)))
  if (other === undefined) return
  throw new StartupError(
    `The table ${other.split(': ', 1)[0]} is not the same in ${name} and in the database that is to be filled. Somebody has added or changed it by hand`,
  )
}

/** Throws `StartupError` when a table has rows. */
export async function refuseFilled({ query }: Query, tables: readonly Table[]): Promise<void> {
  if (tables.length === 0) return
  const filled = await query<{ name: string }>(
    tables
      .map(({ name }) => `SELECT ${pg.escapeLiteral(name)} AS "name" WHERE EXISTS (SELECT FROM ${qualified(name)})`)
      .join(' UNION ALL '),
  )
  if (filled.length === 0) return
  throw new StartupError(
    `The database is not empty (it has rows of ${filled.map(({ name }) => name).join(', ')}). Name an empty one: another database, or another folder as DATA_DIR`,
  )
}

/** Takes all rows out. */
export async function emptyTables({ query }: Query, tables: readonly Table[]): Promise<void> {
  await query(`TRUNCATE ${named(tables)} RESTART IDENTITY`)
}

function named(tables: readonly Table[]): string {
  return tables.map(({ name }) => qualified(name)).join(', ')
}

/**
 * The foreign keys in the order in which they were made. They are dropped while rows are stored, and made anew behind that, so that
 * the order of the tables does not matter and PostgreSQL looks at all rows of a key at once. All values are SQL.
 */
function findForeignKeys({ query }: Query) {
  return query<{ table: string; name: string; definition: string }>(`
    SELECT format('%I.%I', n.nspname, c.relname) AS "table", quote_ident(k.conname) AS "name", pg_get_constraintdef(k.oid) AS "definition"
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE k.contype = 'f' AND n.nspname = 'public' ORDER BY k.oid`)
}
