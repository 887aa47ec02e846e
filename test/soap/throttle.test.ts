import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { updateStore } from '../../src/access/stores.ts'
import { operator } from '../support/actors.ts'
import { openServer, type TestServer, type TestStore } from '../support/store.ts'
import { envelope, faultOf, post, request } from './support.ts'

// One bucket for each store (contract §8; soap-cartapi 1.2 names no other caller than the store).

let server: TestServer
beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())
beforeEach(() => {
  server.clock.ms += 60_000
})

type Parameters = Record<string, string>

async function burst(shop: TestStore, count: number, parameters: Parameters = {}, version: '1.1' | '1.2' = '1.1') {
  const answers: LightMyRequestResponse[] = []
  const payload = envelope(request(shop, 'getProductCount', parameters), version)
  for (let sent = 0; sent < count; sent++) answers.push(await post(server, payload, { version }))
  return answers
}

const kinds = (answers: LightMyRequestResponse[]) =>
  answers.map(({ statusCode, body }) => {
    if (statusCode !== 200) return statusCode
    return Number(/<Id>(\d+)<\/Id>/.exec(body)?.[1] ?? statusCode)
  })

const countOf = (answers: LightMyRequestResponse[], kind: number) =>
  kinds(answers).filter((each) => each === kind).length

const setFigures = (shop: TestStore, Throttle: object | null) =>
  updateStore(server.services, shop.store.id, { Throttle }, operator)

test('of 60 calls in a burst 50 are answered and 10 refused, and ten more are answered after 5 s', async () => {
  const shop = await server.openStore({ throttle: null })
  const first = await burst(shop, 60)
  expect(kinds(first)).toEqual([...Array(50).fill(200), ...Array(10).fill(429)])
  server.clock.ms += 4_999
  expect(kinds(await burst(shop, 10))).toEqual([...Array(9).fill(200), 429])
  server.clock.ms += 1
  expect(kinds(await burst(shop, 2))).toEqual([200, 429])
})

test('a refused call is a fault of the server, with the time to wait, and is right about it', async () => {
  const shop = await server.openStore({ throttle: null })
  await setFigures(shop, { Capacity: 3, LeakPerSecond: 0.4 })
  await burst(shop, 3)
  for (const version of ['1.1', '1.2'] as const) {
    const [refused] = (await burst(shop, 1, {}, version)) as [LightMyRequestResponse]
    expect(faultOf(refused)).toEqual({
      status: 429,
      version,
      code: version === '1.1' ? 'Server' : 'Receiver',
      reason: 'Too many requests; come back in 3 s',
      header: '',
    })
    expect(refused.headers).toMatchObject({
      'retry-after': '3',
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '0',
      'ratelimit-policy': '"default";q=3;w=8',
      ratelimit: '"default";r=0;t=8',
    })
  }
  server.clock.ms += 2_499
  expect(kinds(await burst(shop, 1))).toEqual([429])
  server.clock.ms += 1
  expect(kinds(await burst(shop, 1))).toEqual([200])
})

test('every answer tells the state of the bucket, error documents and faults behind the door too', async () => {
  const shop = await server.openStore({ throttle: null })
  const [first] = (await burst(shop, 1)) as [LightMyRequestResponse]
  expect(first.headers).toMatchObject({
    'x-ratelimit-limit': '50',
    'x-ratelimit-remaining': '49',
    'ratelimit-policy': '"default";q=50;w=25',
    ratelimit: '"default";r=49;t=1',
  })
  expect(first.headers['retry-after']).toBeUndefined()
  const [error] = (await burst(shop, 1, { callBackURL: 'string' })) as [LightMyRequestResponse]
  expect(kinds([error])).toEqual([40])
  expect(error.headers['x-ratelimit-remaining']).toBe('48')
})

test('the store’s own figures count at once, and the contract’s when they are taken away', async () => {
  const shop = await server.openStore({ throttle: null })
  await setFigures(shop, { Capacity: 2, LeakPerSecond: 1 })
  expect(kinds(await burst(shop, 3))).toEqual([200, 200, 429])
  await setFigures(shop, { Capacity: 100, LeakPerSecond: 1 })
  const more = await burst(shop, 99)
  expect([countOf(more, 200), countOf(more, 429)]).toEqual([98, 1])
  await setFigures(shop, null)
  server.clock.ms += 60_000
  expect((await burst(shop, 1))[0]?.headers['x-ratelimit-limit']).toBe('50')
})

