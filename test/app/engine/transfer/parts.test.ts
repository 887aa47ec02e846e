import { beforeEach, describe, expect, test } from 'vitest'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { importInto, linesOf, operator } from './fixture.ts'

let shop: TestStore

const server = await sharedServer()
beforeEach(async () => {
  shop = await server.openStore()
  await importInto(server, shop, [
    { service: 'Category', record: { CategoryID: 3, CategoryName: 'Lamps' } },
    { service: 'Category', record: { CategoryID: 4, CategoryName: 'Desk', CategoryParent: 3 } },
    ...[11, 12, 13].map((id) => ({
      service: 'Products',
      record: {
        SKUInfo: { CatalogID: id, SKU: `LAMP-${id}`, Name: 'Lamp', Stock: 5 },
        CategoryList: [{ CategoryID: 4 }],
      },
    })),
    {
      service: 'Orders',
      record: { OrderID: 21, OrderStatusID: 1, OrderItemList: [{ CatalogID: 11, ItemIndexID: 1 }] },
    },
  ])
})

const idsOf = (file: string) =>
  linesOf(file).flatMap(({ service, record }) =>
    service
      ? [
          `${service} ${String(record.CategoryID ?? record.OrderID ?? (record.SKUInfo as { CatalogID: number })?.CatalogID)}`,
        ]
      : [],
  )

async function exported(query: string) {
  const url = `/admin/stores/${shop.store.id}/export${query}`
  return server.operate('GET', url)
}

describe('a part of an export', () => {
  test('is one service', async () => {
    expect(idsOf((await exported('?service=Category')).body)).toEqual(['Category 3', 'Category 4'])
  })

  test('is some records, without their ledgers, with an end that counts them', async () => {
    const { body } = await exported('?service=Products&ids=13,11,99')
    expect(idsOf(body)).toEqual(['Products 11', 'Products 13'])
    expect(body).not.toContain('StockMovements')
    expect(linesOf(body).at(-1)).toEqual({ end: { records: 2 } })
    expect((await exported('?service=Products')).body).toContain('StockMovements')
  })

  test('changes nothing where it is imported again', async () => {
    const whole = (await exported('')).body
    const { counts } = await importInto(server, shop, (await exported('?service=Products&ids=11')).body)
    expect(counts).toMatchObject({ stored: 1, refused: 0 })
    expect((await exported('')).body).toBe(whole)
  })

  test.each([
    ['?ids=1', 'ids needs service'],
    ['?service=Product', 'service must be one of'],
    ['?service=Products&ids=1,x', 'ids must be at most 500 ids, with commas between them'],
    [
      `?service=Products&ids=${Array.from({ length: 501 }, (_, id) => id + 1).join(',')}`,
      'ids must be at most 500 ids',
    ],
  ])('%s is refused', async (query, message) => {
    const { statusCode, body } = await exported(query)
    expect([statusCode, body]).toEqual([400, expect.stringContaining(message)])
  })
})

describe('a line that deletes', () => {
  test('follows what the file stores before it, clears references, and raises no event', async () => {
    const { counts, refused } = await importInto(server, shop, [
      { service: 'Products', record: { SKUInfo: { CatalogID: 14, SKU: 'LAMP-14', Name: 'Lamp' } } },
      { service: 'Products', deletedId: 14 },
      { service: 'products', deletedId: 11 },
    ])
    expect([counts, refused]).toEqual([{ lines: 3, stored: 3, refused: 0, passed: 0 }, []])
    expect(idsOf((await exported('?service=Products')).body)).toEqual(['Products 12', 'Products 13'])
    const [order] = (await shop.call('GET', '/Orders/21')).json()
    expect(order.OrderItemList).toMatchObject([{ CatalogID: 0, ItemIndexID: 1 }])
    expect(await server.services.db.event.count({ where: { storeId: shop.store.id } })).toBe(0)
  })

  test('notifies on request, as every deletion does', async () => {
    const url = `/admin/stores/${shop.store.id}/import?events=true`
    const headers = { ...operator(server), 'content-type': 'application/x-ndjson' }
    await server.app.inject({ method: 'POST', url, headers, payload: '{"service": "Products", "deletedId": 12}' })
    const events = await server.services.db.event.findMany({ where: { storeId: shop.store.id } })
    expect(events).toMatchObject([{ eventType: 6, recordId: 12 }])
  })

  test.each([
    [{ service: 'Orders', deletedId: 21 }, 'A record of the type Order is never deleted'],
    [{ service: 'Category', deletedId: 3 }, /^This Category cannot be deleted as long as others refer to it/],
    [{ service: 'Products', deletedId: 99 }, 'There is no Product 99 to delete'],
    [{ service: 'Products', deletedId: '11' }, 'deletedId must be a whole number from 1 to 2146483647'],
    [{ service: 'Products', deletedId: null }, 'deletedId must be a whole number from 1 to 2146483647'],
    [{ deletedId: 1 }, /^service must be one of/],
  ])('%j is refused, and nothing is deleted', async (line, message) => {
    const before = (await exported('')).body
    const { counts, refused } = await importInto(server, shop, [line])
    expect(counts).toEqual({ lines: 1, stored: 0, refused: 1, passed: 0 })
    expect(refused[0]?.message).toEqual(message instanceof RegExp ? expect.stringMatching(message) : message)
    expect((await exported('')).body).toBe(before)
  })
})
