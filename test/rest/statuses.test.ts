import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openServer, type TestServer, type TestStore } from '../support/store.ts'
import { productBody, refusalOf } from './fixture.ts'

// Every status of contract §7 and rest-protocol 5.2, at every kind of address.

let server: TestServer
let shop: TestStore
let other: TestStore
let reader: TestStore
let writer: TestStore

beforeAll(async () => {
  server = await openServer()
  shop = await server.openStore()
  other = await server.openStore()
  reader = await server.openStore({ privileges: { Products: ['read'] } })
  writer = await server.openStore({ privileges: { Products: ['write'] } })
  for (const { call } of [shop, other]) {
    await call('POST', '/Manufacturers', { body: { ManufacturerName: 'Acme' } })
    await call('POST', '/Products', {
      body: productBody('A-1', { ManufacturerID: 1, FeatureList: [{ FeatureTitle: 'f' }] }),
    })
  }
  await other.call('POST', '/Products', { body: productBody('ONLY-THERE') })
})
afterAll(() => server.close())

/** Each kind of address that answers with records. */
const readable = [
  '/Products',
  '/Products/1',
  '/Products/skuinfo',
  '/Products/1/skuinfo',
  '/Products/1/Features',
  '/Manufacturers/1/Products',
]

const body = productBody('never stored')
const writes = [
  { method: 'POST', path: '/Products', body },
  { method: 'PUT', path: '/Products', body: [{ SKUInfo: { CatalogID: 1 } }] },
  { method: 'PUT', path: '/Products/1', body: {} },
  { method: 'DELETE', path: '/Products/1', body: undefined },
  { method: 'POST', path: '/Products/1/Features', body: { FeatureTitle: 'x' } },
  { method: 'PUT', path: '/Products/1/Features', body: [{ FeatureID: 1 }] },
  { method: 'PUT', path: '/Products/1/Features/1', body: {} },
] as const

describe('200', () => {
  test.each(readable)('GET %s answers a list', async (path) => {
    const answer = await shop.call('GET', path)
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toHaveLength(1)
  })

  test.each(readable)('HEAD %s answers the headers of GET and no body', async (path) => {
    const got = await shop.call('GET', path)
    const answer = await shop.call('HEAD', path)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe(got.headers['content-type'])
    expect(answer.headers['content-length']).toBe(got.headers['content-length'])
    expect(answer.body).toBe('')
  })

  test.each([
    { path: '/Products?countonly=1', count: 1 },
    { path: '/Products?countonly=1&sku=none&limit=5&offset=0', count: 0 },
    { path: '/Products/skuinfo?countonly=1', count: 1 },
    { path: '/Products/1/skuinfo?countonly=1', count: 1 },
    { path: '/Manufacturers/1/Products?countonly=1', count: 1 },
    { path: '/Manufacturers/1/Products?countonly=1&sku=none', count: 0 },
  ])('GET $path answers the number alone', async ({ path, count }) => {
    const answer = await shop.call('GET', path)
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toBe(`{"TotalCount":${count}}`)
  })
})

