import { randomBytes } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestPerson } from '../../../support/person.ts'
import { openReceiver } from '../../../support/receiver.ts'
import { refused } from '../../../support/refused.ts'
import { operatorKey } from '../../../support/services.ts'
import { shared } from '../../../support/shared.ts'
import { developerIn, merchantIn } from '../../../support/signed-in.ts'
import { statementsOf } from '../../../support/statements.ts'
import { type Method, openServer, type TestServer, type TestStore } from '../../../support/store.ts'
import { post as postForm } from '../oauth/fixture.ts'
import { soapCall } from '../soap/support.ts'

let server: TestServer
const receiver = await shared(openReceiver())

beforeAll(async () => {
  const prefixes = { REST_PREFIXES: '/StoreWebAPI,/3dCartWebAPI', OUTBOUND_ALLOW: '127.0.0.0/8' }
  server = await openServer(prefixes)
})
afterAll(async () => {
  await server?.services.outbound.close()
  await server?.close()
})

const key = () => randomBytes(16).toString('hex')
const byOperator = { authorization: `Bearer ${operatorKey}` }

function call(method: Method, url: string, body?: object, headers: Record<string, string> = byOperator) {
  return server.app.inject({ method, url, headers: { ...headers }, ...(body && { payload: body }) })
}

const privileges = { Orders: ['read'], Products: ['read'] }
const keys = () => ({ Name: 'Brought', PublicKey: key(), PrivateKey: key(), Privileges: privileges })

async function made<T = Record<string, never>>(answer: Promise<LightMyRequestResponse>): Promise<T> {
  const { statusCode, body } = await answer
  if (statusCode >= 300) throw new Error(`${statusCode} ${body}`)
  return JSON.parse(body)
}

interface Brought {
  readonly Id: number
  readonly PublicKey: string
  readonly PrivateKey: string
  readonly OpenToMerchants: boolean
  readonly DatePrivateKeyBrought: string | null
}
const register = (changes: object = {}) => made<Brought>(call('POST', '/admin/applications', { ...keys(), ...changes }))
const subscriptionsOf = ({ store }: Pick<TestStore, 'store'>) => `/admin/stores/${store.id}/subscriptions`
const actionsOf = async (where: object) =>
  (await server.services.db.auditEntry.findMany({ where, orderBy: { id: 'asc' } })).map(({ action }) => action)

/** What refuses every key that cannot be used, whatever is wrong with it. */
const unusable = (field: string) => ({
  statusCode: 400,
  field,
  message: expect.stringMatching(
    new RegExp(
      `^${field} cannot be used as a key here; allowed are 32 random hexadecimal characters, or at least 128 `,
    ),
  ),
})

let serial = 0
let shop: TestStore
beforeEach(async () => {
  receiver.received.length = 0
  shop = await server.openStore()
})

