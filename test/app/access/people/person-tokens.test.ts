import { describe, expect, test } from 'vitest'
import { guardedRoutes } from '../../../support/guarded-routes.ts'
import type { TestPerson } from '../../../support/person.ts'
import { developerIn, memberIn, merchantAccount, merchantIn, proveAgain } from '../../../support/signed-in.ts'
import { type Method, sharedServer, type TestStore } from '../../../support/store.ts'
import { registered, usedBy } from '../../http/pages/developers/fixture.ts'
import { newAppOwner, newOwner } from './factors/fixture.ts'
import { freshAddress } from './persons.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const server = await sharedServer({}, undefined, { fill: async () => {} })
const shop = await server.openStore()
const stores = '/admin/stores'
const testStores = '/developers/test-stores'

interface Made {
  readonly Id: number
  readonly Token: string
}

const newMerchant = async () => (await newOwner(server)).person
const areas = {
  merchant: { path: '/account/tokens', area: '/admin', signIn: newMerchant, reaches: stores },
  developer: {
    path: '/developers/account/tokens',
    area: '/developers',
    signIn: () => developerIn(server),
    reaches: testStores,
  },
} as const
type Kind = keyof typeof areas
const kinds = Object.keys(areas) as Kind[]

async function tokenOf(person: TestPerson, kind: Kind, Days = 30): Promise<Made> {
  const answer = await person.call('POST', areas[kind].path, { Name: 'A program', Days })
  expect(answer.statusCode, answer.body).toBe(201)
  return answer.json()
}

/** From a network each, which is not this machine's. */
function send(token: string, method: Method, url: string, payload?: object | string, headers: object = {}) {
  const by = { authorization: `Bearer ${token}`, ...headers }
  return server.app.inject({ method, url, remoteAddress: freshAddress(), headers: by, ...(payload && { payload }) })
}

async function statusOf(...given: Parameters<typeof send>): Promise<number> {
  return (await send(...given)).statusCode
}

/** Tokens of accounts that no test changes, for longer than the tests let pass. */
const ofMerchant = await tokenOf(await merchantIn(server, shop.store), 'merchant')
const maker = await developerIn(server)
const ofDeveloper = await tokenOf(maker, 'developer')

