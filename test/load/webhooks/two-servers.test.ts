import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { productNew } from '../../../src/engine/definition/event-kinds.ts'
import { cloneDatabase, type TestDatabase } from '../../support/database.ts'
import { type ServerProcess, serverProcess } from './server-process.ts'
import { openServerReceiver } from './server-receiver.ts'
import { type Answer, idsIn, openServerStore } from './server-store.ts'
import { readFeed, register } from './server-webhooks.ts'

const EVENTS = 300
const PER_REQUEST = 100
/** One process sends no more at a time to a webhook that has not answered. */
const PER_PROCESS = 1

let database: TestDatabase
let servers: [ServerProcess, ServerProcess]
beforeAll(async () => {
  database = await cloneDatabase()
  servers = [await serverProcess(database.url), await serverProcess(database.url)]
  await Promise.all(servers.map(({ start }) => start()))
})
afterAll(async () => {
  for (const { kill } of servers ?? []) await kill()
  await database?.drop()
})

test('two servers on one database deliver each event once, and both of them take part', async () => {
  // More than one process sends at a time are kept waiting, so that the other one has to send some.
  const released = Promise.withResolvers<void>()
  const receiver = await openServerReceiver(() => released.promise.then(() => 200))
  try {
    const store = await openServerStore(servers[0].baseUrl)
    const id = await register(store, receiver, productNew)
    await ok(store.call('PUT', `/Webhooks/${id}`, { body: { Enabled: false } }))
    for (let first = 0; first < EVENTS; first += PER_REQUEST) {
      const body = Array.from({ length: PER_REQUEST }, (_, index) => ({
        SKUInfo: { SKU: `SKU-${first + index}`, Name: 'Mug' },
      }))
      await ok(store.call('POST', '/Products', { body }))
    }
    // All of them are due at one moment.
    await ok(store.call('POST', `/Webhooks/${id}/Resume`, { body: { CatchUp: true } }))
    await vi.waitFor(() => expect(receiver.waiting()).toBe(2 * PER_PROCESS), { timeout: 10_000 })
    released.resolve()
    const isOver = async () => expect(await database.db.delivery.count({ where: { state: 'delivered' } })).toBe(EVENTS)
    await vi.waitFor(isOver, { timeout: 20_000 })

    expect(receiver.faults).toEqual([])
    const feed = await readFeed(store)
    expect(feed).toHaveLength(EVENTS)
    expect(receiver.arrivals.map(({ id }) => id).sort()).toEqual(feed.map(({ Id }) => Id).sort())
    expect(await database.db.delivery.count({ where: { attempts: { not: 1 } } })).toBe(0)
  } finally {
    released.resolve()
    await receiver.close()
  }
}, 90_000)

/** Throws when a change was not made whole. */
async function ok(answer: Promise<Answer>): Promise<void> {
  idsIn(await answer)
}
