import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { buildApp } from '../../../../src/app.ts'
import { connect } from '../../../../src/foundation/database/client.ts'
import { openGate } from '../../../support/gate.ts'
import { ofTest } from '../../../support/shared.ts'
import { merchantIn, proveAgain } from '../../../support/signed-in.ts'
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
  post,
  type Query,
  redirectUri,
  statusesOf,
  type TestClient,
  tokenOf,
  verifier,
} from './fixture.ts'

const server = await sharedServer({ TRUST_PROXY: '127.0.0.1' })
const client = await openClient(server)
const other = await openClient(server, { Name: 'Another' })
const shop = await openShop(server)

const token = '/oauth/token'
const MINUTE_MS = 60_000

const newCode = (changes?: Query) => codeOf(shop, client, changes)
const exchange = (code: string, changes?: Query) => post(server, token, exchangeOf(client, code, changes))

function basic({ PublicKey, PrivateKey }: TestClient) {
  return { authorization: `Basic ${Buffer.from(`${PublicKey}:${PrivateKey}`).toString('base64')}` }
}

/** Status and error of a refusal, which has the form of RFC 6749 §5.2. */
function refusal(answer: Awaited<ReturnType<typeof post>>) {
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  const { error, error_description, ...more } = answer.json()
  expect(more).toEqual({})
  expect(error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
  return [answer.statusCode, error]
}

const textOf = (form: Query) => String(new URLSearchParams(form as Record<string, string>))

function sendForm(payload: string, query = '') {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return server.app.inject({ method: 'POST', url: token + query, headers, payload })
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')
const bearer = (text: string) => callStatus(server, { authorization: `Bearer ${text}` })

describe('a code gives a token', () => {
  test('with access_token, token_type and user_id, and nothing else, that nobody keeps', async () => {
    const answer = await exchange(await newCode())
    const merchant = await server.services.db.storeUser.findFirst({ where: { storeId: shop.store.id } })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      access_token: expect.stringMatching(/^[0-9a-f]{32}$/),
      token_type: 'bearer',
      user_id: merchant?.id,
    })
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'content-type': 'application/json; charset=utf-8',
    })
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect(await logged(server, client)).toEqual(
      expect.arrayContaining([
        { action: 'token.issued', actorKind: 'application', target: client.Name, storeId: shop.store.id, details: {} },
      ]),
    )
  })

  test('another than the subscription’s, and another each time; each works in every way that clients send it', async () => {
    const [one, two] = [await tokenOf(server, shop, client), await tokenOf(server, shop, client)]
    const [subscription] = (await shop.merchant.call('GET', `/admin/stores/${shop.store.id}/subscriptions`))
      .json()
      .filter(({ PublicKey }: { PublicKey: string }) => PublicKey === client.PublicKey)
    expect(new Set([one, two, subscription.Token]).size).toBe(3)
    for (const each of [one, two]) {
      expect(await statusesOf(server, each, client, shop.store)).toEqual(everyWay(200))
    }
    const withoutKeys = { 'Bearer alone': 401, 'Token alone': 401 }
    expect(await statusesOf(server, subscription.Token, client, shop.store)).toEqual({
      ...everyWay(200),
      ...withoutKeys,
    })
  })

  test('which is stored as a hash alone', async () => {
    const code = await newCode()
    const text = (await exchange(code)).json().access_token
    const { db } = server.services
    const rows = JSON.stringify([await db.accessToken.findMany(), await db.authorizationCode.findMany()])
    expect(rows).not.toContain(text)
    expect(rows).not.toContain(code)
    expect(server.log.join('')).not.toContain(text)
    expect(server.log.join('')).not.toContain(code)
  })

  const ways: Record<string, (form: Query) => Promise<Awaited<ReturnType<typeof post>>>> = {
    'as Code': ({ code, ...form }) => post(server, token, { ...form, Code: code }),
    'with every name in capitals': (form) =>
      post(server, token, Object.fromEntries(Object.entries(form).map(([name, text]) => [name.toUpperCase(), text]))),
    'with Basic': ({ client_id, client_secret, ...form }) => post(server, token, form, basic(client)),
    'with Basic and the same in the form': (form) => post(server, token, form, basic(client)),
    'with Basic and the public key in the form': ({ client_secret, ...form }) =>
      post(server, token, form, basic(client)),
    'with Basic that is percent-encoded': ({ client_id, client_secret, ...form }) => {
      const encoded = [client_id, client_secret].map((text) =>
        [...String(text)].map((character) => `%${character.charCodeAt(0).toString(16)}`).join(''),
      )
      return post(server, token, form, { authorization: `basic ${Buffer.from(encoded.join(':')).toString('base64')}` })
    },
    'with another Authorization': (form) => post(server, token, form, { authorization: 'Bearer something' }),
    'with all in the query and no body': (form) =>
      server.app.inject({ method: 'POST', url: `${token}?${new URLSearchParams(form as Record<string, string>)}` }),
    'with all in the query, a type and no body': (form) =>
      server.app.inject({
        method: 'POST',
        url: `${token}?${new URLSearchParams(form as Record<string, string>)}`,
        headers: { 'content-type': 'application/json', 'content-length': '0' },
      }),
    'with every parameter twice': (form) => sendForm(`${textOf(form)}&${textOf(form)}`),
    'with every parameter twice in the query': (form) => sendForm('', `?${textOf(form)}&${textOf(form)}`),
    'with every parameter once more, without a value': (form) =>
      sendForm(`${textOf(form)}&${Object.keys(form).join('=&')}=`),
    'with every parameter in the form and in the query': (form) => sendForm(textOf(form), `?${textOf(form)}`),
    'with a name in two cases, and its value in two encodings': (form) =>
      sendForm(`${textOf(form)}&Grant_Type=authorization%5Fcode`),
    'with all in the query and an empty form': (form) =>
      post(server, `${token}?${new URLSearchParams(form as Record<string, string>)}`, {}),
    'with the keys in the query': ({ client_id, client_secret, ...form }) =>
      post(server, `${token}?client_id=${client_id}&client_secret=${client_secret}`, form),
    'with the right redirect_uri': (form) => post(server, token, { ...form, redirect_uri: redirectUri }),
    'with what nobody knows': (form) => post(server, token, { ...form, scope: 'all', resource: '1' }),
    'with an empty code_verifier and redirect_uri': (form) =>
      post(server, token, { ...form, code_verifier: '', redirect_uri: '' }),
    'from a page of elsewhere, which gets nothing to read': async (form) => {
      const answer = await post(server, token, form, { origin: 'https://elsewhere.example' })
      expect(answer.headers['access-control-allow-origin']).toBeUndefined()
      return answer
    },
  }

  test.each(Object.entries(ways))('%s', async (_way, send) => {
    const answer = await send(exchangeOf(client, await newCode()))
    expect([answer.statusCode, await bearer(answer.json().access_token)]).toEqual([200, 200])
  })

  test('by the former private key, as long as that is valid', async () => {
    const rotating = await openClient(server)
    const address = `/developers/applications/${rotating.Id}/private-key`
    const changed = (await rotating.developer.call('POST', address, { KeepFormerForHours: 1 })).json()
    const now = async (key: string) => {
      const answer = await post(
        server,
        token,
        exchangeOf(rotating, await codeOf(shop, rotating), { client_secret: key }),
      )
      return answer.statusCode
    }
    expect([await now(rotating.PrivateKey), await now(changed.PrivateKey)]).toEqual([200, 200])
    server.clock.ms += 60 * MINUTE_MS
    await proveAgain(shop.merchant)
    expect([await now(rotating.PrivateKey), await now(changed.PrivateKey)]).toEqual([401, 200])
  })
})

