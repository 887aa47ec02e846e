import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { accessChannel } from '../../../../src/access/stores/access-changes.ts'
import { ofTest } from '../../../support/shared.ts'
import { sharedServer } from '../../../support/store.ts'
import { logged } from '../pages/developers/fixture.ts'
import {
  callStatus,
  codeOf,
  everyWay,
  exchangeOf,
  openClient,
  openShop,
  post,
  type Query,
  statusesOf,
  type TestClient,
  tokenOf,
} from './fixture.ts'

const server = await sharedServer()
const client = await openClient(server)
const shop = await openShop(server)

const jsonType = 'application/json; charset=utf-8'
const keysOf = ({ PublicKey, PrivateKey }: TestClient) => ({ client_id: PublicKey, client_secret: PrivateKey })
const revoke = (form: Query) => post(server, '/oauth/revoke', { ...keysOf(client), ...form })

/** Ends the subscription to an application, as the merchant does; its token. */
async function endSubscription({ PublicKey }: TestClient): Promise<string> {
  const list = `/admin/stores/${shop.store.id}/subscriptions`
  const all = (await shop.merchant.call('GET', list)).json() as { Id: number; PublicKey: string; Token: string }[]
  const subscription = all.find((each) => each.PublicKey === PublicKey)
  const answer = await shop.merchant.call('DELETE', `${list}/${subscription?.Id}`)
  expect(answer.statusCode).toBe(200)
  return subscription?.Token ?? ''
}

describe('a revoked token', () => {
  test('is refused at once in every way; other tokens go on working', async () => {
    const [token, other] = [await tokenOf(server, shop, client), await tokenOf(server, shop, client)]
    expect(await statusesOf(server, token, client, shop.store)).toEqual(everyWay(200))
    const answer = await revoke({ token, token_type_hint: 'refresh_token' })
    const { 'content-type': type, 'cache-control': kept } = answer.headers
    expect([answer.statusCode, answer.body, type, kept]).toEqual([200, '{}', jsonType, 'no-store'])
    expect(await statusesOf(server, token, client, shop.store)).toEqual(everyWay(401))
    expect(await statusesOf(server, other, client, shop.store)).toEqual(everyWay(200))
    expect((await logged(server, client)).at(-1)).toEqual({
      action: 'token.revoked',
      actorKind: 'application',
      target: client.Name,
      storeId: shop.store.id,
      details: { reason: 'the application asked for it' },
    })
  })

  test('is told to the other processes, and so is one that a code presented again ended', async () => {
    const listener = await ofTest(new pg.Client({ connectionString: server.database.url }))
    await listener.connect()
    await listener.query(`LISTEN "${accessChannel}"`)
    const heard = () => new Promise<unknown>((resolve) => listener.once('notification', resolve))
    const token = await tokenOf(server, shop, client)
    const ofRevocation = heard()
    await revoke({ token })
    await ofRevocation
    const code = await codeOf(shop, client)
    await post(server, '/oauth/token', exchangeOf(client, code))
    const ofReuse = heard()
    await post(server, '/oauth/token', exchangeOf(client, code))
    await ofReuse
  })

  test('may be named twice in one request, and a second one is refused', async () => {
    const [one, two] = [await tokenOf(server, shop, client), await tokenOf(server, shop, client)]
    const send = (payload: string) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      return server.app.inject({ method: 'POST', url: '/oauth/revoke', headers, payload })
    }
    const form = new URLSearchParams({ ...keysOf(client), token: one })
    const refused = await send(`${form}&token=${two}`)
    expect([refused.statusCode, refused.json().error]).toEqual([400, 'invalid_request'])
    expect((await send(`${form}&${form}`)).statusCode).toBe(200)
    for (const [token, status] of [
      [one, 401],
      [two, 200],
    ] as const) {
      expect(await callStatus(server, { authorization: `Bearer ${token}` })).toBe(status)
    }
  })

  test('may be revoked again, and so may what never was a token', async () => {
    const token = await tokenOf(server, shop, client)
    for (const each of [token, token, 'f'.repeat(32), 'a\0b'])
      expect((await revoke({ token: each })).statusCode).toBe(200)
  })
})

test('another client’s token is left alone, with the same answer', async () => {
  const other = await openClient(server)
  const token = await tokenOf(server, shop, other)
  const answer = await revoke({ token })
  expect([answer.statusCode, answer.body]).toEqual([200, '{}'])
  expect(await callStatus(server, { authorization: `Bearer ${token}` })).toBe(200)
})

test('the subscription’s token is not the application’s to end, and it is told so; another’s is as unknown as any', async () => {
  const own = await openClient(server)
  await codeOf(shop, own)
  const subscription = await server.services.db.subscription.findFirstOrThrow({ where: { applicationId: own.Id } })
  const token = server.services.secrets.open(subscription.tokenSealed)
  const answer = await revoke({ ...keysOf(own), token })
  expect([answer.statusCode, answer.json().error]).toEqual([400, 'unsupported_token_type'])
  expect((await revoke({ token })).statusCode).toBe(200)
  const keys = { privatekey: own.PrivateKey, secureurl: shop.store.secureUrl }
  expect(await callStatus(server, { authorization: `Bearer ${token}`, ...keys })).toBe(200)
})

test.each([
  [{ client_secret: 'f'.repeat(32) }, 401, 'invalid_client'],
  [{ token: undefined }, 400, 'invalid_request'],
])('a request with %j revokes nothing', async (changes, status, error) => {
  const token = await tokenOf(server, shop, client)
  const answer = await revoke({ token, ...changes })
  expect([answer.statusCode, answer.json().error]).toEqual([status, error])
  expect(await callStatus(server, { authorization: `Bearer ${token}` })).toBe(200)
})

test('the end of the subscription ends its access tokens in every way, and the next subscription does not bring them back', async () => {
  const ending = await openClient(server)
  const token = await tokenOf(server, shop, ending)
  expect(await statusesOf(server, token, ending, shop.store)).toEqual(everyWay(200))
  const subscriptionToken = await endSubscription(ending)
  for (const each of [token, subscriptionToken]) {
    expect(await statusesOf(server, each, ending, shop.store)).toEqual(everyWay(401))
  }
  const next = await tokenOf(server, shop, ending)
  expect(await statusesOf(server, next, ending, shop.store)).toEqual(everyWay(200))
  expect(await statusesOf(server, token, ending, shop.store)).toEqual(everyWay(401))
})

test('a deleted application’s tokens end with it', async () => {
  const doomed = await openClient(server)
  const token = await tokenOf(server, shop, doomed)
  await doomed.developer.call('DELETE', `/developers/applications/${doomed.Id}`)
  expect(await statusesOf(server, token, doomed, shop.store)).toEqual(everyWay(401))
})
