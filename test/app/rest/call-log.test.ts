import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AnsweredCall, lastCalls } from '../../../src/applications/call-log.ts'
import { logCalls } from '../../../src/rest/admission.ts'
import { generateKey } from '../../../src/values/secrets.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'
import { productBody, refusalOf } from './fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())

/** What the log has of the shop's application, a line a call, the newest last. */
async function logged({ caller }: TestStore) {
  const { callLog } = server.services
  await callLog.flush()
  const subscriptionId = caller.application?.subscriptionId ?? 0
  const { calls, refusals } = await lastCalls(server.services, { subscriptionId, limit: 100 })
  const lines = (some: typeof calls) =>
    some.map(({ method, path, status, message }) => `${method} ${path} ${status} ${message}`.trim()).reverse()
  return { calls: lines(calls), refusals: lines(refusals) }
}

test('has each request that was answered, without its query', async () => {
  const shop = await server.openStore()
  await shop.call('POST', '/Products', { body: productBody('A') })
  await shop.call('GET', '/Products?limit=5&sku=A&email=ann@example.com', { version: 'v2', tolerated: true })
  await shop.call('HEAD', '/products/1')
  const { headers } = await shop.call('GET', '/Products/1')
  await shop.call('GET', '/Products/1', { headers: { 'if-none-match': String(headers.etag) } })
  expect(await logged(shop)).toEqual({
    calls: [
      'POST /StoreWebAPI/v1/Products 201',
      'GET /StoreWebAPI/v2/Products 200',
      'HEAD /StoreWebAPI/v1/products/1 200',
      'GET /StoreWebAPI/v1/Products/1 200',
      'GET /StoreWebAPI/v1/Products/1 304',
    ],
    refusals: [],
  })
})

test('has each refusal with what was said of it', async () => {
  const shop = await server.openStore({ privileges: { Products: ['read', 'write'] } })
  await shop.call('GET', '/Products/99')
  await shop.call('GET', '/Products/abc')
  await shop.call('PATCH', '/Products')
  await shop.call('GET', '/Orders')
  await shop.call('POST', '/Products', { body: '{', contentType: 'application/json' })
  await shop.call('POST', '/Products', { body: [productBody('A'), { SKUInfo: { Name: 'No SKU' } }] })
  await shop.call('PUT', '/Products', { body: [{ SKUInfo: { CatalogID: 98 } }, { SKUInfo: { CatalogID: 99 } }] })
  await shop.call('GET', '/Products/99', { accept: 'application/problem+json' })
  const { calls, refusals } = await logged(shop)
  // To a reader, 404 is an answer.
  expect(calls).toEqual([
    expect.stringMatching(/^GET \/StoreWebAPI\/v1\/Products\/99 404 .*99/),
    expect.stringMatching(/^POST \/StoreWebAPI\/v1\/Products 206 .*SKU/),
    expect.stringMatching(/^GET \/StoreWebAPI\/v1\/Products\/99 404 .*99/),
  ])
  expect(refusals).toEqual([
    expect.stringMatching(/^GET \/StoreWebAPI\/v1\/Products\/:id 400 .+/),
    'PATCH /StoreWebAPI/v1/Products 405 Method not allowed: this address takes GET, HEAD, POST, PUT',
    'GET /StoreWebAPI/v1/Orders 401 The application lacks the read privilege for Orders',
    expect.stringMatching(/^POST \/StoreWebAPI\/v1\/Products 400 .+/),
    'PUT /StoreWebAPI/v1/Products 404 There is no such record',
  ])
})

test('has the status in words where nothing else was said', async () => {
  const app = Fastify()
  const recorded: AnsweredCall[] = []
  app.decorateRequest('caller', null)
  logCalls(app, { record: (call) => recorded.push(call) })
  app.get('/late', (request, reply) => {
    request.refusedSubscriptionId = 5
    return reply.code(408).send()
  })
  await app.inject('/late')
  expect(recorded).toEqual([
    { subscriptionId: 5, method: 'GET', path: '/late', status: 408, message: 'Request Timeout' },
  ])
})

test('has of a defect that there was one, and nothing from inside', async () => {
  const shop = await server.openStore()
  const { db } = server.services
  await db.$executeRaw`ALTER TABLE "Manufacturer" RENAME TO "Gone"`
  await shop.call('GET', '/Manufacturers')
  await db.$executeRaw`ALTER TABLE "Gone" RENAME TO "Manufacturer"`
  expect((await logged(shop)).refusals).toEqual(['GET /StoreWebAPI/v1/Manufacturers 500 Internal error'])
})