describe('a shop that has moved here', () => {
  let old: string
  let application: Brought
  let token: string
  let userKey: string
  beforeEach(async () => {
    old = `old-${++serial}.platform.example`
    userKey = key()
    token = key()
    application = await register({ CallBackURL: receiver.url, RedirectURIs: ['https://app.example/oauth'] })
    await made(call('PUT', `/admin/stores/${shop.store.id}`, { SecureURLs: [`https://${old}`], UserKey: userKey }))
    await made(call('POST', subscriptionsOf(shop), { PublicKey: application.PublicKey, Token: token }))
  })

  const get = (url: string, headers: Record<string, string>) => server.app.inject({ url, headers })

  test('serves public clients as they are: bare host, lower-case headers, old prefix; by REST and cartAPI', async () => {
    const forms: [string, Record<string, string>][] = [
      ['/3dCartWebAPI/v1/OrderStatus', { SecureURL: old, PrivateKey: application.PrivateKey, Token: token }],
      ['/3DCARTWEBAPI/v1/OrderStatus', { secureurl: `www.${old}`, privatekey: application.PrivateKey, token }],
      [
        '/StoreWebAPI/v1/OrderStatus',
        { SecureUrl: `https://${old}/`, PrivateKey: application.PrivateKey, Token: token },
      ],
      [
        '/3dCartWebAPI/v1/OrderStatus',
        { SecureURL: shop.store.secureUrl, PrivateKey: application.PrivateKey, authorization: `Bearer ${token}` },
      ],
    ]
    for (const [url, headers] of forms) {
      const answer = await get(url, headers)
      expect(answer.statusCode, answer.body).toBe(200)
    }
    const moved = { store: { ...shop.store, secureUrl: old, userKey } }
    expect(await soapCall(server, moved, 'getProductCount')).toContain('<ProductQuantity>')
    expect(receiver.received).toEqual([])
  })

  test('does what its privileges say, and no more', async () => {
    const answer = await get('/StoreWebAPI/v1/Customers', {
      secureurl: old,
      privatekey: application.PrivateKey,
      token,
    })
    expect(answer.statusCode).toBe(401)
  })

  test('is refused at once under an address that was taken away, although callers are cached', async () => {
    const headers = { secureurl: old, privatekey: application.PrivateKey, token }
    const moved = { store: { ...shop.store, secureUrl: old, userKey } }
    const status = async () => (await get('/StoreWebAPI/v1/OrderStatus', headers)).statusCode
    expect(await status()).toBe(200)
    expect(await status()).toBe(200)
    await soapCall(server, moved, 'getProductCount')
    await made(call('PUT', `/admin/stores/${shop.store.id}`, { SecureURLs: [] }))
    expect(await status()).toBe(401)
    expect(await soapCall(server, moved, 'getProductCount')).toContain('Login Error')
    expect(await soapCall(server, { store: { ...shop.store, userKey } }, 'getProductCount')).toContain('Quantity')
  })

  test('costs the statements that a store with one address costs', async () => {
    const moved = { secureurl: old, privatekey: application.PrivateKey, token }
    const count = async (headers: Record<string, string>) => {
      server.services.authenticator.invalidate()
      return (await statementsOf(() => server.services.authenticator.authenticate(credentialsIn(headers)))).length
    }
    expect([await count(moved), await count(shop.credentials)]).toEqual([1, 1])
  })

  test('signs its people in under each of its addresses', async () => {
    const person = await merchantIn(server, { secureUrl: `https://${old}` })
    expect((await person.open('/admin/settings')).statusCode).toBe(200)
    const again = await person.open(`/admin/sign-in?store=${old}`)
    expect([again.statusCode, again.headers.location]).toEqual([303, '/admin'])
  })

  test('has marks wherever a brought key is shown, until it is replaced', async () => {
    const merchant = await merchantIn(server, shop.store)
    const subscription = { applicationId: application.Id }
    const { id: Id } = await server.services.db.subscription.findFirstOrThrow({ where: subscription })
    const home = '/admin/modules/rest-api'
    const mark = 'brought along: rotate when you can'
    for (const url of [home, `${home}/${Id}`, '/admin/modules/cartapi']) {
      const { statusCode, body } = await merchant.open(url)
      expect([statusCode, body.includes(mark)], url).toEqual([200, true])
    }
    expect((await merchant.call('GET', '/admin/stores')).json()).toMatchObject([
      { DateUserKeyBrought: '2026-03-10T16:00:00.000Z', SecureURLs: [`https://${old}`] },
    ])

    await made(call('POST', `/admin/stores/${shop.store.id}/user-key`))
    expect((await merchant.open('/admin/modules/cartapi')).body).not.toContain(mark)
    const rotated = await made<Brought>(call('POST', `/admin/applications/${application.Id}/private-key`, {}))
    expect(rotated.DatePrivateKeyBrought).toBeNull()
    expect((await merchant.open(home)).body).toContain(mark)
    for (const privatekey of [application.PrivateKey, rotated.PrivateKey]) {
      const answer = await get('/StoreWebAPI/v1/OrderStatus', { secureurl: old, privatekey, token })
      expect(answer.statusCode).toBe(200)
    }
    await made(call('DELETE', `${subscriptionsOf(shop)}/${Id}`))
    expect((await merchant.open(home)).body).not.toContain(mark)
  })

  test('can end the access of an application that is closed, without a callback', async () => {
    const merchant = await merchantIn(server, shop.store)
    const subscription = await server.services.db.subscription.findFirstOrThrow({
      where: { applicationId: application.Id },
    })
    const page = `/admin/modules/rest-api/${subscription.id}/unsubscribe`
    expect((await merchant.open(page)).body).toContain('Only the operator of this server can add it again')
    expect((await merchant.submit(page, {})).statusCode).toBe(303)
    const answer = await get('/StoreWebAPI/v1/OrderStatus', {
      secureurl: old,
      privatekey: application.PrivateKey,
      token,
    })
    expect([answer.statusCode, receiver.received]).toEqual([401, []])
    // The operator brings the same token again.
    await made(call('POST', subscriptionsOf(shop), { PublicKey: application.PublicKey, Token: token }))
  })

  test('is in the audit log, which has no key', async () => {
    expect(await actionsOf({ applicationId: application.Id })).toEqual([
      'application.created',
      'application.keys-brought',
      'subscription.created',
      'token.brought',
    ])
    expect(await actionsOf({ storeId: shop.store.id, applicationId: null })).toEqual([
      'store.created',
      'store.changed',
      'store.user-key-brought',
    ])
    const entries = JSON.stringify(
      await server.services.db.auditEntry.findMany({ where: { at: { gte: new Date(0) } } }),
      (_, value) => (typeof value === 'bigint' ? Number(value) : value),
    )
    const secrets = [application.PrivateKey, token, userKey]
    for (const secret of secrets) expect([entries, ...server.log].join('').includes(secret)).toBe(false)
    expect(entries).toContain(`"furtherUrls":{"from":[],"to":["https://${old}"]}`)
  })

  test('stores what was brought as what was made: hashed and sealed', async () => {
    const { db, secrets } = server.services
    const row = await db.application.findUniqueOrThrow({ where: { id: application.Id } })
    const { tokenHash, tokenSealed } = await db.subscription.findFirstOrThrow({ where: { applicationId: row.id } })
    const { userKeyHash, userKeySealed } = await db.store.findUniqueOrThrow({ where: { id: shop.store.id } })
    expect([row.privateKeyHash, tokenHash, userKeyHash]).toEqual(
      [application.PrivateKey, token, userKey].map(secrets.lookup),
    )
    expect([row.privateKeySealed, tokenSealed, userKeySealed].map(secrets.open)).toEqual([
      application.PrivateKey,
      token,
      userKey,
    ])
  })

  test('keeps the services that it may use, unless it is opened', async () => {
    const { Id } = await register()
    const everything = await call('PUT', `/admin/applications/${Id}`, { Privileges: null })
    expect(refused(everything)).toMatchObject({ statusCode: 400, field: 'Privileges' })
    expect(
      (await call('PUT', `/admin/applications/${Id}`, { Privileges: null, OpenToMerchants: true })).statusCode,
    ).toBe(200)
  })

  test('gets callbacks and OAuth when the operator opens the application, and loses them when it is closed', async () => {
    const other = await server.openStore()
    const merchant = await merchantIn(server, other.store)
    const subscribe = () => merchant.call('POST', subscriptionsOf(other), { PublicKey: application.PublicKey })
    const unknown = await merchant.call('POST', subscriptionsOf(other), { PublicKey: key() })
    expect(refused(await subscribe())).toEqual(refused(unknown))
    const open = (OpenToMerchants: boolean) =>
      made<Brought>(call('PUT', `/admin/applications/${application.Id}`, { OpenToMerchants }))
    expect((await open(true)).OpenToMerchants).toBe(true)
    expect((await subscribe()).statusCode).toBe(201)
    expect(receiver.received.map(({ callback }) => callback.Action)).toEqual(['AUTHORIZE'])
    expect((await open(false)).OpenToMerchants).toBe(false)
    expect(refused(await subscribe())).toEqual(refused(unknown))
    expect((await actionsOf({ applicationId: application.Id, storeId: null })).slice(2)).toEqual([
      'application.opened',
      'application.closed',
    ])
  })
})

