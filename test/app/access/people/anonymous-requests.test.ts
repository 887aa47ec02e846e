import { beforeEach, describe, expect, test } from 'vitest'
import { operatorKey } from '../../../support/services.ts'
import { sharedServer } from '../../../support/store.ts'
import { envelope, faultOf, request } from '../../http/soap/support.ts'

// What may be sent by nobody in particular: how large, and how often from one network.

const server = await sharedServer({ TRUST_PROXY: '127.0.0.1' })
const shop = await server.openStore()

let network = 0
let from: { 'x-forwarded-for': string }
beforeEach(() => {
  from = { 'x-forwarded-for': `198.51.100.${++network}` }
})

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const xml = { 'content-type': 'text/xml; charset=utf-8' }

const doors = [
  { door: 'sign-in', url: '/admin/sign-in', headers: json, broken: '{', status: 400 },
  { door: 'sign-in by a form', url: '/admin/sign-in', headers: form, broken: '_csrf=x', status: 403 },
  { door: 'sign-up', url: '/developers/sign-up', headers: json, broken: '{', status: 400 },
  { door: 'a token', url: '/oauth/token', headers: form, broken: 'client_id=%zz', status: 400 },
  { door: 'the end of a token', url: '/oauth/revoke', headers: form, broken: 'client_id=%zz', status: 400 },
  { door: 'cartAPI', url: '/cart.asmx', headers: xml, broken: '<', status: 500 },
] as const

const post = (url: string, payload: string, headers: Record<string, string>) =>
  server.app.inject({ method: 'POST', url, payload, headers: { ...from, ...headers } })

/** As if this many had come from the network. */
function spend(count: number) {
  for (let sent = 0; sent < count; sent++) server.services.throttle.requireAnonymous(from['x-forwarded-for'])
}

describe.each(doors)('$door', ({ url, headers, broken, status }) => {
  test('takes 1,000 requests in a burst from one network, and looks at no body beyond that', async () => {
    spend(999)
    expect((await post(url, broken, headers)).statusCode).toBe(status)
    const refused = await post(url, broken, headers)
    if (url === '/cart.asmx') expect(faultOf(refused)).toMatchObject({ status: 500, code: 'Server', reason: tooMany })
    else expect([refused.statusCode, refused.body]).toEqual([429, expect.stringContaining(tooMany)])
    expect(refused.headers['retry-after']).toBe('1')
    server.clock.ms += 100
    expect((await post(url, broken, headers)).statusCode).toBe(status)
  })
})
const tooMany = 'Too many requests; come back in 1 s'

test('one network does not use up the requests of another, and a /64 is one network', async () => {
  spend(1_000)
  expect((await post('/admin/sign-in', '{}', json)).statusCode).toBe(429)
  from = { 'x-forwarded-for': '203.0.113.9' }
  expect((await post('/admin/sign-in', '{}', json)).statusCode).toBe(400)
  from = { 'x-forwarded-for': '2001:db8:9::1' }
  spend(1_000)
  from = { 'x-forwarded-for': '2001:db8:9::2' }
  expect((await post('/admin/sign-in', '{}', json)).statusCode).toBe(429)
})

describe('strangers of the network that used up its requests do not lock out', () => {
  test('the operator, a program with its three headers, and who is signed in', async () => {
    const signIn = { Store: shop.store.secureUrl, Email: 'merchant@shop.example', Password: 'correct horse battery' }
    const entered = await post('/admin/sign-in', JSON.stringify(signIn), json)
    expect(entered.statusCode, entered.body).toBe(200)
    const cookie = entered.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    spend(1_000 - 1)
    expect((await post('/admin/sign-in', '{}', json)).statusCode).toBe(429)

    const byOperator = await post('/admin/stores', '{}', { ...json, authorization: `Bearer ${operatorKey}` })
    expect(byOperator.statusCode).toBe(400)
    const byMerchant = await post('/admin/account/password', '{}', { ...json, cookie })
    expect(byMerchant.statusCode).toBe(400)
    const byProgram = await post('/StoreWebAPI/v1/Manufacturers', '{"ManufacturerName":"M"}', {
      ...json,
      ...shop.credentials,
    })
    expect(byProgram.statusCode).toBe(201)
  })
})

test('a call of cartAPI with valid credentials is not counted, however many come', async () => {
  const valid = envelope(request(shop, 'getProductCount'))
  spend(999)
  for (let sent = 0; sent < 5; sent++) expect((await post('/cart.asmx', valid, xml)).statusCode).toBe(200)
  const wrong = envelope(request(shop, 'getProductCount', { userKey: 'wrong' }))
  expect((await post('/cart.asmx', wrong, xml)).statusCode).toBe(200)
  expect(faultOf(await post('/cart.asmx', valid, xml))).toMatchObject({ status: 500, code: 'Server', reason: tooMany })
})

describe('the largest body', () => {
  const kB = 1_024
  const text = (bytes: number, before: string, after = '') =>
    before + 'x'.repeat(bytes - before.length - after.length) + after
  const jsonOf = (bytes: number) => text(bytes, '{"a":"', '"}')
  const key = { authorization: `Bearer ${operatorKey}` }

  test.each([
    ['sign-in', '/admin/sign-in', json, 16, jsonOf],
    ['sign-in by a form', '/admin/sign-in', form, 16, (bytes: number) => text(bytes, 'a=')],
    ['sign-up', '/developers/sign-up', json, 16, jsonOf],
    ['a token', '/oauth/token', form, 16, (bytes: number) => text(bytes, 'code=')],
    ['what is no form for a token', '/oauth/token', json, 16, jsonOf],
    ['cartAPI', '/cart.asmx', xml, 256, (bytes: number) => text(bytes, '<a>', '</a>')],
    ['the operator', '/admin/stores', { ...json, ...key }, 1_024, jsonOf],
  ] as const)('of %s', async (_name, url, headers, kiloBytes, payloadOf) => {
    const taken = await post(url, payloadOf(kiloBytes * kB), headers)
    expect(taken.statusCode).not.toBe(413)
    const refused = await post(url, payloadOf(kiloBytes * kB + 1), headers)
    expect(refused.statusCode).toBe(413)
    const size = kiloBytes < 1_024 ? `${kiloBytes} kB` : '1 MB'
    expect(refused.body).toContain(`The body is larger than ${size}`)
  })

  test('of an address that does not exist is not looked at', async () => {
    for (const headers of [json, form, xml]) expect((await post('/nowhere', '{"broken', headers)).statusCode).toBe(404)
  })
})

describe('a body with more than there can be sense in is refused before it is parsed', () => {
  const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"n${index}":1`).join(',')}}`
  const key = { authorization: `Bearer ${operatorKey}` }

  test.each([
    ['names', members(1_001), 'The body has an object with more than 1000 members'],
    ['values', `{"a":[${'{"b":1},'.repeat(20_000)}1]}`, 'The body has more than 40000 values'],
    ['levels', '['.repeat(100_000), 'The body is nested deeper than 32 levels'],
  ])('%s', async (_name, payload, message) => {
    const answer = await post('/admin/stores', payload, { ...json, ...key })
    expect([answer.statusCode, answer.json()[0].Message]).toEqual([400, expect.stringContaining(message)])
  })

  test('fields of a form', async () => {
    const refused = await post('/admin/sign-in', 'a=&'.repeat(2_000), form)
    expect([refused.statusCode, refused.json()[0].Message]).toEqual([400, 'The form has more than 2000 fields'])
    // Taken as a form, it lacks its token.
    expect((await post('/admin/sign-in', 'a=&'.repeat(1_999), form)).statusCode).toBe(403)
  })
})
