import { connect as connectSocket } from 'node:net'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reserveIds } from '../../../../src/engine/changing/write.ts'
import { holdIn } from '../../../support/held.ts'
import { openServer, sharedServer } from '../../../support/store.ts'
import { productBody, type Result } from './fixture.ts'

// Reading a list page by page: by Link, by offset, and what X-Total-Count says of it.

const publicUrl = 'http://localhost:4711'
const prefixes = ['/StoreWebAPI', '/api/3dCartWebAPI']

const server = await sharedServer({ PUBLIC_URL: publicUrl, REST_PREFIXES: prefixes.join(',') })
const shop = await server.openStore()

interface Headers {
  [name: string]: string
}

const get = (url: string, headers: Headers = {}) =>
  server.app.inject({ url, headers: { ...shop.credentials, ...headers } })

/** The address of the next page, as the server sees it; null: there is none. */
function nextOf({ headers }: LightMyRequestResponse): string | null {
  if (headers.link === undefined) return null
  const [, target = ''] = /^<(.*)>; rel="next"$/.exec(String(headers.link)) ?? []
  expect(target.startsWith(`${publicUrl}/`)).toBe(true)
  return target.slice(publicUrl.length)
}

type Record = { [name: string]: unknown; SKUInfo?: { [name: string]: unknown } }
const idsIn = (answer: LightMyRequestResponse): number[] =>
  answer.statusCode === 404
    ? []
    : answer.json<Record[]>().map((record) => (record.SKUInfo ?? record).CatalogID as number)

/** Follows the links to the last page; `meanwhile` runs at the same time as each page is read. */
async function readByLink(url: string, meanwhile: () => Promise<unknown> = async () => {}): Promise<number[][]> {
  const pages: number[][] = []
  for (let next: string | null = url; next !== null; ) {
    const [answer] = await Promise.all([get(next), meanwhile()])
    expect(answer.statusCode).toBe(pages.length === 0 && answer.body === '' ? 404 : 200)
    pages.push(idsIn(answer))
    next = nextOf(answer)
    expect(pages.length).toBeLessThan(500)
  }
  return pages
}

async function createProducts(count: number, others: (index: number) => object = () => ({})): Promise<number[]> {
  if (count === 0) return []
  const body = Array.from({ length: count }, (_, index) => productBody(crypto.randomUUID(), { ...others(index) }))
  const answer = await shop.call('POST', '/Products', { body })
  expect(answer.statusCode).toBe(201)
  return answer.json<Result[]>().map(({ Value }) => Number(Value))
}

const newCategory = () => shop.add('/Category', { CategoryName: 'C' })

const inCategory = (id: number | null) => ({ CategoryList: id === null ? [] : [{ CategoryID: id }] })

/** Empties the store of products, without the counter of their numbers. */
async function clear(): Promise<void> {
  await server.database.db.$executeRawUnsafe('DELETE FROM "Product" WHERE "storeId" = $1', shop.store.id)
}

/** A list of products, how one is made part of it, and how it leaves it. */
const lists = {
  'a collection': { path: () => '/Products?', inside: () => ({}), outside: null },
  'a filtered list': { path: () => '/Products?hide=0&', inside: () => ({}), outside: { Hide: true } },
  'a projected list': { path: () => '/Products/skuinfo?', inside: () => ({}), outside: null },
  'a related list': {
    path: (c: number) => `/Categories/${c}/Products?`,
    inside: inCategory,
    outside: inCategory(null),
  },
  'a filtered related list': {
    path: (category: number) => `/Category/${category}/Products?hide=0&`,
    inside: inCategory,
    outside: { Hide: true },
  },
} as const

type Fate = 'stays' | 'is deleted' | 'comes and goes'
const fates = fc.array(fc.constantFrom<Fate>('stays', 'stays', 'is deleted', 'comes and goes'), { maxLength: 24 })
const steps = fc.array(
  fc.array(fc.tuple(fc.constantFrom('insert', 'update', 'delete', 'move'), fc.nat(23)), { maxLength: 4 }),
  { maxLength: 8 },
)