test('has the reason of a 401 whose token is right, which the caller is not told', async () => {
  const shop = await server.openStore()
  const wrongKey = await shop.call('GET', '/Products', { headers: { privatekey: 'guessed' } })
  const wrongUrl = await shop.call('GET', '/Products', { headers: { secureurl: 'https://elsewhere.example' } })
  const wrongToken = await shop.call('GET', '/Products', { headers: { token: generateKey() } })
  expect(refusalOf(wrongKey)).toEqual(refusalOf(wrongToken))
  expect(refusalOf(wrongUrl)).toEqual(refusalOf(wrongToken))
  const prefix = 'GET /StoreWebAPI/v1/Products 401 Authentication failed:'
  expect(await logged(shop)).toEqual({
    calls: [],
    refusals: [
      `${prefix} the private key is not that of the application that the token is for`,
      `${prefix} the secure URL is not that of the store that the token is for`,
    ],
  })
})

test('has the reason of a 401 for the subscription’s token without its keys, whichever header carries it', async () => {
  const shop = await server.openStore()
  const authorization = `Bearer ${shop.token}`
  const none = { token: undefined, privatekey: undefined, secureurl: undefined }
  for (const headers of [{ ...none, authorization }, { ...none, token: shop.token }, { privatekey: undefined }]) {
    expect((await shop.call('GET', '/Products', { headers })).statusCode).toBe(401)
  }
  const prefix = 'GET /StoreWebAPI/v1/Products 401 Authentication failed: the token of the subscription came without'
  expect((await logged(shop)).refusals).toEqual([
    `${prefix} PrivateKey and SecureURL`,
    `${prefix} PrivateKey and SecureURL`,
    `${prefix} PrivateKey`,
  ])
})

test('has nothing of strangers', async () => {
  const before = await server.services.db.apiCall.count()
  const shop = await server.openStore()
  await shop.call('GET', '/Products', { headers: { token: generateKey() } })
  await shop.call('GET', '/Products', { headers: { token: undefined } })
  await server.app.inject({ method: 'GET', url: '/StoreWebAPI/v1/Nothing', headers: shop.credentials })
  await server.services.callLog.flush()
  expect(await server.services.db.apiCall.count()).toBe(before)
})

test('has what came with an access token under the subscription that it is for', async () => {
  const shop = await server.openStore()
  const { db, secrets, now } = server.services
  const token = generateKey()
  await db.accessToken.create({
    data: {
      subscriptionId: shop.caller.application?.subscriptionId ?? 0,
      tokenHash: secrets.lookup(token),
      codeHash: secrets.lookup(generateKey()),
      createdAt: now(),
    },
  })
  const headers = { authorization: `Bearer ${token}`, token: undefined, privatekey: undefined, secureurl: undefined }
  await shop.call('GET', '/Products?countonly=1', { headers })
  await shop.call('GET', '/Products', { headers: { ...headers, privatekey: 'guessed' } })
  const { calls, refusals } = await logged(shop)
  expect(calls).toEqual(['GET /StoreWebAPI/v1/Products 200'])
  expect(refusals).toEqual([expect.stringContaining('401 Authentication failed: the private key')])
})

test('has one line a second of a flood, from the application or from one who has its token', async () => {
  const shop = await server.openStore({ throttle: { capacity: 2, leakPerSecond: 1 } })
  for (let sent = 0; sent < 20; sent++) await shop.call('GET', '/Products?countonly=1')
  const tooMany = 'GET /StoreWebAPI/v1/Products 429 Too many requests; come back in 1 s'
  expect(await logged(shop)).toEqual({ calls: Array(2).fill('GET /StoreWebAPI/v1/Products 200'), refusals: [tooMany] })

  const robbed = await server.openStore()
  const guess = (remoteAddress: string) =>
    server.app.inject({
      method: 'GET',
      url: '/StoreWebAPI/v1/Products',
      headers: { ...robbed.credentials, privatekey: 'guessed' },
      remoteAddress,
    })
  for (let sent = 0; sent < 70; sent++) await guess('192.0.2.7')
  const { refusals } = await logged(robbed)
  expect(refusals).toHaveLength(51)
  expect(refusals.at(-1)).toBe(tooMany)
})
