import { expect, test } from 'vitest'
import { connect, execute, inTransaction, queryRows, rowsInTurn } from '../../../../src/foundation/database/client.ts'
import { requestLimits } from '../../../../src/foundation/database/limits.ts'
import { databaseError, Outage, outageOf } from '../../../../src/foundation/database/outage.ts'
import { sql } from '../../../../src/foundation/database/sql.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { ofTest, shared } from '../../../support/shared.ts'

const TIME_MS = 300

const database = await shared(cloneDatabase())
const db = await shared(connect(database.url, { poolMax: 1, limits: { ...requestLimits, transactionMs: TIME_MS } }))
await execute(db)`CREATE TABLE "Written" ("number" int)`

const pid = sql`SELECT pg_backend_pid() AS "pid"`
const written = async () => {
  const rows = await queryRows<{ number: number }>(db)`SELECT "number" FROM "Written" ORDER BY 1`
  return rows.map(({ number }) => number)
}
const write = (tx: Parameters<typeof execute>[0], number: number) =>
  execute(tx)`INSERT INTO "Written" VALUES (${number}::int)`

test('a statement of a transaction is undone with it', async () => {
  const refused = inTransaction(db, async (tx) => {
    expect(await write(tx, 1)).toBe(1)
    expect(await queryRows(tx)`SELECT "number" FROM "Written"`).toEqual([{ number: 1 }])
    throw new Error('refused')
  })
  await expect(refused).rejects.toThrow('refused')
  expect(await written()).toEqual([])
})

test('a transaction within another has its own connection', async () => {
  const others = connect(database.url)
  await inTransaction(others, async (outer) => {
    const own = await queryRows(outer)`SELECT pg_backend_pid() AS "pid"`
    await others.$transaction(async (inner) => {
      expect(await inner.$queryRaw`SELECT pg_backend_pid() AS "pid"`).not.toEqual(own)
    })
    expect(await queryRows(outer)`SELECT pg_backend_pid() AS "pid"`).toEqual(own)
  }).finally(() => others.$disconnect())
})

test('a transaction whose time is over sends no more statements, since another may have its connection', async () => {
  const late = Promise.withResolvers<unknown>()
  const over = inTransaction(db, async (tx) => {
    await queryRows(tx)`SELECT pg_sleep(${(2 * TIME_MS) / 1000})`
    await write(tx, 2).catch(late.resolve)
  })
  await expect(over).rejects.toSatisfy((error) => outageOf(error)?.code === 'unavailable')
  expect(outageOf(await late.promise)?.message).toContain('time limit')
  expect(await written()).toEqual([])
})

test('a transaction that goes on behind an outage is not committed, and its connection is cut', async () => {
  let isSilent = false
  const unheard = (statement: Promise<unknown>) => statement.then(() => Promise.reject(new Outage('Silence')))
  const health = {
    guard: <T>(statement: () => Promise<T>) => statement(),
    watch: <T>(statement: () => Promise<T>) => (isSilent ? (unheard(statement()) as Promise<T>) : statement()),
    onRecovery: () => {},
  }
  const client = await ofTest(connect(database.url, { poolMax: 1, health }))
  const before = await queryRows(client)`${pid}`
  const over = inTransaction(client, async (tx) => {
    await write(tx, 3)
    isSilent = true
    await write(tx, 4).catch(() => {})
    isSilent = false
  })
  await expect(over).rejects.toSatisfy((error) => outageOf(error)?.code === 'unavailable')
  expect(await written()).toEqual([])
  expect(await queryRows(client)`${pid}`).not.toEqual(before)
})

test('what Prisma runs and what goes past it share a transaction, and the errors of PostgreSQL', async () => {
  const settled = await inTransaction(database.db, async (tx) => {
    await tx.counter.create({ data: { storeId: 1, name: 'Shared', value: 7 } })
    const rows = await queryRows(tx)`SELECT "value" FROM "Counter" WHERE "name" = 'Shared'`
    expect(rows).toEqual([{ value: 7 }])
    await execute(tx)`UPDATE "Counter" SET "value" = 8 WHERE "name" = 'Shared'`
    expect(await tx.counter.findFirst({ where: { name: 'Shared' } })).toMatchObject({ value: 8 })
    await tx.counter.create({ data: { storeId: 1, name: 'Shared', value: 9 } })
  }).catch((error: unknown) => error)
  expect(databaseError(settled)).toMatchObject({ code: '23505', constraint: 'Counter_pkey' })
  expect(await database.db.counter.count({ where: { name: 'Shared' } })).toBe(0)
})

test('times are those of the clock, whatever time zone the session has', async () => {
  const at = new Date('2026-03-29T01:30:00.123Z')
  await inTransaction(database.db, async (tx) => {
    await execute(tx)`SET LOCAL TimeZone = 'America/New_York'`
    await tx.signInDelay.create({ data: { key: 'k', failures: 1, allowedAt: at, failedAt: at } })
    expect(await tx.signInDelay.findFirst()).toMatchObject({ allowedAt: at })
    expect(await tx.$queryRaw`SELECT "allowedAt" FROM "SignInDelay" WHERE "failedAt" = ${at}`).toEqual([
      { allowedAt: at },
    ])
  })
})

test('the reads of one store leave half of the connections to others', async () => {
  const shared = await ofTest(connect(database.url, { poolMax: 2 }))
  const read = (id: number, seconds: number) =>
    rowsInTurn({ db: shared, store: { id } })`SELECT pg_sleep(${seconds}::float8)`
  let isAnyOver = false
  const slow = Array.from({ length: 4 }, () =>
    read(1, 0.3).then(() => {
      isAnyOver = true
    }),
  )
  await read(2, 0)
  expect(isAnyOver).toBe(false)
  await Promise.all(slow)
})
