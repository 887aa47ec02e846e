import { beforeEach, describe, expect, test } from 'vitest'
import { placeOrder } from '../../../../src/shop/resources/orders/place-order.ts'
import { storedEvents } from '../../../support/events.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { productBody, type Result } from './fixture.ts'

// Changes that are made in one transaction (engine/changing/requests.ts): those of a list, and single ones that come together.

let shop: TestStore
let ids: number[]
const server = await sharedServer()
beforeEach(async () => {
  shop = await server.openStore()
  const body = Array.from({ length: 12 }, (_, number) => productBody(`P-${number}`))
  ids = (await shop.call('POST', '/Products', { body })).json<Result[]>().map(({ Value }) => Number(Value))
})

const stockOf = (CatalogID: number, Stock: number) => ({ SKUInfo: { CatalogID, Stock } })
const id = (place: number) => ids[place] as number

async function put(body: unknown): Promise<Result[]> {
  return (await shop.call('PUT', '/Products', { body })).json<Result[]>()
}

/** The stocks, and by which transaction each record was written last. */
async function stocks() {
  const rows = await server.services.db.$queryRaw<{ id: number; stock: number; writer: string }[]>`
    SELECT "id", "stock"::float8 AS "stock", "xmin"::text AS "writer" FROM "Product"
    WHERE "storeId" = ${shop.store.id} ORDER BY "id"`
  return { of: (place: number) => rows.find((row) => row.id === id(place)), rows }
}

async function events(recordId: number) {
  const [, ...stored] = await storedEvents(server.services.db, shop.store.id, { recordId })
  return stored.map(({ eventType, record }) => ({ eventType, stock: (record.SKUInfo as { Stock: number }).Stock }))
}

describe('a list', () => {
  test('is changed by one transaction', async () => {
    const results = await put(ids.map((each, place) => stockOf(each, place + 1)))
    expect(results.map(({ Status }) => Status)).toEqual(ids.map(() => '200'))
    const { rows } = await stocks()
    expect(rows.map(({ stock }) => stock)).toEqual(ids.map((_, place) => place + 1))
    expect(new Set(rows.map(({ writer }) => writer)).size).toBe(1)
    for (const each of ids) expect(await events(each)).toHaveLength(1)
  })

  test('tells those that cannot be changed apart, and changes the others together', async () => {
    const results = await put([
      stockOf(id(0), 1),
      { SKUInfo: { CatalogID: id(1), Stock: 'many' } },
      stockOf(4_711_000, 1),
      { SKUInfo: { CatalogID: id(2) }, RelatedProductList: [{ RelatedProductID: 4_711_000 }] },
      { SKUInfo: { SKU: 'none' } },
      stockOf(id(3), 3),
    ])
    expect(results.map(({ Value, Status }) => [Value, Status])).toEqual([
      [String(id(0)), '200'],
      ['SKUInfo.Stock', '400'],
      ['4711000', '404'],
      ['RelatedProductList[0].RelatedProductID', '400'],
      ['none', '404'],
      [String(id(3)), '200'],
    ])
    const { of } = await stocks()
    expect([of(0)?.stock, of(1)?.stock, of(2)?.stock, of(3)?.stock]).toEqual([1, 0, 0, 3])
    expect(of(0)?.writer).toBe(of(3)?.writer)
  })

  test('that a statement refuses is changed one by one', async () => {
    const results = await put([
      stockOf(id(0), 1),
      { SKUInfo: { CatalogID: id(1) }, ManufacturerID: 4_711_000 },
      { SKUInfo: { CatalogID: id(2), SKU: 'p-3' } },
      stockOf(id(4), 4),
    ])
    expect(results.map(({ Value, Status }) => [Value, Status])).toEqual([
      [String(id(0)), '200'],
      ['ManufacturerID', '400'],
      ['SKUInfo.SKU', '400'],
      [String(id(4)), '200'],
    ])
    const { of } = await stocks()
    expect(of(0)?.writer).not.toBe(of(4)?.writer)
    expect(await events(id(4))).toHaveLength(1)
  })

  test('changes a record twice in order, with an event each', async () => {
    await put([stockOf(id(0), 1), stockOf(id(1), 5), { SKUInfo: { SKU: 'p-0', Stock: 2 } }, stockOf(id(0), 3)])
    expect((await events(id(0))).map(({ stock }) => stock)).toEqual([1, 2, 3])
    expect((await stocks()).of(0)?.stock).toBe(3)
  })

  test('finds a record by the SKU that an earlier change of the list gave it', async () => {
    const results = await put([
      { SKUInfo: { CatalogID: id(0), SKU: 'NEW' } },
      { SKUInfo: { SKU: 'NEW', Stock: 7 } },
      { SKUInfo: { SKU: 'P-0', Stock: 8 } },
    ])
    expect(results.map(({ Value, Status }) => [Value, Status])).toEqual([
      [String(id(0)), '200'],
      [String(id(0)), '200'],
      ['P-0', '404'],
    ])
    expect((await stocks()).of(0)?.stock).toBe(7)
  })

  test('compares each record with what it was: a list of another record is no change of it', async () => {
    await put([
      { SKUInfo: { CatalogID: id(0), Stock: 1 } },
      { SKUInfo: { CatalogID: id(1) }, AdvancedOptionList: [{ AdvancedOptionCode: 'X', AdvancedOptionStock: 2 }] },
    ])
    expect(await events(id(0))).toHaveLength(1)
  })

  test('keeps no record waiting for one that somebody else has locked', async () => {
    const results = await server.services.db.$transaction(
      async (tx) => {
        await tx.$executeRaw`SELECT FROM "Product" WHERE "storeId" = ${shop.store.id} AND "id" = ${id(1)} FOR UPDATE`
        return put([stockOf(id(0), 1), stockOf(id(1), 1), stockOf(id(2), 1)])
      },
      { timeout: 30_000 },
    )
    expect(results.map(({ Status }) => Status)).toEqual(['200', '503', '200'])
    const { of } = await stocks()
    expect(of(0)?.writer).toBe(of(2)?.writer)
  })

  test('of categories that together form a circle is refused from the one that closes it', async () => {
    const names = ['one', 'two'].map((CategoryName) => ({ CategoryName }))
    const made = (await shop.call('POST', '/Category', { body: names })).json<Result[]>()
    const [one, two] = made.map(({ Value }) => Number(Value))
    const answer = await shop.call('PUT', '/Category', {
      body: [
        { CategoryID: one, CategoryParent: two },
        { CategoryID: two, CategoryParent: one },
      ],
    })
    expect(answer.json<Result[]>().map(({ Status }) => Status)).toEqual(['200', '400'])
  })

  test('never stands in the way of other lists and of orders, whatever their order', async () => {
    const items = (places: readonly number[]) => places.map((place) => ({ CatalogID: id(place), ItemQuantity: 1 }))
    await put(ids.map((each) => stockOf(each, 1_000)))
    const all = ids.map((each) => ({ SKUInfo: { CatalogID: each }, Description: 'again' }))
    const order = (places: readonly number[]) =>
      placeOrder(shop.caller, { BillingEmail: 'guest@shop.example', OrderItemList: items(places) })
    const work = Array.from({ length: 6 }, (_, turn) => [
      put(turn % 2 === 0 ? all : all.toReversed()),
      order(turn % 2 === 0 ? [0, 5, 11] : [11, 5, 0]),
    ])
    const done = await Promise.all(work.flat())
    for (const results of done) {
      if (Array.isArray(results)) expect(results.map(({ Status }) => Status)).toEqual(ids.map(() => '200'))
    }
    expect((await stocks()).of(5)?.stock).toBe(994)
  })
})

