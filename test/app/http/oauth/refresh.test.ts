import { beforeEach, describe, expect, test } from 'vitest'
import { sweepsByAge } from '../../../../src/parts/retention.ts'
import { ofTest } from '../../../support/shared.ts'
import { merchantIn } from '../../../support/signed-in.ts'
import { openServer, sharedServer } from '../../../support/store.ts'
import { logged } from '../pages/developers/fixture.ts'
import {
  callStatus,
  challenge,
  codeOf,
  everyWay,
  exchangeOf,
  openClient,
  openShop,
  page,
  post,
  queryOf,
  sentBack,
  statusesOf,
  tokenOf,
  verifier,
} from './fixture.ts'

const server = await sharedServer({ SANDBOX: 'no' })
const client = await openClient(server, { Kind: 'new' })
const existing = await openClient(server, { Name: 'Existing' })
const shop = await openShop(server)
beforeEach(async () => Object.assign(shop, { merchant: await merchantIn(server, shop.store) }))

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const S256 = { code_challenge: challenge, code_challenge_method: 'S256' }

interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

/** The tokens of a new grant. */
async function granted(of = client): Promise<Tokens & { readonly code: string }> {
  const code = await codeOf(shop, of, S256)
  const answer = await post(server, '/oauth/token', exchangeOf(of, code, { code_verifier: verifier }))
  if (answer.statusCode !== 200) throw new Error(answer.body)
  return { ...answer.json(), code }
}

function refresh(refresh_token: string | undefined, of = client) {
  const keys = { client_id: of.PublicKey, client_secret: of.PrivateKey }
  return post(server, '/oauth/token', { grant_type: 'refresh_token', refresh_token, ...keys })
}

async function refreshed(refresh_token: string): Promise<Tokens> {
  const answer = await refresh(refresh_token)
  if (answer.statusCode !== 200) throw new Error(answer.body)
  return answer.json()
}

const errorOf = async (answer: ReturnType<typeof post>) => [(await answer).statusCode, (await answer).json().error]
const bearer = (token: string) => callStatus(server, { authorization: `Bearer ${token}` })
const revoke = (token: string) =>
  post(server, '/oauth/revoke', { client_id: client.PublicKey, client_secret: client.PrivateKey, token })

describe('the code of a new application', () => {
  test('gives an access token of an hour and a refresh token, of which nobody keeps the text', async () => {
    const code = await codeOf(shop, client, S256)
    const answer = await post(server, '/oauth/token', exchangeOf(client, code, { code_verifier: verifier }))
    expect(answer.json()).toEqual({
      access_token: expect.stringMatching(/^[0-9a-f]{32}$/),
      token_type: 'bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      store_url: shop.store.secureUrl,
      user_id: expect.any(Number),
    })
    const { db } = server.services
    const rows = JSON.stringify([await db.accessToken.findMany(), await db.accessGrant.findMany()])
    for (const text of [answer.json().access_token, answer.json().refresh_token, code]) {
      expect(rows).not.toContain(text)
      expect(server.log.join('')).not.toContain(text)
    }
  })

  test('presented again, ends the grant, also after it was refreshed', async () => {
    const { code, access_token, refresh_token } = await granted()
    const next = await refreshed(refresh_token)
    const again = post(server, '/oauth/token', exchangeOf(client, code, { code_verifier: verifier }))
    expect(await errorOf(again)).toEqual([400, 'invalid_grant'])
    expect([await bearer(access_token), await bearer(next.access_token)]).toEqual([401, 401])
    expect(await errorOf(refresh(next.refresh_token))).toEqual([400, 'invalid_grant'])
  })

  test.each([
    ['without a challenge', {}, 'code_challenge is missing'],
    ['with plain', { code_challenge: challenge, code_challenge_method: 'plain' }, 'code_challenge_method must be S256'],
    ['with a challenge and no method', { code_challenge: challenge }, 'code_challenge_method must be S256'],
  ])('is not given %s', async (_what, changes, message) => {
    const parameters = sentBack(await shop.merchant.open(`${page}?${queryOf(client, shop.store, changes)}`))
    expect(parameters.get('error')).toBe('invalid_request')
    expect(parameters.get('error_description')).toContain(message)
    expect(parameters.get('code')).toBeNull()
  })

  test('is given without PKCE in a sandbox', async () => {
    const sandbox = await ofTest(openServer({ SANDBOX: 'yes' }))
    const own = await openClient(sandbox, { Kind: 'new' })
    expect(await codeOf(await openShop(sandbox), own)).toMatch(/^[\w-]{43}$/)
  })
})

