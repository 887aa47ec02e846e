import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { registerApplication } from '../../../../src/access/applications/applications.ts'
import { subscribe } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import { createStore } from '../../../../src/access/people/create-store.ts'
import { operatorCaller } from '../../../../src/access/stores/caller-store.ts'
import { createRecord } from '../../../../src/engine/changing/change.ts'
import { locks } from '../../../../src/foundation/database/advisory-locks.ts'
import { products as catalogue } from '../../../../src/shop/resources/products/products.ts'
import { storeInput } from '../../../support/access.ts'
import { operator } from '../../../support/actors.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { operatorKey, servicesOn } from '../../../support/services.ts'
import { shared } from '../../../support/shared.ts'
import { type ServerProcess, serverProcess } from '../../shop/webhooks/server-process.ts'

// What Idempotency-Key promises, with processes that die and several of them on one database.

const RECORDS = 100
/** The record whose change waits, so that the process can be killed in the middle. */
const HELD = 50

interface Result {
  Value: string
  Status: string
}

const database = await shared(cloneDatabase())
let storeId: number
let credentials: Record<string, string>
const running: ServerProcess[] = []

beforeEach(async () => {
  const services = servicesOn(database.db)
  const store = await createStore(services, storeInput())
  const Throttle = { capacity: 1_000_000, leakPerSecond: 10_000 }
  const { publicKey, privateKey } = await registerApplication(services, { Name: 'Retrying', Throttle })
  const { token } = await subscribe(services, { storeId: store.id, publicKey, actor: operator })
  storeId = store.id
  credentials = { secureurl: store.secureUrl, privatekey: privateKey, token }
})
afterEach(async () => {
  for (const server of running.splice(0)) await server.kill()
})

async function startServer(): Promise<ServerProcess> {
  const server = await serverProcess(database.url)
  running.push(server)
  await server.start()
  return server
}

interface Change {
  method: 'POST' | 'PUT'
  path: string
  body: unknown
  key?: string
}