describe('a code is refused', () => {
  test('after ten minutes, and not before', async () => {
    const [late, inTime] = [await newCode(), await newCode()]
    server.clock.ms += 10 * MINUTE_MS - 1
    expect((await exchange(inTime)).statusCode).toBe(200)
    server.clock.ms += 1
    await proveAgain(shop.merchant)
    expect(refusal(await exchange(late))).toEqual([400, 'invalid_grant'])
  })

  test('when it is used again: the token that it gave is dead in every way', async () => {
    const code = await newCode()
    const text = (await exchange(code)).json().access_token
    const innocent = await tokenOf(server, shop, client)
    expect(await statusesOf(server, text, client, shop.store)).toEqual(everyWay(200))
    expect(refusal(await exchange(code))).toEqual([400, 'invalid_grant'])
    expect(await statusesOf(server, text, client, shop.store)).toEqual(everyWay(401))
    expect(await bearer(innocent)).toBe(200)
    expect(refusal(await exchange(code))).toEqual([400, 'invalid_grant'])
    const revocations = (await logged(server, client)).filter(({ action }) => action === 'token.revoked')
    expect(revocations.at(-1)?.details).toEqual({ reason: 'the code was presented again' })
  })

  test('when it is used again long after it was forgotten: the token is dead all the same', async () => {
    const code = await newCode()
    const text = (await exchange(code)).json().access_token
    server.clock.ms += 24 * 60 * MINUTE_MS
    await server.services.db.authorizationCode.deleteMany({ where: { expiresAt: { lte: new Date(server.clock.ms) } } })
    Object.assign(shop, { merchant: await merchantIn(server, shop.store) })
    expect(await bearer(text)).toBe(200)
    expect(refusal(await exchange(code))).toEqual([400, 'invalid_grant'])
    expect(await bearer(text)).toBe(401)
  })

  test('from another client, which changes nothing for its own', async () => {
    const code = await newCode()
    const foreign = () => post(server, token, exchangeOf(other, code))
    expect(refusal(await foreign())).toEqual([400, 'invalid_grant'])
    const answer = await exchange(code)
    expect(answer.statusCode).toBe(200)
    expect(refusal(await foreign())).toEqual([400, 'invalid_grant'])
    expect(await bearer(answer.json().access_token)).toBe(200)
  })

  test.each(['https://evil.example/', redirectUri.slice(0, -1), redirectUri.replace('app', 'APP'), `${redirectUri}#`])(
    'with another redirect_uri (%s), and has had its one try then',
    async (redirect_uri) => {
      const code = await newCode()
      expect(refusal(await exchange(code, { redirect_uri }))).toEqual([400, 'invalid_grant'])
      expect(refusal(await exchange(code))).toEqual([400, 'invalid_grant'])
    },
  )

  test.each(['', 'x', 'a\0b', 'ü'.repeat(100), 'A'.repeat(43)])('that there is not: %j', async (code) => {
    expect(refusal(await exchange(code))).toEqual([400, code === '' ? 'invalid_request' : 'invalid_grant'])
  })
})

