import { describe, expect, test } from 'vitest'
import { sweepsByAge } from '../../../../src/parts/retention.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { type TestPerson, testPerson } from '../../../support/person.ts'
import { json, openReceiver, status } from '../../../support/receiver.ts'
import { ofTest } from '../../../support/shared.ts'
import { merchantAccount, merchantIn } from '../../../support/signed-in.ts'
import { openServer, sharedServer } from '../../../support/store.ts'
import { logged } from '../pages/developers/fixture.ts'
import { alertOf } from '../pages/people/fixture.ts'
import {
  challenge,
  codeOf,
  decide,
  exchangeOf,
  openClient,
  openShop,
  page,
  post,
  queryOf,
  redirectUri,
  sentBack,
} from './fixture.ts'

const server = await sharedServer({ OUTBOUND_ALLOW: '127.0.0.0/8' })
const client = await openClient(server)
const shop = await openShop(server)

const stranger = () => testPerson(server.app)

/** A request with this raw query; inject would write some characters otherwise. */
function open(person: TestPerson, query: string) {
  return person.open(`${page}?${query}`)
}

describe('who is let in', () => {
  test('the merchant of the store sees who asks for what, and is sent back with code, state and iss', async () => {
    const modest = await openClient(server, {
      Name: 'Stock <b>sync</b>',
      Privileges: { Products: ['read', 'write'], CustomerGroups: ['read'] },
    })
    const query = queryOf(modest, shop.store)
    const shown = await open(shop.merchant, query)

    expect(shown.statusCode).toBe(200)
    expect(shown.headers['cache-control']).toBe('no-store')
    for (const text of ['Stock &lt;b&gt;sync&lt;/b&gt;', shop.store.name, shop.store.secureUrl, 'app.example']) {
      expect(shown.body).toContain(text)
    }
    expect(shown.body).toMatch(/Read and change<\/strong> Products/)
    expect(shown.body).toMatch(/Read<\/strong> Customer groups/)
    expect(shown.body).not.toContain('already uses it')

    const back = await decide(shop.merchant, query)
    expect(back.statusCode).toBe(302)
    expect(String(back.headers.location)).toMatch(
      /^https:\/\/app\.example\/oauth\/callback\?from=shop&x=a%2Bb&code=[\w-]{43}&state=xyz&iss=http%3A%2F%2Flocalhost%3A3000$/,
    )
    expect((await open(shop.merchant, query)).body).toContain('already uses it')
    expect(await logged(server, modest)).toMatchObject([
      { action: 'application.created' },
      { action: 'subscription.created', actorKind: 'merchant', storeId: shop.store.id },
      {
        action: 'authorization.granted',
        actorKind: 'merchant',
        storeId: shop.store.id,
        details: { redirectHost: 'app.example' },
      },
    ])
  })

  test('whoever denies is sent back with access_denied and the state; the store does not use the application', async () => {
    const unwanted = await openClient(server)
    const answer = sentBack(await decide(shop.merchant, queryOf(unwanted, shop.store), 'deny'))

    expect(answer.get('error')).toBe('access_denied')
    expect([answer.get('state'), answer.get('iss'), answer.get('code')]).toEqual(['xyz', 'http://localhost:3000', null])
    expect(await server.services.db.subscription.count({ where: { applicationId: unwanted.Id } })).toBe(0)
    expect((await logged(server, unwanted)).map(({ action }) => action)).toEqual([
      'application.created',
      'authorization.denied',
    ])
  })

  test('a store that agreed to less is told so, and agrees to what is asked for now', async () => {
    const growing = await openClient(server, { Privileges: { Products: ['read'] } })
    await codeOf(shop, growing)
    const wider = { Privileges: { Products: ['read', 'write'] } }
    await growing.developer.call('PUT', `/developers/applications/${growing.Id}`, wider)
    expect((await open(shop.merchant, queryOf(growing, shop.store))).body).toContain('agreed to less')
    await codeOf(shop, growing)
    const subscription = await server.services.db.subscription.findFirst({ where: { applicationId: growing.Id } })
    expect(subscription?.privileges).toEqual(wider.Privileges)
  })

  test('privileges that changed after the page was shown are not agreed to', async () => {
    const sly = await openClient(server, { Privileges: { Products: ['read'] } })
    const answer = await shop.merchant.submit(`${page}?${queryOf(sly, shop.store)}`, {
      decision: 'allow',
      privileges: '{"Products":[]}',
    })
    expect(answer.statusCode).toBe(409)
    expect(alertOf(answer)).toContain('has changed the privileges it asks for')
    expect(answer.body).toMatch(/Read<\/strong> Products/)
    expect(await server.services.db.subscription.count({ where: { applicationId: sly.Id } })).toBe(0)
  })

  test('a button press from another site, without a session, without the form’s token or for neither does nothing', async () => {
    const query = queryOf(client, shop.store)
    const press = (headers: Record<string, string>, payload = 'decision=allow') => {
      const url = `${page}?${query}`
      const type = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
      return server.app.inject({ method: 'POST', url, headers: { ...type, ...headers }, payload })
    }
    const cookie = [...shop.merchant.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const noSession = await press({})
    expect([noSession.statusCode, noSession.headers.location]).toEqual([303, '/admin/sign-in'])
    expect((await press({ cookie })).statusCode).toBe(403)
    expect((await decide(shop.merchant, query, 'allow', { 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403)
    expect((await decide(shop.merchant, query, 'perhaps')).statusCode).toBe(400)
    expect(await server.services.db.authorizationCode.count({ where: { applicationId: client.Id } })).toBe(0)
  })

  test('the request is checked again when the button is pressed', async () => {
    const moving = await openClient(server)
    const query = queryOf(moving, shop.store)
    const { body } = await open(shop.merchant, query)
    await moving.developer.call('PUT', `/developers/applications/${moving.Id}`, { RedirectURIs: [] })
    const csrf = /name="_csrf" value="([^"]*)"/.exec(body.slice(body.indexOf('decision') - 300))?.[1] ?? ''
    const answer = await server.app.inject({
      method: 'POST',
      url: `${page}?${query}`,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        cookie: [...shop.merchant.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      payload: new URLSearchParams({ _csrf: csrf, decision: 'allow', privileges: 'null' }).toString(),
    })
    expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined])
    expect(answer.body).toContain('not exactly one of those that it registered')
  })

  test('the pages’ script gets the way on as JSON, everybody else is led on', async () => {
    const query = queryOf(client, shop.store)
    const json = await decide(shop.merchant, query, 'allow', { accept: 'application/json' })
    expect(json.json()).toEqual({ Location: expect.stringContaining(`${redirectUri}&code=`) })
    expect((await decide(shop.merchant, query, 'allow', { accept: '*/*' })).statusCode).toBe(302)
  })

  test('the consent page may lead on by a form, to a redirect address and from there', async () => {
    const policy = (await open(shop.merchant, queryOf(client, shop.store))).headers['content-security-policy']
    expect(String(policy).split('; ')).toContain("form-action 'self' https:")
  })
})

describe('the store', () => {
  test('without store_url is asked for; the page leads on to the same request, whatever its state', async () => {
    const raw = `${queryOf(client, null, { state: undefined })}&state=%FF%2b+%22a`
    const person = stranger()
    const asked = await open(person, raw)
    expect(asked.statusCode).toBe(200)
    expect(asked.body).toContain('Order sync')

    const fields = new URLSearchParams(hiddenFields(asked.body))
    fields.set('store_url', ` ${shop.store.secureUrl.replace('https://', 'WWW.')}/ `)
    const onward = await open(person, fields.toString())
    expect(onward.statusCode).toBe(302)
    const next = new URL(String(onward.headers.location), 'http://here').searchParams.get('next') ?? ''
    expect(next).toContain(raw)

    const signedIn = await person.submit(String(onward.headers.location), merchantAccount, { action: '/admin/sign-in' })
    expect([signedIn.statusCode, signedIn.headers.location]).toEqual([303, next])
    const back = await person.submit(next, { decision: 'allow' })
    expect(String(back.headers.location)).toContain('&state=%FF%2b+%22a&iss=')
  })

  test('of the merchant who is signed in is offered', async () => {
    expect((await open(shop.merchant, queryOf(client, null))).body).toContain(`value="${shop.store.secureUrl}"`)
  })

  test.each(['nowhere.example', '', 'a\0b', 'https://'])('that is unknown (%j) is asked for again', async (address) => {
    const answer = await open(stranger(), queryOf(client, null, { store_url: address }))
    expect(answer.statusCode).toBe(address === '' ? 200 : 400)
    expect(answer.headers.location).toBeUndefined()
    if (address !== '') expect(alertOf(answer)).toContain('No store here has this address')
    expect(answer.body.match(/store_url=/g)).toBeNull()
  })

  test.each(['https://HOST', 'HOST', 'HOST/', 'http://HOST/', 'https://www.HOST/admin', 'Www.HOST'])(
    'is found by %s',
    async (shape) => {
      const store_url = shape.replace('HOST', new URL(shop.store.secureUrl).host)
      const answer = await open(shop.merchant, queryOf(client, null, { store_url }))
      expect(answer.statusCode).toBe(200)
      expect(answer.body).toContain('Allow</button>')
    },
  )

  test('of nobody who is signed in leads to the sign-in there, and back by a session of that store', async () => {
    const other = await server.openStore()
    const query = queryOf(client, other.store)
    const answer = await open(shop.merchant, query)
    expect(answer.statusCode).toBe(302)
    expect(new URL(String(answer.headers.location), 'http://here').pathname).toBe('/admin/sign-in')
    const person = stranger()
    const detour = String((await open(person, query)).headers.location)
    const signedIn = await person.submit(detour, merchantAccount, { action: '/admin/sign-in' })
    expect(signedIn.headers.location).toBe(`${page}?${query}`)
    expect((await open(person, query)).body).toContain(other.store.name)
  })

  test('among the others of the session is changed to, and never agreed for while another is at work', async () => {
    const account = { Email: 'many@shop.example', Password: 'correct horse battery' }
    const stores = [await server.openStore(), await server.openStore()] as const
    for (const { store } of stores) {
      await server.services.db.identity.updateMany({
        where: { users: { some: { storeId: store.id } } },
        data: { email: account.Email },
      })
    }
    const person = stranger()
    await person.submit('/admin/sign-in', account)
    const atWork = (await person.open('/admin')).body.includes(stores[0].store.name) ? 0 : 1
    const here = stores[atWork].store
    const there = stores[1 - atWork]?.store ?? here

    const query = queryOf(client, there)
    const detour = String((await open(person, query)).headers.location)
    const change = String((await person.open(detour)).headers.location)
    expect(change).toContain('/admin/change-store?')
    const foreign = await person.submit(`${page}?${queryOf(client, here)}`, { decision: 'allow' })
    expect(foreign.statusCode).toBe(302)
    const button = /name="UserId" value="(\d+)"/.exec((await person.open(change)).body)?.[1] ?? ''
    const changed = await person.submit(change, { UserId: button }, { action: '/admin/change-store' })
    expect(changed.headers.location).toBe(`${page}?${query}`)
    sentBack(await decide(person, query))
    const subscribed = await server.services.db.subscription.count({
      where: { applicationId: client.Id, storeId: there.id },
    })
    expect(subscribed).toBe(1)
  })

  test('of another session cannot be agreed for by a form of this one', async () => {
    const other = await server.openStore()
    const merchant = await merchantIn(server, other.store)
    const query = queryOf(client, shop.store)
    const own = `${page}?${queryOf(client, other.store)}`
    const csrf = /name="_csrf" value="([^"]*)"/.exec((await merchant.open(own)).body)?.[1] ?? ''
    const answer = await server.app.inject({
      method: 'POST',
      url: `${page}?${query}`,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        cookie: [...merchant.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      payload: new URLSearchParams({ _csrf: csrf, decision: 'allow', privileges: 'null' }).toString(),
    })
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${page}?${query}`])
  })
})

/** Every way in which the browser must not be sent anywhere. */
describe('a page, and never a redirect, is the answer to', () => {
  const wrong: Record<string, Record<string, string | undefined>> = {
    'no client_id': { client_id: undefined },
    'an empty client_id': { client_id: '' },
    'an unknown client_id': { client_id: 'f'.repeat(32) },
    'a client_id that no text can be': { client_id: 'a\0b' },
    'no redirect_uri': { redirect_uri: undefined },
    'an empty redirect_uri': { redirect_uri: '' },
    'another redirect_uri': { redirect_uri: 'https://evil.example/' },
    'a prefix of the redirect_uri': { redirect_uri: redirectUri.slice(0, -1) },
    'what the redirect_uri is a prefix of': { redirect_uri: `${redirectUri}&more=1` },
    'the redirect_uri without its query': { redirect_uri: 'https://app.example/oauth/callback' },
    'the redirect_uri in another case': { redirect_uri: redirectUri.replace('app', 'APP') },
    'the redirect_uri with a dot segment': { redirect_uri: redirectUri.replace('/oauth/', '/oauth/./') },
    'the redirect_uri with the default port': { redirect_uri: redirectUri.replace('.example', '.example:443') },
    'the redirect_uri decoded once more': { redirect_uri: redirectUri.replace('%2B', '+') },
  }

  test.each(Object.entries(wrong))('%s', async (_what, changes) => {
    for (const person of [stranger(), shop.merchant]) {
      const answer = await open(person, queryOf(client, shop.store, changes))
      expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined])
      expect(answer.headers['content-type']).toContain('text/html')
      expect(answer.body).toContain('Nothing was changed')
    }
  })

  test.each([
    `client_id=${'f'.repeat(32)}`,
    'redirect_uri=https%3A%2F%2Fevil.example',
    `redirect_uri=${encodeURIComponent(redirectUri)}`,
  ])('a second %s', async (second) => {
    const answer = await open(shop.merchant, `${queryOf(client, shop.store)}&${second}`)
    expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined])
    expect(answer.body).toContain('sent more than once')
  })

  test('a redirect_uri that is not validly encoded', async () => {
    const answer = await open(
      shop.merchant,
      `${queryOf(client, shop.store, { redirect_uri: undefined })}&redirect_uri=%zz`,
    )
    expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined])
  })

  test('an application without a redirect address', async () => {
    const none = await openClient(server, { RedirectURIs: [] })
    const answer = await open(shop.merchant, queryOf(none, shop.store, { redirect_uri: redirectUri }))
    expect(answer.statusCode).toBe(400)
  })
})

describe('the application is told of', () => {
  const long = 'a'.repeat(129)
  const wrong: Record<string, [string, Record<string, string | undefined>]> = {
    'no response_type': ['invalid_request', { response_type: undefined }],
    'another response_type': ['unsupported_response_type', { response_type: 'token' }],
    'another code_challenge_method': ['invalid_request', { code_challenge: challenge, code_challenge_method: 'S512' }],
    'a code_challenge_method in another case': [
      'invalid_request',
      { code_challenge: challenge, code_challenge_method: 's256' },
    ],
    'a code_challenge_method without code_challenge': ['invalid_request', { code_challenge_method: 'S256' }],
    'a short code_challenge': [
      'invalid_request',
      { code_challenge: challenge.slice(1), code_challenge_method: 'S256' },
    ],
    'a long code_challenge': ['invalid_request', { code_challenge: long }],
    'a code_challenge of other characters': ['invalid_request', { code_challenge: challenge.replace('E', '=') }],
  }

  test.each(Object.entries(wrong))('%s, with the state', async (_what, [error, changes]) => {
    for (const person of [stranger(), shop.merchant]) {
      const answer = sentBack(await open(person, queryOf(client, shop.store, changes)))
      expect([answer.get('error'), answer.get('state'), answer.get('iss')]).toEqual([
        error,
        'xyz',
        'http://localhost:3000',
      ])
      expect(answer.get('error_description')).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    }
  })

  test('a parameter that is sent twice; a state that is, is not returned', async () => {
    const query = queryOf(client, shop.store)
    const twice = sentBack(await open(shop.merchant, `${query}&response_type=code`))
    expect([twice.get('error'), twice.get('state')]).toEqual(['invalid_request', 'xyz'])
    const states = sentBack(await open(shop.merchant, `${query}&state=abc`))
    expect([states.get('error'), states.get('state')]).toEqual(['invalid_request', null])
  })

  test('nothing that it did not ask: what is not known is passed over', async () => {
    const answer = await open(shop.merchant, `${queryOf(client, shop.store)}&scope=all&prompt=none&nonce=1&nonce=2`)
    expect(answer.statusCode).toBe(200)
  })
})

describe('state', () => {
  test.each([
    '%FF%00%0d%0a',
    'a+b%20c',
    '%c3%A9%C3%a9',
    'https%3A%2F%2Fshop.example%2F%3Fa%3D1%26b%3D2%23x',
    'https://shop.example/?a=1',
    '%zz%',
    '~(ok)!*;amp;%26amp;',
    '',
    'x'.repeat(3_000),
  ])('%j comes back byte for byte, allowed or not', async (state) => {
    const query = `${queryOf(client, shop.store, { state: undefined })}&state=${state}`
    for (const decision of ['allow', 'deny']) {
      const { headers } = await decide(shop.merchant, query, decision)
      expect(String(headers.location)).toContain(`&state=${state}&iss=`)
    }
    const { headers } = await open(shop.merchant, query.replace('response_type=code', 'response_type=id'))
    expect(String(headers.location)).toContain(`&state=${state}&iss=`)
  })

  test('that was not sent does not come back', async () => {
    const answer = await decide(shop.merchant, queryOf(client, shop.store, { state: undefined }))
    expect(sentBack(answer).has('state')).toBe(false)
  })
})

describe('with a CallBackURL', () => {
  test('its 200 lets the application in, and its PostBackURL is for the popup, once', async () => {
    const receiver = await ofTest(openReceiver(json({ PostBackURL: 'https://app.example/setup?a=1' })))
    const asking = await openClient(server, { CallBackURL: receiver.url })
    const query = queryOf(asking, shop.store)
    expect((await open(shop.merchant, query)).body).toContain('is asked to confirm first')
    const asJson = { accept: 'application/json' }
    expect((await decide(shop.merchant, query, 'allow', asJson)).json()).toEqual({
      PostBackURL: 'https://app.example/setup?a=1',
      Location: expect.stringContaining(redirectUri),
    })
    expect((await decide(shop.merchant, query, 'allow', asJson)).json()).not.toHaveProperty('PostBackURL')
    expect(receiver.received).toHaveLength(1)
    expect(receiver.received[0]?.callback).toMatchObject({ Action: 'AUTHORIZE', SecureURL: shop.store.secureUrl })
  })

  test('another status is Server not Responding on the page: no code, no subscription, and the button still works', async () => {
    const receiver = await ofTest(openReceiver(status(500)))
    const asking = await openClient(server, { CallBackURL: receiver.url })
    const query = queryOf(asking, shop.store)
    const refused = await decide(shop.merchant, query)
    expect([refused.statusCode, refused.headers.location]).toEqual([502, undefined])
    expect(alertOf(refused)).toContain('Server not Responding')
    expect(refused.body).toContain('Allow</button>')
    const { db } = server.services
    const where = { applicationId: asking.Id }
    expect([await db.subscription.count({ where }), await db.authorizationCode.count({ where })]).toEqual([0, 0])
    receiver.answer = status(200)
    sentBack(await decide(shop.merchant, query))
  })
})

test('a subscription that ends with its codes: what was agreed to before gives no token', async () => {
  const ending = await openClient(server)
  const code = await codeOf(shop, ending)
  const list = `/admin/stores/${shop.store.id}/subscriptions`
  const [subscription] = (await shop.merchant.call('GET', list))
    .json()
    .filter(({ PublicKey }: { PublicKey: string }) => PublicKey === ending.PublicKey)
  await shop.merchant.call('DELETE', `${list}/${subscription.Id}`)
  const answer = await post(server, '/oauth/token', exchangeOf(ending, code))
  expect([answer.statusCode, answer.json().error]).toEqual([400, 'invalid_grant'])
})

test('codes that have expired are cleared away', async () => {
  const own = await ofTest(openServer({}, cloneDatabase))
  const [forgetful, store] = [await openClient(own), await openShop(own)]
  await codeOf(store, forgetful)
  own.clock.ms += 10 * 60 * 1_000
  await codeOf(store, forgetful)
  await sweepsByAge(own.services, { historyDays: null })['old authorization codes'](() => false)
  expect(await own.services.db.authorizationCode.count()).toBe(1)
})

function hiddenFields(body: string): [string, string][] {
  const inputs = body.match(/<input type="hidden"[^>]*>/g) ?? []
  return inputs
    .map((input) => [/name="([^"]*)"/.exec(input)?.[1] ?? '', /value="([^"]*)"/.exec(input)?.[1] ?? ''] as const)
    .map(([name, value]): [string, string] => [name, value.replaceAll('&quot;', '"').replaceAll('&amp;', '&')])
    .filter(([name]) => name !== '_csrf')
}
