import fc from 'fast-check'
import type { LightMyRequestResponse } from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import { storedEvents } from '../../../support/events.ts'
import { sharedServer } from '../../../support/store.ts'
import { productBody, refusalOf } from './fixture.ts'

// Reading the list of a record by the list's own address: at most 500 items a page, and on by Link.

const server = await sharedServer()
const shop = await server.openStore()

type Item = Record<string, unknown>

const newProduct = (lists: Record<string, Item[]>) => shop.add('/Products', productBody(crypto.randomUUID(), lists))

async function change(id: number, lists: Record<string, Item[]>): Promise<void> {
  expect((await shop.call('PUT', `/Products/${id}`, { body: lists })).statusCode).toBe(200)
}

const features = (count: number) => Array.from({ length: count }, (_, index) => ({ FeatureTitle: `Feature ${index}` }))
const codesIn = (answer: LightMyRequestResponse, key: string) => answer.json<Item[]>().map((item) => item[key])

/** What follows the version in the address of the next page; null: this is the last one. */
function nextOf({ headers }: LightMyRequestResponse): string | null {
  if (headers.link === undefined) return null
  const [, next] = /^<http:\/\/localhost:3000\/StoreWebAPI\/v1(\/.*)>; rel="next"$/.exec(String(headers.link)) ?? []
  if (next === undefined) throw new Error(`Not a Link to a next page: ${headers.link}`)
  return next
}

/** The keys of each page, to the last; `meanwhile` runs between two pages. */
async function readByLink(path: string, key: string, meanwhile = async () => {}): Promise<unknown[][]> {
  const pages: unknown[][] = []
  for (let next: string | null = path; next !== null; ) {
    const answer = await shop.call('GET', next)
    expect(answer.statusCode, answer.body).toBe(200)
    pages.push(codesIn(answer, key))
    next = nextOf(answer)
    await meanwhile()
  }
  return pages
}

describe('a list of 1,203 items', () => {
  let id: number
  let path: string
  let keys: unknown[]
  beforeAll(async () => {
    id = await newProduct({ FeatureList: features(1203) })
    path = `/Products/${id}/Features`
    const [product] = (await shop.call('GET', `/Products/${id}`)).json()
    keys = product.FeatureList.map(({ FeatureID }: Item) => FeatureID)
  })

  test('is whole inside the record, in a list of records and in a notification', async () => {
    expect(keys).toHaveLength(1203)
    const [listed] = (await shop.call('GET', `/Products?catalogid=${id}`)).json()
    expect(listed.FeatureList).toHaveLength(1203)
    const [event] = await storedEvents(server.services.db, shop.store.id, { recordId: id })
    expect(event?.record.FeatureList).toHaveLength(1203)
  })

  test.each(['', '?limit=0', '?limit=-1', '?limit=500', '?limit=501', '?limit=10000'])(
    'has pages of 500 at its own address: %s',
    async (query) => {
      const pages = await readByLink(path + query, 'FeatureID')
      expect(pages.map(({ length }) => length)).toEqual([500, 500, 203])
      expect(pages.flat()).toEqual(keys)
    },
  )

  test.each(['2147483648', '99999999999999999999', '9'.repeat(400)])('has 500 for the limit %s', async (limit) => {
    const answer = await shop.call('GET', `${path}?limit=${limit}`, { tolerated: true })
    expect([answer.statusCode, answer.json().length]).toEqual([200, 500])
  })

  test('keeps a smaller limit and other parameters in the Link, and takes the place of offset', async () => {
    const answer = await shop.call('GET', `${path}?limit=300&offset=2&$select=FeatureTitle`)
    expect(answer.headers.link).toBe(
      `<http://localhost:3000/StoreWebAPI/v1${path}?limit=300&$select=FeatureTitle&cursor=${keys[300]}>; rel="next"`,
    )
    expect(answer.json()[0]).toEqual({ FeatureTitle: 'Feature 1' })
    expect((await shop.call('GET', nextOf(answer) as string)).json()[0]).toEqual({ FeatureTitle: 'Feature 301' })
  })

  test('ends where offset and limit reach the last item', async () => {
    for (const query of ['?offset=704', '?offset=1203', '?limit=1&offset=1203']) {
      expect((await shop.call('GET', path + query)).headers).not.toHaveProperty('link')
    }
  })

  test('has the same pages in XML', async () => {
    const answer = await shop.call('GET', path, { accept: 'application/xml' })
    expect(answer.body.match(/<Feature>/g)).toHaveLength(500)
    expect(nextOf(answer)).toBe(`${path}?cursor=${keys[499]}`)
  })

  test('is empty behind its last item, as other lists are', async () => {
    for (const cursor of [keys.at(-1), 2_147_483_647]) {
      const answer = await shop.call('GET', `${path}?cursor=${cursor}`)
      expect([answer.statusCode, answer.body, answer.headers.link]).toEqual([200, '[]', undefined])
    }
    expect((await shop.call('GET', '/Products/400000/Features?cursor=1')).statusCode).toBe(404)
    const empty = await newProduct({})
    expect((await shop.call('GET', `/Products/${empty}/Features?cursor=1`)).body).toBe('[]')
    expect(
      (await shop.call('GET', `/Products/${empty}/Features?offset=9999999999`, { tolerated: true })).statusCode,
    ).toBe(404)
  })

  test.each(['cursor=abc', 'cursor=0', 'cursor=-1', 'cursor=2147483648', 'cursor=1&offset=2'])(
    'refuses %s by name',
    async (query) => {
      expect(refusalOf(await shop.call('GET', `${path}?${query}`))).toMatchObject({ statusCode: 400, field: 'cursor' })
    },
  )
})

