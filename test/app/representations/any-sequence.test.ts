import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestServer } from '../../support/store.ts'
import { soapCall } from '../soap/support.ts'
import { type Client, change, openProcess, send } from './fixture.ts'

// Whatever is changed in whatever order, a process that keeps what it read shows what one shows that keeps nothing.

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

const PRODUCTS = 10
const PARENTS = 3
const LONG = 'long '.repeat(10_000)

interface Step {
  readonly what: 'stock' | 'text' | 'place' | 'rename' | 'recreate' | 'order' | 'currency' | 'inventory' | 'two'
  readonly record: number
  readonly other: number
  readonly value: number
  /** The process that changes, and the one that reads first. */
  readonly by: number
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('stock', 'text', 'place', 'rename', 'recreate', 'order', 'currency', 'inventory', 'two'),
  record: fc.nat(PRODUCTS - 1),
  other: fc.nat(PARENTS - 1),
  value: fc.nat(1_000),
  by: fc.nat(1),
})

interface Stage {
  readonly client: Client
  readonly products: number[]
  readonly makers: readonly number[]
  readonly categories: readonly number[]
}

async function openStage(): Promise<Stage> {
  const client = await plain.openStore()
  const makers: number[] = []
  const categories: number[] = []
  for (let number = 0; number < PARENTS; number++) {
    makers.push(await change(plain, client, 'POST', '/Manufacturers', { ManufacturerName: `Maker ${number}` }))
    categories.push(await change(plain, client, 'POST', '/Category', { CategoryName: `Category ${number}` }))
  }
  const stage = { client, products: [], makers, categories }
  for (let number = 0; number < PRODUCTS; number++) await recreate(plain, stage, number)
  return stage
}

async function recreate(by: TestServer, { client, products, makers, categories }: Stage, place: number): Promise<void> {
  if (products[place] !== undefined) await change(by, client, 'DELETE', `/Products/${products[place]}`)
  products[place] = await change(by, client, 'POST', '/Products', {
    SKUInfo: { SKU: `SKU-${place}`, Name: `Product ${place}`, Stock: 100 },
    Description: LONG,
    ManufacturerID: makers[place % PARENTS],
    CategoryList: [{ CategoryID: categories[place % PARENTS] }],
    AdvancedOptionList: [{ AdvancedOptionCode: '1', AdvancedOptionStock: 5 }],
  })
}

async function go(stage: Stage, { what, record, other, value, by }: Step): Promise<void> {
  const { client, products, makers, categories } = stage
  const server = keeping[by] as TestServer
  const id = products[record]
  const put = (path: string, body: unknown) => change(server, client, 'PUT', path, body)
  const byOperator = (method: 'PUT' | 'POST', path: string, payload: object) =>
    server.app.inject({
      method,
      url: `/admin/stores/${client.store.id}${path}`,
      headers: { authorization: `Bearer ${server.services.operatorKey}` },
      payload,
    })
  if (what === 'stock') await put(`/Products/${id}/AdvancedOptions/1`, { AdvancedOptionStock: value })
  if (what === 'text')
    await put(`/Products/${id}`, { Title: `Title ${value}`, RelatedProductList: [{ RelatedProductID: products[0] }] })
  if (what === 'place') {
    await put(`/Products/${id}`, { CategoryList: [{ CategoryID: categories[other] }], ManufacturerID: makers[other] })
  }
  if (what === 'rename') {
    const [path, name] = value % 2 ? ['Manufacturers', 'ManufacturerName'] : ['Category', 'CategoryName']
    await put(`/${path}/${(value % 2 ? makers : categories)[other]}`, { [name as string]: `Name ${value}` })
  }
  if (what === 'recreate') await recreate(server, stage, record)
  if (what === 'order') {
    await byOperator('POST', '/orders', {
      BillingEmail: 'a@mail.example',
      OrderItemList: [{ CatalogID: id, ItemQuantity: 1 }],
    })
  }
  if (what === 'currency') await byOperator('PUT', '', { Currency: value % 2 ? 'EUR' : 'USD' })
  if (what === 'inventory') {
    await soapCall(server, client, 'updateProductInventory', {
      productId: `SKU-${record}`,
      quantity: value,
      replaceStock: 'true',
    })
  }
  if (what === 'two') {
    const next = products[(record + 1) % PRODUCTS]
    await put(
      '/Products',
      [id, next].map((CatalogID) => ({ SKUInfo: { CatalogID, Stock: value } })),
    )
  }
}

async function shownBy(server: TestServer, { client, products, makers }: Stage): Promise<readonly string[]> {
  const read = async (path: string, accept?: string) => {
    const { statusCode, headers, body } = await send(server, client, 'GET', path, { accept })
    return [path, statusCode, headers.etag, headers.link, body].join('\n')
  }
  return [
    ...(await Promise.all(products.map((id) => read(`/Products/${id}`)))),
    await read('/Products?limit=50'),
    await read('/Products?limit=3&offset=2', 'application/xml'),
    await read('/Products/skuinfo'),
    await read(`/Manufacturers/${makers[0]}/Products`),
    await read('/Orders'),
    await soapCall(server, client, 'getProduct', { batchSize: 100 }),
  ]
}

test('after every change of any sequence', async () => {
  const sequence = fc.array(step, { minLength: 4, maxLength: 10 })
  const holds = fc.asyncProperty(sequence, async (steps) => {
    const stage = await openStage()
    for (const each of steps) {
      await go(stage, each)
      const expected = await shownBy(plain, stage)
      for (const server of each.by === 0 ? keeping : keeping.toReversed()) {
        expect(await shownBy(server, stage)).toEqual(expected)
      }
    }
  })
  await fc.assert(holds, { numRuns: 6 })
}, 120_000)

test('while it is being changed: whoever asks after an answer never sees what was before it', async () => {
  const stage = await openStage()
  const { client, products, makers } = stage
  const [id, maker] = [products[0], makers[0]]
  await change(plain, client, 'PUT', `/Products/${id}`, { SKUInfo: { Stock: 0 } })
  await change(plain, client, 'PUT', `/Manufacturers/${maker}`, { ManufacturerName: 'Maker <0>' })
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
