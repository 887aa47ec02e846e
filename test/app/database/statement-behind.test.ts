import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Db, queryRows, queryRowsBehind } from '../../../src/database/client.ts'
import { type Sql, sql } from '../../../src/database/sql.ts'
import { workerDatabase } from '../../support/database.ts'

let db: Db
beforeAll(async () => {
  db = connect((await workerDatabase()).url, { poolMax: 2 })
  // A connection that has to be opened first takes longer than a turn.
  await queryRows(db, pid)
})
afterAll(() => db.$disconnect())

interface Row {
  readonly pid: number
}

const pid = sql`SELECT pg_backend_pid() AS "pid"`
const broken = sql`SELECT 1 / 0 AS "pid"`
const alone = async () => [{ pid: 0 }]
const behind = (statement: Sql) => queryRowsBehind<Row>(db, statement, alone)

test('a statement goes behind the next one of this turn, on its connection', async () => {
  const [second, first] = await Promise.all([behind(pid), queryRows<Row>(db, pid)])
  expect(second).toEqual(first)
})

test('a statement goes alone where none is sent', async () => {
  expect(await behind(pid)).toEqual([{ pid: 0 }])
  expect(await Promise.all([db.$transaction((tx) => queryRows<Row>(tx, pid)), behind(pid)])).toMatchObject([
    [{ pid: expect.any(Number) }],
    [{ pid: 0 }],
  ])
})

test('each has its own error, and the next ones find a connection', async () => {
  for (const [one, other] of [
    [broken, pid],
    [pid, broken],
  ] as const) {
    const settled = await Promise.allSettled([behind(one), queryRows<Row>(db, other)])
    const isBroken = settled.map(({ status }) => status === 'rejected')
    expect(isBroken).toEqual([one === broken, other === broken])
  }
  expect(await Promise.all(Array.from({ length: 6 }, () => queryRows<Row>(db, pid)))).toHaveLength(6)
})