describe('by Link, every record that existed at the start and stayed is read exactly once while others write', () => {
  test.each(Object.entries(lists))('%s', async (_name, { path, inside, outside }) => {
    const category = await newCategory()
    const member = inside(category)
    await fc.assert(
      fc.asyncProperty(fates, steps, fc.integer({ min: 1, max: 12 }), async (fate, script, limit) => {
        const ids = await createProducts(fate.length, () => member)
        const withFate = (wanted: Fate) => ids.filter((_, index) => fate[index] === wanted)
        const staying = withFate('stays')
        const deleted = withFate('is deleted')
        const moving = withFate('comes and goes')

        async function write([what, pick]: [string, number]): Promise<void> {
          const one = (from: number[]) => from[pick % from.length]
          if (what === 'insert') await createProducts(1, () => member)
          else if (what === 'update') {
            const id = one(staying)
            if (id) await shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { Price: pick } } })
          } else if (what === 'delete') {
            const id = one(deleted)
            if (id) await shop.call('DELETE', `/Products/${id}`)
          } else {
            const id = one(moving)
            const body = pick % 2 === 0 ? { Hide: false, ...member } : outside
            if (id && body) await shop.call('PUT', `/Products/${id}`, { body })
          }
        }

        const pages = await readByLink(`/StoreWebAPI/v1${path(category)}limit=${limit}`, () =>
          Promise.all((script.shift() ?? []).map(write)),
        )
        await clear()

        const read = pages.flat()
        expect(read).toEqual([...new Set(read)].sort((a, b) => a - b))
        expect(read).toEqual(expect.arrayContaining(staying))
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
      }),
      { numRuns: 12 },
    )
  })

  test('a record that commits late under a lower number keeps nobody from being read, and is not read twice', async () => {
    const ids = await createProducts(4)
    const lateId = await reserveIds(shop.caller, 'Product', 1)
    const commit = await holdIn(
      server.database.db,
      (tx) => tx.$executeRaw`
        INSERT INTO "Product" SELECT (json_populate_record(t, json_build_object('id', ${lateId}::int, 'sku', 'LATE'))).*
        FROM "Product" t WHERE "storeId" = ${shop.store.id}::int AND "id" = ${ids[0]}::int`,
    )
    const [early] = await createProducts(1)
    const first = await get('/StoreWebAPI/v1/Products?limit=4')
    await commit()
    const rest = await readByLink(nextOf(first) as string)
    await clear()
    expect(idsIn(first)).toEqual(ids)
    expect(rest.flat().filter((one) => one !== lateId)).toEqual([early])
    expect(rest.flat().length).toBeLessThanOrEqual(2)
  })
})

describe('by offset', () => {
  test('every record is read exactly once as long as none leaves the list: new ones come at the end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 24 }),
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.nat(3), { maxLength: 8 }),
        async (count, limit, inserts) => {
          const ids = await createProducts(count)
          const read: number[] = []
          for (;;) {
            const update = shop.call('PUT', `/Products/${ids[0]}`, { body: { SKUInfo: { Price: read.length } } })
            const [answer] = await Promise.all([
              get(`/StoreWebAPI/v1/Products?limit=${limit}&offset=${read.length + 1}`),
              createProducts(inserts.shift() ?? 0),
              update,
            ])
            if (answer.statusCode === 400) break
            read.push(...idsIn(answer))
          }
          await clear()
          expect(read.slice(0, count)).toEqual(ids)
          expect(new Set(read).size).toBe(read.length)
        },
      ),
      { numRuns: 10 },
    )
  })

  test('a page by offset has a Link as well, which goes on by cursor', async () => {
    const ids = await createProducts(5)
    const answer = await get('/StoreWebAPI/v1/Products?limit=2&offset=2&hide=0')
    expect(answer.headers.link).toBe(
      `<${publicUrl}/StoreWebAPI/v1/Products?limit=2&hide=0&cursor=${ids[2]}>; rel="next"`,
    )
    expect(idsIn(await get(nextOf(answer) as string))).toEqual(ids.slice(3))
    await clear()
  })
})

