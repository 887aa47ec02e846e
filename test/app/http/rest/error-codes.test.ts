import { readFileSync } from 'node:fs'
import type { LightMyRequestResponse } from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import { updateApplication } from '../../../../src/access/applications/applications.ts'
import { openApiDocument } from '../../../../src/app.ts'
import { type ErrorCode, errorCodes, statusOf } from '../../../../src/foundation/values/failure.ts'
import { storeInput } from '../../../support/access.ts'
import { operator } from '../../../support/actors.ts'
import { type CallOptions, type Method, openServer, sharedServer } from '../../../support/store.ts'
import { productBody, type Result } from './fixture.ts'
import { newWebhook, webhookBody } from './webhooks-fixture.ts'

// The codes of refusals: every program reads them in a header, new applications in bodies too, and no body of another changes.

const server = await sharedServer()
const shop = await server.openStore()
const ids = { product: 0, parent: 0, order: 0 }

beforeAll(async () => {
  ids.product = await shop.add('/Products', productBody('A-1', { SKUInfo: { Price: 5, Stock: 1 } }))
  await shop.add('/Products', productBody('HIDDEN', { NotForSale: true }))
  ids.parent = await shop.add('/Category', { CategoryName: 'Parent' })
  await shop.add('/Category', { CategoryName: 'Child', CategoryParent: ids.parent })
  ids.order = await shop.placeOrder([{ ItemID: 'A-1', ItemQuantity: 1 }])
  await shop.call('PUT', `/Orders/${ids.order}`, { body: { OrderStatusID: 5 } })
  for (let count = 0; count < 100; count++) await newWebhook(shop.call, { Name: `Desk ${count}` })
})

const setKind = (Kind: 'existing' | 'new') =>
  updateApplication(server.services, shop.application.id, { Kind }, operator)
/** What addresses of the codes' pages begin with. */
const pages = `${server.services.config.publicUrl}/docs/errors/`
const codeOf = ({ headers }: LightMyRequestResponse) => headers['x-error-code']

type Case = readonly [ErrorCode, Method, path: string, CallOptions?]
const strict = { prefer: 'handling=strict' }
const of = (body: unknown, headers: object = {}) => ({ body, headers: { ...strict, ...headers } })
const long = 'x'.repeat(5_000)
const large = { body: Buffer.alloc(11 * 1024 * 1024, 0x20), contentType: 'application/json' }

/** What applications do wrong, each told by result items. Paths have the ids of `ids`. */
const cases: readonly Case[] = [
  ['malformed-request', 'GET', '/Products?name=%zz'],
  ['malformed-body', 'POST', '/Products', of('{')],
  ['malformed-body', 'POST', '/Products', of('')],
  ['malformed-body', 'POST', '/Products', { ...of('<Product>'), contentType: 'application/xml' }],
  ['unknown-field', 'PUT', '/Products/:product', of({ Nope: 1 })],
  ['unknown-field', 'GET', '/Products?$select=Nope'],
  ['unknown-parameter', 'GET', '/Products?nope=1', { headers: strict }],
  ['read-only-field', 'PUT', '/Products/:product', of({ SKUInfo: { CatalogID: 400_000 } })],
  ['missing-field', 'POST', '/Manufacturers', of({})],
  ['invalid-value', 'GET', '/Products?limit=ten'],
  ['invalid-value', 'PUT', '/Products/:product', of({ SKUInfo: { Price: 'cheap' } })],
  ['too-long', 'POST', '/Manufacturers', of({ ManufacturerName: long })],
  ['out-of-range', 'GET', '/Products/0'],
  ['out-of-range', 'PUT', '/Products/:product', of({ SKUInfo: { Price: 1e15 } })],
  ['too-many-items', 'POST', '/Products', of(Array.from({ length: 101 }, (_, at) => productBody(`N-${at}`)))],
  ['unknown-reference', 'PUT', '/Products/:product', of({ ManufacturerID: 400_000 })],
  ['unauthorized', 'GET', '/Products', { headers: { token: 'wrong' } }],
  ['method-not-allowed', 'DELETE', '/Products'],
  ['not-unique', 'POST', '/Products', of(productBody('A-1'))],
  ['in-use', 'DELETE', '/Category/:parent'],
  ['limit-reached', 'POST', '/Webhooks', of(webhookBody())],
  ['invalid-state', 'PUT', '/Orders/:order', of({ OrderStatusID: 1 })],
  ['gone', 'GET', '/Events?after=400000'],
  ['precondition-failed', 'PUT', '/Products/:product', of({}, { 'if-match': '"x"' })],
  ['body-too-large', 'POST', '/Products', large],
  ['unsupported-media-type', 'POST', '/Products', { body: 'x', contentType: 'image/png' }],
]
/** Seen by the tests below. */
const others = ['not-found', 'unknown-address', 'forbidden', 'insecure-transport', 'not-for-sale', 'insufficient-stock']
const further = ['in-progress', 'key-reused', 'rate-limited', 'internal-error']
/** Seen where they happen: by the tests of slow peers, outages and removals; and by those of Checkout. */
const elsewhere = ['request-timeout', 'unavailable', 'bad-gateway', 'price-not-allowed']