describe('an access token of a new application', () => {
  test('displaces the hundredth that expires, and none that was given while the application was an existing one', async () => {
    const { db } = server.services
    const own = await openClient(server)
    const before = await tokenOf(server, shop, own)
    await db.application.update({ where: { id: own.Id }, data: { kind: 'new' } })
    const { id: subscriptionId } = await db.subscription.findFirstOrThrow({ where: { applicationId: own.Id } })
    const createdAt = new Date(server.clock.ms)
    const expiresAt = new Date(server.clock.ms + HOUR_MS)
    const rows = Array.from({ length: 100 }, (_, n) => ({
      tokenHash: `token ${n}`,
      subscriptionId,
      createdAt,
      expiresAt,
    }))
    await db.accessToken.createMany({ data: rows })
    const { access_token } = await granted(own)
    expect([await bearer(before), await bearer(access_token)]).toEqual([200, 200])
    expect(await db.accessToken.count({ where: { subscriptionId, expiresAt: { not: null } } })).toBe(100)
  })

  test('works in every way until its last millisecond, and in none from then on, with the challenge of RFC 6750', async () => {
    const { access_token, refresh_token } = await granted()
    server.clock.ms += HOUR_MS - 1
    expect(await statusesOf(server, access_token, client, shop.store)).toEqual(everyWay(200))
    server.clock.ms += 1
    expect(await statusesOf(server, access_token, client, shop.store)).toEqual(everyWay(401))
    const headers = { authorization: `Bearer ${access_token}` }
    const answer = await server.app.inject({ url: '/StoreWebAPI/v1/OrderStatus', headers })
    expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
    expect(await bearer((await refreshed(refresh_token)).access_token)).toBe(200)
  })

  test('expired beside three valid headers: of the same application and store they count, of another they do not', async () => {
    const { access_token } = await granted()
    const other = await server.openStore()
    server.clock.ms += HOUR_MS
    const authorization = `Bearer ${access_token}`
    const list = `/admin/stores/${shop.store.id}/subscriptions`
    const merchant = await merchantIn(server, shop.store)
    const subscriptions = (await merchant.call('GET', list)).json() as { PublicKey: string; Token: string }[]
    const token = subscriptions.find(({ PublicKey }) => PublicKey === client.PublicKey)?.Token ?? ''
    const own = { secureurl: shop.store.secureUrl, privatekey: client.PrivateKey, token }
    expect(await callStatus(server, { ...own, authorization })).toBe(200)
    expect(await callStatus(server, { ...other.credentials, authorization })).toBe(401)
  })

  test('stays as it is when the application becomes an existing one, and the next code gives what existing ones get', async () => {
    const own = await openClient(server, { Name: 'Turned', Kind: 'new' })
    const { access_token, refresh_token } = await granted(own)
    const address = `/developers/applications/${own.Id}`
    expect((await own.developer.call('PUT', address, { Kind: 'existing' })).json().Kind).toBe('existing')
    const lasting = await tokenOf(server, shop, own)
    const next = await refresh(refresh_token, own)
    expect(next.json()).toMatchObject({ expires_in: 3600, refresh_token: expect.any(String) })
    server.clock.ms += HOUR_MS
    expect([await bearer(access_token), await bearer(lasting)]).toEqual([401, 200])
  })
})