describe('the pages', () => {
  let ids: number[]
  beforeAll(async () => {
    ids = await createProducts(6)
  })
  afterAll(clear)

  test.each([1, 2, 3, 4, 5, 6, 7, 200])('of %i records end without a Link', async (limit) => {
    const pages = await readByLink(`/StoreWebAPI/v1/Products?limit=${limit}`)
    expect(pages.flat()).toEqual(ids)
    expect(pages).toHaveLength(Math.ceil(6 / limit))
  })

  test('have no Link where one record or a count was asked for', async () => {
    for (const path of [
      `/Products/${ids[0]}`,
      `/Products?catalogid=${ids[0]}&limit=1`,
      `/Products/${ids[0]}/skuinfo?limit=1`,
      '/Products?countonly=1&limit=1',
    ]) {
      expect((await shop.call('GET', path)).headers).not.toHaveProperty('link')
    }
  })

  test('behind the last record are empty lists, also where a filter matches nothing', async () => {
    for (const query of ['', '&hide=1', '&sku=none']) {
      const answer = await get(`/StoreWebAPI/v1/Products?cursor=${ids.at(-1)}${query}`)
      expect([answer.statusCode, answer.body, answer.headers.link]).toEqual([200, '[]', undefined])
    }
    expect((await get('/StoreWebAPI/v1/Products?cursor=2147483647')).body).toBe('[]')
    const xml = await get('/StoreWebAPI/v1/Products?cursor=2147483647', { accept: 'application/xml' })
    expect(xml.body).toMatch(/<ArrayOfProduct [^>]*\/>$|<ArrayOfProduct [^>]*><\/ArrayOfProduct>$/)
  })

  test('of a record that does not exist are 404 behind a cursor too', async () => {
    const category = await newCategory()
    for (const path of ['/Products/400000/skuinfo', '/Category/400000/Products']) {
      expect((await shop.call('GET', `${path}?cursor=1`)).statusCode).toBe(404)
    }
    expect((await shop.call('GET', `/Category/${category}/Products?cursor=1`)).body).toBe('[]')
  })

  test('take an empty offset or cursor for none', async () => {
    expect(idsIn(await get(`/StoreWebAPI/v1/Products?cursor=${ids[3]}&offset=`))).toEqual(ids.slice(4))
    expect(idsIn(await get('/StoreWebAPI/v1/Products?cursor=&offset=5'))).toEqual(ids.slice(4))
  })

  test('answer HEAD with the headers of GET', async () => {
    const url = '/StoreWebAPI/v1/Products?limit=4'
    const [got, head] = await Promise.all([
      get(url, { prefer: 'count=exact' }),
      server.app.inject({ method: 'HEAD', url, headers: { ...shop.credentials, prefer: 'count=exact' } }),
    ])
    expect(head.body).toBe('')
    for (const name of ['link', 'x-total-count', 'preference-applied', 'content-length']) {
      expect(head.headers[name]).toBe(got.headers[name])
      expect(got.headers[name]).toBeDefined()
    }
  })

  test('choose and sort by $select and $orderby page by page', async () => {
    const first = await get('/StoreWebAPI/v1/Products/skuinfo?limit=4&$select=CatalogID&$orderby=CatalogID%20desc')
    expect(idsIn(first)).toEqual(ids.slice(0, 4).reverse())
    expect(idsIn(await get(nextOf(first) as string))).toEqual(ids.slice(4).reverse())
  })
})

