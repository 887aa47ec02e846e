import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { connect, type Db } from '../../src/foundation/database/client.ts'

export interface TestDatabase {
  readonly url: string
  readonly db: Db
  /** Closes the client and removes the database. Does nothing for the worker's database. */
  readonly drop: () => Promise<void>
}

const DUPLICATE_DATABASE = '42P04'

let shared: Promise<TestDatabase> | undefined

/** Returns the worker's database, migrated. It has no rows when a test file begins, whatever files ran before. */
export function workerDatabase(): Promise<TestDatabase> {
  shared ??= openWorkerDatabase()
  return shared
}

/** The database of the last worker with this number, where there was one: `npm run test:watch` starts workers at each change. */
async function openWorkerDatabase(): Promise<TestDatabase> {
  const name = `${templateName()}_${process.env.VITEST_POOL_ID}`
  const isNew = await onServer(templateUrl(), `CREATE DATABASE "${name}" TEMPLATE "${templateName()}"`).then(
    () => true,
    (error) => {
      if (error.code === DUPLICATE_DATABASE) return false
      throw error
    },
  )
  const url = urlOf(name)
  const db = connect(url)
  if (!isNew) await deleteRows(db)
  return { url, db, drop: async () => {} }
}

/** Deletes every row of the worker's database, if it has one, and starts its ids anew. */
export async function emptyWorkerDatabase(): Promise<void> {
  if (shared !== undefined) await deleteRows((await shared).db)
}

async function deleteRows(db: Db): Promise<void> {
  const [row] = await db.$queryRaw<{ tables: string }[]>`
    SELECT string_agg(oid::regclass::text, ', ') AS "tables" FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> '_prisma_migrations'`
  await db.$executeRawUnsafe(`TRUNCATE ${row?.tables} RESTART IDENTITY`)
}

/** Makes an empty, migrated database for a test that changes tables or needs a second installation; `drop` removes it. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const { url, drop } = await createDatabase(`TEMPLATE "${templateName()}"`)
  const db = connect(url)
  return {
    url,
    db,
    drop: async () => {
      await db.$disconnect()
      await drop()
    },
  }
}

/** A database on the run's server, without tables unless `options` of CREATE DATABASE say otherwise. */
export async function createDatabase(options = ''): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `${templateName()}_${randomBytes(8).toString('hex')}`
  await onServer(templateUrl(), `CREATE DATABASE "${name}" ${options}`)
  return { url: urlOf(name), drop: () => dropDatabase(templateUrl(), name) }
}

function templateUrl(): string {
  return inject('templateUrl')
}

function templateName(): string {
  return new URL(templateUrl()).pathname.slice(1)
}

function urlOf(name: string): string {
  return Object.assign(new URL(templateUrl()), { pathname: `/${name}` }).href
}

/**
 * Ends the sessions of the database `name` and removes it. `WITH (FORCE)` would fail while autovacuum works on it, since
 * only a superuser may end autovacuum that way; a plain DROP DATABASE asks it to stop.
 */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  // A listening connection would be made anew between the next two statements.
  await onServer(serverUrl, `ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`)
  await onServer(
    serverUrl,
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}' AND backend_type = 'client backend'`,
  )
  await onServer(serverUrl, `DROP DATABASE "${name}"`)
}

/** Returns the names of the template `name` and of the databases cloned from it. */
export async function databasesOf(serverUrl: string, name: string): Promise<string[]> {
  const rows = await onServer(serverUrl, `SELECT datname FROM pg_database WHERE starts_with(datname, '${name}')`)
  return rows.map(({ datname }) => String(datname))
}

/** Runs `sql` from the maintenance database: a template that somebody is connected to cannot be cloned. */
export async function onServer(serverUrl: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: Object.assign(new URL(serverUrl), { pathname: '/postgres' }).href })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
