import { expect, test, vi } from 'vitest'
import { connect } from '../../../../src/foundation/database/client.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { ofTest } from '../../../support/shared.ts'

test('connections that the server ends at any moment, also while they pass from one transaction to the next, end no process', async () => {
  const database = await ofTest(cloneDatabase())
  const db = await ofTest(connect(database.url, { poolMax: 2 }))
  const uncaught = vi.fn()
  process.on('uncaughtException', uncaught)
  const busy = async () => {
    for (let round = 0; round < 60; round++) {
      await db.$transaction((tx) => tx.$queryRaw`SELECT 1`).catch(() => undefined)
    }
  }
  const ending = async () => {
    for (let round = 0; round < 60; round++) {
      await database.db.$queryRaw`
        SELECT count(pg_terminate_backend("pid")) FROM "pg_stat_activity"
        WHERE "datname" = current_database() AND "pid" <> pg_backend_pid()`.catch(() => undefined)
    }
  }

  await Promise.all([busy(), busy(), busy(), busy(), busy(), busy(), ending()])
  process.removeListener('uncaughtException', uncaught)

  expect(uncaught).not.toHaveBeenCalled()
  await vi.waitUntil(() => db.$queryRaw`SELECT 1`.then(Boolean, () => false))
})