describe('the Link', () => {
  beforeAll(() => createProducts(3))
  afterAll(clear)

  const linkOf = async (url: string) => String((await get(url)).headers.link)
  const linkTo = (path: string) => `<${publicUrl}${path}>; rel="next"`
  const cursor = async () => String(idsIn(await get('/StoreWebAPI/v1/Products?limit=1'))[0])

  test.each([
    ['/StoreWebAPI/v1/Products', '/StoreWebAPI/v1/Products'],
    ['/StoreWebAPI/v2/Products', '/StoreWebAPI/v2/Products'],
    ['/api/3dCartWebAPI/v1/Products', '/api/3dCartWebAPI/v1/Products'],
    ['/API/3DCARTWEBAPI/V2/products/', '/API/3DCARTWEBAPI/V2/products/'],
    ['/StoreWebAPI/v1/Products/skuinfo', '/StoreWebAPI/v1/Products/skuinfo'],
  ])('keeps the address, whatever its prefix, version and case: %s', async (path, kept) => {
    const link = await linkOf(`${path}?limit=1`)
    expect(link).toBe(linkTo(`${kept}?limit=1&cursor=${await cursor()}`))
    const next = await get(link.slice(1 + publicUrl.length, link.indexOf('>')))
    expect(next.statusCode).toBe(200)
    expect(next.json()).toHaveLength(1)
  })

  test.each([
    [
      'every other parameter as it was sent',
      'limit=1&name=Product&SKU=&%24select=SKUInfo%2fSKU&x=a+b%20c&&y',
      'limit=1&name=Product&SKU=&%24select=SKUInfo%2fSKU&x=a+b%20c&y',
    ],
    [
      'those that only begin like offset and cursor',
      'limit=1&offsets=1&cursory=2&xcursor=3',
      'limit=1&offsets=1&cursory=2&xcursor=3',
    ],
    ['no offset, in any case and spelling', 'OFFSET=1&limit=1&%6fffset=1&off%73et=1&x=1', 'limit=1&x=1'],
    ['no empty cursor', 'limit=1&cursor=&cursor&Curs%6Fr=', 'limit=1'],
    [
      'percent-encoded line ends, quotes and angle brackets',
      'limit=1&x=%0D%0ASet-Cookie:%20a=b&y=%22%3E%3C',
      'limit=1&x=%0D%0ASet-Cookie:%20a=b&y=%22%3E%3C',
    ],
    ['question marks and semicolons', 'limit=1&x=a?b;c=?', 'limit=1&x=a?b;c=?'],
    ['what is not validly encoded and has no value', 'limit=1&%zz&%=', 'limit=1&%zz&%='],
  ])('keeps %s', async (_what, query, kept) => {
    expect(await linkOf(`/StoreWebAPI/v1/Products?${query}`)).toBe(
      linkTo(`/StoreWebAPI/v1/Products?${kept}&cursor=${await cursor()}`),
    )
  })

  test('takes the place of the cursor that was sent', async () => {
    const first = await cursor()
    const link = await linkOf(`/StoreWebAPI/v1/Products?cursor=${first}&limit=1&x=1`)
    expect(link).toMatch(/Products\?limit=1&x=1&cursor=\d+>; rel="next"$/)
    expect(link).not.toContain(`cursor=${first}>`)
  })

  test('reads any filter on, whatever characters it is of', async () => {
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).filter((text) => !/^[\s\0]*$|\0/.test(text))
    await fc.assert(
      fc.asyncProperty(name, async (name) => {
        const others = { SKUInfo: { Name: name } }
        const made = await createProducts(2, () => others)
        const pages = await readByLink(`/StoreWebAPI/v1/Products?limit=1&name=${encodeURIComponent(name)}`)
        expect(pages.flat()).toEqual(expect.arrayContaining(made))
      }),
      { numRuns: 25 },
    )
  })

  describe('over a connection, where anything may be sent', () => {
    let port: number
    beforeAll(async () => {
      await server.app.listen({ host: '127.0.0.1', port: 0 })
      port = Number(new URL(server.app.listeningOrigin).port)
    })

    /** The headers of the answer, by name, and its body. */
    async function send(target: string): Promise<{ status: number; headers: Map<string, string>; body: string }> {
      const { secureurl, privatekey, token } = shop.credentials
      const socket = connectSocket(port, '127.0.0.1')
      socket.write(
        `GET ${target} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\nSecureURL: ${secureurl}\r\nPrivateKey: ${privatekey}\r\nToken: ${token}\r\n\r\n`,
      )
      const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n', 2)
      const [line = '', ...lines] = head.split('\r\n')
      const pairs = lines.map((one) => one.split(/:\s*(.*)/s, 2) as [string, string])
      return { status: Number(line.split(' ')[1]), headers: new Map(pairs.map(([k, v]) => [k.toLowerCase(), v])), body }
    }

    test.each([
      [
        'quotes and angle brackets',
        '/StoreWebAPI/v1/Products?limit=1&x=<">\'{|}^`\\',
        `/StoreWebAPI/v1/Products?limit=1&x=%3C%22%3E'{|}^\`\\`,
      ],
      [
        'another link',
        '/StoreWebAPI/v1/Products?limit=1&x=>;rel="next",<https://evil.example/>;rel="next"',
        '/StoreWebAPI/v1/Products?limit=1&x=%3E;rel=%22next%22,%3Chttps://evil.example/%3E;rel=%22next%22',
      ],
      [
        'a number sign, which would end the address',
        '/StoreWebAPI/v1/Products?limit=1&x=a#b',
        '/StoreWebAPI/v1/Products?limit=1&x=a%23b',
      ],
      ['a number sign in the path', '/StoreWebAPI/v1/Products#x?limit=1', '/StoreWebAPI/v1/Products?limit=1'],
      [
        'a whole address, as proxies are sent',
        'http://evil.example/StoreWebAPI/v1/Products?limit=1',
        '/StoreWebAPI/v1/Products?limit=1',
      ],
      [
        'a whole address in the query',
        '/StoreWebAPI/v1/Products?limit=1&x=http://evil.example/',
        '/StoreWebAPI/v1/Products?limit=1&x=http://evil.example/',
      ],
      ['slashes twice', '//StoreWebAPI//v1//Products?limit=1', '//StoreWebAPI//v1//Products?limit=1'],
    ])('survives %s', async (_what, target, expected) => {
      const answer = await send(target)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('link')).toBe(linkTo(`${expected}&cursor=${await cursor()}`))
      const link = answer.headers.get('link') as string
      const next = await send(link.slice(1 + publicUrl.length, link.indexOf('>')))
      expect(next.status).toBe(200)
      expect(JSON.parse(next.body)).toHaveLength(1)
      expect(JSON.parse(next.body)).not.toEqual(JSON.parse(answer.body))
    })
  })

  test.each([
    ['http://localhost:3000/behind/a/proxy/', 'http://localhost:3000/behind/a/proxy'],
    ['http://localhost:3000/läden', 'http://localhost:3000/l%C3%A4den'],
  ])('begins with PUBLIC_URL, whatever its path: %s', async (setting, base) => {
    const other = await openServer({ PUBLIC_URL: setting })
    const { credentials } = await other.openStore()
    const answer = await other.app.inject({ url: '/StoreWebAPI/v1/OrderStatus?limit=1', headers: credentials })
    await other.close()
    expect(answer.headers.link).toMatch(new RegExp(`^<${base}/StoreWebAPI/v1/OrderStatus\\?limit=1&cursor=\\d+>;`))
  })
})

