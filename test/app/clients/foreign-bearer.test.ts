import { describe, expect, test } from 'vitest'
import { lastCalls } from '../../../src/access/applications/calls/call-log.ts'
import { sharedServer } from '../../support/store.ts'
import { openClient, openShop, post, type TestClient, tokenOf } from '../http/oauth/fixture.ts'

// A program with the three headers, whose gateway or HTTP library adds an Authorization of its own to every request.

const server = await sharedServer()
const client = await openClient(server)
const other = await openClient(server, { Name: 'Another' })
const shop = await openShop(server)
const otherShop = await openShop(server)

type Shop = typeof shop

/** Makes the store a subscriber, and returns the number and the token of the subscription. */
async function subscribe({ store, merchant }: Shop, { PublicKey }: TestClient) {
  const answer = await merchant.call('POST', `/admin/stores/${store.id}/subscriptions`, { PublicKey })
  if (answer.statusCode !== 201 && answer.statusCode !== 200) throw new Error(answer.body)
  const [{ Id, Token }] = (await merchant.call('GET', `/admin/stores/${store.id}/subscriptions`))
    .json()
    .filter((each: { PublicKey: string }) => each.PublicKey === PublicKey)
  return { id: Id as number, token: Token as string }
}

const unsubscribe = ({ store, merchant }: Shop, id: number) =>
  merchant.call('DELETE', `/admin/stores/${store.id}/subscriptions/${id}`)

const revoke = ({ PublicKey, PrivateKey }: TestClient, token: string) =>
  post(server, '/oauth/revoke', { token, client_id: PublicKey, client_secret: PrivateKey })

async function threeHeaders() {
  const { id, token } = await subscribe(shop, client)
  return { id, headers: { secureurl: shop.store.secureUrl, privatekey: client.PrivateKey, token } }
}

const call = (headers: Record<string, string>) =>
  server.app.inject({ url: '/StoreWebAPI/v1/OrderStatus', headers: { ...headers } })

const statusWith = async (bearer: string, headers: Record<string, string>) =>
  (await call({ ...headers, authorization: `Bearer ${bearer}` })).statusCode

/** Of other servers: a token of JWT, an API key, and those that look like this server's. */
const foreign = [
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJnYXRld2F5In0.c2lnbmF0dXJl',
  'sk_live_0123456789',
  'f'.repeat(32),
  '0123456789abcdef0123456789ABCDEF',
  'x',
  `${'ü'.repeat(20)}`,
  'y'.repeat(4_000),
]

test.each(foreign)('the three headers win over the unknown Bearer %s, again and again', async (bearer) => {
  const { headers } = await threeHeaders()
  for (let count = 0; count < 3; count++) expect(await statusWith(bearer, headers)).toBe(200)
})

test('an access token as Token, with the two other headers, wins as the token of the subscription does', async () => {
  const token = await tokenOf(server, shop, client)
  const keys = { secureurl: shop.store.secureUrl, privatekey: client.PrivateKey }
  expect(await statusWith('jwt', { ...keys, token })).toBe(200)
  expect(await statusWith('jwt', { token })).toBe(401)
  await revoke(client, token)
  expect(await statusWith('jwt', { ...keys, token })).toBe(401)
})

test('the application in the three headers is the one that calls, and only its privileges count', async () => {
  const reader = await openClient(server, { Name: 'Reader', Privileges: { Products: ['read'] } })
  const { token } = await subscribe(shop, reader)
  const headers = { secureurl: shop.store.secureUrl, privatekey: reader.PrivateKey, token, authorization: 'Bearer jwt' }
  const url = '/StoreWebAPI/v1'
  expect((await server.app.inject({ url: `${url}/Products?countonly=1`, headers })).statusCode).toBe(200)
  const refused = await server.app.inject({ url: `${url}/Orders?countonly=1`, headers })
  expect(refused.statusCode).toBe(401)
  expect(refused.json()[0].Message).toBe('The application lacks the read privilege for Orders')
  // The challenge is for the token of a Bearer that counts.
  expect(refused.headers).not.toHaveProperty('www-authenticate')
})