describe('PKCE', () => {
  const S256 = { code_challenge: challenge, code_challenge_method: 'S256' }

  test.each([
    ['S256', S256, verifier],
    ['plain', { code_challenge: challenge, code_challenge_method: 'plain' }, challenge],
    ['plain where no method was named', { code_challenge: challenge }, challenge],
    ['128 characters', { code_challenge: 'a'.repeat(128) }, 'a'.repeat(128)],
  ])('%s: the right verifier gives a token', async (_what, offered, code_verifier) => {
    expect((await exchange(await newCode(offered), { code_verifier })).statusCode).toBe(200)
  })

  test.each([
    ['missing', S256, undefined],
    ['empty', S256, ''],
    ['another', S256, verifier.replace('d', 'e')],
    ['the challenge itself', S256, challenge],
    ['one that fits by the other method', { code_challenge: challenge }, verifier],
    ['too short', { code_challenge: challenge }, challenge.slice(1)],
    ['of the right hash, but shorter than 43 characters', { ...S256, code_challenge: hashOf('short') }, 'short'],
    ['sent though none was offered', {}, verifier],
  ])(
    'a verifier that is %s is refused, and the code has had its one try then',
    async (_what, offered, code_verifier) => {
      const code = await newCode(offered)
      expect(refusal(await exchange(code, { code_verifier }))).toEqual([400, 'invalid_grant'])
      const right = 'code_challenge_method' in offered ? verifier : 'code_challenge' in offered ? challenge : undefined
      expect(refusal(await exchange(code, { code_verifier: right }))).toEqual([400, 'invalid_grant'])
    },
  )
})