/** Lists with keys from the store's counter in the record's document, and from the caller in rows with positions. */
const lists = {
  Features: { list: 'FeatureList', key: 'FeatureID', fresh: () => ({}) },
  AdvancedOptions: {
    list: 'AdvancedOptionList',
    key: 'AdvancedOptionCode',
    fresh: (serial: number) => ({ AdvancedOptionCode: `é &${String(serial).padStart(4, '0')}+%/` }),
  },
} as const

describe('by Link, every item that was there from the start and stayed is read exactly once', () => {
  /** The page after which an item is deleted; null: it stays. */
  const fates = fc.array(fc.option(fc.nat(3)), { minLength: 2, maxLength: 20 })
  const additions = fc.array(fc.nat(2), { maxLength: 8 })

  test.each(Object.entries(lists))(
    'in %s, whatever is added and deleted meanwhile, the last item of a page included',
    async (name, { list, key, fresh }) => {
      await fc.assert(
        fc.asyncProperty(fates, additions, fc.integer({ min: 1, max: 7 }), async (deletedAfter, added, limit) => {
          let serial = 0
          const made = () => fresh(++serial)
          const id = await newProduct({ [list]: deletedAfter.map(made) })
          const items = async () =>
            (await shop.call('GET', `/Products/${id}`)).json<Record<string, Item[]>[]>()[0]?.[list] ?? []
          const keys = (await items()).map((item) => item[key])
          const staying = keys.filter((_, index) => deletedAfter[index] === null)
          let page = 0
          const pages = await readByLink(`/Products/${id}/${name}?limit=${limit}`, key, async () => {
            const gone = new Set(keys.filter((_, index) => deletedAfter[index] === page))
            const kept = (await items()).filter((item) => !gone.has(item[key])).map((item) => ({ [key]: item[key] }))
            await change(id, { [list]: [...kept, ...Array.from({ length: added[page] ?? 0 }, made)] })
            page++
          })
          const read = pages.flat()
          expect(new Set(read).size).toBe(read.length)
          expect(read.filter((one) => staying.includes(one))).toEqual(staying)
        }),
        { numRuns: 15 },
      )
    },
  )

  test('in an order that is not that of the keys, as long as the last item of the page is there', async () => {
    const id = await newProduct({ FeatureList: features(6) })
    const path = `/Products/${id}/Features`
    const keys = codesIn(await shop.call('GET', path), 'FeatureID')
    const order = (places: number[]) => change(id, { FeatureList: places.map((place) => ({ FeatureID: keys[place] })) })
    await order([5, 1, 3, 0, 4, 2])
    const first = await shop.call('GET', `${path}?limit=2`)
    await order([1, 3, 0, 2])
    const second = await shop.call('GET', nextOf(first) as string)
    expect(codesIn(second, 'FeatureID')).toEqual([keys[3], keys[0]])
    await order([1, 3, 2])
    expect(refusalOf(await shop.call('GET', nextOf(second) as string))).toEqual({
      statusCode: 400,
      field: 'cursor',
      status: '400',
      message: 'cursor names an item that was removed from the list; begin again without cursor',
    })
  })
})
