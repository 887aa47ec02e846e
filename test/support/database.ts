import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { connect, type Db } from '../../src/database/client.ts'

export interface TestDatabase {
  readonly url: string
  readonly db: Db
  /** Closes the client and removes the database. */
  readonly drop: () => Promise<void>
}

/** An empty, migrated database for one test file: `beforeAll(cloneDatabase)`, `afterAll(() => database.drop())`. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const template = new URL(inject('templateUrl')).pathname.slice(1)
  const { url, drop } = await createDatabase(`TEMPLATE "${template}"`)
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
  const templateUrl = inject('templateUrl')
  const name = `test_${randomBytes(8).toString('hex')}`
  await onServer(templateUrl, `CREATE DATABASE "${name}" ${options}`)
  return {
    url: Object.assign(new URL(templateUrl), { pathname: `/${name}` }).href,
    drop: () => dropDatabase(templateUrl, name),
  }
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

/** Runs `sql` from the maintenance database: a template that somebody is connected to cannot be cloned. */
export async function onServer(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: Object.assign(new URL(serverUrl), { pathname: '/postgres' }).href })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
