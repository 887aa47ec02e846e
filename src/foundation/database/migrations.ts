import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { StartupError } from '../process/startup-error.ts'
import { locks } from './advisory-locks.ts'
import { type Connection, hasOwnSession, hostOf, queryWithin, reasonOf, withConnection } from './connection.ts'
import { isAtMost, knownMigrations, type Migration, noteOf, readMigration, refuseUnknown } from './migration.ts'
import { refuseMoved } from './moved.ts'
import { findFaults, hasStores, refuseNewDatabase } from './new-database.ts'
import { Outage } from './outage.ts'
import { runningVersions } from './process-lock.ts'
import { queryOf } from './query.ts'
import { LOCK_MS_MAX, progressOf, REWRITTEN_A_SECOND, rewriteSlice, SLICE_ROWS } from './slices.ts'

/** What a migration may take from its first lock on, where others go on meanwhile. */
const HELD_MS_MAX = 400
const LOCK_NOT_AVAILABLE = '55P03'
const RETRY_MS = 500
/** Somebody else's transaction may hold a row, and with it the table, for minutes. */
const RETRIED_MS_MAX = 5 * 60_000
/** The attempt behind which the log says so. */
const SAID_AT = 5
/** Between two attempts to take an advisory lock: whoever waited for it in a statement would keep an index from being built. */
const TRY_LOCK_EVERY_MS = 100

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
export async function migrate(url: string, warn: (message: string) => void = () => {}, until?: string) {
  return withConnection(url, async (client) => {
    client.on('notice', ({ code, message = '' }) => {
      if (code === WARNING) warn(message)
    })
    const { rows } = await client.query(`SELECT current_setting('server_version_num')::int / 10000 AS "version"`)
    const { version } = rows[0]
    if (version < SERVER_VERSION_MIN) {
      throw new StartupError(`PostgreSQL ${version} is too old: version ${SERVER_VERSION_MIN} or later is needed.`)
    }
    const isInUse = await lookAt(client, nameOf(url), warn)
    const applied: string[] = []
    for (const name of await findOpen(client)) {
      if (until !== undefined && name > until) break
      if (await applyInTime(client, readMigration(name), { isInUse, warn })) applied.push(name)
    }
    return applied
  }).catch((error) => {
    throw asStartupError(error, url)
  })
}

/** Returns whether there are stores. What no migration can mend stays as it is where there are. */
async function lookAt(client: pg.Client, name: string, warn: (message: string) => void): Promise<boolean> {
  const database = { query: queryOf(client) }
  if (await hasStores(database)) {
    for (const fault of await findFaults(database)) warn(`The database at ${name} was made wrongly: ${fault}`)
    return true
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
  return false
}

/** Throws `StartupError` unless the database has exactly the migrations of this version. Changes nothing. */
export async function refuseOtherSchema(client: pg.Client): Promise<void> {
  const { missing, unknown } = await findHistory(client)
  if (missing.length > 0)
    throw new StartupError(
      'The database is of an older version. Start this version of the server once, which migrates it',
    )
  if (unknown.length > 0)
    throw new StartupError(`The database has migration ${unknown[0]}, of a newer version. Use that version for this`)
}

/** Keeps every process from migrating the database, and so from starting on it, until the transaction ends. */
export async function holdMigrations(client: pg.Client): Promise<void> {
  await tryLock(client, 'pg_try_advisory_xact_lock')
}

/** Never waits in a statement, which would keep somebody who has the lock from building an index. */
async function tryLock(client: pg.Client, take: 'pg_try_advisory_xact_lock' | 'pg_try_advisory_lock'): Promise<void> {
  for (;;) {
    // Without a parameter: with one, the statement's portal would keep its snapshot until the next statement, which an index waits for.
    const { rows } = await client.query(`SELECT ${take}(${locks.migrations}) AS "isTaken"`)
    if (rows[0].isTaken) return
    await delay(TRY_LOCK_EVERY_MS)
  }
}

interface History {
  /** The migrations that the database lacks, in order. */
  readonly missing: readonly string[]
  /** Those of newer versions that servers of this one may run on. */
  readonly unknown: readonly string[]
}

/** Throws `StartupError` for a history that this version can neither continue nor run on. */
async function readHistory(client: pg.Client): Promise<History> {
  const { rows: applied } = await client.query<{ name: string; note: string | null; isFinished: boolean }>(`
    SELECT "migration_name" AS "name", "logs" AS "note", "finished_at" IS NOT NULL AS "isFinished"
    FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL ORDER BY "migration_name"`)
  const known = knownMigrations()
  const unfinished = applied.find(({ isFinished }) => !isFinished)
  if (unfinished)
    throw new StartupError(
      `Migration ${unfinished.name} was begun by another tool and not finished: see "prisma migrate resolve".`,
    )
  const unknown = applied.filter(({ name }) => !known.includes(name))
  for (const { name, note } of unknown) refuseUnknown(name, note)
  const names = new Set(applied.map(({ name }) => name))
  return { missing: known.filter((name) => !names.has(name)), unknown: unknown.map(({ name }) => name) }
}

/** The same of a database that may have no table of migrations yet. */
async function findHistory(client: pg.Client): Promise<History> {
  const { rows: tables } = await client.query(`SELECT FROM pg_tables WHERE "tablename" = '_prisma_migrations'`)
  return tables.length > 0 ? readHistory(client) : { missing: knownMigrations(), unknown: [] }
}

/** The migrations that the next start of this version would apply. Changes nothing. */
export async function findMissing(client: pg.Client): Promise<readonly Migration[]> {
  return (await findHistory(client)).missing.map(readMigration)
}

/** The names of the migrations to apply. */
async function findOpen(client: pg.Client): Promise<readonly string[]> {
  return inTransaction(client, async () => {
    // Of the transaction, because behind a pooler the session would keep it.
    await holdMigrations(client)
    await client.query(prismaTable)
    const { missing } = await readHistory(client)
    await refuseMoved({ query: queryOf(client) }, missing.length > 0)
    return missing
  })
}

interface Applying {
  /** Whether somebody may wait for what a migration holds. */
  readonly isInUse: boolean
  readonly warn: (message: string) => void
}

/** Applies a migration unless another process has, and says whether it did. Tries again while others hold a table. */
async function applyInTime(client: Connection, migration: Migration, applying: Applying): Promise<boolean> {
  const triedFrom = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      return await apply(client, migration, applying)
    } catch (error) {
      const isHeldUp = error instanceof Outage || (error as { code?: string }).code === LOCK_NOT_AVAILABLE
      if (!isHeldUp)
        throw error instanceof StartupError
          ? error
          : new StartupError(
              `Migration ${migration.name} could not be applied: ${reasonOf(error)}. Nothing of it was kept.`,
            )
      if (attempt === SAID_AT)
        applying.warn(`Migration ${migration.name} waits for a table that another session holds, up to five minutes`)
      if (performance.now() - triedFrom > RETRIED_MS_MAX)
        throw new StartupError(
          'A migration waits for a table that another session holds; end that session, and start again',
        )
      await delay(RETRY_MS)
    }
  }
}

