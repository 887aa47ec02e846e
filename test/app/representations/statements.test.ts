import { beforeEach, expect, test, vi } from 'vitest'
import { openClient } from '../../support/client.ts'
import { workerDatabase } from '../../support/database.ts'
import { ofTest } from '../../support/shared.ts'
import { type SentStatement, statementsOf } from '../../support/statements.ts'
import { sharedServer, type TestStore } from '../../support/store.ts'
import { change, send } from './fixture.ts'

// How many statements a read sends.

let shop: TestStore
const server = await sharedServer()
// Of which nothing is kept.
beforeEach(async () => {
  shop = await server.openStore()
  await change(server, shop, 'POST', '/Manufacturers', { ManufacturerName: 'Maker' })
  const products = Array.from({ length: 20 }, (_, place) => ({
    SKUInfo: { SKU: `SKU-${place}`, Name: 'Lamp' },
    ManufacturerID: 1,
  }))
  await change(server, shop, 'POST', '/Products', products)
  await read('/Customers?countonly=1')
})

const read = (path: string, accept?: string, known?: string) =>
  send(server, shop, 'GET', path, { ...(known !== undefined && { known }), accept })

/** The statements of a request. The process announces earlier changes meanwhile, and writes earlier calls into their log. */
async function sentFor(request: () => Promise<unknown>): Promise<SentStatement[]> {
  return (await statementsOf(request)).filter(({ text }) => !/pg_notify|"ApiCall"|"lastUsedAt"/.test(text))
}

test.each([
  ['a record', '/Products/1'],
  ['a list', '/Products?limit=10'],
  ['a list of all', '/Products?limit=200'],
  ['a list that is filtered', '/Products?limit=200&sku=SKU-3'],
  ['a list by offset', '/Products?limit=7&offset=3'],
  ['a part of all records', '/Products/skuinfo?limit=100'],
  ['the products of a manufacturer', '/Manufacturers/1/Products?limit=100'],
  ['a number', '/Products?countonly=1'],
  ['the number of those that match', '/Products?countonly=1&sku=SKU-3'],
])('%s is read by one statement when it is kept, and by two at first', async (_name, path) => {
  for (const accept of ['application/json', 'application/xml']) {
    // A number is read from no records, and one record's XML is made of its JSON.
    const isOne = path.includes('countonly') || (accept === 'application/xml' && path === '/Products/1')
    expect(await sentFor(() => read(path, accept))).toHaveLength(isOne ? 1 : 2)
    for (const _time of ['second', 'third']) expect(await sentFor(() => read(path, accept))).toHaveLength(1)
  }
})

test('a record that is as the client knows it is found so by one statement', async () => {
  const { etag } = (await read('/Products/2')).headers
  expect(await sentFor(() => read('/Products/2', undefined, etag))).toHaveLength(1)
})

test('a page of which little has changed is read by two statements: what is kept, and the rest', async () => {
  await read('/Products?limit=15')
  await change(server, shop, 'PUT', '/Products/4', { Description: 'Changed' })

  const [, rest, ...more] = await sentFor(() => read('/Products?limit=15'))
  expect(more).toEqual([])
  expect(rest?.values).toContain('4')
  expect(rest?.values).not.toContain('3')
  expect(await sentFor(() => read('/Products?limit=15'))).toHaveLength(1)
})

interface Shown {
  readonly SKUInfo: { readonly CatalogID: number; readonly OnSale: boolean }
}

test('a page of which a record changes between its statements shows what is there then', async () => {
  const blocking = await ofTest(openClient((await workerDatabase()).url))
  await blocking.query('BEGIN')
  // The second statement alone reads manufacturers' names.
  await blocking.query('LOCK TABLE "Manufacturer" IN ACCESS EXCLUSIVE MODE')
  const page = read('/Products?limit=20&hide=0')
  const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '"Manufacturer"'::regclass`
  await vi.waitFor(async () => expect((await blocking.query(waiting)).rows).toHaveLength(1), { timeout: 10_000 })
  await blocking.query(`UPDATE "Product" SET "hide" = true WHERE "storeId" = $1 AND "id" IN (3, 4)`, [shop.store.id])
  await blocking.query(`DELETE FROM "Product" WHERE "storeId" = $1 AND "id" = 5`, [shop.store.id])
  await blocking.query(`UPDATE "Product" SET "onSale" = true WHERE "storeId" = $1 AND "id" = 6`, [shop.store.id])
  await blocking.query('COMMIT')

  const shown = (await page).json().map(({ SKUInfo }: Shown) => [SKUInfo.CatalogID, SKUInfo.OnSale])
  const ids = [1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
  expect(shown).toEqual(ids.map((id) => [id, id === 6]))
})