const send = ([, method, path, options = {}]: Case, accept: string) => {
  const address = path.replace(/:(\w+)/g, (_, name: keyof typeof ids) => String(ids[name]))
  return shop.call(method, address, { ...options, accept, tolerated: true })
}

/** The body as an existing application gets it. */
function withoutCode(body: string): string {
  if (!body.startsWith('{')) return body.replace(/,"Code":"[a-z-]+"|<Code>[a-z-]+<\/Code>/g, '')
  const { code: _, requestId: __, ...problem } = JSON.parse(body)
  const type = `urn:store-platform:problem:${problem.status}`
  const errors = problem.errors.map(({ code: _, ...error }: { code: string }) => error)
  return JSON.stringify({ ...problem, type, errors })
}

describe('a refusal', () => {
  const named = cases.map((one) => ({ one, code: one[0], at: `${one[1]} ${one[2]}` }))
  test.each(named)('$code of $at: the header for everybody, the body for new applications', async ({ one, code }) => {
    for (const accept of ['application/json', 'application/xml', 'application/problem+json']) {
      await setKind('existing')
      const before = await send(one, accept)
      await setKind('new')
      const after = await send(one, accept)
      expect([before, after].map(codeOf), before.body).toEqual([code, code])
      expect(after.statusCode).toBe(before.statusCode)
      const isProblem = accept.includes('problem')
      expect(before.body).not.toContain(code)
      expect(withoutCode(after.body)).toBe(isProblem ? withoutCode(before.body) : before.body)
      // Who sends wrong credentials is no application yet.
      if (code === 'unauthorized') continue
      if (accept.includes('xml')) expect(after.body).toContain(`</Message><Code>${code}</Code></ResponseInfo>`)
      else if (isProblem) expect(after.json()).toMatchObject({ type: pages + code, code, errors: [{ code }] })
      else expect(after.json()).toEqual([expect.objectContaining({ Code: code })])
    }
    await setKind('existing')
  })

  test('of everything that is wrong has the code of each, and in the header that of the first', async () => {
    await setKind('new')
    const body = { Nope: 1, SKUInfo: { Price: 'cheap', SKU: long } }
    const answer = await shop.call('PUT', `/Products/${ids.product}`, { body, accept: 'application/problem+json' })
    await setKind('existing')
    const codes = ['unknown-field', 'too-long', 'invalid-value']
    expect([answer.json().errors, codeOf(answer)]).toMatchObject([codes.map((code) => ({ code })), codes[0]])
  })

  test('without a body, of an unknown address, without a privilege, by http, too often, by a defect, of an order', async () => {
    const poor = await server.openStore({ privileges: { Orders: ['read'] } })
    const quick = await server.openStore({ throttle: { capacity: 1, leakPerSecond: 0.1 } })
    await quick.call('GET', '/Products')
    const secure = await openServer({ PUBLIC_URL: 'https://shop-platform.example' })
    const unsafe = await secure.app.inject({ url: '/StoreWebAPI/v1/Products' })
    await secure.close()
    const { db } = server.database
    await db.$executeRawUnsafe('ALTER TABLE "Manufacturer" RENAME TO "Broken"')
    const broken = await shop.call('GET', '/Manufacturers')
    await db.$executeRawUnsafe('ALTER TABLE "Broken" RENAME TO "Manufacturer"')
    const ordered = (ItemID: string) => {
      const order = { BillingEmail: 'guest@shop.example', OrderItemList: [{ ItemID, ItemQuantity: 100 }] }
      return server.operate('POST', `/admin/stores/${shop.store.id}/orders`, order)
    }
    const odd = { payload: 'x', headers: { 'content-type': 'a/b' } }
    const soldOut = await ordered('A-1')
    const unknown = await shop.call('GET', '/Products/400000')
    const malformed = await server.app.inject('/%zz')
    const answers: readonly [status: number, ErrorCode, LightMyRequestResponse][] = [
      [404, 'not-found', unknown],
      [404, 'not-found', await shop.call('GET', '/Products?sku=none')],
      [404, 'unknown-address', await server.app.inject('/StoreWebAPI/v1/Nothing')],
      [404, 'unknown-address', await server.app.inject('/nothing')],
      [401, 'forbidden', await poor.call('GET', '/Products')],
      [403, 'insecure-transport', unsafe],
      [429, 'rate-limited', await quick.call('GET', '/Products')],
      [500, 'internal-error', broken],
      [404, 'not-found', await server.operate('PUT', '/admin/stores/400000', { Name: 'x' })],
      [400, 'unknown-field', await server.operate('POST', '/admin/stores', { Nope: 1 })],
      [401, 'unauthorized', await server.app.inject('/admin/stores')],
      [415, 'unsupported-media-type', await server.app.inject({ method: 'POST', url: '/oauth/token', ...odd })],
      [400, 'malformed-request', malformed],
      [409, 'insufficient-stock', soldOut],
      [400, 'not-for-sale', await ordered('HIDDEN')],
    ]
    for (const [status, code, answer] of answers) expect([answer.statusCode, codeOf(answer)]).toEqual([status, code])
    expect([unknown.body, 'Code' in soldOut.json()[0]]).toEqual(['', false])
    for (const { headers } of [unknown, malformed])
      expect(headers['access-control-expose-headers']).toContain('X-Error-Code')
  })
})