async function apply(client: Connection, migration: Migration, { isInUse, warn }: Applying): Promise<boolean> {
  const { name, sql, index, needs } = migration
  const database = { query: queryOf(client) }
  const running = await runningVersions(database)
  const older = running.find((version) => !isAtMost(migration.oldest, version))
  if (older !== undefined)
    throw new StartupError(
      `Migration ${name} cannot be applied beside servers of version ${older}. Stop them all, and start again`,
    )
  if (needs !== null) await finishSlices(client, readMigration(needs), { isAlone: running.length === 0, warn })
  if (index !== null && (await hasOwnSession(client))) return buildIndex(client, migration, index.name)
  return inTransaction(client, async () => {
    await holdMigrations(client)
    await client.query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`)
    if (!(await isMissing(client, name))) return false
    if (index !== null) await client.query(sql.replace(' CONCURRENTLY', ''))
    else if (isInUse && running.length > 0) await queryWithin(client, { text: sql }, HELD_MS_MAX)
    else await client.query(sql)
    await record(client, migration)
    return true
  })
}

/** Rewrites what is left in one go, for a migration that needs it. Throws `StartupError` where servers run, which go on by themselves. */
async function finishSlices(
  client: pg.Client,
  migration: Migration,
  { isAlone, warn }: { readonly isAlone: boolean; readonly warn: (message: string) => void },
): Promise<void> {
  const database = { query: queryOf(client) }
  const { rows, table, isDone } = await progressOf(database, migration)
  if (isDone) return
  const done = `${rows} of about ${table} rows`
  if (!isAlone)
    throw new StartupError(
      `Servers still rewrite rows for migration ${migration.name}: ${done} are done. Start again when all are`,
    )
  const seconds = Math.ceil(Math.max(1, table - rows) / REWRITTEN_A_SECOND)
  warn(`Migration ${migration.name} has rewritten ${done}; the rest is rewritten now, in some ${seconds} s`)
  for (let isLeft = true; isLeft; ) {
    const progress = await inTransaction(client, () => rewriteSlice(database, migration, SLICE_ROWS * 100))
    isLeft = progress?.isDone !== true
    // Another process that starts is at it.
    if (progress === null) await delay(RETRY_MS)
  }
}

async function isMissing(client: pg.Client, name: string): Promise<boolean> {
  return (await readHistory(client)).missing.includes(name)
}

/** Builds an index while its table is written. Killed at any line, it is built anew: what is left of it is invalid, or complete. */
async function buildIndex(client: pg.Client, migration: Migration, index: string): Promise<boolean> {
  await tryLock(client, 'pg_try_advisory_lock')
  try {
    if (!(await isMissing(client, migration.name))) return false
    // It waits for every transaction that is older, and nobody who reads or writes waits for it.
    await client.query('SET lock_timeout = 0; SET statement_timeout = 0')
    const { rows } = await client.query(
      `SELECT "indisvalid" AS "isValid" FROM pg_index WHERE "indexrelid" = to_regclass($1)`,
      [`"public"."${index}"`],
    )
    if (rows[0]?.isValid === false) await client.query(`DROP INDEX CONCURRENTLY "${index}"`)
    if (rows[0]?.isValid !== true) await client.query(migration.sql)
    await record(client, migration)
    return true
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [locks.migrations])
  }
}

async function record(client: pg.Client, migration: Migration): Promise<void> {
  await client.query(
    `INSERT INTO "_prisma_migrations"
       ("id", "checksum", "migration_name", "started_at", "finished_at", "applied_steps_count", "logs")
     VALUES ($1, $2, $3, now(), clock_timestamp(), 1, $4)`,
    [randomUUID(), createHash('sha256').update(migration.sql).digest('hex'), migration.name, noteOf(migration)],
  )
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
