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
  const templateUrl = inject('templateUrl')
  const template = new URL(templateUrl).pathname.slice(1)
  const name = `${template}_${randomBytes(6).toString('hex')}`
  await onServer(templateUrl, `CREATE DATABASE "${name}" TEMPLATE "${template}"`)
  const url = Object.assign(new URL(templateUrl), { pathname: `/${name}` }).href
  const db = connect(url)
  return {
    url,
    db,
    drop: async () => {
      await db.$disconnect()
      await onServer(templateUrl, `DROP DATABASE "${name}" WITH (FORCE)`)
    },
  }
}

/** From the maintenance database: a template that somebody is connected to cannot be cloned. */
async function onServer(templateUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({
    connectionString: Object.assign(new URL(templateUrl), { pathname: '/postgres' }).href,
  })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