const credentialsIn = ({ secureurl, privatekey, token }: Record<string, string>) => ({
  secureUrl: secureurl,
  privateKey: privatekey,
  token,
})

describe('a subscription', () => {
  test('is told of to nobody when its token is brought, even where merchants find the application', async () => {
    const { PublicKey, Id } = await register({ CallBackURL: receiver.url })
    await made(call('PUT', `/admin/applications/${Id}`, { OpenToMerchants: true }))
    const Token = key()
    const [first, again, another] = [
      await call('POST', subscriptionsOf(shop), { PublicKey, Token }),
      await call('POST', subscriptionsOf(shop), { PublicKey, Token }),
      await call('POST', subscriptionsOf(shop), { PublicKey, Token: key() }),
    ]
    expect([first.statusCode, again.statusCode]).toEqual([201, 200])
    expect([first.json().Token, again.json().Token]).toEqual([Token, Token])
    expect(refused(another)).toMatchObject({ statusCode: 409, field: 'Token' })
    expect(receiver.received).toEqual([])
    const { privileges: agreed } = await server.services.db.subscription.findFirstOrThrow({
      where: { applicationId: Id },
    })
    expect(agreed).toEqual(privileges)
  })

  test('of a closed application gets a new token from the operator, without a callback', async () => {
    const { PublicKey } = await register({ CallBackURL: receiver.url })
    expect((await call('POST', subscriptionsOf(shop), { PublicKey })).statusCode).toBe(201)
    expect(receiver.received).toEqual([])
  })

  test('leaves nothing when its token cannot be used, so that another try is not kept waiting', async () => {
    const { PublicKey } = await register()
    const weak = await call('POST', subscriptionsOf(shop), { PublicKey, Token: 'short' })
    expect(refused(weak)).toEqual({ ...refused(weak), ...unusable('Token') })
    expect(await server.services.db.handshake.count()).toBe(0)
  })
})

