import { afterEach, expect, test } from 'vitest'
import { callerKey } from '../../../../src/engine/caller.ts'
import { bytesInFlight, type Holding } from '../../../../src/foundation/process/bytes-in-flight.ts'
import { sharedServer } from '../../../support/store.ts'

const MEGABYTE = 1024 * 1024

const holdings: Holding[] = []

const server = await sharedServer()
const store = await server.openStore()
const other = await server.openStore()
afterEach(() => {
  for (const holding of holdings.splice(0)) holding.close()
  expect(bytesInFlight.total).toBe(0)
})

/** Counts bytes as a slow reader or sender would hold them. */
function hold(caller: string, megabytes: number): void {
  const holding = bytesInFlight.open(caller)
  holding.send(megabytes * MEGABYTE)
  holdings.push(holding)
}

function products(count: number, length: number) {
  return Array.from({ length: count }, (_, number) => ({
    SKUInfo: { SKU: `SKU-${count}-${length}-${number}`, Name: 'Mug' },
    ShortDescription: 'x'.repeat(length),
  }))
}

test('a caller that holds as much as it may is told to come back; another one is served', async () => {
  hold(callerKey(store.caller), 24)

  const refused = await store.call('GET', '/Categories')
  expect(refused.statusCode).toBe(429)
  expect(refused.headers['retry-after']).toBe('1')
  expect(refused.json()).toEqual([
    {
      Key: 'Error',
      Value: '',
      Status: '429',
      Message: expect.stringContaining('Too many bytes of this application are in flight'),
    },
  ])
  expect((await other.call('GET', '/Categories')).statusCode).toBe(404)
})

test('while others hold nearly everything, large bodies are refused with 503, and small ones taken', async () => {
  for (const caller of ['a', 'b']) hold(caller, 19)

  const refused = await store.call('POST', '/Products', { body: products(40, 60_000) })
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1'])
  expect(refused.json()[0].Message).toContain('busy with other large requests')
  expect((await store.call('POST', '/Products', { body: products(1, 60_000) })).statusCode).toBe(201)
  expect((await store.call('GET', '/Products?limit=1')).statusCode).toBe(200)
})

test('a page above 1 MB has the same records in the same order, the first time, again, and where the next one begins', async () => {
  const created = await store.call('POST', '/Products', { body: products(30, 60_001) })
  const ids = created.json().map(({ Value }: { Value: string }) => Number(Value))
  const single = await Promise.all(
    ids.map(async (id: number) => (await store.call('GET', `/Products/${id}`)).json()[0]),
  )

  for (let count = 0; count < 2; count++) {
    const first = await store.call('GET', `/Products?limit=20&cursor=${ids[0] - 1}`)
    expect(first.statusCode).toBe(200)
    const next = /\?(.+)>; rel="next"/.exec(String(first.headers.link))?.[1]
    const second = await store.call('GET', `/Products?${next}`)
    expect([...first.json(), ...second.json()]).toEqual(single)
    expect(second.headers.link).toBeUndefined()
  }
})

test('a page above 24 MB is refused with what to do', async () => {
  const { db } = server.services
  for (const length of [1, 2]) await other.call('POST', '/Products', { body: products(80, length) })
  await db.$executeRaw`
    UPDATE "Product" SET "details" = json_build_object('ShortDescription', repeat('€', 65000))
    WHERE "storeId" = ${other.store.id}`

  const refused = await other.call('GET', '/Products?limit=200')
  expect(refused.statusCode).toBe(400)
  expect(refused.json()).toEqual([
    {
      Key: 'Error',
      Value: 'limit',
      Status: '400',
      Message: 'The page has 30 MB; at most 24 MB are allowed. Ask for fewer records by limit',
    },
  ])
  expect((await other.call('GET', '/Products?limit=50')).statusCode).toBe(200)
})