test('stores do not share a bucket; the operations, both versions and all namespaces of one store do', async () => {
  const figures = { Capacity: 3, LeakPerSecond: 1 }
  const [shop, other] = [await server.openStore({ throttle: null }), await server.openStore({ throttle: null })]
  for (const each of [shop, other]) await setFigures(each, figures)
  expect(kinds(await burst(shop, 1))).toEqual([200])
  expect(kinds(await burst(shop, 1, {}, '1.2'))).toEqual([200])
  const customers = await post(server, envelope(request(shop, 'getCustomerCount')))
  expect(kinds([customers])).toEqual([200])
  expect(kinds(await burst(shop, 1, { storeUrl: `www.${new URL(shop.store.secureUrl).host}` }))).toEqual([429])
  expect(kinds(await burst(other, 3))).toEqual([200, 200, 200])
})

test('REST has a bucket of its own', async () => {
  const shop = await server.openStore({ throttle: { Capacity: 2, LeakPerSecond: 1 } })
  await setFigures(shop, { Capacity: 2, LeakPerSecond: 1 })
  expect(kinds(await burst(shop, 3))).toEqual([200, 200, 429])
  const rest = async () => (await shop.call('GET', '/Products?countonly=1')).statusCode
  expect([await rest(), await rest(), await rest()]).toEqual([200, 200, 429])
  server.clock.ms += 1_000
  expect(await rest()).toBe(200)
  expect(kinds(await burst(shop, 2))).toEqual([200, 429])
})

test('a full bucket refuses before anything is looked at: what is wrong is not told then', async () => {
  const shop = await server.openStore({ throttle: null })
  await setFigures(shop, { Capacity: 1, LeakPerSecond: 1 })
  expect(kinds(await burst(shop, 2, { callBackURL: 'string' }))).toEqual([40, 429])
})

test('refused credentials count against the address, and leave the bucket of the right key alone', async () => {
  const shop = await server.openStore({ throttle: null })
  const strangers = await burst(shop, 52, { userKey: 'guessed' })
  expect(kinds(strangers)).toEqual([...Array(50).fill(17), 429, 429])
  const last = strangers.at(-1) as LightMyRequestResponse
  expect(faultOf(last)).toMatchObject({ status: 429, code: 'Server' })
  expect(last.headers['retry-after']).toBe('1')
  expect(last.headers['x-ratelimit-remaining']).toBe('0')
  const [right] = await burst(shop, 1)
  expect([right?.statusCode, right?.headers['x-ratelimit-remaining']]).toEqual([200, '49'])
  // The same for what is missing, switched off, or from an address that may not.
  expect(kinds(await burst(shop, 1, { userKey: '' }))).toEqual([429])
  expect(kinds(await burst(shop, 1, { storeUrl: '' }))).toEqual([429])
  const set = (CartAPI: object) => updateStore(server.services, shop.store.id, { CartAPI }, operator)
  await set({ Enabled: false })
  expect(kinds(await burst(shop, 1))).toEqual([429])
  await set({ Enabled: true, Addresses: ['10.0.0.5'] })
  expect(kinds(await burst(shop, 1))).toEqual([429])
  server.clock.ms += 500
  expect(kinds(await burst(shop, 2))).toEqual([16, 429])
})

test('every kind of refusal fills the bucket of the address, and REST’s refusals the same one', async () => {
  const shop = await server.openStore({ throttle: null })
  const remaining = async (parameters: Parameters) =>
    (await burst(shop, 1, parameters))[0]?.headers['x-ratelimit-remaining']
  expect(await remaining({ userKey: '' })).toBe('49')
  expect(await remaining({ storeUrl: '' })).toBe('48')
  expect(await remaining({ storeUrl: 'elsewhere.example' })).toBe('47')
  expect((await shop.call('GET', '/Products', { headers: { token: 'guessed' } })).statusCode).toBe(401)
  expect(await remaining({ userKey: 'guessed' })).toBe('45')
})

test('one address does not use up another’s', async () => {
  const shop = await server.openStore({ throttle: null })
  await burst(shop, 51, { userKey: 'guessed' })
  const from = (remoteAddress: string) =>
    server.app.inject({
      method: 'POST',
      url: '/cart.asmx',
      remoteAddress,
      headers: { 'content-type': 'text/xml' },
      payload: envelope(request(shop, 'getProductCount', { userKey: 'guessed' })),
    })
  expect(kinds([await from('127.0.0.1'), await from('203.0.113.7')])).toEqual([429, 17])
})

test('of 60 calls at once no more than 50 are answered', async () => {
  const shop = await server.openStore({ throttle: null })
  const payload = envelope(request(shop, 'getProductCount'))
  const answers = await Promise.all(Array.from({ length: 60 }, () => post(server, payload)))
  expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([50, 10])
})