describe('a body', () => {
  test.each([
    ['PrivateKey is missing', { PrivateKey: undefined }, 'PrivateKey'],
    ['PublicKey is missing', { PublicKey: undefined }, 'PublicKey'],
    ['Privileges are missing', { Privileges: undefined }, 'Privileges'],
    ['Privileges are everything', { Privileges: null }, 'Privileges'],
    ['PublicKey is a number', { PublicKey: 5 }, 'PublicKey'],
    ['CallBackURL is no address', { CallBackURL: 'nowhere' }, 'CallBackURL'],
  ])('of an application is refused when %s', async (_name, changes, field) => {
    const answer = await call('POST', '/admin/applications', { ...keys(), ...changes })
    expect(refused(answer)).toMatchObject({ statusCode: 400, field })
  })

  test.each([
    ['a list that is none', 'https://a.example', 'SecureURLs'],
    ['21 addresses', Array.from({ length: 21 }, (_, index) => `https://many-${index}.example`), 'SecureURLs'],
    ['an address with a query', ['https://a.example/?b=1'], 'SecureURLs.0'],
    ['one host twice', ['https://twice.example', 'http://WWW.twice.example:8080'], 'SecureURLs'],
  ])('of a store is refused with %s', async (_name, SecureURLs, field) => {
    const answer = await call('PUT', `/admin/stores/${shop.store.id}`, { SecureURLs })
    expect(refused(answer)).toMatchObject({ statusCode: 400, field })
  })

  test('of a new store takes a user key and further addresses', async () => {
    const host = `new-${++serial}.platform.example`
    const UserKey = key()
    const body = {
      Name: 'New',
      SecureURL: `https://main-${serial}.example`,
      SecureURLs: [host],
      UserKey,
      Email: 'owner@shop.example',
      Password: 'the words of a password',
    }
    const opened = await made<{ Id: number; UserKey: string }>(call('POST', '/admin/stores', body))
    expect(opened.UserKey).toBe(UserKey)
    const moved = { store: { ...shop.store, secureUrl: host, userKey: UserKey } }
    expect(await soapCall(server, moved, 'getProductCount')).toContain('<ProductQuantity>')
    expect(await actionsOf({ storeId: opened.Id })).toEqual(['store.created', 'store.user-key-brought'])
  })

  test('with the main address of a further one takes that out of the list, and keeps other members', async () => {
    const put = (body: object) => made<Record<string, unknown>>(call('PUT', `/admin/stores/${shop.store.id}`, body))
    const [one, two] = [`https://one-${++serial}.example`, `https://two-${serial}.example`]
    await put({ SecureURLs: [one, two] })
    expect(await put({ SecureURL: one })).toMatchObject({ SecureURL: one, SecureURLs: [two] })
    expect(await put({ Name: 'Renamed' })).toMatchObject({ SecureURLs: [two] })
    expect(await put({ SecureURL: two, SecureURLs: [one] })).toMatchObject({ SecureURL: two, SecureURLs: [one] })
  })
})

