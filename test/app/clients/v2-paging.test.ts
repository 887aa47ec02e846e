import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servedResources } from '../../../src/registry.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'
import { newRecord, nextSeed } from '../conformance/records.ts'
import { fixtureOf, openShop } from '../conformance/stage.ts'

// A client of v2 that knows one end of its pages: a 404 without a body. Anything else that is no page is an error to it.

let server: TestServer
beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())

async function pagesOf(shop: TestStore, path: string, limit: number): Promise<unknown[]> {
  const read: unknown[] = []
  for (let offset = 1; ; ) {
    const answer: LightMyRequestResponse = await shop.call('GET', `${path}?limit=${limit}&offset=${offset}`, {
      version: 'v2',
    })
    if (answer.statusCode === 404 && answer.body === '') return read
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${answer.body}`)
    const page: unknown[] = answer.json()
    read.push(...page)
    offset += page.length
  }
}

test.each(servedResources)('reads every record of $service, whether or not the last page is full', async (resource) => {
  const fixture = fixtureOf(resource)
  const shop = await openShop(server, fixture)
  const before = await pagesOf(shop, `/${resource.service}`, 2)
  const isMade = resource.methods.includes('POST') || fixture.make !== undefined
  for (let made = 0; isMade && made < 4; made++) {
    await newRecord({ server, resource, fixture }, shop, fixture.minimal(nextSeed('odd')), made)
  }

  for (const limit of [1, 2, 3]) {
    expect(await pagesOf(shop, `/${resource.service}`, limit)).toHaveLength(before.length + (isMade ? 4 : 0))
  }
})

test('reads the items of a list inside a record, and the records that belong to one', async () => {
  const shop = await server.openStore()
  const body = { ManufacturerName: 'Maker' }
  const [{ Value: maker }] = (await shop.call('POST', '/Manufacturers', { body })).json()
  const items = [1, 2, 3, 4].map((Sorting) => ({ FeatureTitle: `Feature ${Sorting}` }))
  const product = (SKU: string) => ({ SKUInfo: { SKU, Name: SKU }, ManufacturerID: Number(maker), FeatureList: items })
  const [{ Value: id }] = (await shop.call('POST', '/Products', { body: ['A', 'B'].map(product) })).json()

  expect(await pagesOf(shop, `/Products/${id}/Features`, 2)).toHaveLength(4)
  expect(await pagesOf(shop, `/Manufacturers/${maker}/Products`, 2)).toHaveLength(2)
  expect(await pagesOf(shop, '/Products/skuinfo', 1)).toHaveLength(2)
})