async function send({ baseUrl }: { baseUrl: string }, { method, path, body, key }: Change) {
  const isOperator = path.startsWith('/admin/')
  const answer = await fetch(isOperator ? `${baseUrl}${path}` : `${baseUrl}/StoreWebAPI/v1${path}`, {
    method,
    headers: {
      ...(isOperator ? { authorization: `Bearer ${operatorKey}` } : credentials),
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  })
  return {
    status: answer.status,
    isReplay: answer.headers.get('idempotency-replayed') === 'true',
    text: await answer.text(),
  }
}

const statusesIn = (text: string) => (JSON.parse(text) as Result[]).map(({ Status }) => Status)

const numbers = Array.from({ length: RECORDS }, (_, index) => index + 1)
const products = numbers.map((number) => ({ SKUInfo: { SKU: `P-${number}`, Name: 'n' } }))
const setStocks = (ids: readonly number[], stock: number): Change => ({
  method: 'PUT',
  path: '/Products',
  body: ids.map((id) => ({ SKUInfo: { CatalogID: id, Stock: stock } })),
})

async function query<T extends object>(sql: string): Promise<T[]> {
  return database.db.$queryRawUnsafe<T[]>(sql)
}

async function countOf(table: string): Promise<number> {
  const [row] = await query<{ count: number }>(
    `SELECT count(*)::int AS "count" FROM "${table}" WHERE "storeId" = ${storeId}`,
  )
  return row?.count ?? 0
}

/** Each product's movements in order, by its id. */
async function ledger(): Promise<Map<number, number[]>> {
  const rows = await query<{ productId: number; quantities: number[] }>(
    `SELECT "productId", array_agg("quantity"::float8 ORDER BY "id") AS "quantities" FROM "StockMovement"
     WHERE "storeId" = ${storeId} GROUP BY "productId" ORDER BY "productId"`,
  )
  return new Map(rows.map(({ productId, quantities }) => [productId, quantities]))
}

/** Runs `work` while rows of `table` for which `condition` holds cannot be written. */
async function whileHeld<T>(table: string, condition: string, work: () => Promise<T>): Promise<T> {
  const { db } = database
  await db.$executeRawUnsafe(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END $$`)
  await db.$executeRawUnsafe(`CREATE TRIGGER wait AFTER INSERT ON "${table}" FOR EACH ROW
    WHEN (${condition}) EXECUTE FUNCTION wait()`)
  try {
    return await db.$transaction(
      async (tx) => {
        await tx.$executeRawUnsafe('SELECT pg_advisory_xact_lock(4711)')
        return work()
      },
      { timeout: 60_000 },
    )
  } finally {
    await db.$executeRawUnsafe('DROP FUNCTION wait CASCADE')
  }
}

type Sent = ReturnType<typeof send>

/**
 * Kills the server that answers this request as soon as the change of the held record is all but made. `retry` begins
 * while PostgreSQL has not noticed yet that the transaction of that change is lost; returns its answer.
 */
async function killWithin(
  change: Change,
  table: string,
  condition: string,
  retry: (next: { baseUrl: string }) => Promise<{ answer: Sent }> = async (next) => ({ answer: send(next, change) }),
  untilHeld: () => Promise<unknown> = async () => {},
) {
  const [server, next] = await Promise.all([startServer(), startServer()])
  const retried = await whileHeld(table, condition, async () => {
    const cutOff = send(server, change).catch(() => 'cut off')
    await untilHeld()
    await vi.waitFor(async () => expect(await waiting()).toBe(1), { timeout: 20_000 })
    expect((await send(next, change)).status).toBe(409)
    const alive = await processLocks()
    await server.kill()
    // An idle connection that is lost ends within milliseconds; a retry before that is told to come back.
    await vi.waitFor(async () => expect(await processLocks()).toBe(alive - 1), { timeout: 20_000 })
    expect(await cutOff).toBe('cut off')
    return retry(next)
  })
  return { next, retry: await retried.answer }
}

async function waiting(): Promise<number> {
  const [row] = await query<{ count: number }>(
    `SELECT count(*)::int AS "count" FROM pg_stat_activity
     WHERE "datname" = current_database() AND "wait_event" = 'advisory'`,
  )
  return row?.count ?? 0
}

/** How many processes live, for PostgreSQL. */
async function processLocks(): Promise<number> {
  const [row] = await query<{ count: number }>(
    `SELECT count(*)::int AS "count" FROM pg_locks JOIN pg_database d ON d."oid" = "database"
     WHERE "datname" = current_database() AND "locktype" = 'advisory' AND "classid" = ${locks.process}`,
  )
  return row?.count ?? 0
}

describe('a process that kill -9 ends between changes and answer', () => {
  test('has changed what the retry does not change again: every stock moved once, with nothing lost', async () => {
    const first = await startServer()
    await send(first, { method: 'POST', path: '/Products', body: products })
    const change = { ...setStocks(numbers, 5), key: 'key' }
    const done = numbers.filter((id) => id < HELD)
    const held = `NEW."productId" = ${HELD} AND NEW."storeId" = ${storeId}`
    // Together they cannot be changed, because of the held one, and then they are changed one by one.
    const areDone = async () => expect([...(await ledger()).keys()]).toEqual(done)
    const retrying = async (next: { baseUrl: string }) => {
      await areDone()
      expect((await send(next, setStocks(done, 7))).status).toBe(200)
      return { answer: send(next, change) }
    }
    const untilDone = () => vi.waitFor(areDone, { timeout: 20_000 })
    const { next, retry } = await killWithin(change, 'StockMovement', held, retrying, untilDone)
    expect([retry.status, retry.isReplay]).toEqual([200, false])
    expect(statusesIn(retry.text)).toEqual(numbers.map(() => '200'))
    expect(await ledger()).toEqual(new Map(numbers.map((id) => [id, id < HELD ? [5, 2] : [5]])))
    expect(await send(next, change)).toEqual({ ...retry, isReplay: true })
  })

  test('has created what the retry does not create again, and answers with the ids that were given out', async () => {
    const body = numbers.map((number) => ({ ManufacturerName: `M ${number}` }))
    const change: Change = { method: 'POST', path: '/Manufacturers', body, key: 'key' }
    const held = `NEW."name" = 'M ${HELD}' AND NEW."storeId" = ${storeId}`
    const { retry } = await killWithin(change, 'Manufacturer', held)
    expect([retry.status, retry.isReplay]).toEqual([201, false])
    const rows = await query<{ id: number; name: string }>(
      `SELECT "id", "name" FROM "Manufacturer" WHERE "storeId" = ${storeId} ORDER BY "id"`,
    )
    expect(rows.map(({ name }) => name)).toEqual(body.map(({ ManufacturerName }) => ManufacturerName))
    expect((JSON.parse(retry.text) as Result[]).map(({ Value }) => Number(Value))).toEqual(rows.map(({ id }) => id))
  })

  test.each([
    [
      'Order',
      () => `/admin/stores/${storeId}/orders`,
      { BillingEmail: 'guest@shop.example', OrderItemList: [{ ItemID: 'CUP', ItemQuantity: 2 }] },
    ],
    ['Application', () => '/admin/applications', { Name: 'Killed' }],
    [
      'Store',
      () => '/admin/stores',
      { Name: 'New', SecureURL: 'https://new.example', Email: 'a@new.example', Password: 'correct horse battery' },
    ],
  ])('has made one %s with the retry of the operator', async (table, path, body) => {
    const operator = await operatorCaller(servicesOn(database.db), storeId)
    await createRecord(operator, catalogue, { SKUInfo: { SKU: 'CUP', Name: 'Cup', Price: 5, Stock: 3 } })
    const change: Change = { method: 'POST', path: path(), body, key: 'key' }
    const rows = () => query(`SELECT FROM "${table}"`).then(({ length }) => length)
    const before = await rows()

    const { next, retry } = await killWithin(change, table, 'true')
    expect([retry.status, retry.isReplay]).toEqual([201, false])
    expect(await rows()).toBe(before + 1)
    expect(await send(next, change)).toEqual({ ...retry, isReplay: true })
  })
})

test('two processes that are sent the same at once change each record once, and give one answer', async () => {
  const servers = await Promise.all([startServer(), startServer()])
  await send(servers[0], { method: 'POST', path: '/Products', body: products })
  const changes: Change[] = [
    { ...setStocks(numbers, 5), key: 'stocks' },
    { method: 'POST', path: '/Manufacturers', body: { ManufacturerName: 'one' }, key: 'manufacturer' },
  ]
  for (const change of changes) {
    const answers = await Promise.all(
      numbers.slice(0, 20).map((number) => send(servers[(number % 2) as 0 | 1], change)),
    )
    const made = answers.filter(({ status }) => status < 300)
    expect(made.filter(({ isReplay }) => !isReplay)).toHaveLength(1)
    expect(new Set(made.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(20 - made.length)
    for (const server of servers) expect(await send(server, change)).toEqual({ ...made[0], isReplay: true })
  }
  expect(await ledger()).toEqual(new Map(numbers.map((id) => [id, [5]])))
  expect(await countOf('Manufacturer')).toBe(1)
})
