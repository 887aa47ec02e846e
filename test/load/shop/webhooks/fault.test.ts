import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generateMersenne53Randomizer } from '@faker-js/faker'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFailed, test, vi } from 'vitest'
import { eventKinds } from '../../../../src/engine/definition/event-kinds.ts'
import { type Embedded, startEmbedded } from '../../../../src/foundation/embedded/embedded.ts'
import { sharedFolder } from '../../../support/folders.ts'
import { openShop, plan, shuffled, tellOrder, tellStock } from './server-changes.ts'
import { type ServerProcess, serverProcess } from './server-process.ts'
import { openServerReceiver, type ServerReceiver } from './server-receiver.ts'
import { openServerStore } from './server-store.ts'
import { readFeed, register, tellEvent } from './server-webhooks.ts'

/** What becomes of 1,000 changes and their notifications while the server is killed, and PostgreSQL too. */
const wanted = { placed: 260, moved: 160, stocked: 260, renamed: 150, created: 80, deleted: 50, joined: 40 }
const WORKERS = 8
const faults = ['kill', 'kill', 'kill', 'kill', 'kill', 'kill', 'SIGINT', 'SIGKILL'] as const
/** Every so many notifications one is refused when it comes first. */
const REFUSED_EVERY = 25

const folder = sharedFolder()
let embedded: Embedded
let server: ServerProcess
let receiver: ServerReceiver
beforeAll(async () => {
  embedded = await startEmbedded({ dataDir: folder })
  server = await serverProcess(embedded.url)
  const seen = new Set<string>()
  receiver = await openServerReceiver(({ id }) => {
    const isFirst = seen.size < seen.add(id).size
    return isFirst && seen.size % REFUSED_EVERY === 0 ? 503 : 200
  })
})
afterAll(async () => {
  await server?.kill()
  await receiver?.close()
  await embedded?.stop()
})

test('of 1,000 changes each is notified, whatever dies meanwhile: none is missing, and repeats have the same id', async () => {
  const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 2 ** 31))
  onTestFailed(() => console.error(`FAULT_SEED=${seed}\n${server.output()}`))
  const randomizer = generateMersenne53Randomizer(seed)
  const random = () => randomizer.next()
  await server.start()
  const store = await openServerStore(server.baseUrl)
  for (const kind of eventKinds) await register(store, receiver, kind)
  const shop = await openShop(store, { products: 40, unsold: wanted.deleted, orders: wanted.moved })

  const { told, placed, planned } = plan(store, shop, wanted, random)
  await amongFaults(planned, random)
  const truth = [...shop.told, ...told]
  const orders = (await valuesOf('SELECT "id" FROM "Order" ORDER BY "id"')).map(Number)
  truth.push(...orders.map(tellOrder))
  const movements = await valuesOf(
    `SELECT json_build_array("productId", "stockAfter") FROM "StockMovement" ORDER BY "id"`,
  )
  const stocks = (movements as [number, number][]).map(([productId, stock]) => tellStock(productId, stock))
  truth.push(...stocks)
  await untilAllIsDelivered()

  // What was answered for is there, and the changes are as many as were wanted.
  expect(orders).toEqual([...shop.orders, ...placed].sort((one, other) => one - other))
  expect(truth.length).toBeGreaterThan(1_000)
  // Every change has one event, and every event a change.
  const feed = await readFeed(store)
  expect(feed.map(tellEvent).sort()).toEqual(truth.sort())
  expect(feed.map(({ Sequence }) => Sequence)).toEqual(feed.map((_, index) => index + 1))
  // Those of a record are in the order of its changes.
  const ofStocks = new Set(stocks)
  for (const productId of shop.products) {
    const ofProduct = (text: string) => text.startsWith(tellStock(productId, 0).slice(0, -1))
    expect(feed.map(tellEvent).filter((text) => ofStocks.has(text) && ofProduct(text))).toEqual(
      stocks.filter(ofProduct),
    )
  }
  // Every event arrived where it had to, with its own id every time.
  expect(receiver.faults).toEqual([])
  const distinct = new Map(receiver.arrivals.map((arrival) => [JSON.stringify({ ...arrival, headers: {} }), arrival]))
  const arrived = [...distinct.values()].sort((one, other) => one.sequence - other.sequence)
  expect(arrived.map(({ body, headers: _, ...arrival }) => ({ ...arrival, body: JSON.parse(body) }))).toEqual(
    feed.map(({ Sequence, EventType, EventName, Id, Changed = null, Record }) => ({
      path: `/${EventType}`,
      id: Id,
      sequence: Sequence,
      event: EventName,
      changed: Changed,
      type: 'application/json; charset=utf-8',
      body: [Record],
    })),
  )
  expect(receiver.arrivals.length).toBeGreaterThanOrEqual(arrived.length + Math.floor(arrived.length / REFUSED_EVERY))
}, 300_000)

/** Makes the changes, some at a time; in between, when a random number of them is made, something dies. */
async function amongFaults(changes: readonly (() => Promise<unknown>)[], random: () => number): Promise<void> {
  const moments = faults.map(() => Math.floor(random() * changes.length * 0.9)).sort((one, other) => one - other)
  const order = shuffled(faults, random)
  let made = 0
  const reached = moments.map(() => Promise.withResolvers<void>())
  const waiting = changes.values()
  const work = async () => {
    for (const change of waiting) {
      await change()
      made += 1
      for (const [index, moment] of moments.entries()) if (made > moment) reached[index]?.resolve()
    }
  }
  const die = async () => {
    for (const [index, fault] of order.entries()) {
      await reached[index]?.promise
      if (fault === 'kill') await restartServer()
      else await restartPostgres(fault)
    }
  }
  await Promise.all([die(), ...Array.from({ length: WORKERS }, work)])
}

async function restartServer(): Promise<void> {
  await server.kill()
  await server.start()
}

/** SIGINT: connections are cut off and it ends in order; SIGKILL: it recovers. Either way it is started again by itself. */
async function restartPostgres(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
  const file = join(folder, 'postgres', 'data', 'postmaster.pid')
  const pid = Number.parseInt(await readFile(file, 'utf8'), 10)
  process.kill(pid, signal)
  await vi.waitFor(
    async () => {
      expect(Number.parseInt(await readFile(file, 'utf8'), 10)).not.toBe(pid)
      await valuesOf('SELECT 1')
    },
    { timeout: 30_000, interval: 50 },
  )
}

async function untilAllIsDelivered(): Promise<void> {
  const look = { timeout: 120_000, interval: 500 }
  await vi.waitFor(async () => {
    expect(await valuesOf('SELECT count(*)::int FROM "Event" WHERE "sequence" IS NULL')).toEqual([0])
    // As if the time had passed until the claims of the dead run out and what was refused is tried again.
    await valuesOf(
      `UPDATE "Delivery" SET "dueAt" = now() WHERE "state" = 'pending' AND "dueAt" > now() + interval '1 s'`,
    )
    await valuesOf(`SELECT pg_notify('deliveries', '')`)
    expect(await valuesOf(`SELECT count(*)::int FROM "Delivery" WHERE "state" = 'pending'`)).toEqual([0])
  }, look)
}

/** The first column. */
async function valuesOf(sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: embedded.url })
  // What breaks in an idle moment is found at the next statement.
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query({ text: sql, rowMode: 'array' })).rows.map(([value]) => value)
  } finally {
    await client.end().catch(() => {})
  }
}
