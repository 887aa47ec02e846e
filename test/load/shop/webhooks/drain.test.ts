import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { productKinds } from '../../../../src/engine/definition/event-kinds.ts'
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts'
import { type ServerProcess, serverProcess } from './server-process.ts'
import { openServerReceiver } from './server-receiver.ts'
import { idsIn, openServerStore } from './server-store.ts'
import { register } from './server-webhooks.ts'

let database: TestDatabase
let server: ServerProcess
beforeAll(async () => {
  database = await cloneDatabase()
  server = await serverProcess(database.url, { DRAIN_SECONDS: '300' })
  await server.start()
})
afterAll(async () => {
  await server?.kill()
  await database?.drop()
})

test('a server in its drain goes on sending notifications', async () => {
  const receiver = await openServerReceiver(() => 200)
  try {
    const store = await openServerStore(server.baseUrl)
    await register(store, receiver, productKinds.new)
    server.terminate()
    const isDraining = async () => expect((await fetch(`${server.baseUrl}/readyz`)).status).toBe(503)
    await vi.waitFor(isDraining, { timeout: 20_000 })

    const [id] = idsIn(await store.call('POST', '/Products', { body: { SKUInfo: { SKU: 'MUG', Name: 'Mug' } } }))
    await vi.waitFor(() => expect(receiver.arrivals).toHaveLength(1), { timeout: 20_000 })
    expect(JSON.parse(receiver.arrivals[0]?.body ?? '')).toMatchObject([{ SKUInfo: { CatalogID: id } }])
    expect(receiver.faults).toEqual([])
  } finally {
    await receiver.close()
  }
}, 60_000)
