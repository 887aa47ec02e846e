import { describe, expect, test } from 'vitest'
import { storeInput } from '../../../support/access.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { refused } from '../../../support/refused.ts'
import { ofTest, shared } from '../../../support/shared.ts'
import { openAdmin } from './fixture.ts'

const admin = await shared(openAdmin())
const secure = await shared(openAdmin({ publicUrl: 'https://api.shop.example' }))

test('without the operator’s key the answer is 401, before anything else is looked at', async () => {
  for (const authorization of ['', 'Bearer wrong', 'Bearer operator-key-for-test', 'Basic operator-key-for-tests']) {
    const headers = { authorization, 'content-type': 'text/html' }
    const answer = await admin.call('POST', '/admin/stores', undefined, { headers, remoteAddress: '192.0.2.1' })
    expect(refused(answer)).toEqual({
      statusCode: 401,
      key: 'Error',
      status: '401',
      field: 'Authorization',
      message: 'Authentication failed: Authorization must be Bearer and the operator key',
    })
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/)
  }
})

test('wrong keys are counted by client address, and never lock the right one out', async () => {
  const wrong = (remoteAddress: string) =>
    admin.call('GET', '/admin/stores', undefined, { headers: { authorization: 'Bearer wrong' }, remoteAddress })
  const answers = []
  for (let count = 0; count < 60; count++) answers.push(await wrong('198.51.100.1'))
  expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(50)
  const last = answers.at(-1)
  expect(last?.statusCode).toBe(429)
  expect(last?.headers['retry-after']).toBe('1')
  expect((await wrong('198.51.100.2')).statusCode).toBe(401)
  const right = await admin.call('GET', '/admin/stores', undefined, { remoteAddress: '198.51.100.1' })
  expect(right.statusCode).toBe(200)
  admin.clock.ms += 500
  expect((await wrong('198.51.100.1')).statusCode).toBe(401)
})

test('plain http is refused with 403 when PUBLIC_URL is https, even with the right key', async () => {
  const plain = await secure.call('GET', '/admin/stores')
  expect(refused(plain)).toMatchObject({
    statusCode: 403,
    message: expect.stringContaining('https://api.shop.example'),
  })
  const headers = { 'x-forwarded-proto': 'https' }
  expect((await secure.call('GET', '/admin/stores', undefined, { headers })).statusCode).toBe(200)
})

describe('a page over plain http, where PUBLIC_URL is https', () => {
  const trusted = '127.0.0.1'
  const stranger = '192.0.2.7'
  const byHttp = { 'x-forwarded-proto': 'http' }
  const byHttps = { 'x-forwarded-proto': 'https' }
  const open = (method: 'GET' | 'HEAD' | 'POST', remoteAddress: string, headers = {}, url = '') =>
    secure.app.inject({
      method,
      url: url || '/admin/audit?limit=5',
      headers: { accept: 'text/html', ...headers },
      remoteAddress,
    })

  test.each([
    ['GET', 'from nowhere but the client', stranger, {}],
    ['GET', 'through a proxy of TRUST_PROXY that says so', trusted, byHttp],
    ['HEAD', 'through a proxy of TRUST_PROXY that says so', trusted, byHttp],
    ['GET', 'through several, of which the last counts', trusted, { 'x-forwarded-proto': 'https, http' }],
    ['GET', 'through a proxy of TRUST_PROXY that says nothing', trusted, {}],
    ['GET', 'whatever host it names', trusted, { ...byHttp, host: 'evil.example', 'x-forwarded-host': 'evil.example' }],
  ] as const)('%s %s leads to https', async (method, _name, peer, headers) => {
    const { statusCode, headers: answered } = await open(method, peer, headers)
    expect([statusCode, answered.location]).toEqual([302, 'https://api.shop.example/admin/audit?limit=5'])
    expect(answered['cache-control']).toBe('no-store')
  })
  test.each([
    ['GET', 'back to itself behind a proxy that is not trusted', stranger, byHttps, /TRUST_PROXY/],
    ['GET', 'anywhere at the word of somebody who is not trusted', stranger, byHttp, /TRUST_PROXY/],
    ['POST', 'what a form sends', trusted, byHttp, /has to send X-Forwarded-Proto: https/],
    ['POST', 'what a form sends directly', stranger, {}, /Use https:\/\/api.shop.example: plain http is refused/],
    ['GET', 'a program', trusted, { ...byHttp, accept: 'application/json' }, /plain http is refused/],
  ] as const)('%s never leads %s', async (method, _name, peer, headers, says) => {
    const answer = await open(method, peer, headers, method === 'POST' ? '/admin/sign-in' : '')
    expect([answer.statusCode, answer.headers.location]).toEqual([403, undefined])
    expect(answer.body).toMatch(says)
  })
  test('a trusted proxy that ended TLS is served', async () => {
    const answer = await open('GET', trusted, byHttps)
    expect([answer.statusCode, answer.headers.location]).toEqual([303, expect.stringMatching(/^\/admin\/sign-in/)])
  })
})

