import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { withConnection } from '../../database/connection.ts'
import { asStartupError, holdMigrations, migrate } from '../../database/migrations.ts'
import { type Query, qualified, queryOf } from '../../database/query.ts'
import { StartupError } from '../../process/startup-error.ts'
import type { Secrets } from '../../values/secrets.ts'
import {
  addForeignKey,
  dropForeignKey,
  findFilled,
  findForeignKeys,
  otherTable,
  refuseServers,
  restartSequence,
} from './fill.ts'
import { refuseOther } from './header.ts'
import { refuseOtherKey } from './key.ts'
import type { Backup } from './read.ts'
import { RowCounter, SectionReader } from './rows.ts'
import { findTables, type Table, target } from './tables.ts'

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
  await refuseServers({ query }, 'Stop it, restore, and start it again')
  const tables = await findTables({ query })
  refuseOtherTables(tables, backup)
  await client.query(`LOCK TABLE ${tables.map(({ name }) => qualified(name)).join(', ')}`)
  await refuseRecords({ query }, tables)
  const foreignKeys = await findForeignKeys({ query })
  for (const key of foreignKeys) await client.query(dropForeignKey(key))
  // What triggers keep is in the backup.
  for (const { name } of tables) await client.query(`ALTER TABLE ${qualified(name)} DISABLE TRIGGER USER`)
  await copyRows(client, backup, new RowCounter(onRows))
  onStored?.()
  for (const { name } of tables) await client.query(`ALTER TABLE ${qualified(name)} ENABLE TRIGGER USER`)
  for (const key of foreignKeys) await client.query(addForeignKey(key))
  for (const sequence of backup.header.sequences) await client.query(restartSequence(sequence))
  await refuseOtherKey({ query }, secrets)
}

function refuseOtherTables(tables: readonly Table[], { header, file }: Backup): void {
  const name = otherTable(tables, header.tables)
  if (name === null) return
  throw new StartupError(
    `The table ${name} is not the same in ${file} and in the database. Somebody has added or changed it by hand`,
  )
}

async function refuseRecords(database: Query, tables: readonly Table[]): Promise<void> {
  const filled = await findFilled(database, tables)
  if (filled.length === 0) return
  throw new StartupError(
    `The database is not empty (it has rows of ${filled.join(', ')}). Restore into a new one: another database in DATABASE_URL, or another folder as DATA_DIR`,
  )
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
