import { expect, test, vi } from 'vitest'
import { forgetRepresentations } from '../../../src/engine/reading/representations.ts'
import { connect, type Db } from '../../../src/foundation/database/client.ts'
import { openClient } from '../../support/client.ts'
import { workerDatabase } from '../../support/database.ts'
import { statementsOf } from '../../support/statements.ts'
import { openServer } from '../../support/store.ts'
import { change, send } from './fixture.ts'

test('what is kept is forgotten with a connection to the database, though it was idle', async () => {
  const { url } = await workerDatabase()
  const onLost = vi.fn<() => void>()
  const db: Db = connect(url, { poolMax: 2, onLost })
  onLost.mockImplementation(() => forgetRepresentations(db))
  const server = await openServer({}, async () => ({ url, db, drop: () => db.$disconnect() }))
  const shop = await server.openStore()
  await change(server, shop, 'POST', '/Products', { SKUInfo: { SKU: 'one', Name: 'One' } })
  const read = async () => {
    const statements = await statementsOf(async () => {
      expect((await send(server, shop, 'GET', '/Products/1')).statusCode).toBe(200)
    })
    return statements.filter(({ text }) => text.includes('"Product"')).length
  }
  // The second statement reads what is not kept.
  expect(await read()).toBe(2)
  expect(await read()).toBe(1)

  const other = await openClient(url)
  await other.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%"ReferencedVersion"%' AND state = 'idle'`)
  await other.end()
  await vi.waitFor(() => expect(onLost).toHaveBeenCalled())

  expect(await read()).toBe(2)
  expect(await read()).toBe(1)
  await server.close()
})
