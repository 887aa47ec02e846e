import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { writeMail } from '../../../../src/access/mail/write.ts'
import type { Caller } from '../../../../src/engine/caller.ts'
import { inTransaction } from '../../../../src/foundation/database/client.ts'
import { checkDatabase } from '../../../../src/operations/installation/check-database.ts'
import { fillSandbox } from '../../../../src/operations/sandbox/records.ts'
import { changeKindNames } from '../../../../src/operations/sandbox/trade.ts'
import { invite } from '../../../../src/shop/staff/invitations.ts'
import { operator } from '../../../support/actors.ts'
import { rowsOf } from '../../../support/contents.ts'
import { workerDatabase } from '../../../support/database.ts'
import { sharedDispatcher } from '../../../support/dispatcher.ts'
import { developerIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'
import { registered } from '../../http/pages/developers/fixture.ts'

const home = '/developers/test-stores'
const MINUTE_MS = 60_000

/** The records take seconds, and most tests need none. */
const nothing = async () => {}
let fill: (caller: Caller) => Promise<void> = nothing
const server = await sharedServer({}, workerDatabase, { fill: (caller) => fill(caller) })
const dispatcher = sharedDispatcher(server)
await server.app.listen({ host: '127.0.0.1', port: 0 })
const developer = await developerIn(server)
const stranger = await developerIn(server)

const settle = () => server.services.testStores.settle()

interface Store {
  readonly Id: number
  readonly SecureURL: string
  readonly State: string
}

async function made(by = developer, Name = 'Trial'): Promise<Store> {
  const answer = await by.call('POST', home, { Name })
  expect(answer.statusCode, answer.body).toBe(201)
  await settle()
  return answer.json()
}

async function thrownAway({ Id }: Store, by = developer): Promise<void> {
  const answer = await by.call('DELETE', `${home}/${Id}`)
  expect(answer.statusCode, answer.body).toBe(200)
}

/** The status of a call of an application to a store. */
async function callStatus(secureurl: string, privatekey: string, token: string): Promise<number> {
  const headers = { secureurl, privatekey, token }
  return (await server.app.inject({ url: '/StoreWebAPI/v1/OrderStatus', headers })).statusCode
}

/** The one with records. */
let store: Store

describe('a test store', () => {
  beforeAll(async () => {
    fill = fillSandbox
    store = await made()
    fill = nothing
  })

  test('is filled with the records of the sandbox in the background, and breaks no rule', async () => {
    expect(store).toEqual({
      Id: expect.any(Number),
      Name: 'Trial',
      SecureURL: expect.stringMatching(/^https:\/\/test-[0-9a-f]{12}\.store-platform\.test$/),
      Currency: 'USD',
      TimeZone: 'America/New_York',
      State: 'filling',
      Problem: '',
      DateCreated: '2026-03-10T16:00:00.000Z',
    })
    const ready = { ...store, State: 'ready' }
    expect((await developer.call('GET', `${home}/${store.Id}`)).json()).toEqual(ready)
    expect((await developer.call('GET', home)).json()).toEqual([ready])
    const counts = await rowsOf(server.services.db, store.Id)
    expect(counts.Product).toBeGreaterThan(100)
    expect(counts.Order).toBeGreaterThan(100)
    expect(await server.services.db.storeUser.findMany({ where: { storeId: store.Id } })).toMatchObject([
      { email: developer.account.Email, role: 'owner' },
    ])
    expect(await server.services.db.auditEntry.findMany({ where: { action: 'test-store.created' } })).toMatchObject([
      { actorKind: 'developer', actor: developer.account.Email, target: 'Trial', storeId: store.Id },
    ])
  })

  test('does not exist for another developer, at any door', async () => {
    const at = `${home}/${store.Id}`
    const answers = await Promise.all([
      stranger.call('GET', at),
      stranger.call('DELETE', at),
      stranger.call('POST', `${at}/reset`),
      stranger.call('POST', `${at}/subscriptions`, { ApplicationId: 1 }),
      stranger.call('GET', `${at}/changes`),
      stranger.call('POST', `${at}/changes`, { Kind: 'order' }),
      stranger.call('POST', `${at}/due-now`, { What: 'tokens' }),
      stranger.open(at),
    ])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(8).fill(404))
    expect((await stranger.call('GET', home)).json()).toEqual([])
  })

  test('nor is the store of a merchant a test store of anybody', async () => {
    const shop = await server.openStore()
    const at = `${home}/${shop.store.id}`
    expect((await developer.call('DELETE', at)).statusCode).toBe(404)
    expect((await developer.call('POST', `${at}/due-now`, { What: 'deliveries' })).statusCode).toBe(404)
  })

  const inGerman = {
    order: /Bestellung \S+ über [\d.]+,\d\d\s\$ wurde aufgegeben/,
    payment: /Bestellung \S+ wurde bezahlt: [\d.]+,\d\d\s\$/,
    shipment: /Bestellung \S+ wurde mit der Sendungsnummer TEST\d+ verschickt/,
    stock: /Der Bestand von \S+ ist um \d auf [\d.,]+ (gestiegen|gesunken)/,
    return: /Retoure \d+ (der Bestellung \S+ wurde vereinbart|ist eingegangen und wieder im Bestand)/,
  }
  test.each(changeKindNames)(
    'has a %s at the press of a button, with its events, and keeps its rules',
    async (Kind) => {
      const before = await server.services.db.event.count({ where: { storeId: store.Id } })
      const answer = await developer.call('POST', `${home}/${store.Id}/changes`, { Kind })
      expect(answer.statusCode, answer.body).toBe(201)
      expect(answer.json()).toMatchObject({ Kind, Done: true, Message: expect.stringMatching(/\w/) })
      expect(answer.json().Page).toMatch(/^\/admin\/(orders|products)\/\d+/)
      expect(await server.services.db.event.count({ where: { storeId: store.Id } })).toBeGreaterThan(
        Kind === 'return' ? before - 1 : before,
      )
      const [newest] = (await developer.call('GET', `${home}/${store.Id}/changes`)).json()
      expect(newest).toEqual(answer.json())
      const page = await developer.open(`${home}/${store.Id}`, { 'accept-language': 'de-DE' })
      expect(page.body).toMatch(inGerman[Kind])
      expect(page.body).not.toContain(newest.Message)
    },
  )

  test('takes the goods of a return back at the next press', async () => {
    const answer = await developer.call('POST', `${home}/${store.Id}/changes`, { Kind: 'return' })
    expect(answer.json().Message).toMatch(/^The goods of return \d+ came back/)
    const page = await developer.open(`${home}/${store.Id}`, { 'accept-language': 'de-DE' })
    expect(page.body).toMatch(/Die Ware der Retoure \d+ ist eingegangen und wieder im Bestand/)
    const [moved] = await server.services.db.stockMovement.findMany({
      where: { storeId: store.Id },
      orderBy: { id: 'desc' },
      take: 1,
    })
    expect(moved).toMatchObject({ cause: 'return' })
  })

  test('refuses what cannot be made to happen', async () => {
    const kind = await developer.call('POST', `${home}/${store.Id}/changes`, { Kind: 'flood' })
    expect(kind.json()[0].Message).toBe('Kind must be one of order, payment, shipment, stock, return')
  })

  test('lets its developer into the administration at a press, and nobody else is let in by that', async () => {
    const person = await developer.open(`${home}/${store.Id}`)
    expect(person.body).toContain('Open its administration')
    const entered = await developer.submit(`${home}/${store.Id}`, {}, { action: `${home}/${store.Id}/sign-in` })
    expect([entered.statusCode, entered.headers.location]).toEqual([303, '/admin'])
    const page = await developer.open('/admin/orders')
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('Trial')
    server.clock.ms += 16 * MINUTE_MS
    const late = await developer.submit(`${home}/${store.Id}`, {}, { action: `${home}/${store.Id}/sign-in` })
    expect(late.headers.location).toMatch(/^\/developers\/prove/)
    await developer.call('POST', '/developers/prove', { Password: developer.account.Password })
  })

  test('writes mail about its developer alone, who has proved the address; what others would get stays here', async () => {
    const { services } = server
    const email = developer.account.Email
    const own = await services.db.identity.findFirstOrThrow({ where: { email } })
    const config = { ...services.config, smtpUrl: 'smtp://127.0.0.1', mailFrom: { name: '', address: 'a@b.example' } }
    const data = { lines: ['A webhook is paused.'], link: '/admin/webhooks' } as const
    const to = email.toUpperCase()
    const tell = async (identityId: number | null) => {
      const mail = { kind: 'alert', data, to, identityId, storeId: store.Id, causedBy: null } as const
      await inTransaction(services.db, (tx) => writeMail(tx, { ...services, config }, mail))
    }
    await tell(own.id)
    await services.db.identity.update({ where: { id: own.id }, data: { emailProvedAt: services.now() } })
    await tell(own.id)
    await tell(null)
    const mails = await services.db.mail.findMany({ where: { storeId: store.Id }, orderBy: { id: 'asc' } })
    expect(mails.map(({ state }) => state)).toEqual(['shown', 'waiting', 'shown'])
    // Nobody could read the link.
    const invited = { Email: 'somebody@else.example', Role: 'reader' }
    const { link } = await invite({ ...services, config }, store.Id, invited, { actor: operator, userId: null })
    expect(link).toContain('/admin/invitations?token=')
  })

  test('is marked where operators see stores', async () => {
    const shop = await server.openStore()
    const stores: { Id: number }[] = (await server.operate('GET', '/admin/stores')).json()
    expect(stores.find(({ Id }) => Id === store.Id)).toMatchObject({ TestStore: true })
    expect(stores.find(({ Id }) => Id === shop.store.id)).not.toHaveProperty('TestStore')
  })
})