describe.each(kinds)('the token of a %s', (kind) => {
  const { path, area, signIn, reaches } = areas[kind]
  const use = (token: string, headers?: object) => statusOf(token, 'GET', reaches, undefined, headers)

  test('is shown once, is stored as a digest, and is listed with its last use to the minute', async () => {
    const person = await signIn()
    const { Id, Token } = await tokenOf(person, kind)
    expect(Token).toMatch(/^spt_[\w-]{43}$/)
    const stored = await server.services.db.personToken.findUniqueOrThrow({ where: { id: Id } })
    expect(JSON.stringify(stored)).not.toContain(Token.slice(8))
    const own = async () => (await person.call('GET', path)).json().find((each: Made) => each.Id === Id)
    const DateExpires = new Date(server.clock.ms + 30 * DAY_MS).toISOString()
    const shown = { Id, Name: 'A program', Beginning: Token.slice(0, 8), DateExpires, DateCreated: expect.any(String) }
    expect(await own()).toEqual({ ...shown, DateLastUsed: null })
    const first = new Date(server.clock.ms).toISOString()
    expect(await use(Token)).toBe(200)
    server.clock.ms += MINUTE_MS - 1
    expect(await use(Token)).toBe(200)
    expect(await own()).toMatchObject({ DateLastUsed: first })
    server.clock.ms += 1
    expect(await use(Token)).toBe(200)
    expect(await own()).toMatchObject({ DateLastUsed: new Date(server.clock.ms).toISOString() })
    expect(server.log.join('\n')).not.toContain(Token.slice(8))
  })

  test('is made with a name, an end within a year and a recent proof, and both ends are in the audit log', async () => {
    const person = await signIn()
    const nameless = [{ Days: 1 }, { Name: '', Days: 1 }]
    for (const body of [...nameless, { Name: 'x', Days: 0 }, { Name: 'x', Days: 366 }, { Name: 'x' }])
      expect([body, (await person.call('POST', path, body)).statusCode]).toEqual([body, 400])
    server.clock.ms += 15 * MINUTE_MS + 1
    expect((await person.call('POST', path, { Name: 'x', Days: 1 })).statusCode).toBe(403)
    await proveAgain(person, area)
    const { Id, Token } = await tokenOf(person, kind, 365)
    const end = async () => (await person.call('DELETE', `${path}/${Id}`)).statusCode
    expect([await end(), await end(), await use(Token)]).toEqual([200, 404, 401])
    const logged = await server.services.db.auditEntry.findMany({ orderBy: { id: 'desc' }, take: 2 })
    const of = { target: 'A program' }
    expect(logged).toMatchObject(['account.token-ended', 'account.token-made'].map((action) => ({ action, ...of })))
  })

  test('ends at its time, with a change of the password, and with signing out everywhere else', async () => {
    const person = await signIn()
    const { Token } = await tokenOf(person, kind, 1)
    server.clock.ms += DAY_MS - 1
    expect(await use(Token)).toBe(200)
    server.clock.ms += 1
    expect(await use(Token)).toBe(401)

    const again = await signIn()
    const other = await tokenOf(again, kind)
    expect((await again.call('POST', `${area}/account/sessions`, { Session: 'others' })).statusCode).toBe(204)
    expect(await use(other.Token)).toBe(401)
    const { action, details } = await server.services.db.auditEntry.findFirstOrThrow({ orderBy: { id: 'desc' } })
    expect([action, details]).toMatchObject(['account.sessions-ended', { tokens: expect.any(Number) }])

    const last = await tokenOf(again, kind)
    const { Password: CurrentPassword } = merchantAccount
    const body = { CurrentPassword, NewPassword: 'another horse, another battery' }
    expect((await again.call('POST', `${area}/account/password`, body)).statusCode).toBe(204)
    expect(await use(last.Token)).toBe(401)
  })

  test('is one of 20, also where two come at once', async () => {
    const person = await signIn()
    for (let count = 0; count < 19; count++) await tokenOf(person, kind)
    const both = await Promise.all([1, 2].map(() => person.call('POST', path, { Name: 'Late', Days: 1 })))
    expect(both.map(({ statusCode }) => statusCode).toSorted()).toEqual([201, 409])
    expect((await person.call('GET', path)).json()).toHaveLength(20)
  })

  test('counts at no page, beside no cookie of a session, and at no interface of programs of the shop', async () => {
    const person = await signIn()
    const { Token } = await tokenOf(person, kind)
    expect(await use(Token, { accept: 'text/html' })).toBe(403)
    for (const name of ['merchant', 'developer', 'operator', 'customer']) {
      for (const value of [person.cookies.get(kind), 'of-nobody'])
        expect(await use(Token, { cookie: `${name}=${value}` })).toBe(400)
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await statusOf(ofDeveloper.Token, 'POST', testStores, 'Name=x', form)).toBe(415)
    const { secureurl, privatekey } = shop.credentials
    expect(await statusOf(Token, 'GET', '/StoreWebAPI/v1/OrderStatus', undefined, { secureurl, privatekey })).toBe(401)
    expect(await statusOf(Token, 'GET', '/metrics')).toBe(401)
    expect(await statusOf(Token, 'GET', '/oauth/authorize')).not.toBe(200)
    for (const each of kinds) if (each !== kind) expect(await statusOf(Token, 'GET', areas[each].reaches)).toBe(401)
  })

  test('is made and ended on the account page', async () => {
    const person = await signIn()
    const account = `${area}/account`
    const form = { action: `${account}/new-token` }
    const refused = await person.submit(account, { Name: '', Days: '7' }, form)
    expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining('id="token-name-problem"')])
    const made = await person.submit(account, { Name: 'By <hand>', Days: '7' }, form)
    const [Token = ''] = /spt_[\w-]{43}/.exec(made.body) ?? []
    expect(await use(Token)).toBe(200)
    const { body } = await person.open(account)
    expect(body).toContain('By &lt;hand&gt;')
    expect(body).not.toContain(Token)
    const ended = await person.submit(account, {}, { action: `${account}/end-token` })
    expect([ended.statusCode, ended.headers.location]).toEqual([303, `${account}?notice=token-ended#tokens`])
  })
})

