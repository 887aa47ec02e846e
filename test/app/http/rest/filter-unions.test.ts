import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { sharedServer } from '../../../support/store.ts'
import { importInto } from '../../engine/transfer/fixture.ts'
import { productBody } from './fixture.ts'

// Query parameters that are given several times (rest-resources §0.5).

const ORDERS = 60
const statusOf = (id: number) => [1, 2, 4, 5][(id * id) % 4] as number

let maker: number
const server = await sharedServer()
const shop = await server.openStore()

beforeAll(async () => {
  const orders = Array.from({ length: ORDERS }, (_, index) => ({
    service: 'Orders',
    record: { OrderID: index + 1, OrderStatusID: statusOf(index + 1), BillingEmail: `buyer${index % 7}@shop.example` },
  }))
  expect(await importInto(server, shop, orders)).toMatchObject({ refused: [] })
  const body = { ManufacturerName: 'Maker' }
  maker = await shop.add('/Manufacturers', body)
  const products = ['A', 'B', 'C,D', 'E'].map((sku) => productBody(sku, { ManufacturerID: sku === 'E' ? 0 : maker }))
  expect((await shop.call('POST', '/Products', { body: products })).statusCode).toBe(201)
})

/** The identifiers that every page of a list has, by offset or by the cursor of `Link`. */
async function pagesOf(path: string, limit: number, by: 'offset' | 'cursor'): Promise<number[]> {
  const ids: number[] = []
  for (let more = by === 'offset' ? '&offset=1' : ''; ; ) {
    const answer = await shop.call('GET', `${path}&limit=${limit}${more}`, { version: 'v2', tolerated: true })
    if (answer.statusCode === 404) return ids
    ids.push(...answer.json().map(({ OrderID }: { OrderID: number }) => OrderID))
    const cursor = /cursor=(\d+)/.exec(String(answer.headers.link))?.[1]
    if (by === 'cursor' && cursor === undefined) return ids
    more = by === 'offset' ? `&offset=${ids.length + 1}` : `&cursor=${cursor}`
  }
}

const skusIn = async (path: string) => {
  const answer = await shop.call('GET', path)
  return answer.json().map((record: { SKU?: string; SKUInfo?: { SKU: string } }) => record.SKU ?? record.SKUInfo?.SKU)
}

describe('the union of several values', () => {
  test('has each record once, in the order of identifiers, however it is paged, written and counted', async () => {
    const statuses = fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 })
    const how = fc.record({
      isList: fc.boolean(),
      by: fc.constantFrom('offset', 'cursor'),
      limit: fc.integer({ min: 1, max: 25 }),
    })
    const property = fc.asyncProperty(statuses, how, async (wanted, { isList, by, limit }) => {
      const query = isList ? `orderstatus=${wanted.join(',')}` : wanted.map((id) => `orderstatus=${id}`).join('&')
      const expected = Array.from({ length: ORDERS }, (_, index) => index + 1).filter((id) =>
        wanted.includes(statusOf(id)),
      )

      expect(await pagesOf(`/Orders?${query}`, limit, by as 'offset' | 'cursor')).toEqual(expected)
      const counted = await shop.call('GET', `/Orders?countonly=1&${query}`, { tolerated: true })
      expect(counted.json()).toEqual({ TotalCount: expected.length })
    })
    await fc.assert(property, { numRuns: 25 })
  })

  test('takes a comma of a text for the text', async () => {
    expect(await skusIn('/Products?sku=C,D')).toEqual(['C,D'])
    expect(await skusIn('/Products?sku=C,D&sku=a')).toEqual(['A', 'C,D'])
  })
})

test('of what says how a list is shown the first counts', async () => {
  const given =
    'limit=2&limit=3&offset=2&offset=5&$select=OrderID&$select=OrderDate&$orderby=OrderID desc&$orderby=OrderID'

  const answer = await shop.call('GET', `/Orders?${given}&countonly=0&countonly=1`)

  expect(answer.json()).toEqual([{ OrderID: 3 }, { OrderID: 2 }])
})

test('two spellings of one value are one value', async () => {
  const same = ['hide=1&hide=true', 'datestart=2020-01-01&datestart=01/01/2020', 'orderid=3&orderid=3']

  expect((await shop.call('GET', `/Products?${same[0]}`, { tolerated: true })).statusCode).toBe(404)
  expect((await shop.call('GET', `/Orders?${same[1]}`)).statusCode).toBe(200)
  expect((await shop.call('GET', `/Orders?${same[2]}`)).json()).toHaveLength(1)
})

describe('a plus that no client encoded', () => {
  test('is one before the offset of a date', async () => {
    const path = (text: string) => `/Orders?lastupdateend=${text}&countonly=1`
    const counts = async (text: string) => (await shop.call('GET', path(text), { tolerated: true })).json().TotalCount

    expect(await counts('9000-01-01T10:44:08+02:00')).toBe(ORDERS)
    expect(await counts('2001-01-01+10:44')).toBe(0)
  })

  test('is one in an e-mail address', async () => {
    const body = [{ Email: 'ann+shop@shop.example', Password: 'four words and more' }]
    expect((await shop.call('POST', '/Customers', { body })).statusCode).toBe(201)

    for (const given of ['ann+shop@shop.example', 'ann%2Bshop@shop.example', 'ANN%20shop@shop.example']) {
      expect((await shop.call('GET', `/Customers?email=${given}`)).json()).toMatchObject([
        { Email: 'ann+shop@shop.example' },
      ])
    }
  })
})
