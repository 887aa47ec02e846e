import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  connect,
  connectBeside,
  type Db,
  inTransaction,
  isClient,
  queryRows,
  type Transaction,
} from '../../../src/database/client.ts'
import { sql } from '../../../src/database/sql.ts'
import { type TestDatabase, workerDatabase } from '../../support/database.ts'

let database: TestDatabase
let db: Db
let beside: Db

beforeAll(async () => {
  database = await workerDatabase()
  db = connect(database.url, { poolMax: 1 })
  beside = await connectBeside(db, database.url, { poolMax: 1 })
})
afterAll(async () => {
  await beside.$disconnect()
  await db.$disconnect()
})

/** The connections that Prisma and `queryRows` take, by the number of PostgreSQL's process. */
async function connectionsOf(client: Db | Transaction): Promise<number[]> {
  const statement = sql`SELECT pg_backend_pid() AS "pid"`
  const rows = await Promise.all([
    client.$queryRaw<{ pid: number }[]>(statement),
    queryRows<{ pid: number }>(client, statement),
  ])
  return rows.flat().map(({ pid }) => pid)
}

test('a client beside another has connections of its own, in transactions and outside of them', async () => {
  const [own] = await connectionsOf(db)
  const [other] = await connectionsOf(beside)
  expect(other).not.toBe(own)
  expect(isClient(beside)).toBe(true)

  for (const [first, second, of] of [
    [db, beside, { first: own, second: other }],
    [beside, db, { first: other, second: own }],
  ] as const) {
    expect(await connectionsOf(first)).toEqual([of.first, of.first])
    await inTransaction(first, async (tx) => {
      expect(isClient(tx)).toBe(false)
      expect(await connectionsOf(tx)).toEqual([of.first, of.first])
      expect(await inTransaction(tx, connectionsOf)).toEqual([of.first, of.first])
      // With one connection each, this would wait for itself.
      expect(await connectionsOf(second)).toEqual([of.second, of.second])
      await second.store.findMany({ take: 1 })
    })
  }
})

test('its transactions are rolled back when their work fails', async () => {
  const work = inTransaction(beside, async (tx) => {
    await tx.$executeRaw`CREATE TABLE "Rolled back" ()`
    throw new Error('failed')
  })
  await expect(work).rejects.toThrow('failed')
  expect(await queryRows(db, sql`SELECT to_regclass('"Rolled back"') AS "table"`)).toEqual([{ table: null }])
})

test('it can end before the other', async () => {
  const brief = await connectBeside(db, database.url, { poolMax: 1 })
  await brief.store.findMany({ take: 1 })
  await brief.$disconnect()
  await expect(brief.store.findMany({ take: 1 })).rejects.toThrow()
  await expect(db.store.findMany({ take: 1 })).resolves.toBeDefined()
})