describe('Due now', () => {
  test('has deliveries tried again, pauses a failing webhook at its next failure, and ends codes and access tokens', async () => {
    const { db } = server.services
    const inbox = (await developer.call('POST', '/developers/inboxes', { Name: 'Webhook' })).json()
    await developer.call('PUT', `/developers/inboxes/${inbox.Id}`, { Answer: 'error' })
    const { port } = server.app.server.address() as AddressInfo
    const Url = `http://127.0.0.1:${port}${new URL(inbox.Address).pathname}`
    const application = await registered(developer)
    const letIn = await developer.call('POST', `${home}/${store.Id}/subscriptions`, { ApplicationId: application.Id })
    const headers = { secureurl: store.SecureURL, privatekey: application.PrivateKey, token: letIn.json().Token }
    // Of what happened before, nobody is notified.
    await dispatcher.settle()
    const payload = { Name: 'New orders', Url, EventType: 1, Enabled: true }
    const webhook = await server.app.inject({ method: 'POST', url: '/StoreWebAPI/v1/Webhooks', headers, payload })
    expect(webhook.statusCode, webhook.body).toBe(201)
    await developer.call('POST', `${home}/${store.Id}/changes`, { Kind: 'order' })
    const messages = async () => (await developer.call('GET', `/developers/inboxes/${inbox.Id}/messages`)).json()
    const due = (What: string) => developer.call('POST', `${home}/${store.Id}/due-now`, { What })
    await dispatcher.settle()
    expect(await messages()).toHaveLength(1)
    expect((await messages())[0]).toMatchObject({
      Signature: 'verified',
      Signer: 'the webhook New orders of Trial',
      Status: 500,
    })
    const attempts = () => db.deliveryAttempt.count({ where: { delivery: { storeId: store.Id } } })
    expect(await attempts()).toBe(1)

    expect((await due('deliveries')).json()).toEqual({ What: 'deliveries', Count: 1 })
    await dispatcher.settle()
    expect(await attempts()).toBe(2)
    expect((await due('pauses')).json()).toEqual({ What: 'pauses', Count: 1 })
    expect((await due('deliveries')).json()).toEqual({ What: 'deliveries', Count: 1 })
    await dispatcher.settle()
    expect(await db.webhook.findFirst({ where: { storeId: store.Id } })).toMatchObject({
      enabled: false,
      pauseReason: 'Every attempt of five days failed',
    })
    expect((await due('deliveries')).json()).toEqual({ What: 'deliveries', Count: 0 })

    const { id: subscriptionId } = await db.subscription.findFirstOrThrow({ where: { storeId: store.Id } })
    const { id: storeUserId } = await db.storeUser.findFirstOrThrow({ where: { storeId: store.Id } })
    const at = new Date(server.clock.ms)
    await db.authorizationCode.create({
      data: {
        codeHash: 'a code',
        applicationId: application.Id,
        subscriptionId,
        storeUserId,
        redirectUri: 'https://app.example/cb',
        createdAt: at,
        expiresAt: new Date(at.getTime() + MINUTE_MS),
      },
    })
    const expiresAt = new Date(at.getTime() + MINUTE_MS)
    await db.accessToken.create({ data: { tokenHash: 'a token', subscriptionId, createdAt: at, expiresAt } })
    expect((await due('tokens')).json()).toEqual({ What: 'tokens', Count: 2 })
    expect(await db.accessToken.findUnique({ where: { tokenHash: 'a token' } })).toMatchObject({ expiresAt: at })
    expect(await db.authorizationCode.findUnique({ where: { codeHash: 'a code' } })).toMatchObject({ expiresAt: at })
  })
})