describe('a key that cannot be used is refused alike, whether it is taken or weak', () => {
  const fields = ['PublicKey', 'PrivateKey', 'Token', 'UserKey'] as const

  /** Sends a key as a member of the body that takes it. */
  async function bring(field: (typeof fields)[number], value: string) {
    if (field === 'UserKey') return call('PUT', `/admin/stores/${shop.store.id}`, { UserKey: value })
    if (field !== 'Token') return call('POST', '/admin/applications', { ...keys(), [field]: value })
    const { PublicKey } = await register()
    return call('POST', subscriptionsOf(shop), { PublicKey, Token: value })
  }

  test.each(fields)('%s', async (field) => {
    const other = await server.openStore()
    const rotated = await register()
    await made(call('POST', `/admin/applications/${rotated.Id}/private-key`, {}))
    const taken = [
      other.application.publicKey,
      other.application.publicKey.toUpperCase(),
      other.application.privateKey,
      rotated.PrivateKey,
      other.token,
      other.store.userKey,
    ]
    const weak = [
      '',
      '0'.repeat(32),
      'abc',
      'x'.repeat(200),
      'x'.repeat(201),
      `${key()} ${key()}`,
      `${key()}\0${key()}`,
      'ü'.repeat(40),
    ]
    const bodies = new Set<string>()
    const counts = new Set<number>()
    for (const value of [...taken, ...weak]) {
      const answer = await bring(field, value)
      expect(refused(answer), value).toMatchObject(unusable(field))
      bodies.add(answer.body)
    }
    expect(bodies.size).toBe(1)
    for (const value of [other.token, '0'.repeat(32), 'abc']) {
      counts.add((await statementsOf(() => bring(field, value))).length)
    }
    expect(counts.size).toBe(1)
  })

  test('one text cannot be both keys of an application', async () => {
    const both = key()
    const answer = await call('POST', '/admin/applications', { ...keys(), PublicKey: both, PrivateKey: both })
    expect(refused(answer)).toMatchObject(unusable('PrivateKey'))
  })
})

describe('of twenty at once', () => {
  const statusesOf = async (requests: readonly Promise<LightMyRequestResponse>[]) =>
    (await Promise.all(requests)).map(({ statusCode }) => statusCode).sort()
  const oneWins = (won: number, lost: number) => [won, ...Array.from({ length: 19 }, () => lost)]

  test('one gets an address', async () => {
    const stores = await Promise.all(Array.from({ length: 20 }, () => server.openStore()))
    const url = `https://wanted-${++serial}.example`
    const statuses = await statusesOf(
      stores.map(({ store }, index) =>
        call('PUT', `/admin/stores/${store.id}`, index % 2 ? { SecureURLs: [url] } : { SecureURL: url }),
      ),
    )
    expect(statuses).toEqual(oneWins(200, 409))
  })

  test('one gets a key, whatever kind each wants it for', async () => {
    const wanted = key()
    const brought = await Promise.all(Array.from({ length: 5 }, () => register()))
    const stores = await Promise.all(Array.from({ length: 5 }, () => server.openStore()))
    const status = await statusesOf([
      ...brought.map(({ PublicKey }) => call('POST', subscriptionsOf(shop), { PublicKey, Token: wanted })),
      ...stores.map(({ store }) => call('PUT', `/admin/stores/${store.id}`, { UserKey: wanted })),
      ...brought.map(() => call('POST', '/admin/applications', { ...keys(), PrivateKey: wanted })),
      ...brought.map(() => call('POST', '/admin/applications', { ...keys(), PublicKey: wanted })),
    ])
    expect([status.filter((each) => each < 300).length, status.filter((each) => each === 400).length]).toEqual([1, 19])
  })
})

