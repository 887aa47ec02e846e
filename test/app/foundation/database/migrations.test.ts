import { createServer } from 'node:net'
import type pg from 'pg'
import { beforeEach, expect, inject, test } from 'vitest'
import { migrationHistory } from '../../../../prisma/schema-engine.ts'
import { migrate } from '../../../../src/foundation/database/migrations.ts'
import { StartupError } from '../../../../src/foundation/process/startup-error.ts'
import { openClient } from '../../../support/client.ts'
import { createDatabase } from '../../../support/database.ts'
import { throughPort } from '../../../support/gate.ts'
import { ofTest } from '../../../support/shared.ts'

let database: Awaited<ReturnType<typeof createDatabase>>
let client: pg.Client
beforeEach(async () => {
  database = await ofTest(createDatabase())
  client = await ofTest(openClient(database.url))
})

test('an empty database gets all migrations, and a migrated one none', async () => {
  const applied = await migrate(database.url)

  expect(applied[0]).toMatch(/^\d{14}_init$/)
  expect(applied).toEqual([...applied].sort())
  expect(await migrate(database.url)).toEqual([])
})

test('of processes that migrate at once, one applies each migration and all find it applied', async () => {
  const applied = await Promise.all([1, 2, 3, 4].map(() => migrate(database.url)))

  const { rows } = await client.query('SELECT "migration_name" AS "name" FROM "_prisma_migrations" ORDER BY 1')
  expect(applied.flat().sort()).toEqual(rows.map(({ name }) => name))
})

test("Prisma's own engine finds every migration applied and unchanged", async () => {
  await migrate(database.url)

  expect(await migrationHistory(database.url)).toMatchObject({
    history: null,
    hasMigrationsTable: true,
    failedMigrationNames: [],
    editedMigrationNames: [],
  })
})

test('a migration that fails leaves nothing of itself, and can be applied later', async () => {
  await client.query('CREATE TABLE "OrderTransaction" ()')

  await expect(migrate(database.url)).rejects.toThrow(/^Migration \d{14}_init could not be applied: .*OrderTransaction/)

  const tables = `SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`
  const { rows } = await client.query(tables)
  expect(rows.map(({ tablename }) => tablename)).toEqual(['OrderTransaction'])
  await client.query('DROP TABLE "OrderTransaction"')
  expect(await migrate(database.url)).not.toEqual([])
  expect(await migrate(database.url)).toEqual([])
})

test('a migration that waits for a table gives way after a while, and is applied when the table is free', async () => {
  await migrate(database.url)
  // It can be applied a second time.
  const again = '20261122104500_complete_ledger'
  await client.query('DELETE FROM "_prisma_migrations" WHERE "migration_name" = $1', [again])
  const holder = await openClient(database.url)
  await holder.query('BEGIN; LOCK TABLE "Product", "StockMovement" IN ACCESS EXCLUSIVE MODE')
  const migrating = migrate(database.url)
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  const count = async () => (await client.query(waiting)).rows.length
  await expect.poll(count, { timeout: 10_000 }).toBe(1)
  await expect.poll(count, { timeout: 10_000 }).toBe(0)
  await holder.query('COMMIT')
  await holder.end()
  expect(await migrating).toEqual([again])
})

test('a migration whose entry cannot be written leaves nothing of itself either', async () => {
  await client.query(
    'CREATE TABLE "_prisma_migrations" ("migration_name" text, "logs" text, "finished_at" date, "rolled_back_at" date)',
  )

  await expect(migrate(database.url)).rejects.toThrow('could not be applied')

  const { rows } = await client.query(`SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'`)
  expect(rows).toEqual([{ tablename: '_prisma_migrations' }])
})

test('a database of a newer version is refused', async () => {
  await migrate(database.url)
  await client.query(
    `INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "finished_at") VALUES ('x', '', '29990101000000_later', now())`,
  )

  await expect(migrate(database.url)).rejects.toThrow(/29990101000000_later.*newer version/)
})

test.each([
  { problem: 'a wrong password', password: 'not-the-password', pathname: '', reason: /password authentication failed/ },
  { problem: 'a database that does not exist', password: '', pathname: '/nowhere', reason: /"nowhere" does not exist/ },
])(
  '$problem is a StartupError with address and reason, without the password',
  async ({ password, pathname, reason }) => {
    const url = new URL(database.url)
    const host = url.searchParams.get('host') ?? url.hostname
    if (password) url.password = password
    if (pathname) url.pathname = pathname

    const error = await failureOf(url.href)

    expect(error).toBeInstanceOf(StartupError)
    expect(error.message).toMatch(reason)
    expect(error.message).toContain(`at ${host}:${url.port}${url.pathname} `)
    expect(error.message).toContain('DATABASE_URL')
    expect(error.message).not.toContain('\n')
    expect(error.message).not.toContain(url.password)
  },
)

test('a server that does not listen is a StartupError that says so', async () => {
  const closed = await closedPort()
  const url = Object.assign(new URL(throughPort(inject('templateUrl'), closed)), { password: 'secret-word' })

  const error = await failureOf(url.href)

  expect(error).toBeInstanceOf(StartupError)
  expect(error.message).toMatch(new RegExp(`127\\.0\\.0\\.1:${closed}/.*ECONNREFUSED`))
  expect(error.message).not.toContain('secret-word')
})

async function failureOf(url: string): Promise<Error> {
  return migrate(url).then(
    () => expect.unreachable(),
    (error) => error,
  )
}

function closedPort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const server = createServer().listen(0, '127.0.0.1', () => {
    const address = server.address()
    server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
  })
  return promise
}