describe('an application in a test store', () => {
  test('is let in at a press by its callback, and stays with its token when the store is reset', async () => {
    const inbox = (await developer.call('POST', '/developers/inboxes', { Name: 'Callbacks' })).json()
    const { port } = server.app.server.address() as AddressInfo
    const { pathname } = new URL(inbox.Address)
    const url = `http://127.0.0.1:${port}${pathname}`
    await developer.call('PUT', `/developers/inboxes/${inbox.Id}`, { PostBackURL: 'https://app.example/welcome' })
    const application = await registered(developer, { CallBackURL: url })
    const others = await registered(stranger)
    const at = `${home}/${store.Id}/subscriptions`
    const refused = await developer.call('POST', at, { ApplicationId: others.Id })
    expect([refused.statusCode, refused.json()[0].Value]).toEqual([400, 'ApplicationId'])
    const letIn = await developer.call('POST', at, { ApplicationId: application.Id })
    expect(letIn.statusCode, letIn.body).toBe(200)
    const { Token, PostBackURL } = letIn.json()
    expect(PostBackURL).toBe('https://app.example/welcome')
    const [message] = (await developer.call('GET', `/developers/inboxes/${inbox.Id}/messages`)).json()
    expect(message).toMatchObject({ Signature: 'verified', Signer: 'callbacks of the application App', Status: 200 })
    expect(JSON.parse(message.Body)).toMatchObject({ Action: 'AUTHORIZE', TokenKey: Token, SecureURL: store.SecureURL })
    expect(await callStatus(store.SecureURL, application.PrivateKey, Token)).toBe(200)

    const key = (await server.services.db.store.findUniqueOrThrow({ where: { id: store.Id } })).userKeyHash
    const reset = await developer.call('POST', `${home}/${store.Id}/reset`)
    expect(reset.statusCode, reset.body).toBe(200)
    const anew: Store = reset.json()
    expect(anew).toMatchObject({ SecureURL: store.SecureURL, State: 'filling' })
    expect(anew.Id).not.toBe(store.Id)
    expect((await developer.call('GET', `${home}/${store.Id}`)).statusCode).toBe(404)
    await settle()
    expect(await callStatus(store.SecureURL, application.PrivateKey, Token)).toBe(200)
    expect((await server.services.db.store.findUniqueOrThrow({ where: { id: anew.Id } })).userKeyHash).toBe(key)

    await thrownAway(anew)
    expect(await callStatus(store.SecureURL, application.PrivateKey, Token)).toBe(401)
    server.clock.ms += 2 * MINUTE_MS
    for (const { Id } of [store, anew]) {
      await settle()
      const left = Object.keys(await rowsOf(server.services.db, Id))
      expect(left.filter((table) => !['AuditEntry', 'EndedToken'].includes(table))).toEqual([])
      expect(await server.services.db.store.count({ where: { id: Id } })).toBe(0)
    }
  })
})