describe('a 401 stays', () => {
  test.each<[what: string, wrong: (headers: Record<string, string>) => Record<string, string>]>([
    ['Token', (headers) => ({ ...headers, token: '0'.repeat(32) })],
    ['PrivateKey', (headers) => ({ ...headers, privatekey: other.PrivateKey })],
    ['SecureURL', (headers) => ({ ...headers, secureurl: otherShop.store.secureUrl })],
    ['no Token', ({ token: _, ...headers }) => headers],
    ['no PrivateKey', ({ privatekey: _, ...headers }) => headers],
    ['no SecureURL', ({ secureurl: _, ...headers }) => headers],
    ['nothing else', () => ({})],
  ])('for an unknown Bearer beside a wrong %s, and does not tell which', async (_what, wrong) => {
    const { headers } = await threeHeaders()
    expect(await statusWith('jwt', headers)).toBe(200)
    const answer = await call({ ...wrong(headers), authorization: 'Bearer jwt' })
    expect(answer.statusCode).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
    expect(answer.json()[0].Message).toMatch(/^Authentication failed: the Bearer token is not valid, or PrivateKey and/)
  })

  test('for a live token of another application or store, an access token or one of a subscription', async () => {
    const { headers } = await threeHeaders()
    for (const [atShop, of] of [
      [shop, other],
      [otherShop, client],
      [otherShop, other],
    ] as const) {
      expect(await statusWith(await tokenOf(server, atShop, of), headers)).toBe(401)
      expect(await statusWith((await subscribe(atShop, of)).token, headers)).toBe(401)
    }
  })

  test('for an ended token of another application or store, however it ended', async () => {
    const { headers, id: subscriptionId } = await threeHeaders()
    const fleeting = await openClient(server, { Name: 'Fleeting' })
    const ended: string[] = []

    // Revoked by its application.
    const revoked = await tokenOf(server, otherShop, client)
    expect((await revoke(client, revoked)).statusCode).toBe(200)
    ended.push(revoked)

    // Ended by the merchant of its store, with the token of the subscription.
    const ofSubscription = await subscribe(otherShop, client)
    ended.push(await tokenOf(server, otherShop, client), ofSubscription.token)
    expect((await unsubscribe(otherShop, ofSubscription.id)).statusCode).toBe(200)

    // Ended with its application.
    ended.push((await subscribe(shop, fleeting)).token, await tokenOf(server, shop, fleeting))
    const deleted = await fleeting.developer.call('DELETE', `/developers/applications/${fleeting.Id}`)
    expect(deleted.statusCode).toBe(200)

    for (const bearer of ended) expect(await statusWith(bearer, headers)).toBe(401)
    expect((await call(headers)).statusCode).toBe(200)

    const { callLog } = server.services
    await callLog.flush()
    const { refusals } = await lastCalls(server.services, { subscriptionId, limit: 100 })
    expect(refusals.slice(0, ended.length).map(({ message }) => message)).toEqual(
      ended.map(() => expect.stringContaining('the token is not one of the application in this store')),
    )
  })

  test('from the moment on at which the token of another store ends', async () => {
    const { headers } = await threeHeaders()
    const bearer = await tokenOf(server, otherShop, client)
    const statuses = [await statusWith(bearer, headers)]
    await revoke(client, bearer)
    statuses.push(await statusWith(bearer, headers), await statusWith(bearer, headers))
    expect(statuses).toEqual([401, 401, 401])
  })
})

test('an ended token of the same application and store does not stop the three headers', async () => {
  const fresh = await openClient(server, { Name: 'Subscribed again' })
  const before = await subscribe(shop, fresh)
  const revoked = await tokenOf(server, shop, fresh)
  await revoke(fresh, revoked)
  const keys = { secureurl: shop.store.secureUrl, privatekey: fresh.PrivateKey }
  expect(await statusWith(revoked, { ...keys, token: before.token })).toBe(200)
  await unsubscribe(shop, before.id)
  expect(await statusWith(revoked, { ...keys, token: before.token })).toBe(401)
  const { token } = await subscribe(shop, fresh)
  for (const bearer of [revoked, before.token]) expect(await statusWith(bearer, { ...keys, token })).toBe(200)
})

test('a removed subscription is refused at once beside an unknown Bearer too', async () => {
  const { id, headers } = await threeHeaders()
  expect(await statusWith('jwt', headers)).toBe(200)
  await unsubscribe(shop, id)
  expect(await statusWith('jwt', headers)).toBe(401)
})
