import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { type AnsweredCall, lastCalls } from '../../../../src/access/applications/calls/call-log.ts'
import { keepBodies } from '../../../../src/access/applications/subscriptions/terms.ts'
import { generateKey } from '../../../../src/foundation/values/secrets.ts'
import { logCalls } from '../../../../src/http/rest/admission.ts'
import { sweepsByAge } from '../../../../src/parts/retention.ts'
import { operator } from '../../../support/actors.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { productBody, refusalOf } from './fixture.ts'

const server = await sharedServer()

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
  const answered = { method: 'GET', path: '/late', status: 408, message: 'Request Timeout' }
  expect(recorded).toEqual([{ subscriptionId: 5, ...answered, requestId: expect.any(String), ignored: [], body: null }])
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
      `${prefix} the token is not one of the application in this store`,
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

test('has the reason of a 401 that has the application’s private key, or an ended token of it in the store', async () => {
  const [shop, other] = [await server.openStore(), await server.openStore()]
  const { db, secrets } = server.services
  const ended = generateKey()
  await db.endedToken.create({
    data: { tokenHash: secrets.lookup(ended), storeId: shop.store.id, applicationId: shop.application.id },
  })
  const none = { token: undefined, privatekey: undefined, secureurl: undefined }
  const requests = [
    { token: undefined },
    { token: ended },
    { ...none, token: ended },
    { ...none, authorization: `Bearer ${ended}` },
    // The token of the shop does not end in another store, of which the key is.
    { ...other.credentials, token: ended },
  ]
  for (const headers of requests) {
    const { statusCode, body } = await shop.call('GET', '/Products', { headers })
    expect([statusCode, body.includes('ended')]).toEqual([401, false])
  }
  const prefix = 'GET /StoreWebAPI/v1/Products 401 Authentication failed:'
  expect((await logged(shop)).refusals).toEqual([
    `${prefix} the header Token is missing`,
    ...Array(3).fill(`${prefix} the token has ended`),
  ])
  expect((await logged(other)).refusals).toEqual([`${prefix} the token is not one of the application in this store`])
})

test('has nothing of strangers, however often they come with what everybody may know', async () => {
  const before = await server.services.db.apiCall.count()
  const [shop, other] = [await server.openStore(), await server.openStore()]
  const { db, secrets, now } = server.services
  const former = generateKey()
  await db.application.update({
    where: { id: shop.application.id },
    data: { previousPrivateKeyHash: secrets.lookup(former), previousPrivateKeyUntil: now() },
  })
  const unknown = { token: generateKey() }
  const none = { token: undefined, privatekey: undefined }
  const strangers = [
    none,
    { ...none, ...unknown },
    { ...unknown, privatekey: generateKey() },
    { ...none, privatekey: shop.application.publicKey },
    { ...none, authorization: `Bearer ${generateKey()}` },
    // A key that is over proves nothing: it may have been rotated because it leaked.
    { ...none, privatekey: former },
    // The key of another application, which the store does not use.
    { ...unknown, privatekey: other.credentials.privatekey },
    { ...unknown, secureurl: undefined },
    { ...unknown, secureurl: 'https://elsewhere.example' },
  ]
  for (const headers of strangers) {
    expect((await shop.call('GET', '/Products', { headers })).statusCode).toBe(401)
  }
  await server.app.inject({ method: 'GET', url: '/StoreWebAPI/v1/Nothing', headers: shop.credentials })
  await server.services.callLog.flush()
  expect(await server.services.db.apiCall.count()).toBe(before)
})

test('has the request id of each answer', async () => {
  const shop = await server.openStore()
  const { headers } = await shop.call('GET', '/Products')
  await shop.call('GET', '/Products/abc', { headers: { 'x-request-id': 'mine-1' } })
  const { calls, refusals } = await keptOf(shop)
  expect([calls, refusals].map(([call]) => call?.requestId)).toEqual([headers['x-request-id'], 'mine-1'])
})

/** What the log keeps, the newest first. */
async function keptOf({ caller }: TestStore) {
  await server.services.callLog.flush()
  return lastCalls(server.services, { subscriptionId: caller.application?.subscriptionId ?? 0, limit: 100 })
}