describe('401', () => {
  test.each([...readable.map((path) => ({ method: 'GET' as const, path, body: undefined })), ...writes])(
    '$method $path without a token',
    async ({ method, path, body }) => {
      const answer = await shop.call(method, path, { body, headers: { token: undefined } })
      expect(answer.statusCode).toBe(401)
      expect(answer.body).toMatch(
        /^\[\{"Key":"Error","Value":"","Status":"401","Message":"Authentication failed: [^"]+"\}\]$/,
      )
    },
  )

  test('is the same for each wrong credential', async () => {
    const wrong = [
      { token: other.token },
      { privatekey: 'x' },
      { secureurl: 'https://elsewhere.example' },
      { token: '' },
    ]
    const answers = await Promise.all(wrong.map((headers) => shop.call('GET', '/Products', { headers })))
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1)
    expect(answers[0]?.statusCode).toBe(401)
  })

  test('names the Bearer scheme when Authorization was sent, and only then', async () => {
    const { token: _, ...headers } = shop.credentials
    const bare = await shop.call('GET', '/Products', { headers: { token: 'wrong' } })
    const bearer = await shop.call('GET', '/Products', { headers: { ...headers, authorization: 'Bearer wrong' } })
    expect(bare.headers['www-authenticate']).toBeUndefined()
    expect(bearer.headers['www-authenticate']).toBe('Bearer')
  })

  test.each(writes)('$method $path for an application that may only read', async ({ method, path, body }) => {
    const answer = await reader.call(method, path, { body })
    expect(refusalOf(answer)).toMatchObject({ statusCode: 401, field: 'Products' })
  })

  test.each(readable)('GET %s for an application that may only write', async (path) => {
    expect((await writer.call('GET', path)).statusCode).toBe(401)
  })

  test('for the products of a manufacturer without the right to read products', async () => {
    const { call } = await server.openStore({ privileges: { Manufacturers: ['read'] } })
    const answer = await call('GET', '/Manufacturers/1/Products')
    expect(refusalOf(answer)).toMatchObject({ statusCode: 401, field: 'Products' })
  })

  test('comes before the body is looked at', async () => {
    const answer = await shop.call('POST', '/Products', { body: '{', headers: { token: 'wrong' } })
    expect(answer.statusCode).toBe(401)
  })
})

describe('403', () => {
  test('refuses plain http where PUBLIC_URL is https, whoever asks for whatever', async () => {
    const secure = await openServer({ PUBLIC_URL: 'https://shop-platform.example', TRUST_PROXY: '127.0.0.1' })
    const { call } = await secure.openStore()
    const headers = { 'x-forwarded-proto': 'https' }
    expect((await call('GET', '/Products?countonly=1', { headers })).statusCode).toBe(200)
    const refused = await call('GET', '/Products?countonly=1')
    expect(refusalOf(refused)).toMatchObject({ statusCode: 403, status: '403' })
    expect((await call('GET', '/Nothing', { headers: { token: undefined } })).statusCode).toBe(403)
    await secure.close()
  })
})

describe('404 with an empty body', () => {
  test.each([
    '/Products/99',
    '/Products/2',
    '/Products?sku=none',
    '/Products?catalogid=99',
    '/Products/skuinfo?sku=none',
    '/Products/99/skuinfo',
    '/Products/99/skuinfo?countonly=1',
    '/Products/99/Features',
    '/Products/1/Images',
    '/Manufacturers/99/Products',
    '/Manufacturers/99/Products?countonly=1',
    '/Manufacturers/1/Products?sku=none',
  ])('GET %s', async (path) => {
    const answer = await shop.call('GET', path)
    expect(answer.statusCode).toBe(404)
    expect(answer.body).toBe('')
    expect(answer.headers['content-type']).toBeUndefined()
    expect(answer.headers['content-length']).toBe('0')
  })

  test.each([
    { method: 'PUT', path: '/Products/99', body: {} },
    { method: 'DELETE', path: '/Products/99', body: undefined },
    { method: 'DELETE', path: '/Products/2', body: undefined },
    { method: 'PUT', path: '/Products', body: [{ SKUInfo: { CatalogID: 98 } }, { SKUInfo: { SKU: 'none' } }] },
    { method: 'POST', path: '/Products/99/Features', body: {} },
    { method: 'PUT', path: '/Products/99/Features', body: [{ FeatureID: 1 }] },
    { method: 'PUT', path: '/Products/1/Features', body: [{ FeatureID: 98 }, { FeatureID: 99 }] },
    { method: 'PUT', path: '/Products/1/Features/99', body: {} },
  ] as const)('$method $path', async ({ method, path, body }) => {
    const answer = await shop.call(method, path, { body })
    expect(answer.statusCode).toBe(404)
    expect(answer.body).toBe('')
  })

  test('another store has the record still', async () => {
    expect((await other.call('GET', '/Products/2')).statusCode).toBe(200)
  })
})

