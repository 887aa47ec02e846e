import { expect, test } from 'vitest'
import { statementsOf } from '../../support/statements.ts'
import { sharedServer } from '../../support/store.ts'
import { webhookBody } from '../http/rest/webhooks-fixture.ts'
import { change, send } from './fixture.ts'

// Single records that are asked for at once are read together (docs/decisions/representations.md).

const server = await sharedServer()
const shop = await server.openStore()

let serial = 0
async function product(ManufacturerID = 0): Promise<number> {
  const name = `Product ${++serial}`
  return change(server, shop, 'POST', '/Products', { SKUInfo: { SKU: name, Name: name }, ManufacturerID })
}

/** The names of products that are asked for at once; null: 404. */
async function namesOf(ids: readonly number[]): Promise<(string | null)[]> {
  const answers = await Promise.all(ids.map((id) => send(server, shop, 'GET', `/Products/${id}`)))
  return answers.map((answer, place) => {
    if (answer.statusCode === 404) return null
    expect(answer.json()[0].SKUInfo.CatalogID).toBe(ids[place])
    return `${answer.json()[0].ManufacturerName} ${answer.json()[0].SKUInfo.Name}`.trim()
  })
}

test('each gets its own record, if some are kept as they were before a name in them changed, some as after, and some not', async () => {
  const ManufacturerID = await change(server, shop, 'POST', '/Manufacturers', { ManufacturerName: 'Old' })
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

test('many at once each get their own, and 404 where there is none, by a few statements', async () => {
  const ids: number[] = []
  for (let count = 0; count < 50; count++) ids.push(await product())
  const asked = ids.flatMap((id) => [id, id + 1_000_000])
  const names = ids.flatMap((_id, place) => [`Product ${serial - 49 + place}`, null])

  for (const _time of ['first', 'second']) {
    const statements = await statementsOf(async () => expect(await namesOf(asked)).toEqual(names))
    expect(statements.length).toBeGreaterThan(0)
    expect(statements.length).toBeLessThanOrEqual(6)
  }
})

test('one whose reading fails in PostgreSQL fails alone', async () => {
  const CategoryID = await change(server, shop, 'POST', '/Category', { CategoryName: 'Broken' })
  const ids = [await product(), await product(), await product()]
  const SKUInfo = { SKU: 'broken', Name: 'Broken' }
  const broken = await change(server, shop, 'POST', '/Products', { SKUInfo, CategoryList: [{ CategoryID }] })
  await server.services.db.category.update({
    where: { storeId_id: { storeId: shop.store.id, id: CategoryID } },
    data: { details: { CategoryExternalIdsList: [{ ID: 'not a number' }] } },
  })

  const all = [...ids, broken, broken, ...ids]
  const answers = await Promise.all(all.map((id) => send(server, shop, 'GET', `/Products/${id}`)))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 500, 500, 200, 200, 200])
})

test('of two stores with the same ids, each gets its own', async () => {
  const other = await server.openStore()
  await change(server, other, 'POST', '/Products', { SKUInfo: { SKU: 'other', Name: 'Of the other' } })
  const asked = Array.from({ length: 10 }, (_, place) => (place % 2 === 0 ? shop : other))
  const answers = await Promise.all(asked.map((store) => send(server, store, 'GET', '/Products/1')))
  const names = answers.map((answer) => answer.json()[0].SKUInfo.Name)
  expect(names).toEqual(asked.map((store) => (store === shop ? 'Product 1' : 'Of the other')))
})

test('a webhook is shown to the application that has it alone, whoever read it before', async () => {
  const own = await change(server, shop, 'POST', '/Webhooks', webhookBody())
  const { call: others } = await shop.as()
  for (const _time of ['first', 'second']) {
    const answers = await Promise.all([
      send(server, shop, 'GET', `/Webhooks/${own}`),
      others('GET', `/Webhooks/${own}`),
      send(server, shop, 'GET', '/Webhooks'),
      others('GET', '/Webhooks'),
    ])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 404, 200, 404])
  }
})