describe('the body of a refused request', () => {
  /** A shop whose merchant lets bodies be kept, or not any more. */
  async function switched(isKept: boolean, shop: TestStore) {
    const subscriptionId = shop.caller.application?.subscriptionId ?? 0
    await keepBodies(server.services, { storeId: shop.store.id, subscriptionId, isKept, actor: operator })
    return shop
  }

  const bodiesOf = async (shop: TestStore) => (await keptOf(shop)).refusals.map(({ body }) => body)

  test('is kept only where the merchant allows it, and deleted when that ends, wherever it waits', async () => {
    const shop = await server.openStore()
    const refuse = () => shop.call('PUT', '/Products', { body: { SKUInfo: { CatalogID: 99 } } })
    await refuse()
    expect(await bodiesOf(shop)).toEqual([null])
    await switched(true, shop)
    await refuse()
    expect(await bodiesOf(shop)).toEqual(['{"SKUInfo":{"CatalogID":99}}', null])
    await refuse()
    await switched(false, shop)
    await refuse()
    expect(await bodiesOf(shop)).toEqual([null, null, null, null])
    expect(await server.services.db.refusedBody.count()).toBe(0)
  })

  test('is what was read: without secrets, cards and what the store does not know; names stay', async () => {
    const shop = await switched(true, await server.openStore())
    const password = 'hunter2-hunter2'
    const customer = {
      Email: 'no address',
      Password: password,
      BillingCity: 'Rome',
      Pasword: password,
      Nested: { a: 1 },
    }
    expect((await shop.call('POST', '/Customers', { body: customer, tolerated: true })).statusCode).toBe(400)
    const order = {
      CardNumber: '4111111111111111',
      CardName: 'Ann',
      CustomerComments: 'pay 4111 1111 1111 1111',
      OrderID: 9,
    }
    expect((await shop.call('PUT', '/Orders', { body: order })).statusCode).toBe(404)
    const leaked = {
      SKUInfo: { SKU: shop.credentials.privatekey, Name: 'N', Price: 'cheap', Description: `"${shop.token}"` },
    }
    expect((await shop.call('POST', '/Products', { body: leaked })).statusCode).toBe(400)
    const { refusals } = await keptOf(shop)
    expect(refusals.map(({ body }) => JSON.parse(body ?? ''))).toEqual([
      { SKUInfo: { SKU: '(not kept)', Name: 'N', Price: 'cheap', Description: '(not kept)' } },
      { CardNumber: '(not kept)', CardName: '(not kept)', CustomerComments: 'pay (not kept)', OrderID: 9 },
      { Email: 'no address', Password: '(not kept)', BillingCity: 'Rome', Pasword: '(not kept)', Nested: '(not kept)' },
    ])
  })

  test('is kept of XML too, as what was read of it', async () => {
    const shop = await switched(true, await server.openStore())
    const body = '<Product><SKUInfo><CatalogID>99</CatalogID><Secret>s3</Secret></SKUInfo></Product>'
    const { statusCode } = await shop.call('PUT', '/Products', {
      body,
      contentType: 'application/xml',
      tolerated: true,
    })
    expect([statusCode, await bodiesOf(shop)]).toEqual([404, ['{"SKUInfo":{"CatalogID":"99","Secret":"(not kept)"}}']])
  })

  test('is kept neither of what succeeds, in part or wholly, nor of what was not read', async () => {
    const shop = await switched(true, await server.openStore())
    expect((await shop.call('POST', '/Products', { body: productBody('A') })).statusCode).toBe(201)
    const some = [productBody('B'), { SKUInfo: { Name: 'No SKU' } }]
    expect((await shop.call('POST', '/Products', { body: some })).statusCode).toBe(206)
    expect((await shop.call('POST', '/Products', { body: '{', contentType: 'application/json' })).statusCode).toBe(400)
    expect((await shop.call('PATCH', '/Products', { body: some })).statusCode).toBe(405)
    expect(await bodiesOf(shop)).toEqual([null, null])
    expect((await keptOf(shop)).calls.map(({ body }) => body)).toEqual([null, null])
  })

  test('goes after seven days, and with the subscription', async () => {
    const shop = await switched(true, await server.openStore())
    const { db } = server.services
    const at = server.clock.ms
    await shop.call('PUT', '/Products', { body: { SKUInfo: { CatalogID: 99 } } })
    expect(await bodiesOf(shop)).toHaveLength(1)
    server.clock.ms = at + 7 * 86_400_000
    expect(await bodiesOf(shop)).toEqual([null])
    await sweepsByAge(server.services, { historyDays: null })['old bodies of refused requests'](() => false)
    expect(await db.refusedBody.count()).toBe(0)
    await shop.call('PUT', '/Products', { body: { SKUInfo: { CatalogID: 99 } } })
    expect(await bodiesOf(shop)).toEqual(['{"SKUInfo":{"CatalogID":99}}', null])
    await db.subscription.delete({ where: { id: shop.caller.application?.subscriptionId ?? 0 } })
    expect(await db.refusedBody.count()).toBe(0)
    server.clock.ms = at
  })
})

