import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestServer } from '../../support/store.ts'
import { soapCall } from '../http/soap/support.ts'
import { change, openProcess, send } from './fixture.ts'

// Two processes that keep what they read, one of them with room for less than that, and a third that keeps nothing.

let keeping: readonly TestServer[]
let plain: TestServer
beforeAll(async () => {
  // One megabyte has no room for all that is read.
  const settings = { REPRESENTATION_CACHE_MB: '1' }
  const opened = await Promise.all([
    openProcess(settings),
    openProcess(),
    openProcess({ REPRESENTATION_CACHE_MB: '0' }),
  ])
  keeping = opened.slice(0, 2)
  plain = opened[2]
})
afterAll(async () => {
  for (const each of [plain, ...keeping]) await each.close()
})

test('whoever asks after the answer to a change never sees what was before it', async () => {
  const client = await plain.openStore()
  const maker = await client.add('/Manufacturers', { ManufacturerName: 'Maker <0>' })
  const Description = 'long '.repeat(10_000)
  const products = Array.from({ length: 10 }, (_, number) => ({
    SKUInfo: { SKU: `SKU-${number}`, Name: 'Product', Stock: 0 },
    ManufacturerID: maker,
    Description,
  }))
  const id = await change(plain, client, 'POST', '/Products', products)
  let started = 0
  let answered = 0
  let isOver = false

  const writing = async () => {
    const [one, other] = keeping as [TestServer, TestServer]
    while (started < 30) {
      started++
      const [by, also] = started % 2 ? [one, other] : [other, one]
      await Promise.all([
        change(by, client, 'PUT', `/Products/${id}`, { SKUInfo: { Stock: started } }),
        change(also, client, 'PUT', `/Manufacturers/${maker}`, { ManufacturerName: `Maker <${started}>` }),
      ])
      answered = started
    }
    isOver = true
  }
  const stock = /"Stock": ?(\d+)|<Stock>(\d+)<\/Stock>/
  const name = /Maker (?:<|&lt;)(\d+)(?:>|&gt;)/
  let seen = 0
  const reading = async (read: () => Promise<string>, shown: readonly RegExp[]) => {
    while (!isOver) {
      const least = answered
      const text = await read()
      for (const each of shown) {
        const value = Number(each.exec(text)?.slice(1).find(Boolean) ?? 0)
        expect(value).toBeGreaterThanOrEqual(least)
        expect(value).toBeLessThanOrEqual(started)
      }
      seen++
    }
  }
  const readings = keeping.flatMap((server) => [
    ...[`/Products/${id}`, '/Products?limit=3', `/Manufacturers/${maker}/Products?limit=1`].map((path) =>
      reading(async () => (await send(server, client, 'GET', path)).body, [stock, name]),
    ),
    reading(
      async () => (await send(server, client, 'GET', '/Products?limit=2', { accept: 'application/xml' })).body,
      [stock, name],
    ),
    reading(async () => (await send(server, client, 'GET', '/Products/skuinfo')).body, [stock]),
    reading(() => soapCall(server, client, 'getProduct', { batchSize: 2 }), [stock, name]),
  ])
  await Promise.all([writing(), ...readings])
  expect(seen).toBeGreaterThan(30)
})