describe('misuse', () => {
  let victim: TestStore
  let application: Brought
  let token: string
  let merchant: TestPerson
  let developer: TestPerson
  beforeEach(async () => {
    victim = await server.openStore()
    token = key()
    application = await register({ CallBackURL: receiver.url, RedirectURIs: ['https://app.example/oauth'] })
    const address = `https://victim-${++serial}.platform.example`
    await made(call('PUT', `/admin/stores/${victim.store.id}`, { SecureURLs: [address] }))
    await made(call('POST', subscriptionsOf(victim), { PublicKey: application.PublicKey, Token: token }))
    merchant = await merchantIn(server, shop.store)
    developer = await developerIn(server)
  })

  const ofShop = () => `/admin/stores/${shop.store.id}`
  const victimHost = () => `https://victim-${serial}.platform.example`
  const authorize = (client: string) =>
    `/oauth/authorize?client_id=${client}&response_type=code&store_url=${shop.store.secureUrl}&redirect_uri=https%3A%2F%2Fapp.example%2Foauth`

  /** Each attempt, and the same with what there never was: both are answered alike, and in as many statements. */
  const attempts: readonly [string, (known: boolean) => Promise<LightMyRequestResponse>][] = [
    [
      'a developer registers another’s public key',
      (known) =>
        developer.call('POST', '/developers/applications', {
          Name: 'Mine',
          PublicKey: known ? application.PublicKey : key(),
          PrivateKey: key(),
        }),
    ],
    [
      'a developer renames an own application to it',
      async (known) => {
        const own = await made<{ Id: number }>(developer.call('POST', '/developers/applications', { Name: 'Mine' }))
        return developer.call('PUT', `/developers/applications/${own.Id}`, {
          PublicKey: known ? application.PublicKey : key(),
        })
      },
    ],
    [
      'a merchant adds the closed application by its public key',
      (known) =>
        merchant.call('POST', `${ofShop()}/subscriptions`, { PublicKey: known ? application.PublicKey : key() }),
    ],
    [
      'a merchant brings the token of another store',
      (known) =>
        merchant.call('POST', `${ofShop()}/subscriptions`, {
          PublicKey: shop.application.publicKey,
          Token: known ? token : key(),
        }),
    ],
    [
      'a merchant brings another store’s user key',
      (known) => merchant.call('PUT', ofShop(), { UserKey: known ? victim.store.userKey : key() }),
    ],
    [
      'a merchant claims another store’s address as a further one',
      (known) => merchant.call('PUT', ofShop(), { SecureURLs: [known ? victimHost() : 'https://free.example'] }),
    ],
    [
      'somebody asks for consent by its client_id',
      (known) => merchant.open(authorize(known ? application.PublicKey : key())),
    ],
    [
      'somebody exchanges a code as the client',
      (known) =>
        postForm(server, '/oauth/token', {
          grant_type: 'authorization_code',
          code: 'x',
          client_id: known ? application.PublicKey : key(),
          client_secret: known ? application.PrivateKey : key(),
        }),
    ],
    [
      'somebody revokes its token as the client',
      (known) =>
        postForm(server, '/oauth/revoke', {
          token,
          client_id: known ? application.PublicKey : key(),
          client_secret: known ? application.PrivateKey : key(),
        }),
    ],
    [
      'a merchant looks for it on the page',
      (known) =>
        merchant.open(`/admin/modules/rest-api/subscribe?PublicKey=${known ? application.PublicKey : 'f'.repeat(32)}`),
    ],
  ]

  test.each(attempts)('fails when %s, and tells nothing', async (_name, attempt) => {
    const seenOnce = async (known: boolean) => {
      const answer: { value?: LightMyRequestResponse } = {}
      const sent = await statementsOf(async () => {
        answer.value = await attempt(known)
      })
      if (!answer.value) throw new Error('no answer')
      const { statusCode, body, headers } = answer.value
      const same = body
        .replaceAll(application.PublicKey, 'KEY')
        .replace(/[0-9a-f]{32}/g, 'KEY')
        .replace(/name="_csrf" value="[^"]*"/g, '')
        .replace(/req(uest)?[ -]?id[^<,]*/gi, '')
        .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
      return { statusCode, same, location: headers.location, statements: sent.length }
    }
    // What the server does in the background meanwhile must not count.
    const seen = async (known: boolean) => {
      const times = [await seenOnce(known), await seenOnce(known), await seenOnce(known)] as const
      return { ...times[0], statements: Math.min(...times.map(({ statements }) => statements)) }
    }
    const [real, invented] = [await seen(true), await seen(false)]
    expect(real).toEqual(invented)
    expect(real.statusCode).toBeGreaterThanOrEqual(400)
    const { db } = server.services
    expect(await db.subscription.count({ where: { applicationId: application.Id } })).toBe(1)
    expect(await db.storeHost.count({ where: { storeId: victim.store.id } })).toBe(2)
    expect(receiver.received).toEqual([])
  })

  test('only the operator sets what is brought along: others are refused by the name of the field', async () => {
    const open = await made<Brought>(call('POST', '/admin/applications', { Name: 'Open' }))
    const { PublicKey } = open
    const answers = [
      ['Token', await merchant.call('POST', `${ofShop()}/subscriptions`, { PublicKey, Token: key() })],
      ['UserKey', await merchant.call('PUT', ofShop(), { UserKey: key() })],
      ['SecureURLs', await merchant.call('PUT', ofShop(), { SecureURLs: [] })],
    ] as const
    for (const [field, answer] of answers) {
      expect(refused(answer)).toMatchObject({ statusCode: 403, field, message: `Only the operator can set ${field}` })
    }
    expect(await server.services.db.subscription.count({ where: { applicationId: open.Id } })).toBe(0)
  })

  test('a store that uses a closed application does not find it by its public key either', async () => {
    await made(call('POST', subscriptionsOf(shop), { PublicKey: application.PublicKey }))
    const found = await merchant.open(`/admin/modules/rest-api/subscribe?PublicKey=${application.PublicKey}`)
    expect(found.statusCode).toBe(400)
  })

  test('a merchant cannot claim another store’s further address as the main one', async () => {
    const answer = await merchant.call('PUT', ofShop(), { SecureURL: victimHost() })
    expect(refused(answer)).toMatchObject({ statusCode: 409, field: 'SecureURL' })
    const [host] = await server.services.db.storeHost.findMany({ where: { host: new URL(victimHost()).host } })
    expect(host?.storeId).toBe(victim.store.id)
  })

  test('a developer’s callback hears nothing of a store whose token was brought for another application', async () => {
    await made(developer.call('POST', '/developers/applications', { Name: 'Listener', CallBackURL: receiver.url }))
    await made(call('PUT', `/admin/applications/${application.Id}`, { OpenToMerchants: true }))
    const other = await server.openStore()
    await made(call('POST', subscriptionsOf(other), { PublicKey: application.PublicKey, Token: key() }))
    expect(receiver.received).toEqual([])
  })

  test('the token of one store opens no other, whichever address is sent with it', async () => {
    const headers = { privatekey: application.PrivateKey, token, secureurl: shop.store.secureUrl }
    const answer = await server.app.inject({ url: '/StoreWebAPI/v1/OrderStatus', headers })
    expect(answer.statusCode).toBe(401)
  })
})