describe('GET /Calls', () => {
  test('has the caller’s own calls and refusals, the newest first, and not those of this address', async () => {
    const [shop, other] = [await server.openStore({ privileges: {} }), await server.openStore()]
    await other.call('GET', '/Products/abc')
    const at = server.clock.ms
    const { headers } = await shop.call('GET', '/Products')
    server.clock.ms = at + 1_000
    await shop.call('DELETE', '/Products/1')
    await server.services.callLog.flush()
    const refused = (Method: string, Path: string, access: string) => ({
      Method,
      Path,
      Status: 401,
      Message: `The application lacks the ${access} privilege for Products`,
      Ignored: '',
      Body: '',
    })
    const first = { Id: expect.any(Number), Date: '2026-03-10T12:00:00', RequestID: headers['x-request-id'] }
    const second = { Id: expect.any(Number), Date: '2026-03-10T12:00:01', RequestID: expect.any(String) }
    const all = [
      { ...second, ...refused('DELETE', '/StoreWebAPI/v1/Products/1', 'write') },
      { ...first, ...refused('GET', '/StoreWebAPI/v1/Products', 'read') },
    ]
    const calls = async (query = '') => (await shop.call('GET', `/Calls${query}`)).json()
    expect(await calls()).toEqual(all)
    expect(await calls('?limit=1')).toEqual(all.slice(0, 1))
    expect(await calls('?refused=1&limit=900')).toEqual(all)
    expect(await calls('?$select=Path')).toEqual(all.map(({ Path }) => ({ Path })))
    const { body } = await shop.call('GET', '/Calls?refused=1&limit=1', { accept: 'application/xml', version: 'v2' })
    expect(body).toMatch(/^<\?xml[^>]*><ArrayOfCall [^>]*><Call><Id>\d+<\/Id><Date>2026-03-10T12:00:01<\/Date>/)
    await server.services.callLog.flush()
    expect(await calls()).toEqual(all)
    server.clock.ms = at
  })

  test('with refused=1 it leaves out what was answered; names that were passed over and bodies are shown', async () => {
    const shop = await server.openStore()
    const { callLog } = server.services
    await shop.call('GET', '/Products')
    await callLog.flush()
    expect((await shop.call('GET', '/Calls')).json()).toHaveLength(1)
    expect((await shop.call('GET', '/Calls?refused=1')).json()).toEqual([])
    const subscriptionId = shop.caller.application?.subscriptionId ?? 0
    const call = { method: 'PUT', path: '/p', status: 400, message: 'm', requestId: 'r', body: null }
    callLog.record({ subscriptionId, ...call, ignored: ['SKUInfo.Prise', 'lastupdatestrat'] })
    await callLog.flush()
    const [newest] = (await shop.call('GET', '/Calls?refused=1')).json()
    expect(newest).toMatchObject({ Ignored: 'SKUInfo.Prise, lastupdatestrat', Status: 400 })
  })

  test('refuses wrong parameters, other methods and strangers, and logs none of that', async () => {
    const shop = await server.openStore()
    for (const [query, field] of [
      ['refused=yes', 'refused'],
      ['refused=1&refused=0', 'refused'],
      ['limit=x', 'limit'],
    ]) {
      expect(refusalOf(await shop.call('GET', `/Calls?${query}`))).toMatchObject({ statusCode: 400, field })
    }
    const posted = await shop.call('POST', '/Calls')
    expect([posted.statusCode, posted.headers.allow]).toEqual([405, 'GET, HEAD'])
    expect((await shop.call('GET', '/Calls', { headers: { privatekey: 'guessed' } })).statusCode).toBe(401)
    expect(await logged(shop)).toEqual({ calls: [], refusals: [] })
  })
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