describe('bounds', () => {
  test('of five at once three are made, and the fourth is refused until one is thrown away', async () => {
    const own = await developerIn(server)
    const answers = await Promise.all(Array.from({ length: 5 }, () => own.call('POST', home, { Name: 'Many' })))
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 201, 201, 409, 409])
    const stores: Store[] = (await own.call('GET', home)).json()
    expect(stores).toHaveLength(3)
    await settle()
    for (const store of stores) await thrownAway(store, own)
    const again = await own.call('POST', home, { Name: 'Again' })
    expect(again.statusCode, again.body).toBe(201)
    // With the account of the developer ends the store.
    await settle()
    await server.services.db.developer.deleteMany({ where: { email: own.account.Email } })
    await settle()
    server.clock.ms += 2 * MINUTE_MS
    await settle()
    expect(await server.services.db.store.count({ where: { id: again.json().Id } })).toBe(0)
    expect(await server.services.db.testStore.count({ where: { developerId: null } })).toBe(0)
  })

  test('nothing happens to a store while its records are being made, and one whose records cannot be made says so', async () => {
    const own = await developerIn(server)
    const failing = Promise.withResolvers<void>()
    // Rejected perhaps before anybody waits for it.
    failing.promise.catch(() => {})
    fill = () => failing.promise
    const { Id } = (await own.call('POST', home, { Name: 'Slow' })).json()
    const early = await Promise.all([
      own.call('DELETE', `${home}/${Id}`),
      own.call('POST', `${home}/${Id}/reset`),
      own.call('POST', `${home}/${Id}/changes`, { Kind: 'order' }),
    ])
    expect(early.map(({ statusCode, headers }) => [statusCode, headers['retry-after']])).toEqual(
      Array(3).fill([409, '5']),
    )
    failing.reject(new Error('a defect'))
    await settle()
    fill = nothing
    expect((await own.call('GET', `${home}/${Id}`)).json()).toMatchObject({
      State: 'ready',
      Problem: 'Its records could not be made. Reset it to try again',
    })
    const order = await own.call('POST', `${home}/${Id}/changes`, { Kind: 'order' })
    expect([order.statusCode, order.json()[0].Message]).toEqual([
      409,
      'The store has no product that can be sold: reset it',
    ])
    const reset = await own.call('POST', `${home}/${Id}/reset`)
    await settle()
    expect((await own.call('GET', `${home}/${reset.json().Id}`)).json()).toMatchObject({ State: 'ready', Problem: '' })
  })

  test('a name, a currency and a time zone are checked', async () => {
    const answer = await stranger.call('POST', home, { Name: ' ', Currency: 'EURO', TimeZone: 'Mars' })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()[0].Message).toMatch(/Name must be.*Currency must be.*TimeZone must be/)
  })
})

