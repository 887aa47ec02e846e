import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { StartupError } from '../../process/startup-error.ts'
import type { Secrets } from '../../values/secrets.ts'
import { withConnection } from '../connection.ts'
import { asStartupError, holdMigrations, migrate } from '../migrations.ts'
import { PROCESS_LOCK } from '../process-lock.ts'
import { refuseOther } from './header.ts'
import { refuseOtherKey } from './key.ts'
import type { Backup } from './read.ts'
import { RowCounter, SectionReader } from './rows.ts'
import { findTables, qualified, type Table, target } from './tables.ts'

interface RestoreOptions {
  readonly secrets: Secrets
  /** Gets the number of rows stored so far. */
  readonly onRows?: (rows: number) => void
  /** Runs when all rows are stored, and the foreign keys are next. */
  readonly onStored?: () => void
}

/**
 * Restores a backup into a database without records, in one transaction: it succeeds whole, or leaves an empty database that it can be
 * repeated on. A server that starts meanwhile waits for it. Throws `StartupError` when the database is not empty, or a server
 * runs on it.
 */
export async function restoreBackup(url: string, backup: Backup, options: RestoreOptions): Promise<void> {
  refuseOther(backup.header, options.secrets, backup.file)
  await migrate(url)
  await withConnection(url, async (client) => {
    await client.query(`BEGIN; SET LOCAL lock_timeout = '60s'; SET LOCAL DateStyle = 'ISO'; SET LOCAL TimeZone = 'UTC'`)
    await restoreIn(client, backup, options)
    await client.query('COMMIT')
    // Without figures and visibility maps, the first statements would read whole tables.
    await client.query(`VACUUM (ANALYZE) ${backup.header.tables.map(({ name }) => qualified(name)).join(', ')}`)
  }).catch((error) => {
    throw asStartupError(error, url)
  })
}

async function restoreIn(client: pg.Client, backup: Backup, { secrets, onRows = () => {}, onStored }: RestoreOptions) {
  const query = queryOf(client)
  await holdMigrations(client)
  await refuseServers(query)
  const tables = await findTables({ query })
  refuseOtherTables(tables, backup)
  await client.query(`LOCK TABLE ${tables.map(({ name }) => qualified(name)).join(', ')}`)
  await refuseRecords(query, tables)
  const foreignKeys = await findForeignKeys(query)
  for (const { table, name } of foreignKeys) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
  // What triggers keep is in the backup.
  for (const { name } of tables) await client.query(`ALTER TABLE ${qualified(name)} DISABLE TRIGGER USER`)
  await copyRows(client, backup, new RowCounter(onRows))
  onStored?.()
  for (const { name } of tables) await client.query(`ALTER TABLE ${qualified(name)} ENABLE TRIGGER USER`)
  for (const { table, name, definition } of foreignKeys) {
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`)
  }
  for (const { name, next } of backup.header.sequences) {
    await client.query(`ALTER SEQUENCE ${qualified(name)} RESTART WITH ${next}`)
  }
  await refuseOtherKey({ query }, secrets)
}

type Query = ReturnType<typeof queryOf>

function queryOf(client: pg.Client) {
  return async <T extends object>(sql: string, values: readonly (string | number)[] = []) =>
    (await client.query<T>(sql, [...values])).rows
}

/** Each server holds an advisory lock on a connection of its own. */
async function refuseServers(query: Query): Promise<void> {
  const servers = await query(
    `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND classid = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [PROCESS_LOCK],
  )
  if (servers.length > 0) {
    throw new StartupError('A server runs on this database. Stop it, restore, and start it again')
  }
}

function refuseOtherTables(tables: readonly Table[], { header, file }: Backup): void {
  const described = (list: readonly Table[]) => list.map((table) => `${table.name}: ${table.columns.toSorted().join()}`)
  const [there, given] = [new Set(described(tables)), new Set(described(header.tables))]
  const [other] = there.symmetricDifference(given)
  if (other !== undefined) {
    const [name] = other.split(': ', 1)
    throw new StartupError(
      `The table ${name} is not the same in ${file} and in the database. Somebody has added or changed it by hand`,
    )
  }
}

async function refuseRecords(query: Query, tables: readonly Table[]): Promise<void> {
  const filled = await query<{ name: string }>(
    tables
      .map(({ name }) => `SELECT ${pg.escapeLiteral(name)} AS "name" WHERE EXISTS (SELECT FROM ${qualified(name)})`)
      .join(' UNION ALL '),
  )
  if (filled.length === 0) return
  const names = filled.map(({ name }) => name).join(', ')
  throw new StartupError(
    `The database is not empty (it has rows of ${names}). Restore into a new one: another database in DATABASE_URL, or another folder as DATA_DIR`,
  )
}

/**
 * The foreign keys in the order in which they were made. They are dropped while rows are stored, and made anew behind that, so that
 * the order of the tables does not matter and PostgreSQL looks at all rows of a key at once.
 */
function findForeignKeys(query: Query): Promise<{ table: string; name: string; definition: string }[]> {
  return query(`
    SELECT format('%I.%I', n.nspname, c.relname) AS "table", quote_ident(k.conname) AS "name", pg_get_constraintdef(k.oid) AS "definition"
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE k.contype = 'f' AND n.nspname = 'public' ORDER BY k.oid`)
}

async function copyRows(
  client: pg.Client,
  { header, rows, content, file }: Backup,
  counter: RowCounter,
): Promise<void> {
  const reader = new SectionReader(content())
  for (const table of header.tables) {
    await reader.begin(table)
    counter.begin()
    await pipeline(
      Readable.from(counted(reader.rows(), counter)),
      client.query(copyFrom(`COPY ${target(table)} FROM STDIN`)),
    )
  }
  await reader.end()
  const wrong = header.tables.findIndex((_, index) => counter.counts[index] !== rows[index])
  if (wrong >= 0) {
    const { name } = header.tables[wrong] as Table
    throw new StartupError(
      `${file} has ${counter.counts[wrong]} rows of ${name} and should have ${rows[wrong]}. Take another backup`,
    )
  }
}

async function* counted(chunks: AsyncIterable<Buffer>, counter: RowCounter): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    counter.add(chunk)
    yield chunk
  }
}