test('no token reaches a route that does not name tokens, whatever its role, and no other kind of token one that does', async () => {
  const wrong: string[] = []
  for (const { method, url, allowed, takesTokens } of await guardedRoutes()) {
    if (allowed.includes('anyone')) continue
    const address = url.replace('/admin/stores/:id', `/admin/stores/${shop.store.id}`).replace(/:\w+/g, '999999')
    for (const kind of kinds) {
      const { Token } = kind === 'merchant' ? ofMerchant : ofDeveloper
      const headers = { 'x-requested-with': 'a program' }
      const status = await statusOf(Token, method, address, method === 'GET' ? undefined : {}, headers)
      const isReached = ![401, 403, 429].includes(status)
      if (isReached !== (takesTokens && allowed.includes(kind))) wrong.push(`${kind} ${method} ${url}: ${status}`)
    }
  }
  expect(wrong).toEqual([])
})

describe('what a store’s person may do is read at each request', () => {
  /** The token of somebody who works at orders. */
  const ofMember = async (of: TestStore) => (await tokenOf(await memberIn(server, of, 'orders'), 'merchant')).Token

  test('the role, and that the account is there', async () => {
    const of = await server.openStore()
    const Token = await ofMember(of)
    const methods = `${stores}/${of.store.id}/payment-methods`
    expect(await statusOf(Token, 'GET', methods)).toBe(403)
    const { db } = server.services
    const users = { where: { storeId: of.store.id, role: 'orders' } }
    await db.storeUser.updateMany({ ...users, data: { role: 'owner' } })
    expect(await statusOf(Token, 'GET', methods)).toBe(200)
    expect(await statusOf(Token, 'GET', `${stores}/${shop.store.id}/payment-methods`)).toBe(404)
    const [store] = (await send(Token, 'GET', stores)).json()
    expect(store).toMatchObject({ Id: of.store.id })
    expect(store).not.toHaveProperty('UserKey')
    for (const change of [{ CartAPI: { Enabled: true, Addresses: [] } }, { SecureURL: 'https://elsewhere.example' }]) {
      const changed = await send(Token, 'PUT', `${stores}/${of.store.id}`, change)
      expect([changed.statusCode, changed.body]).toEqual([403, expect.stringContaining('A token does not reach this')])
    }
    const newest = await db.storeUser.findFirstOrThrow({ where: { storeId: of.store.id }, orderBy: { id: 'desc' } })
    await merchantIn(server, of.store).then((owner) => owner.call('POST', `/admin/people/${newest.id}/remove`))
    expect(await db.storeUser.count({ where: { id: newest.id } })).toBe(0)
    expect(await statusOf(Token, 'GET', stores)).toBe(401)
    expect(await db.personToken.count({ where: { storeUserId: newest.id } })).toBe(0)
  })

  test('the second factor that the store requires', async () => {
    const owner = await newAppOwner(server)
    const { Token } = await tokenOf(owner.person, 'merchant')
    const member = await ofMember(owner.shop)
    const From = new Date(server.clock.ms - DAY_MS).toISOString().slice(0, 10)
    expect((await owner.person.call('POST', '/admin/people/security', { From })).statusCode).toBe(204)
    expect(await statusOf(Token, 'GET', stores)).toBe(200)
    const refused = await send(member, 'GET', stores)
    expect([refused.statusCode, refused.body]).toEqual([403, expect.stringContaining('requires a second factor')])
  })

  test('an order is placed once for one Idempotency-Key', async () => {
    const id = await shop.add('/Products', { SKUInfo: { SKU: 'TOKEN-1', Name: 'Lamp', Price: 5, Stock: 3 } })
    const order = { BillingEmail: 'a@b.example', OrderItemList: [{ CatalogID: id, ItemQuantity: 1 }] }
    const key = { 'idempotency-key': 'till-1' }
    const place = () => send(ofMerchant.Token, 'POST', `${stores}/${shop.store.id}/orders`, order, key)
    const [first, second] = [await place(), await place()]
    expect([first.statusCode, second.statusCode, second.body]).toEqual([201, 201, first.body])
  })
})