describe('X-Total-Count', () => {
  let category: number
  beforeAll(async () => {
    category = await newCategory()
    await createProducts(5, (index) => ({ Hide: index < 2, ...(index > 2 && inCategory(category)) }))
  })
  afterAll(clear)

  const totalOf = async (path: string, prefer?: string, more: Headers = {}) => {
    const answer = await shop.call('GET', path, { headers: { prefer, ...more } })
    const { 'x-total-count': total, 'preference-applied': applied } = answer.headers
    expect(applied).toBe(total === undefined ? undefined : 'count=exact')
    return total
  }

  test.each([
    ['/Products', '5'],
    ['/Products?limit=2', '5'],
    ['/Products?limit=2&offset=4', '5'],
    ['/Products?hide=1&limit=1', '2'],
    ['/Products/skuinfo?limit=1', '5'],
    ['/Products?cursor=2147483647', '5'],
  ])('of %s is %s: all that match, whatever the page', async (path, total) => {
    expect(await totalOf(path, 'count=exact')).toBe(total)
    expect(await totalOf(path)).toBeUndefined()
  })

  test('of related records counts those alone, also in XML', async () => {
    expect(await totalOf(`/Category/${category}/Products?limit=1`, 'count=exact')).toBe('2')
    expect(await totalOf(`/Category/${category}/Products`, 'count=exact', { accept: 'text/xml' })).toBe('2')
  })

  test.each([
    'count=exact',
    'Count="exact"',
    'COUNT = EXACT',
    'respond-async, count=exact',
    'count=exact;foo=bar, wait=10',
    'return=minimal,count=exact',
    'count=exact, count=none',
  ])('comes for Prefer: %s', async (prefer) => {
    expect(await totalOf('/Products', prefer)).toBe('5')
  })

  test.each([
    '',
    'count',
    'count=',
    'count=none',
    'count=exactly',
    'xcount=exact',
    'foo="count=exact"',
    'count=none, count=exact',
  ])('does not come for Prefer: %s', async (prefer) => {
    expect(await totalOf('/Products', prefer)).toBeUndefined()
  })

  test('comes when Prefer is sent in several headers', async () => {
    const answer = await server.app.inject({
      url: '/StoreWebAPI/v1/Products',
      headers: { ...shop.credentials, prefer: ['respond-async', 'count=exact'] },
    })
    expect(answer.headers['x-total-count']).toBe('5')
  })

  test.each(['/Products?countonly=1', '/Products?sku=none', '/Products?offset=99', '/Products/1'])(
    'does not come with what is no page of a list: %s',
    async (path) => {
      expect(await totalOf(path, 'count=exact')).toBeUndefined()
    },
  )

  test('leaves a count as it is', async () => {
    const answer = await shop.call('GET', '/Products?countonly=1', { headers: { prefer: 'count=exact' } })
    expect(answer.body).toBe('{"TotalCount":5}')
  })
})