describe('a request is refused', () => {
  const wrongKeys: Record<string, [Query, Record<string, string>?, string?]> = {
    'without credentials': [{ client_id: undefined, client_secret: undefined }],
    'without client_secret': [{ client_secret: undefined }],
    'without client_id': [{ client_id: undefined }],
    'with the wrong secret in the form': [{ client_secret: 'f'.repeat(32) }],
    'with the public key for a secret': [{ client_secret: 'PUBLIC' }],
    'with an unknown client_id': [{ client_id: 'f'.repeat(32) }],
    'with a client_id that no text can be': [{ client_id: 'a\0b' }],
    'with the wrong secret by Basic': [{ client_id: undefined, client_secret: undefined }, { secret: 'wrong' }],
    'with Basic that cannot be read': [
      { client_id: undefined, client_secret: undefined },
      { authorization: 'Basic !!!' },
    ],
    'with the wrong secret in the query': [{ client_secret: undefined }, {}, `?client_secret=${'f'.repeat(32)}`],
  }

  test.each(Object.entries(wrongKeys))(
    '%s, as invalid_client, and the code is as good as before',
    async (_what, sent) => {
      const [changes, headers = {}, query = ''] = sent
      const code = await newCode()
      const { secret, ...others } = headers
      const sentHeaders = secret === undefined ? others : basic({ ...client, PrivateKey: secret })
      if (changes.client_secret === 'PUBLIC') Object.assign(changes, { client_secret: client.PublicKey })
      const answer = await post(server, token + query, exchangeOf(client, code, changes), sentHeaders)
      expect(refusal(answer)).toEqual([401, 'invalid_client'])
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm="/)
      expect((await exchange(code)).statusCode).toBe(200)
    },
  )

  test.each<[string, Query, string]>([
    ['client_secret', { client_secret: undefined }, 'Send client_secret (the private key)'],
    ['client_id', { client_id: undefined }, 'Send client_id (the public key)'],
    [
      'both',
      { client_id: undefined, client_secret: undefined },
      'Send client_id (the public key) and client_secret (the private key)',
    ],
  ])('without %s by its name', async (_what, changes, description) => {
    expect((await exchange('any', changes)).json().error_description).toBe(description)
  })

  test('with credentials of two clients at once', async () => {
    const code = await newCode()
    for (const keys of [
      other,
      { ...client, PrivateKey: other.PrivateKey },
      { ...other, PrivateKey: client.PrivateKey },
    ]) {
      const answer = await post(server, token, exchangeOf(client, code), basic(keys))
      expect(refusal(answer)).toEqual([400, 'invalid_request'])
    }
    expect((await exchange(code)).statusCode).toBe(200)
  })

  test.each([
    [{ grant_type: undefined }, 'invalid_request'],
    [{ grant_type: 'password' }, 'unsupported_grant_type'],
    [{ grant_type: 'refresh_token' }, 'unsupported_grant_type'],
    [{ grant_type: 'Authorization_Code' }, 'unsupported_grant_type'],
    [{ code: undefined }, 'invalid_request'],
  ])('with %j, and the code is as good as before', async (changes, error) => {
    const code = await newCode()
    expect(refusal(await exchange(code, changes))).toEqual([400, error])
    expect((await exchange(code)).statusCode).toBe(200)
  })

  test.each(['code', 'Code', 'client_id', 'client_secret', 'grant_type', 'redirect_uri', 'code_verifier'])(
    'that has %s twice with different values, and the code is as good as before',
    async (name) => {
      const code = await newCode()
      const form = { ...exchangeOf(client, code), redirect_uri: redirectUri, code_verifier: verifier }
      const answer = await sendForm(`${textOf(form)}&${name}=x`)
      expect(refusal(answer)).toEqual([400, 'invalid_request'])
      expect(answer.json().error_description).toBe(`${name.toLowerCase()} is sent more than once with different values`)
      expect((await exchange(code)).statusCode).toBe(200)
    },
  )

  test.each([
    ['JSON', 'application/json', '{}', 415],
    ['without a type', undefined, 'code=1', 415],
    ['too large', 'application/x-www-form-urlencoded', `code=${'x'.repeat(65_536)}`, 413],
    ['encoded in no valid way', 'application/x-www-form-urlencoded', 'client_id=%zz&client_secret=1', 400],
  ])('whose body is %s', async (_what, type, payload, status) => {
    const headers = type === undefined ? {} : { 'content-type': type }
    const answer = await server.app.inject({ method: 'POST', url: token, headers, payload })
    expect(refusal(answer)).toEqual([status, 'invalid_request'])
  })

  test('over plain http, where PUBLIC_URL is https', async () => {
    const secure = await ofTest(openServer({ PUBLIC_URL: 'https://api.shop.example', TRUST_PROXY: '127.0.0.1' }))
    expect(refusal(await post(secure, token, {}))).toEqual([403, 'invalid_request'])
    expect(refusal(await post(secure, token, {}, { 'x-forwarded-proto': 'https' }))).toEqual([401, 'invalid_client'])
  })

  test('with 429 after fifty wrong keys from one address; right keys still work, and other addresses', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const wrong = (address: string) => post(server, token, { client_id: 'x', client_secret: 'y' }, from(address))
    const statuses = await Promise.all(Array.from({ length: 51 }, () => wrong('203.0.113.7')))
    expect(statuses.filter(({ statusCode }) => statusCode === 401)).toHaveLength(50)
    const refused = await wrong('203.0.113.7')
    expect(refusal(refused)).toEqual([429, 'temporarily_unavailable'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await wrong('203.0.113.8')).statusCode).toBe(401)
    const right = await post(server, token, exchangeOf(client, await newCode()), from('203.0.113.7'))
    expect(right.statusCode).toBe(200)
  })
})

