import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { StartupError } from '../process/startup-error.ts'
import { locks } from './advisory-locks.ts'
import { hostOf, reasonOf, withConnection } from './connection.ts'
import { refuseMoved } from './moved.ts'
import { findFaults, hasStores, refuseNewDatabase } from './new-database.ts'
import { queryOf } from './query.ts'

const migrationsFolder = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

/** A migration that waits for a table keeps all who come after it waiting for that table too. */
const LOCK_MS_MAX = 3_000
const LOCK_NOT_AVAILABLE = '55P03'
const ATTEMPTS_MAX = 20
const RETRY_MS = 500

/** SQLSTATE of RAISE WARNING. The severity text depends on the server's language. */
const WARNING = '01000'

/** The first version with foreign keys that set a single column to NULL. */
const SERVER_VERSION_MIN = 15

/**
 * Migrates the database to the newest schema, or until it has the migration `until`, and returns the names of the applied migrations.
 * Each migration and its entry in Prisma's own table are one transaction: a kill leaves the schema before or after it, never
 * between, and `prisma migrate deploy` can continue. Processes that start at the same time wait for one another.
 * `warn` gets each problem that a migration found and could not correct (RAISE WARNING), and what is wrong with a database that has
 * stores. Throws `StartupError` when the database cannot be used, or a move has taken its rows elsewhere or has not brought all
 * of them yet; and for one without a store that was made so that it cannot hold one.
 */
export async function migrate(
  url: string,
  warn: (message: string) => void = () => {},
  until?: string,
): Promise<readonly string[]> {
  return withConnection(url, async (client) => {
    client.on('notice', ({ code, message = '' }) => {
      if (code === WARNING) warn(message)
    })
    const { rows } = await client.query(`SELECT current_setting('server_version_num')::int / 10000 AS "version"`)
    const { version } = rows[0]
    if (version < SERVER_VERSION_MIN) {
      throw new StartupError(`PostgreSQL ${version} is too old: version ${SERVER_VERSION_MIN} or later is needed.`)
    }
    await lookAt(client, nameOf(url), warn)
    const applied: string[] = []
    for (let name = await applyNext(client, until); name !== null; name = await applyNext(client, until)) {
      applied.push(name)
    }
    return applied
  }).catch((error) => {
    throw asStartupError(error, url)
  })
}

/** What no migration can mend stays as it is where there are stores. */
async function lookAt(client: pg.Client, name: string, warn: (message: string) => void): Promise<void> {
  const database = { query: queryOf(client) }
  if (await hasStores(database)) {
    for (const fault of await findFaults(database)) warn(`The database at ${name} was made wrongly: ${fault}`)
    return
  }
  await inTransaction(
    client,
    async () => {
      // Two sessions cannot create the same extension at once.
      await holdMigrations(client)
      await refuseNewDatabase(database, name)
    },
    'ROLLBACK',
  )
}

/** Throws `StartupError` unless the database has exactly the migrations of this version. Changes nothing. */
export async function refuseOtherSchema(client: pg.Client): Promise<void> {
  const { rows: tables } = await client.query(`SELECT FROM pg_tables WHERE "tablename" = '_prisma_migrations'`)
  if (tables.length > 0 && (await findMissing(client)).length === 0) return
  throw new StartupError(
    'The database is of an older version. Start this version of the server once, which migrates it',
  )
}

/** The migrations of this version, in order. */
export function knownMigrations(): readonly string[] {
  return readdirSync(migrationsFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}

/** Keeps every process from migrating the database, and so from starting on it, until the transaction ends. */
export async function holdMigrations(client: pg.Client): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [locks.migrations])
}

/** The migrations that the database lacks, in order. Throws `StartupError` for a history that this version cannot continue. */
async function findMissing(client: pg.Client): Promise<string[]> {
  const { rows: applied } = await client.query<{ name: string; isFinished: boolean }>(`
    SELECT "migration_name" AS "name", "finished_at" IS NOT NULL AS "isFinished"
    FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL`)
  const known = knownMigrations()
  for (const { name, isFinished } of applied) {
    if (!isFinished) {
      throw new StartupError(
        `Migration ${name} was begun by another tool and not finished: see "prisma migrate resolve".`,
      )
    }
    if (!known.includes(name)) {
      throw new StartupError(
        `The database has migration ${name}, which this version does not know: start the newer version.`,
      )
    }
  }
  return known.filter((name) => !applied.some((row) => row.name === name))
}

/** Applies the first missing migration and returns its name; null: there is none. Tries again while others hold a table. */
async function applyNext(client: pg.Client, until: string | undefined): Promise<string | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(client, () => applyFirst(client, until))
    } catch (error) {
      const isHeldUp = (error as { code?: string }).code === LOCK_NOT_AVAILABLE
      if (!isHeldUp) throw error
      if (attempt === ATTEMPTS_MAX)
        throw new StartupError(
          'A migration waits for a table that another session holds; end that session, and start again',
        )
      await delay(RETRY_MS)
    }
  }
}

async function inTransaction<T>(client: pg.Client, work: () => Promise<T>, end = 'COMMIT'): Promise<T> {
  try {
    await client.query('BEGIN')
    const result = await work()
    await client.query(end)
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

async function applyFirst(client: pg.Client, until: string | undefined): Promise<string | null> {
  // Of the transaction, because behind a pooler the session would keep it.
  await holdMigrations(client)
  await client.query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`)
  await client.query(prismaTable)
  const [name] = await findMissing(client)
  await refuseMoved({ query: queryOf(client) }, name !== undefined)
  if (name === undefined || (until !== undefined && name > until)) return null
  const sql = readFileSync(`${migrationsFolder}/${name}/migration.sql`, 'utf8')
  const apply = async () => {
    await client.query(sql)
    await client.query(
      `INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "started_at", "finished_at", "applied_steps_count")
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), createHash('sha256').update(sql).digest('hex'), name],
    )
  }
  await apply().catch((error) => {
    if (error.code === LOCK_NOT_AVAILABLE) throw error
    throw new StartupError(`Migration ${name} could not be applied: ${reasonOf(error)}. Nothing of it was kept.`)
  })
  return name
}

/** Prisma's table of applied migrations, as its own engine creates it. */
const prismaTable = `
  CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id"                  VARCHAR(36) PRIMARY KEY NOT NULL,
    "checksum"            VARCHAR(64) NOT NULL,
    "finished_at"         TIMESTAMPTZ,
    "migration_name"      VARCHAR(255) NOT NULL,
    "logs"                TEXT,
    "rolled_back_at"      TIMESTAMPTZ,
    "started_at"          TIMESTAMPTZ NOT NULL DEFAULT now(),
    "applied_steps_count" INTEGER NOT NULL DEFAULT 0
  )`

/** Adds the address of the database, without credentials, and the settings to look at. */
export function asStartupError(
  error: unknown,
  url: string,
  settings = 'DATABASE_URL (or DATABASE_DIRECT_URL, where it is given)',
): StartupError {
  if (error instanceof StartupError) return error
  return new StartupError(
    `The database at ${nameOf(url)} cannot be used: ${reasonOf(error)}. Check ${settings} and the server.`,
  )
}

function nameOf(url: string): string {
  return `${hostOf(url)}${new URL(url).pathname}`
}