describe('a developer’s token', () => {
  const applications = '/developers/applications'

  test('makes a test store with an application, whose keys work, go on after a reset, and end with it', async () => {
    const { Token } = ofDeveloper
    const asked = async (...given: [method: 'GET' | 'POST' | 'DELETE', url: string, body?: object]) => {
      const answer = await send(Token, ...given)
      expect(answer.statusCode, answer.body).toBeLessThan(300)
      return answer.json()
    }
    const store = await asked('POST', testStores, { Name: 'CI' })
    await server.services.testStores.settle()
    const application = await asked('POST', applications, { Name: 'CI', Kind: 'new' })
    const { Id: ApplicationId, PublicKey, PrivateKey } = application
    const subscribed = await asked('POST', `${testStores}/${store.Id}/subscriptions`, { ApplicationId })
    const headers = { secureurl: store.SecureURL, privatekey: PrivateKey, token: subscribed.Token }
    const call = async () => (await server.app.inject({ url: '/StoreWebAPI/v1/OrderStatus', headers })).statusCode
    expect(await call()).toBe(200)
    const reset = await asked('POST', `${testStores}/${store.Id}/reset`)
    await server.services.testStores.settle()
    expect(await call()).toBe(200)
    const merchant = await merchantIn(server, shop.store)
    const refused = await merchant.call('POST', `${stores}/${shop.store.id}/subscriptions`, { PublicKey })
    expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining('PublicKey')])
    expect(await asked('GET', applications)).toMatchObject([{ Id: ApplicationId, PrivateKey }])
    await usedBy(server, application)
    expect(await asked('GET', applications)).toEqual([])
    expect(await statusOf(Token, 'GET', `${applications}/${ApplicationId}`)).toBe(404)
    await asked('DELETE', `${testStores}/${reset.Id}`)
    expect(await call()).toBe(401)
  })

  test('reaches no application that real stores may use, nor anything of others', async () => {
    await maker.signIn()
    const open = await registered(maker, { Name: 'For shops' })
    const theirs = await tokenOf(await developerIn(server), 'developer')
    const made = (await send(theirs.Token, 'POST', applications, { Name: 'CI' })).json()
    const { Token } = ofDeveloper
    const store = (await send(Token, 'POST', testStores, { Name: 'Mine' })).json()
    await server.services.testStores.settle()
    expect((await send(Token, 'GET', applications)).body).not.toContain(open.PrivateKey)
    for (const { Id: ApplicationId } of [open, made]) {
      for (const path of ['', '/stores', '/calls', '/calls/1'])
        expect([path, await statusOf(Token, 'GET', `${applications}/${ApplicationId}${path}`)]).toEqual([path, 404])
      expect(await statusOf(Token, 'PUT', `${applications}/${ApplicationId}`, { Name: 'Mine' })).toBe(404)
      expect(await statusOf(Token, 'DELETE', `${applications}/${ApplicationId}`)).toBe(404)
      expect(await statusOf(Token, 'POST', `${testStores}/${store.Id}/subscriptions`, { ApplicationId })).toBe(400)
    }
    expect(await statusOf(theirs.Token, 'GET', `${testStores}/${store.Id}`)).toBe(404)
    expect(await statusOf(Token, 'DELETE', `${testStores}/${store.Id}`)).toBe(200)
  })
})

test('guessing is slow: wrong tokens count as refused requests of their network, and right ones still come in', async () => {
  const guess = `spt_${'A'.repeat(43)}`
  const from = (token: string) =>
    server.app.inject({ url: testStores, remoteAddress: '192.0.2.99', headers: { authorization: `Bearer ${token}` } })
  const statuses = new Set<number>()
  for (let count = 0; count < 60; count++) statuses.add((await from(guess)).statusCode)
  expect([...statuses]).toEqual([401, 429])
  expect((await from(ofDeveloper.Token)).statusCode).toBe(200)
})
