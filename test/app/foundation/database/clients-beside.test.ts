import { expect, test } from 'vitest'
import {
  connect,
  connectBeside,
  type Db,
  inTransaction,
  type Transaction,
} from '../../../../src/foundation/database/client.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { ofTest } from '../../../support/shared.ts'

async function sessionOf(client: Db | Transaction): Promise<number> {
  const [row] = await client.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS "pid"`
  return row?.pid ?? 0
}

test('a client beside another has its own connections, in transactions too, and ends alone', async () => {
  const database = await ofTest(cloneDatabase())
  const db = await ofTest(connect(database.url, { poolMax: 1 }))
  const beside = connectBeside(db, database.url, { poolMax: 1 })
  const [own, other] = [await sessionOf(db), await sessionOf(beside)]
  expect(other).not.toBe(own)

  const inside = await inTransaction(beside, async (tx) => {
    await tx.switch.count()
    return [await sessionOf(tx), await sessionOf(db)]
  })
  expect(inside).toEqual([other, own])
  expect(await inTransaction(db, async (tx) => [await sessionOf(tx), await sessionOf(beside)])).toEqual([own, other])

  await beside.$disconnect()
  expect(await sessionOf(db)).toBe(own)
})
