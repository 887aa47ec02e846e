import { describe, expect, test } from 'vitest'
import { subscribe } from '../../../../../src/access/applications/subscriptions/subscriptions.ts'
import { storeWithKey } from '../../../../../src/access/stores/stores.ts'
import { generateKey } from '../../../../../src/foundation/values/secrets.ts'
import { operator } from '../../../../support/actors.ts'
import { type TestPerson, testPerson } from '../../../../support/person.ts'
import { refused } from '../../../../support/refused.ts'
import { merchantAccount, merchantIn, newDeveloper, operatorIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { newAppOwner, signInByProgram, withApp } from '../../../access/people/factors/fixture.ts'

const server = await sharedServer({ SANDBOX: 'no', OUTBOUND_ALLOW: '127.0.0.0/8' })
const shop = await server.openStore()
/** With a second factor, as who runs a server has. */
const ann = await operatorWithFactor()

async function operatorWithFactor() {
  const person = await operatorIn(server)
  await withApp(server, person, { area: '/operator', account: person.account })
  return person
}

/** The link that a page shows once. */
function linkIn(page: string): string {
  const link = /<code id="link">([^<]+)<\/code>/.exec(page)?.[1]
  if (link === undefined) throw new Error(`The page shows no link: ${page}`)
  const { pathname, search } = new URL(link)
  return pathname + search
}

async function idOf(email: string): Promise<number> {
  return (await server.services.db.identity.findFirstOrThrow({ where: { email } })).id
}

const addresses = [
  '/operator',
  '/operator/stores',
  '/operator/stores/new',
  '/operator/stores/1',
  '/operator/applications',
  '/operator/applications/1',
  '/operator/developers',
  '/operator/people',
  '/operator/people/1',
  '/operator/deliveries',
  '/operator/mails',
  '/operator/sizes',
  '/operator/operators',
  '/operator/audit',
  '/operator/account',
]

test('every page opens, and none shows a secret of anybody', async () => {
  const { db, secrets } = server.services
  const Url = 'https://desk.example/x?key=hidden-in-url'
  const body = { Name: 'w', Url, EventType: 1, Enabled: true }
  expect((await shop.call('POST', '/Webhooks', { body })).statusCode).toBe(201)
  const [webhook] = await db.webhook.findMany()
  const { userKey } = await storeWithKey(server.services, shop.store.id)
  const [application] = await db.application.findMany()
  const [subscription] = await db.subscription.findMany()
  const hidden = [
    userKey,
    secrets.open(application?.privateKeySealed ?? ''),
    secrets.open(subscription?.tokenSealed ?? ''),
    secrets.open(webhook?.secretSealed ?? ''),
    'hidden-in-url',
    server.services.operatorKey,
  ]
  await db.webhook.updateMany({ data: { failingSince: new Date() } })

  for (const address of addresses) {
    const { statusCode, body } = await ann.open(address)
    expect([address, statusCode]).toEqual([address, 200])
    for (const secret of hidden) expect([address, body.includes(secret)]).toEqual([address, false])
  }
  expect((await ann.open('/operator/deliveries')).body).toContain('desk.example')
})

test('the pages speak the language of the browser', async () => {
  const german = { 'accept-language': 'de-DE' }
  const { body } = await ann.open('/operator', german)
  expect(body).toContain('<html lang="de">')
  expect(body).toMatch(/<a href="\/operator\/stores">\d+ Shops?<\/a>, <a href="\/operator\/people">\d+ Kont/)
  expect(body).toMatch(/\d wartend<\/a>, \d Webhooks? fehlerhaft, \d pausiert/)
  const store = await ann.open(`/operator/stores/${shop.store.id}`, german)
  expect(store.body).toMatch(/Shop \d+, eröffnet am 10\. März 2026, 16:00 UTC\./)
})

test('pages of records that there are not answer 404', async () => {
  for (const address of ['stores/999999', 'applications/999999', 'people/999999', 'nope']) {
    expect([address, (await ann.open(`/operator/${address}`)).statusCode]).toEqual([address, 404])
  }
})

describe('a store', () => {
  const form = { Name: 'Garden Shop', SecureURL: 'https://garden.example', Email: 'olga@garden.example' }

  test('is opened, and its owner comes in by the link', async () => {
    const opened = await ann.submit('/operator/stores/new', form, { action: '/operator/stores' })
    expect(opened.statusCode).toBe(200)
    const olga = testPerson(server.app)
    const link = linkIn(opened.body)
    const joined = await olga.submit(link, { Password: 'correct horse battery' }, { action: '/admin/invitations' })
    expect([joined.statusCode, joined.headers.location]).toEqual([303, '/admin'])

    const page = (await olga.open('/admin/people')).body
    expect(page).toContain('olga@garden.example')
    const store = await server.services.db.store.findFirstOrThrow({
      where: { name: form.Name },
      include: { users: true },
    })
    expect(store.users).toMatchObject([{ email: form.Email, role: 'owner' }])
    expect(await server.services.db.orderStatus.count({ where: { storeId: store.id } })).toBe(12)
  })

  test('that is refused leaves nothing, and the form keeps what was typed', async () => {
    const before = await server.services.db.store.count()
    for (const wrong of [{ SecureURL: shop.store.secureUrl }, { SecureURL: 'not an address' }, { Email: 'nobody' }]) {
      const sent = { ...form, SecureURL: 'https://other.example', ...wrong }
      const answer = await ann.submit('/operator/stores/new', sent, { action: '/operator/stores' })
      expect([wrong, [400, 409].includes(answer.statusCode)]).toEqual([wrong, true])
      expect(answer.body).toContain('value="Garden Shop"')
    }
    expect(await server.services.db.store.count()).toBe(before)
    expect(await server.services.db.invitation.count({ where: { store: { name: form.Name } } })).toBe(0)
  })

  test('gets other settings and a limit, which empty fields take back', async () => {
    const page = `/operator/stores/${shop.store.id}`
    const { Name = '', SecureURL = '', Currency = '', TimeZone = '' } = await ann.formOf(page)
    const same = { Name, SecureURL, Currency, TimeZone }
    const other = { TimeZone: 'Europe/Vienna', Country: 'AT' }
    await ann.submit(page, { ...same, ...other, Capacity: '80', LeakPerSecond: '4.5' })
    const stored = () => storeWithKey(server.services, shop.store.id)
    expect(await ann.formOf(page)).toMatchObject(other)
    expect(await stored()).toMatchObject({
      timeZone: 'Europe/Vienna',
      country: 'AT',
      throttle: { capacity: 80, leakPerSecond: 4.5 },
    })

    const refused = await ann.submit(page, { ...same, Capacity: '0', LeakPerSecond: '1' })
    expect(refused.statusCode).toBe(400)
    expect(refused.body).toContain('must be a whole number from 1')
    await ann.submit(page, { ...same, Capacity: '', LeakPerSecond: '' })
    expect((await stored()).throttle).toBeNull()
  })

  test('gets further addresses, one a line, and loses those that are not there any more', async () => {
    const page = `/operator/stores/${shop.store.id}`
    const same = await ann.formOf(page)
    const stored = async () => (await storeWithKey(server.services, shop.store.id)).furtherUrls
    await ann.submit(page, { ...same, SecureURLs: 'old.platform.example\r\n\r\nhttps://older.platform.example/' })
    expect(await stored()).toEqual(['https://old.platform.example', 'https://older.platform.example'])
    expect((await ann.formOf(page)).SecureURLs).toBe('https://old.platform.example\nhttps://older.platform.example')
    const refused = await ann.submit(page, { ...same, SecureURLs: 'old.platform.example\nno address' })
    expect([refused.statusCode, refused.body.includes('SecureURLs-problem')]).toEqual([400, true])
    await ann.submit(page, { ...same, SecureURLs: '' })
    expect(await stored()).toEqual([])
  })

  test('shows which keys were brought along, and none of them', async () => {
    const [PublicKey, PrivateKey, Token, UserKey] = [generateKey(), generateKey(), generateKey(), generateKey()]
    const send = (method: 'POST' | 'PUT', url: string, payload: object) => server.operate(method, url, payload)
    const Privileges = { Orders: ['read'] }
    const brought = { Name: 'Brought', PublicKey, PrivateKey, Privileges }
    const { Id } = (await send('POST', '/admin/applications', brought)).json()
    await send('POST', `/admin/stores/${shop.store.id}/subscriptions`, { PublicKey, Token })
    await send('PUT', `/admin/stores/${shop.store.id}`, { UserKey })
    const mark = 'brought along: rotate when you can'
    for (const [page, times] of [
      [`/operator/stores/${shop.store.id}`, 2],
      ['/operator/applications', 1],
      [`/operator/applications/${Id}`, 2],
    ] as const) {
      const { body } = await ann.open(page)
      expect([page, body.split(mark).length - 1]).toEqual([page, times])
      for (const secret of [PrivateKey, Token, UserKey]) expect(body).not.toContain(secret)
    }
    const page = `/operator/applications/${Id}`
    expect((await ann.open(page)).body).toContain('Closed to merchants')
    for (const [OpenToMerchants, button] of [
      ['true', 'Close to merchants'],
      ['false', 'Open to merchants'],
    ] as const) {
      await ann.submit(page, { OpenToMerchants }, { action: `${page}/merchants` })
      expect((await ann.open(page)).body).toContain(button)
      const { openToMerchants } = await server.services.db.application.findUniqueOrThrow({ where: { id: Id } })
      expect(String(openToMerchants)).toBe(OpenToMerchants)
    }
  })

  test('loses the last owner to nobody, and another person at once', async () => {
    const page = `/operator/stores/${shop.store.id}`
    const [owner] = await server.services.db.storeUser.findMany({ where: { storeId: shop.store.id } })
    const remove = `${page}/people/${owner?.id}/remove`
    const refused = await ann.submit(page, {}, { action: remove })
    expect([refused.statusCode, /last owner/.test(refused.body)]).toEqual([409, true])

    const invited = await ann.submit(
      page,
      { Email: 'packer@shop.example', Role: 'orders' },
      { action: `${page}/invitations` },
    )
    const packer = testPerson(server.app)
    await packer.submit(linkIn(invited.body), { Password: 'correct horse battery' }, { action: '/admin/invitations' })
    expect((await packer.open('/admin/orders')).statusCode).toBe(200)
    const { id } = await server.services.db.storeUser.findFirstOrThrow({ where: { email: 'packer@shop.example' } })
    await ann.submit(page, {}, { action: `${page}/people/${id}/remove` })
    expect((await packer.open('/admin/orders')).statusCode).toBe(303)
  })

  test('has its key replaced without anybody seeing it', async () => {
    const before = await storeWithKey(server.services, shop.store.id)
    const page = `/operator/stores/${shop.store.id}`
    const answer = await ann.submit(page, {}, { action: `${page}/user-key` })
    const after = await storeWithKey(server.services, shop.store.id)
    expect(after.userKey).not.toBe(before.userKey)
    expect(answer.body).not.toContain(after.userKey)
  })
})

test('an application gets a limit, and the page lists who uses it', async () => {
  const { db } = server.services
  const [application] = await db.application.findMany()
  const page = `/operator/applications/${application?.id}`
  await ann.submit(page, { Capacity: '100', LeakPerSecond: '5' })
  expect(await db.application.findFirst({ where: { id: application?.id ?? 0 } })).toMatchObject({
    throttleCapacity: 100,
  })
  expect((await ann.open(page)).body).toContain(shop.store.name)
  const refused = await ann.submit(page, { Capacity: '1,000', LeakPerSecond: '5' })
  expect([refused.statusCode, refused.body.includes('can be read as')]).toEqual([400, true])
})

test('lists find by a part, and whatever stands in the address', async () => {
  expect((await ann.open('/operator/stores?name=GARDEN')).body).toContain('garden.example')
  expect((await ann.open('/operator/stores?name=nowhere')).body).toContain('No store has such a name or address')
  expect((await ann.open('/operator/people?email=merchant%40')).body).toContain('merchant@shop.example')
  for (const query of ['?offset=x', '?offset=999999', '?name=%25&name=_', '?email=%00']) {
    for (const list of ['stores', 'applications', 'developers', 'people']) {
      expect([list, query, (await ann.open(`/operator/${list}${query}`)).statusCode]).toEqual([list, query, 200])
    }
  }
})

describe('a lost password', () => {
  test('is helped by a link for that person alone, though others have the address', async () => {
    const first = await server.openStore()
    const second = await server.openStore()
    const { db } = server.services
    const [one, other] = await Promise.all(
      [first, second].map(({ store }) => db.storeUser.findFirstOrThrow({ where: { storeId: store.id } })),
    )
    const page = `/operator/people/${one?.identityId}`
    const handed = await ann.submit(page, {}, { action: `${page}/reset` })
    const link = linkIn(handed.body)
    const stranger = testPerson(server.app)
    expect((await stranger.open(link)).body).not.toContain('several accounts')
    const sent = { Password: 'a password of my own', Identity: String(other?.identityId) }
    expect((await stranger.submit(link, sent, { action: '/admin/reset/password' })).statusCode).toBe(400)
    const set = await stranger.submit(link, { ...sent, Identity: '' }, { action: '/admin/reset/password' })
    expect(set.statusCode).toBe(303)

    await merchantIn(server, second.store)
    const changed = { ...merchantAccount, Password: 'a password of my own', Store: first.store.secureUrl }
    expect((await testPerson(server.app).call('POST', '/admin/sign-in', changed)).statusCode).toBe(200)
    expect(await db.identity.findFirst({ where: { id: one?.identityId ?? 0 } })).toMatchObject({ emailProvedAt: null })
  })

  test('of a kind of account that the person has not is refused', async () => {
    const { Email } = await newDeveloper(server)
    const page = `/operator/people/${await idOf(Email)}`
    const refused = await ann.submit(page, { Kind: 'operator' }, { action: `${page}/reset` })
    expect(refused.statusCode).toBe(400)
  })
})

describe('operators', () => {
  test('without a second factor come to the pages of their own account alone', async () => {
    const bare = await operatorIn(server)
    const setUp = '/operator/account/factors?notice=factor-needed'
    for (const address of addresses.filter((each) => each !== '/operator/account')) {
      expect([address, (await bare.open(address)).headers.location]).toEqual([address, setUp])
      expect([address, (await bare.call('GET', address)).statusCode]).toEqual([address, 403])
    }
    const stores = await server.services.db.store.count()
    const form = { Name: 'Bare', SecureURL: 'https://bare.example', Email: 'olga@bare.example' }
    expect((await bare.call('POST', '/operator/stores', form)).statusCode).toBe(403)
    expect(await server.services.db.store.count()).toBe(stores)
    expect((await bare.open('/operator/account')).statusCode).toBe(200)
    expect((await bare.open(setUp)).body).toContain('Set up a second factor first')
    await withApp(server, bare, { area: '/operator', account: bare.account })
    expect((await bare.open('/operator')).statusCode).toBe(200)
  })

  test('show who they are again after 15 minutes, for stores, people and operators', async () => {
    server.clock.ms += 15 * 60_000 + 1
    for (const address of ['/operator', '/operator/stores', '/operator/deliveries']) {
      expect([address, (await ann.open(address)).statusCode]).toEqual([address, 200])
    }
    for (const address of ['/operator/stores/new', '/operator/stores/1', '/operator/people/1', '/operator/operators']) {
      const prove = `/operator/prove?next=${encodeURIComponent(address)}`
      expect([address, (await ann.open(address)).headers.location]).toEqual([address, prove])
    }
    expect((await ann.call('POST', '/operator/operators', { Email: 'eve@server.example' })).statusCode).toBe(403)
    expect((await ann.call('POST', '/operator/prove', { Password: ann.account.Password })).statusCode).toBe(204)
    expect((await ann.open('/operator/operators')).statusCode).toBe(200)
  })

  test('are added by a link, and removed with their sessions', async () => {
    const home = '/operator/operators'
    const added = await ann.submit(home, { Email: 'bob@server.example' })
    const link = linkIn(added.body)
    const bob = testPerson(server.app)
    const chosen = { Password: 'correct horse battery' }
    await bob.submit(link, chosen, { action: '/operator/reset/password' })
    const account = { Email: 'bob@server.example', ...chosen }
    await bob.submit('/operator/sign-in', account)
    await withApp(server, bob, { area: '/operator', account })
    expect((await bob.open('/operator')).statusCode).toBe(200)
    expect((await bob.open('/operator/audit')).body).toContain('bob@server.example')

    const { id } = await server.services.db.operator.findFirstOrThrow({ where: { email: 'bob@server.example' } })
    await ann.submit(home, {}, { action: `${home}/${id}/remove` })
    expect((await bob.open('/operator')).statusCode).toBe(303)
    expect(await server.services.db.identity.count({ where: { email: 'bob@server.example' } })).toBe(0)
  })

  test('use no route of programs by their session, and programs none of their pages', async () => {
    expect((await ann.call('GET', '/admin/stores')).statusCode).toBe(401)
    expect((await ann.call('POST', '/admin/operators', { Email: 'eve@server.example' })).statusCode).toBe(401)
    const headers = { authorization: `Bearer ${server.services.operatorKey}`, accept: 'application/json' }
    expect((await server.app.inject({ url: '/operator/stores', headers })).statusCode).toBe(401)
  })

  test('are no merchants, and merchants none of them', async () => {
    const merchant = await merchantIn(server, shop.store)
    expect((await merchant.open('/operator')).headers.location).toBe('/operator/sign-in?next=%2Foperator')
    expect((await ann.open('/admin')).headers.location).toBe('/admin/sign-in?next=%2Fadmin')
  })
})

test('what operators did stands in the audit log by name, and in the store’s without it', async () => {
  const entries = await server.services.db.auditEntry.findMany({
    where: { storeId: shop.store.id, action: 'store.changed' },
  })
  expect(entries.at(-1)).toMatchObject({ actorKind: 'operator', actor: ann.account.Email })
  const merchant: TestPerson = await merchantIn(server, shop.store)
  const page = (await merchant.open('/admin/audit')).body
  expect(page).toContain('The operator')
  expect(page).not.toContain(ann.account.Email)
})

test('an application that is let in shows when it was last used', async () => {
  const { db } = server.services
  const application = await db.application.findFirstOrThrow()
  const other = await server.openStore()
  await subscribe(server.services, { storeId: other.store.id, publicKey: application.publicKey, actor: operator })
  expect((await ann.open(`/operator/stores/${other.store.id}`)).body).toContain('Not yet')
})

describe('a lost second factor', () => {
  const HOUR_MS = 3_600_000

  test('is taken off a day after an operator asked for it, and the person is told', async () => {
    const bob = await operatorWithFactor()
    const owner = await newAppOwner(server)
    const page = `/operator/people/${await idOf(owner.account.Email)}`
    const asked = await bob.submit(page, {}, { action: `${page}/factor-removal` })
    expect([asked.statusCode, asked.headers.location]).toEqual([303, `${page}?notice=factor-removal`])
    expect((await owner.person.open('/admin/account/factors')).body).toContain('will remove your second factors')
    const entry = { action: 'factor.removal-requested', actor: bob.account.Email }
    expect(await server.services.db.auditEntry.findMany({ where: entry })).not.toEqual([])
    server.clock.ms += 24 * HOUR_MS - 1
    expect((await signInByProgram(server, owner.account)).statusCode).toBe(401)
    server.clock.ms += 1
    expect((await signInByProgram(server, owner.account)).statusCode).toBe(200)
    const eve = await operatorWithFactor()
    expect((await eve.open(page)).body).not.toContain('Take the second factor off')
  })

  test('that is found again stays, and of who has none there is nothing to take off', async () => {
    const bob = await operatorWithFactor()
    const owner = await newAppOwner(server)
    const page = `/operator/people/${await idOf(owner.account.Email)}`
    await bob.submit(page, {}, { action: `${page}/factor-removal` })
    const kept = await bob.submit(page, {}, { action: `${page}/factor-removal/cancel` })
    expect(kept.headers.location).toBe(`${page}?notice=factor-kept`)
    server.clock.ms += 24 * HOUR_MS
    expect((await signInByProgram(server, owner.account)).statusCode).toBe(401)

    const eve = await operatorWithFactor()
    const { Email } = await newDeveloper(server)
    const without = `/operator/people/${await idOf(Email)}`
    expect((await eve.open(without)).body).not.toContain('Take the second factor off')
    const answer = await eve.call('POST', `${without}/factor-removal`)
    expect(refused(answer)).toMatchObject({ statusCode: 409, message: 'The person has no second factor' })
  })
})