test('503 while the database cannot be reached, in OAuth’s form', async () => {
  const gate = await openGate(server.database.url)
  const db = connect(gate.url)
  const app = buildApp({ ...server.services, db })
  await gate.close()
  const answer = await post({ ...server, app }, token, exchangeOf(client, 'x'))
  expect(refusal(answer)).toEqual([503, 'temporarily_unavailable'])
  expect(answer.headers['retry-after']).toBe('1')
  await Promise.all([app.close(), db.$disconnect()])
})

test('a defect answers 500 in OAuth’s form, without a word from inside', async () => {
  const takeRefused = () => {
    throw new Error('a word from inside')
  }
  const app = await ofTest(buildApp({ ...server.services, throttle: { ...server.services.throttle, takeRefused } }))
  const answer = await post({ ...server, app }, token, {})
  expect(refusal(answer)).toEqual([500, 'server_error'])
  expect(answer.body).not.toContain('inside')
})

describe('at once', () => {
  test('twenty exchanges of one code: one token at most, and none that works', async () => {
    for (let round = 0; round < 3; round++) {
      const code = await newCode()
      const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(code)))
      const given = answers.filter(({ statusCode }) => statusCode === 200)
      expect(given.length).toBe(1)
      expect(answers.filter(({ statusCode }) => statusCode === 400)).toHaveLength(19)
      for (const answer of given) expect(await bearer(answer.json().access_token)).toBe(401)
    }
  })

  test('the end of a subscription and exchanges of its codes: no token outlives it', async () => {
    const fleeting = await openClient(server)
    const list = `/admin/stores/${shop.store.id}/subscriptions`
    for (let round = 0; round < 5; round++) {
      const codes = [await codeOf(shop, fleeting), await codeOf(shop, fleeting), await codeOf(shop, fleeting)]
      const [subscription] = (await shop.merchant.call('GET', list))
        .json()
        .filter(({ PublicKey }: { PublicKey: string }) => PublicKey === fleeting.PublicKey)
      const [ended, ...answers] = await Promise.all([
        shop.merchant.call('DELETE', `${list}/${subscription.Id}`),
        ...codes.map((code) => post(server, token, exchangeOf(fleeting, code))),
      ])
      expect(ended.statusCode).toBe(200)
      for (const answer of answers) {
        expect([200, 400]).toContain(answer.statusCode)
        if (answer.statusCode === 200) expect(await bearer(answer.json().access_token)).toBe(401)
      }
    }
  })

  test('of one subscription the hundred newest tokens work', async () => {
    const busy = await openClient(server)
    const first = await tokenOf(server, shop, busy)
    const second = await tokenOf(server, shop, busy)
    const codes: string[] = []
    for (let count = 0; count < 99; count++) codes.push(await codeOf(shop, busy))
    const answers = await Promise.all(codes.map((code) => post(server, token, exchangeOf(busy, code))))
    expect(answers.every(({ statusCode }) => statusCode === 200)).toBe(true)
    expect([await bearer(first), await bearer(second)]).toEqual([401, 200])
    expect(await server.services.db.accessToken.count({ where: { subscription: { applicationId: busy.Id } } })).toBe(
      100,
    )
  })
})