describe('the switch', () => {
  test('of the operator ends making and receiving, at once, and is in the audit log', async () => {
    const store = await made()
    const inbox = (await developer.call('POST', '/developers/inboxes', { Name: 'Off' })).json()
    const put = (TestStores: boolean) => server.operate('PUT', '/admin/switches', { TestStores })
    expect((await server.operate('GET', '/admin/switches')).json()).toEqual({ TestStores: true })
    expect((await put(false)).json()).toEqual({ TestStores: false })
    expect((await put(false)).json()).toEqual({ TestStores: false })
    const answers = await Promise.all([
      developer.call('POST', home, { Name: 'New' }),
      developer.call('POST', `${home}/${store.Id}/reset`),
      developer.call('POST', `${home}/${store.Id}/changes`, { Kind: 'order' }),
      developer.call('POST', `${home}/${store.Id}/due-now`, { What: 'tokens' }),
      developer.call('POST', '/developers/inboxes', { Name: 'New' }),
    ])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(5).fill(403))
    const { pathname: url } = new URL(inbox.Address)
    expect((await server.app.inject({ method: 'POST', url, payload: 'x' })).statusCode).toBe(404)
    const page = await developer.open(home)
    expect(page.body).toContain('switched off on this server')
    expect(page.body).not.toContain('href="/developers/inboxes"')
    await thrownAway(store)
    expect((await put(true)).json()).toEqual({ TestStores: true })
    expect((await server.app.inject({ method: 'POST', url, payload: 'x' })).statusCode).toBe(200)
    const entries = await server.services.db.auditEntry.findMany({
      where: { action: { in: ['test-stores.allowed', 'test-stores.ended'] } },
      orderBy: { id: 'asc' },
    })
    expect(entries.map(({ action, actorKind }) => [action, actorKind])).toEqual([
      ['test-stores.ended', 'operator'],
      ['test-stores.allowed', 'operator'],
    ])
  })
})

test('nothing of all this breaks a rule that `npm run check` knows', async () => {
  const broken: unknown[] = []
  for await (const { check, findings } of checkDatabase(server.database.url, 5)) {
    if (findings.length > 0) broken.push([check.name, ...findings])
  }
  expect(broken).toEqual([])
})
