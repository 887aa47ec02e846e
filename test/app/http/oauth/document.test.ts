import type { LightMyRequestResponse } from 'fastify'
import { expect, test } from 'vitest'
import { answerFaults } from '../../../support/answer-faults.ts'
import { readOpenApi } from '../../../support/openapi.ts'
import { testPerson } from '../../../support/person.ts'
import { sharedServer } from '../../../support/store.ts'
import { codeOf, decide, exchangeOf, openClient, openShop, page, post, queryOf } from './fixture.ts'

const seen = new Set<string>()
const server = await sharedServer()
const api = readOpenApi((await server.app.inject('/openapi.json')).json())

/** What is the same on every page, and on whatever nobody may keep. */
const plain = [
  'content-security-policy',
  'cross-origin-opener-policy',
  'referrer-policy',
  'set-cookie',
  'x-content-type-options',
]

/** Holds an answer against the reference. */
function check(method: 'GET' | 'POST', url: string, status: number, answer: LightMyRequestResponse) {
  expect([answer.statusCode, answer.body], `${method} ${url}`).toEqual([status, expect.anything()])
  const found = api.find(url)
  const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !plain.includes(name)))
  const { statusCode, body } = answer
  const exchange = {
    method,
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: '',
    isTolerated: false,
    answer: { statusCode, headers, body } as LightMyRequestResponse,
  }
  expect(answerFaults(api, found, exchange), `${method} ${url} ${status}`).toEqual([])
  seen.add(`${method} ${found?.address.path}`)
}

test('every address of OAuth answers as the reference says', async () => {
  const client = await openClient(server)
  const shop = await openShop(server)
  const stranger = testPerson(server.app)
  const url = (changes = {}, store = true) => `${page}?${queryOf(client, store ? shop.store : null, changes)}`

  check('GET', url(), 200, await shop.merchant.open(url()))
  check('GET', url({}, false), 200, await stranger.open(url({}, false)))
  check('GET', url(), 302, await stranger.open(url()))
  check('GET', url({ client_id: 'x' }), 400, await stranger.open(url({ client_id: 'x' })))
  const query = queryOf(client, shop.store)
  check('POST', url(), 302, await decide(shop.merchant, query))
  check('POST', url(), 200, await decide(shop.merchant, query, 'allow', { accept: 'application/json' }))
  check('POST', url(), 400, await decide(shop.merchant, query, 'perhaps'))

  const code = await codeOf(shop, client)
  const token = (form: object, headers = {}) => post(server, '/oauth/token', { ...form }, headers)
  const given = await token(exchangeOf(client, code))
  check('POST', '/oauth/token', 200, given)
  check('POST', '/oauth/token', 400, await token(exchangeOf(client, code)))
  check('POST', '/oauth/token', 401, await token({}))
  check('POST', '/oauth/token', 413, await token({ code: 'x'.repeat(70_000) }))
  check('POST', '/oauth/token', 415, await token({ code: 'x' }, { 'content-type': 'text/plain' }))
  const own = await openClient(server, { Name: 'New', Kind: 'new' })
  const granted = await token(exchangeOf(own, await codeOf(shop, own)))
  check('POST', '/oauth/token', 200, granted)
  const { refresh_token } = granted.json()
  const keys = { client_id: own.PublicKey, client_secret: own.PrivateKey }
  check('POST', '/oauth/token', 200, await token({ grant_type: 'refresh_token', refresh_token, ...keys }))
  for (let tries = 0; tries < 50; tries++) await token({})
  check('POST', '/oauth/token', 429, await token({}))

  const revocation = { ...exchangeOf(client, ''), token: given.json().access_token }
  check('POST', '/oauth/revoke', 200, await post(server, '/oauth/revoke', revocation))
  const metadata = '/.well-known/oauth-authorization-server'
  check('GET', metadata, 200, await server.app.inject(metadata))

  const described = api.addresses.flatMap(({ path, operations }) => {
    return /oauth/.test(path) ? [...operations.keys()].map((method) => `${method} ${path}`) : []
  })
  expect([...seen].toSorted()).toEqual(described.toSorted())
})
