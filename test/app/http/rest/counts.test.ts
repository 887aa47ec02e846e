import { describe, expect, test } from 'vitest'
import { servedResources } from '../../../../src/shop/registry.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'

// The kept number of a store's records (docs/decisions/sync.md).

const server = await sharedServer()
const shop = await server.openStore()
const other = await server.openStore()

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

describe('{service}/Count', () => {
  test('answers the number that countonly does, of those that match, and 0 for none, in JSON and XML', async () => {
    const store = await server.openStore()
    expect((await store.call('GET', '/Manufacturers/Count')).body).toBe('{"TotalCount":0}')
    await add(store, names('count', 12))

    for (const query of ['', '?manufacturer=COUNT-1', '?manufacturer=nobody', '?limit=1&offset=90&countonly=0']) {
      const tolerated = query.includes('limit')
      const counted = await store.call('GET', `/Manufacturers/Count${query}`, { tolerated })
      const before = await store.call('GET', `/Manufacturers?${query.slice(1).replace(/&countonly=0/, '')}&countonly=1`)
      expect([counted.statusCode, counted.body]).toEqual([200, before.body])
      const xml = await store.call('GET', `/Manufacturers/Count${query}`, { tolerated, accept: 'application/xml' })
      expect(xml.body).toContain(`<TotalCount>${counted.json().TotalCount}</TotalCount></CountOnly>`)
    }
    const wrong = await store.call('GET', '/Manufacturers/Count?manufacturerid=x')
    expect([wrong.statusCode, wrong.json()[0].Value]).toEqual([400, 'manufacturerid'])
  })

  test('stands beside every list with filters, at every name of the service, without regard to case, and takes GET alone', async () => {
    const store = await server.openStore()
    const [id] = await add(store, ['maker'])
    const count = async (address: string) => (await store.call('GET', address)).body

    expect(await count(`/Manufacturers/${id}/Products/Count`)).toBe('{"TotalCount":0}')
    expect((await store.call('GET', '/Manufacturers/999999/Products/Count')).statusCode).toBe(404)
    expect(await count('/Products/skuinfo/Count?name=cup')).toBe('{"TotalCount":0}')
    expect(await count('/Webhooks/Events/Count?name=order%20new')).toBe('{"TotalCount":1}')
    for (const { names: known } of servedResources) {
      for (const name of known) expect(await count(`/${name}/COUNT`)).toMatch(/^\{"TotalCount":\d+\}$/)
    }
    const put = await store.call('PUT', '/Manufacturers/Count', { body: { ManufacturerName: 'x' }, tolerated: true })
    expect([put.statusCode, put.headers.allow]).toEqual([405, 'GET, HEAD'])
    const head = await store.call('HEAD', '/Manufacturers/Count')
    expect([head.statusCode, head.body]).toEqual([200, ''])
    expect((await store.call('OPTIONS', '/Manufacturers/Count')).headers.allow).toBe('GET, HEAD')
  })

  test('needs the privilege to read, and that of the records it counts', async () => {
    const narrow = await server.openStore({ privileges: { Manufacturers: ['read', 'write'] } })
    const [id] = await add(narrow, ['maker'])

    expect((await narrow.call('GET', '/Manufacturers/Count')).statusCode).toBe(200)
    expect((await narrow.call('GET', '/Products/Count')).statusCode).toBe(401)
    expect((await narrow.call('GET', `/Manufacturers/${id}/Products/Count`)).statusCode).toBe(401)
  })
})
