import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Db, execute, inTransaction, queryRows } from '../../../src/database/client.ts'
import { requestLimits } from '../../../src/database/limits.ts'
import { outageOf } from '../../../src/database/outage.ts'
import { sql } from '../../../src/database/sql.ts'
import { cloneDatabase } from '../../support/database.ts'

const TIME_MS = 300
let database: Awaited<ReturnType<typeof cloneDatabase>>
let db: Db

beforeAll(async () => {
  database = await cloneDatabase()
  db = connect(database.url, { poolMax: 1, limits: { ...requestLimits, transactionMs: TIME_MS } })
  await execute(db, sql`CREATE TABLE "Written" ("number" int)`)
})
afterAll(async () => {
  await db.$disconnect()
  await database.drop()
})

const written = async () => {
  const rows = await queryRows<{ number: number }>(db, sql`SELECT "number" FROM "Written" ORDER BY 1`)
  return rows.map(({ number }) => number)
}
const write = (tx: Parameters<typeof execute>[0], number: number) =>
  execute(tx, sql`INSERT INTO "Written" VALUES (${number}::int)`)

test('a statement of a transaction is undone with it', async () => {
  const refused = inTransaction(db, async (tx) => {
    expect(await write(tx, 1)).toBe(1)
    expect(await queryRows(tx, sql`SELECT "number" FROM "Written"`)).toEqual([{ number: 1 }])
    throw new Error('refused')
  })
  await expect(refused).rejects.toThrow('refused')
  expect(await written()).toEqual([])
})

test('a transaction within another has its own connection', async () => {
  const others = connect(database.url)
  await inTransaction(others, async (outer) => {
    const own = await queryRows(outer, sql`SELECT pg_backend_pid() AS "pid"`)
    await others.$transaction(async (inner) => {
      expect(await inner.$queryRaw`SELECT pg_backend_pid() AS "pid"`).not.toEqual(own)
    })
    expect(await queryRows(outer, sql`SELECT pg_backend_pid() AS "pid"`)).toEqual(own)
  }).finally(() => others.$disconnect())
})

test('a transaction whose time is over sends no more statements, since another may have its connection', async () => {
  const late = Promise.withResolvers<unknown>()
  const over = inTransaction(db, async (tx) => {
    await queryRows(tx, sql`SELECT pg_sleep(${(2 * TIME_MS) / 1000})`)
    await write(tx, 2).catch(late.resolve)
  })
  await expect(over).rejects.toSatisfy((error) => outageOf(error)?.kind === 'unavailable')
  expect(outageOf(await late.promise)?.message).toContain('time limit')
  expect(await written()).toEqual([])
})