describe('single changes that come together', () => {
  test('are made by few transactions, each by the application that asked for it', async () => {
    const other = await shop.as()
    const callers = ids.map((_, place) => (place % 2 === 0 ? shop : other))
    const results = await Promise.all(
      callers.map(({ call }, place) => call('PUT', `/Products/${id(place)}`, { body: stockOf(id(place), place + 1) })),
    )
    expect(results.map(({ statusCode }) => statusCode)).toEqual(ids.map(() => 200))
    const { rows } = await stocks()
    expect(rows.map(({ stock }) => stock)).toEqual(ids.map((_, place) => place + 1))
    expect(new Set(rows.map(({ writer }) => writer)).size).toBeLessThan(6)
    for (const each of ids) expect(await events(each)).toHaveLength(1)
    const actors = callers.map(({ application }) => application.name)
    const moved = await server.services.db.$queryRaw<{ actor: string }[]>`
      SELECT "actor" FROM "StockMovement" WHERE "storeId" = ${shop.store.id} ORDER BY "productId", "id"`
    expect(moved.map(({ actor }) => actor)).toEqual(actors)
    const records = (await shop.call('GET', '/Products?limit=20')).json<{ UserID: string }[]>()
    expect(records.map(({ UserID }) => UserID)).toEqual(actors)
  })

  test('are refused each for itself', async () => {
    const send = (path: string, body: object) => shop.call('PUT', `/Products/${path}`, { body })
    const answers = await Promise.all([
      send(String(id(0)), stockOf(id(0), 1)),
      send(String(id(1)), stockOf(id(1), 2)),
      send('4711000', { SKUInfo: { Stock: 1 } }),
      send(String(id(2)), { RelatedProductList: [{ RelatedProductID: 4_711_000 }] }),
      send(String(id(3)), { ManufacturerID: 4_711_000 }),
      send(String(id(4)), stockOf(id(4), 3)),
    ])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 404, 400, 400, 200])
    const { of } = await stocks()
    expect([0, 1, 2, 3, 4].map((place) => of(place)?.stock)).toEqual([1, 2, 0, 0, 3])
  })

  test('of one record are all made', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, turn) =>
        shop.call('PUT', `/Products/${id(0)}`, { body: stockOf(id(0), turn + 1) }),
      ),
    )
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200))
    expect(await events(id(0))).toHaveLength(10)
  })
})
