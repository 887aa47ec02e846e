import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { productKinds } from '../../../../src/engine/definition/event-kinds.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { ofTest, shared } from '../../../support/shared.ts'
import { type ServerProcess, serverProcess } from './server-process.ts'
import { openServerReceiver } from './server-receiver.ts'
import { idsIn, openServerStore } from './server-store.ts'
import { register } from './server-webhooks.ts'

const database = await shared(cloneDatabase())
let server: ServerProcess
beforeAll(async () => {
  server = await serverProcess(database.url, { DRAIN_SECONDS: '300' })
  await server.start()
})
afterAll(() => server?.kill())

test('a server in its drain goes on sending notifications', async () => {
  const receiver = await ofTest(openServerReceiver(() => 200))
  const store = await openServerStore(server.baseUrl)
  await register(store, receiver, productKinds.new)
  server.terminate()
  const isDraining = async () => expect((await fetch(`${server.baseUrl}/readyz`)).status).toBe(503)
  await vi.waitFor(isDraining, { timeout: 20_000 })

  const [id] = idsIn(await store.call('POST', '/Products', { body: { SKUInfo: { SKU: 'MUG', Name: 'Mug' } } }))
  await vi.waitFor(() => expect(receiver.arrivals).toHaveLength(1), { timeout: 20_000 })
  expect(JSON.parse(receiver.arrivals[0]?.body ?? '')).toMatchObject([{ SKUInfo: { CatalogID: id } }])
  expect(receiver.faults).toEqual([])
})