describe('with an Idempotency-Key', () => {
  const put = (key: string, body: unknown, path = '/Products') =>
    shop.call(path === '/Products' ? 'POST' : 'PUT', path, { body, headers: { 'idempotency-key': key } })

  test('a replay has the code of the first answer, also of one that an early version stored', async () => {
    await setKind('new')
    const list = [productBody('B-1'), productBody('A-1'), { ...productBody('B-2'), Nope: 1 }]
    const [first, replay] = [await put('key-1', list), await put('key-1', list)]
    expect([first.statusCode, codeOf(first)]).toEqual([206, 'not-unique'])
    expect(first.json<Result[]>().map((item) => 'Code' in item)).toEqual([false, true, true])
    expect([codeOf(replay), replay.body]).toEqual(['not-unique', first.body])
    await server.database.db.$executeRawUnsafe(
      `UPDATE "IdempotencyAnswer" SET "item" = ("item"::jsonb - 'Code')::json WHERE "storeId" = ${shop.store.id}`,
    )
    expect(codeOf(await put('key-1', list))).toBe('invalid-value')
    await setKind('existing')
    expect((await put('key-1', list)).body).not.toContain('Code')
  })

  test('so does a JSON route, also where an early version stored a word for the status', async () => {
    const { app, services, database } = server
    const headers = { authorization: `Bearer ${services.operatorKey}`, 'idempotency-key': 'key-0' }
    const payload = { ...storeInput(), SecureURL: shop.store.secureUrl }
    const make = () => app.inject({ method: 'POST', url: '/admin/stores', headers, payload })
    const [first, replay] = [await make(), await make()]
    expect([first.statusCode, codeOf(first), codeOf(replay)]).toEqual([409, 'not-unique', 'not-unique'])
    expect([replay.headers['idempotency-replayed'], replay.body]).toEqual(['true', first.body])
    const taken = { kind: 'conflict', message: 'Taken', field: '', logMessage: '' }
    const early = services.secrets.seal(JSON.stringify(taken))
    await database.db.$executeRawUnsafe(
      `UPDATE "IdempotencyAnswer" SET "item" = json_build_object('Value', '${early}') WHERE "storeId" = 0`,
    )
    const old = await make()
    expect([old.statusCode, codeOf(old), old.json()[0].Message]).toEqual([409, 'invalid-state', 'Taken'])
  })

  test('another body, and a request that is still running', async () => {
    await put('key-2', productBody('C-1'))
    expect(codeOf(await put('key-2', productBody('C-2')))).toBe('key-reused')
    const path = `/Products/${ids.product}`
    const both = await server.database.db.$transaction(async (tx) => {
      await tx.$queryRawUnsafe(`SELECT FROM "Product" WHERE "storeId" = ${shop.store.id} FOR UPDATE`)
      const sent = [put('key-3', { SKUInfo: { Price: 6 } }, path), put('key-3', { SKUInfo: { Price: 6 } }, path)]
      return { refused: await Promise.race(sent), sent }
    })
    expect([both.refused.statusCode, codeOf(both.refused)]).toEqual([409, 'in-progress'])
    await Promise.all(both.sent)
  })
})

describe('the codes', () => {
  test('are all refused with by a test', () => {
    const seen = new Set([...cases.map(([code]) => code), ...others, ...further, ...elsewhere])
    expect([...seen].sort()).toEqual([...errorCodes].sort())
  })

  test('are those of the reference, of /openapi.json and of the client', async () => {
    const read = (url: string) => server.app.inject({ url, headers: { accept: 'text/html' } })
    const index = (await read('/docs/errors')).body
    const listed = [...index.matchAll(/<a href="\/docs\/errors\/([a-z-]+)">/g)].map(([, code]) => code)
    expect(listed).toEqual(errorCodes)
    for (const code of errorCodes) {
      const { statusCode, body } = await read(`/docs/errors/${code}`)
      expect([code, statusCode]).toEqual([code, 200])
      expect(body).toContain(`HTTP status: ${statusOf[code]}`)
    }
    const found = await read('/docs/search?q=insufficient-stock')
    expect(found.body).toContain('<a href="/docs/errors/insufficient-stock">')
    const { schemas, headers } = openApiDocument(server.services.config).components as Record<
      string,
      Record<string, { enum?: string[] }>
    >
    expect(schemas?.ErrorCode?.enum).toEqual(errorCodes)
    expect(headers?.['X-Error-Code']).toMatchObject({ schema: { $ref: '#/components/schemas/ErrorCode' } })
    const client = readFileSync(new URL('../../../../clients/typescript/lib/schema.d.ts', import.meta.url), 'utf8')
    for (const code of errorCodes) expect(client).toContain(`"${code}"`)
  })
})