test('answers with keys are not to be stored', async () => {
  const answer = await admin.call('GET', '/admin/applications')
  expect(answer.headers['cache-control']).toBe('no-store')
})

test.each([
  ['broken JSON', { payload: '{"Name": "secret-in-body', type: 'application/json' }, 400],
  ['a list', { payload: '[]', type: 'application/json' }, 400],
  ['nothing', { payload: '', type: 'application/json' }, 400],
  ['a forbidden name', { payload: '{"__proto__": {"Name": "x"}}', type: 'application/json' }, 400],
  ['deep nesting', { payload: `${'['.repeat(200_000)}${']'.repeat(200_000)}`, type: 'application/json' }, 400],
  ['another type', { payload: 'Name=x', type: 'application/x-www-form-urlencoded' }, 415],
  ['text', { payload: '{"Name": "x"}', type: 'text/plain' }, 415],
  ['more than 1 MB', { payload: JSON.stringify({ Name: 'x'.repeat(1_048_576) }), type: 'application/json' }, 413],
])('a body that is %s is refused in words of ours', async (_, { payload, type }, statusCode) => {
  const answer = await admin.call('POST', '/admin/stores', payload, { headers: { 'content-type': type } })
  expect(refused(answer)).toMatchObject({ statusCode, key: 'Error', status: String(statusCode) })
  expect(answer.body).not.toContain('secret-in-body')
})

test('no secret comes into the log', async () => {
  const { call, services, log } = admin
  const input = { ...storeInput(), Password: 'a password that nobody logs' }
  const store = (await call('POST', '/admin/stores', input)).json()
  await call('POST', '/admin/stores', input)
  await call('POST', '/admin/stores', { ...input, Email: 'no address' })
  const application = (await call('POST', '/admin/applications', { Name: 'App' })).json()
  const subscriptions = `/admin/stores/${store.Id}/subscriptions`
  const { Token } = (await call('POST', subscriptions, { PublicKey: application.PublicKey })).json()
  await call('GET', '/admin/stores')
  await call('GET', '/admin/applications')
  const [{ Id }] = (await call('GET', subscriptions)).json()
  await call('DELETE', `${subscriptions}/${Id}`)
  await call('GET', '/admin/stores', undefined, { headers: { authorization: 'Bearer a-wrong-operator-key' } })
  const logged = log.join('')
  expect(logged).toContain('Email must be an e-mail address')
  expect(logged).toContain('wrong operator key')
  const secrets = [
    store.UserKey,
    application.PrivateKey,
    Token,
    services.operatorKey,
    'a-wrong-operator-key',
    input.Password,
  ]
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(15)
    expect(logged).not.toContain(secret)
  }
  expect(logged).not.toContain('secret-in-body')
})

test('a defect answers 500 without text from inside, and the log has it', async () => {
  const broken = await ofTest(openAdmin({ openDatabase: cloneDatabase }))
  await broken.services.db.$executeRaw`ALTER TABLE "Application" RENAME TO "Gone"`
  const answer = await broken.call('GET', '/admin/applications')
  expect(refused(answer)).toMatchObject({ statusCode: 500, field: '', message: 'Internal error' })
  expect(broken.log.join('')).toContain('request failed')
})