describe('a refresh token', () => {
  test('is replaced with each use; access tokens given before work until they expire', async () => {
    const first = await granted()
    const second = await refreshed(first.refresh_token)
    const third = await refreshed(second.refresh_token)
    expect(new Set([first, second, third].flatMap((one) => [one.access_token, one.refresh_token])).size).toBe(6)
    for (const { access_token } of [first, second, third]) expect(await bearer(access_token)).toBe(200)
  })

  test('repeated within 30 seconds gets the same answer again, so that a lost answer costs nothing', async () => {
    const { refresh_token } = await granted()
    const first = await refreshed(refresh_token)
    server.clock.ms += 30 * SECOND_MS - 1
    expect(await refreshed(refresh_token)).toEqual({ ...first, expires_in: 3570 })
    expect(await refreshed(first.refresh_token)).toMatchObject({ expires_in: 3600 })
  })

  test('used by twenty requests at once gives one pair of tokens', async () => {
    const { refresh_token } = await granted()
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token)))
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
    expect(await bearer(answers[0]?.json().access_token)).toBe(200)
  })

  test.each(['30 seconds after it was used', 'after the next one was used'])(
    'presented %s, ends the grant with all its tokens',
    async (when) => {
      const first = await granted()
      const innocent = await granted()
      let last = await refreshed(first.refresh_token)
      if (when.startsWith('30')) server.clock.ms += 30 * SECOND_MS
      else last = await refreshed(last.refresh_token)
      const answer = await refresh(first.refresh_token)
      expect(await errorOf(Promise.resolve(answer))).toEqual([400, 'invalid_grant'])
      expect(answer.json().error_description).toContain('was used before')
      expect(await errorOf(refresh(last.refresh_token))).toEqual([400, 'invalid_grant'])
      expect([await bearer(first.access_token), await bearer(last.access_token)]).toEqual([401, 401])
      expect(await bearer(innocent.access_token)).toBe(200)
      expect((await logged(server, client)).at(-1)).toMatchObject({
        action: 'token.revoked',
        storeId: shop.store.id,
        details: { reason: 'a former refresh token was presented' },
      })
    },
  )

  test('works for 90 days, each use begins them anew, and then it is deleted with what is left of its tokens', async () => {
    const first = await granted()
    server.clock.ms += 90 * DAY_MS - 1
    const second = await refreshed(first.refresh_token)
    server.clock.ms += 90 * DAY_MS
    expect(await errorOf(refresh(second.refresh_token))).toEqual([400, 'invalid_grant'])
    const { db } = server.services
    const sweeps = sweepsByAge({ db, now: () => new Date(server.clock.ms) }, { historyDays: 730 })
    await sweeps['expired access tokens'](() => false)
    await sweeps['expired grants'](() => false)
    expect([await db.accessGrant.count(), await db.accessToken.count({ where: { grantId: { not: null } } })]).toEqual([
      0, 0,
    ])
    expect(await db.accessToken.count()).toBeGreaterThan(0)
  })

  test('is refused to another client, and nothing changes for its own', async () => {
    const { refresh_token } = await granted()
    const other = await openClient(server, { Name: 'Other', Kind: 'new' })
    expect(await errorOf(refresh(refresh_token, other))).toEqual([400, 'invalid_grant'])
    expect((await refresh(refresh_token)).statusCode).toBe(200)
  })

  test.each(['x', 'f'.repeat(64), 'a\0b', 'f'.repeat(5_000)])('that there is not is refused', async (text) => {
    expect(await errorOf(refresh(text))).toEqual([400, 'invalid_grant'])
  })

  test('is demanded by its grant', async () => {
    expect(await errorOf(refresh(undefined))).toEqual([400, 'invalid_request'])
  })

  test('is no access token', async () => {
    expect(await bearer((await granted()).refresh_token)).toBe(401)
  })

  test('ends with the subscription', async () => {
    const own = await openClient(server, { Name: 'Removed', Kind: 'new' })
    const { access_token, refresh_token } = await granted(own)
    await own.developer.call('DELETE', `/developers/applications/${own.Id}`)
    expect(await bearer(access_token)).toBe(401)
    expect(await errorOf(refresh(refresh_token, own))).toEqual([401, 'invalid_client'])
    expect(await server.services.db.accessGrant.count({ where: { subscription: { applicationId: own.Id } } })).toBe(0)
  })
})

test.each(['access_token', 'refresh_token', 'a former refresh_token'])(
  'revoking the %s ends the grant',
  async (which) => {
    const first = await granted()
    const second = await refreshed(first.refresh_token)
    const sent = which === 'a former refresh_token' ? first.refresh_token : second[which as keyof Tokens]
    expect((await revoke(sent)).statusCode).toBe(200)
    expect([await bearer(first.access_token), await bearer(second.access_token)]).toEqual([401, 401])
    expect(await errorOf(refresh(second.refresh_token))).toEqual([400, 'invalid_grant'])
  },
)

test('an existing application is answered as before: grant_type must be authorization_code', async () => {
  const { refresh_token } = await granted()
  for (const text of [undefined, 'x', refresh_token]) {
    const answer = await refresh(text, existing)
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { error: 'unsupported_grant_type', error_description: 'grant_type must be authorization_code' },
    ])
  }
  expect(await tokenOf(server, shop, existing)).toMatch(/^[0-9a-f]{32}$/)
})
