import { afterAll, beforeAll, expect, test } from 'vitest'
import { servedResources } from '../../../src/registry.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'

// The kept number of a store's records (docs/decisions/sync.md).

let server: TestServer
let shop: TestStore
let other: TestStore
beforeAll(async () => {
  server = await openServer()
  shop = await server.openStore()
  other = await server.openStore()
})
afterAll(() => server.close())

async function numberOf(store: TestStore, query = ''): Promise<number> {
  const { TotalCount } = (await store.call('GET', `/Manufacturers?countonly=1${query}`)).json()
  return TotalCount
}

async function add(store: TestStore, names: readonly string[]): Promise<string[]> {
  const body = names.map((ManufacturerName) => ({ ManufacturerName }))
  const answer = await store.call('POST', '/Manufacturers', { body })
  return answer.json().map(({ Value }: { Value: string }) => Value)
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${prefix}-${number}`)
}

test('is exact after many added and removed at once, in each store by itself', async () => {
  const before = await numberOf(shop)
  const gone = await add(shop, names('gone', 10))

  await Promise.all([
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((prefix) => add(shop, names(prefix, 7))),
    add(other, names('other', 3)),
    ...gone.map((id) => shop.call('DELETE', `/Manufacturers/${id}`)),
  ])

  expect(await numberOf(shop)).toBe(before + 42)
  expect(await numberOf(other)).toBe(3)
  expect(await numberOf(shop, '&manufacturer=a-3')).toBe(1)
  const all = await shop.call('GET', '/Manufacturers?limit=1', { headers: { prefer: 'count=exact' } })
  expect(all.headers['x-total-count']).toBe(String(before + 42))
})

test('keeps no change waiting while others have not ended, and leaves out what they have not done yet', async () => {
  await add(shop, ['first'])
  const before = await numberOf(shop)
  const { db } = server.services

  await db.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT FROM "RecordCount" FOR UPDATE`
    const { count } = await tx.manufacturer.deleteMany({ where: { storeId: shop.store.id, name: 'first' } })
    expect(count).toBe(1)
    await add(shop, ['second'])
    expect(await numberOf(shop)).toBe(before + 1)
  })

  expect(await numberOf(shop)).toBe(before)
})

test('is kept for the records of every service', async () => {
  const tables = servedResources.map(({ table }) => table)
  const rows = await server.services.db.$queryRaw<{ name: string }[]>`
    SELECT "tgrelid"::regclass::text AS "name" FROM "pg_trigger"
    WHERE "tgfoid" = '"countRecords"'::regproc AND NOT "tgisinternal" AND "tgenabled" = 'O'`
  const kept = rows.map(({ name }) => name.replaceAll('"', ''))
  expect(kept.toSorted()).toEqual([...tables, ...tables].toSorted())
})
