import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'
import { created, get } from './fixture.ts'

// Single records that are asked for at once are read together (docs/decisions/representations.md).

let server: TestServer
let shop: TestStore
beforeAll(async () => {
  server = await openServer()
  shop = await server.openStore()
})
afterAll(() => server.close())

let serial = 0
async function product(ManufacturerID = 0): Promise<number> {
  const name = `Product ${++serial}`
  return created(shop, '/Products', { SKUInfo: { SKU: name, Name: name }, ManufacturerID })
}

/** The names of products that are asked for at once; null: 404. */
async function namesOf(ids: readonly number[]): Promise<(string | null)[]> {
  const answers = await Promise.all(ids.map((id) => get(server, shop, { path: `/Products/${id}` })))
  return answers.map((answer, place) => {
    if (answer.statusCode === 404) return null
    expect(answer.json()[0].SKUInfo.CatalogID).toBe(ids[place])
    return `${answer.json()[0].ManufacturerName} ${answer.json()[0].SKUInfo.Name}`.trim()
  })
}

test('each gets its own record, if some are kept as they were before a name in them changed, some as after, and some not', async () => {
  const ManufacturerID = await created(shop, '/Manufacturers', { ManufacturerName: 'Old' })
  const ids = [await product(ManufacturerID), await product(ManufacturerID), await product(ManufacturerID)]
  const [before, after] = ids as [number, number, number]
  const others = [await product(), await product()]
  const names = ids.map((_id, place) => `New Product ${serial - 4 + place}`)

  await namesOf([before])
  await shop.call('PUT', `/Manufacturers/${ManufacturerID}`, { body: { ManufacturerName: 'New' } })
  await namesOf([after])

  // Two that are under way make the others wait for each other.
  expect((await namesOf([...others, ...ids])).slice(2)).toEqual(names)
  expect(await namesOf(ids)).toEqual(names)
})