describe('404 with an array', () => {
  test.each([
    '/Nothing',
    '/Products/1/Nothing',
    '/Products/1/Features/1/2',
    '/Products/1/Categories/1',
    '/Manufacturers/1/Products/1',
    '',
  ])('for the unknown address %j', async (path) => {
    expect(refusalOf(await shop.call('GET', path))).toMatchObject({ statusCode: 404, status: '404' })
  })

  test.each(['/StoreWebAPI', '/StoreWebAPI/v3/Products', '/StoreWebAPI/Products', '/storewebapi/v1/nothing'])(
    'for %s, without credentials and in XML when that is asked for',
    async (url) => {
      const headers = { accept: 'text/xml', 'content-type': 'image/png' }
      const answer = await server.app.inject({ method: 'POST', url, headers, payload: 'x' })
      expect(answer.statusCode).toBe(404)
      expect(answer.body).toContain('<ResponseInfo><Key>Error</Key><Value /><Status>404</Status>')
    },
  )
})

describe('405 names the methods that the address takes', () => {
  test.each([
    { method: 'DELETE', path: '/Products', allow: 'GET, HEAD, POST, PUT' },
    { method: 'PATCH', path: '/Products', allow: 'GET, HEAD, POST, PUT' },
    { method: 'POST', path: '/Products/1', allow: 'GET, HEAD, PUT, DELETE' },
    { method: 'OPTIONS', path: '/Products/1', allow: 'GET, HEAD, PUT, DELETE' },
    { method: 'POST', path: '/Orders', allow: 'GET, HEAD, PUT' },
    { method: 'DELETE', path: '/Orders/1', allow: 'GET, HEAD, PUT' },
    { method: 'PUT', path: '/OrderStatus', allow: 'GET, HEAD' },
    { method: 'POST', path: '/Products/skuinfo', allow: 'GET, HEAD' },
    { method: 'DELETE', path: '/Products/1/Features', allow: 'GET, HEAD, POST, PUT' },
    { method: 'GET', path: '/Products/1/Features/1', allow: 'PUT' },
    { method: 'PUT', path: '/Products/1/Categories', allow: 'GET, HEAD' },
    { method: 'POST', path: '/Manufacturers/1/Products', allow: 'GET, HEAD' },
  ] as const)('$method $path', async ({ method, path, allow }) => {
    const answer = await shop.call(method, path)
    expect(answer.headers.allow).toBe(allow)
    expect(refusalOf(answer)).toMatchObject({ statusCode: 405, status: '405' })
  })
})

describe('500 tells nothing from inside', () => {
  test('when reading fails, and the log has it', async () => {
    const { db } = server.database
    await db.$executeRawUnsafe('ALTER TABLE "Distributor" RENAME TO "Elsewhere"')
    const answer = await shop.call('GET', '/Distributors')
    await db.$executeRawUnsafe('ALTER TABLE "Elsewhere" RENAME TO "Distributor"')
    expect(answer.statusCode).toBe(500)
    expect(answer.body).toBe('[{"Key":"Error","Value":"","Status":"500","Message":"Internal error"}]')
    const line = server.log.find((text) => text.includes('request failed'))
    expect(line).toContain('"level":"error"')
    expect(line).toContain('stack')
  })

  test("when one record of several fails, it is that record's, and the others stand", async () => {
    const { db } = server.database
    await db.$executeRawUnsafe(
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'from inside'; END $$`,
    )
    await db.$executeRawUnsafe(
      `CREATE TRIGGER fail BEFORE INSERT ON "Product" FOR EACH ROW WHEN (NEW."sku" = 'BROKEN') EXECUTE FUNCTION fail()`,
    )
    const several = await shop.call('POST', '/Products', {
      body: [productBody('B-1'), productBody('BROKEN'), productBody('B-2')],
    })
    const one = await shop.call('POST', '/Products', { body: productBody('BROKEN') })
    await db.$executeRawUnsafe('DROP FUNCTION fail() CASCADE')
    expect(several.statusCode).toBe(206)
    expect(several.json().map(({ Status }: { Status: string }) => Status)).toEqual(['201', '500', '201'])
    expect(several.body).not.toContain('inside')
    expect(one.statusCode).toBe(500)
    expect(one.body).toBe('[{"Key":"Error","Value":"","Status":"500","Message":"Internal error"}]')
  })
})
