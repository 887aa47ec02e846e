import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { writeMail } from '../../../../src/access/mail/write.ts'
import { issueCustomerToken } from '../../../../src/access/people/customer-tokens.ts'
import { inTransaction } from '../../../../src/foundation/database/client.ts'
import { Connection } from '../../../../src/foundation/database/connection.ts'
import type { Inbox } from '../../../../src/foundation/database/generated/client.ts'
import { newSigningSecret } from '../../../../src/foundation/outbound/standard-webhooks.ts'
import { createSecrets, generateKey } from '../../../../src/foundation/values/secrets.ts'
import { checkDatabase } from '../../../../src/operations/installation/check-database.ts'
import { checkSecretKey } from '../../../../src/operations/installation/secret-key/check.ts'
import { announceKeys, joinProcesses } from '../../../../src/operations/installation/secret-key/keys-in-use.ts'
import { storeDerivedSecrets } from '../../../../src/operations/installation/secret-key/store-derived.ts'
import { listMessages, makeInbox } from '../../../../src/operations/sandbox/inbox.ts'
import { operator } from '../../../support/actors.ts'
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts'
import { dispatcherOf } from '../../../support/dispatcher.ts'
import { type TestPerson, testPerson } from '../../../support/person.ts'
import { openReceiver } from '../../../support/receiver.ts'
import { programEnv } from '../../../support/run-server.ts'
import { shared } from '../../../support/shared.ts'
import { merchantAccount } from '../../../support/signed-in.ts'
import { openServer, type TestServer, type TestStore } from '../../../support/store.ts'
import { type AppOwner, newAppOwner } from '../../access/people/factors/fixture.ts'
import { challenge, codeOf, exchangeOf, openClient, post, type TestClient, verifier } from '../../http/oauth/fixture.ts'
import { read } from '../../http/pages/developers/fixture.ts'
import { newWebhook } from '../../http/rest/webhooks-fixture.ts'
import { soapCall } from '../../http/soap/support.ts'

const former = 'the former secret key of these tests'
const next = 'the next secret key of these tests, another'

/** The steps of docs/operations.md, as settings of a process. */
const steps = {
  before: { SECRET_KEY: former },
  told: { SECRET_KEY: former, SECRET_KEY_NEXT: next },
  switched: { SECRET_KEY: next, SECRET_KEY_PREVIOUS: former },
  after: { SECRET_KEY: next },
}

let database: TestDatabase
let serial = 0
const open = new Set<TestServer>()

const receiver = await shared(openReceiver())
beforeEach(async () => {
  database = await cloneDatabase()
})
afterEach(async () => {
  for (const server of open) await close(server)
  await database.drop()
})

async function start(settings: Record<string, string>): Promise<TestServer> {
  const whole = { OUTBOUND_ALLOW: '127.0.0.0/8', ...settings }
  const server = await openServer(whole, async () => ({ ...database, drop: async () => {} }))
  server.clock.ms = Date.now()
  await checkSecretKey(database.db, server.services.secrets)
  open.add(server)
  return server
}

async function close(server: TestServer): Promise<void> {
  open.delete(server)
  await server.services.outbound.close()
  await server.close()
}

/** A browser whose requests go to the process of this moment. */
function browserOn(server: TestServer) {
  const balancer = { server }
  const app = { inject: (options: object) => balancer.server.app.inject(options) } as unknown as FastifyInstance
  return { ...testPerson(app), balancer }
}

/** What was handed out before the key changes, and has to go on working. */
interface Scene {
  readonly shop: TestStore
  /** Headers of an application whose keys, token and address were brought along. */
  readonly brought: Readonly<Record<string, string>>
  readonly client: TestClient
  readonly accessToken: string
  /** Of a new application; each refresh replaces the token. */
  readonly grant: { readonly client: TestClient; refreshToken: string }
  readonly merchant: ReturnType<typeof browserOn>
  readonly webhookId: number
  readonly webhookSecret: string
  /** Of a mail that the sandbox shows. */
  readonly mailId: number
  readonly callbackSecret: string
  /** With a message, which is sealed. */
  readonly inbox: Inbox
  /** Somebody with an authenticator app; each of the recovery codes works once. */
  readonly appOwner: AppOwner
  readonly recoveryCodes: string[]
}

async function makeScene(server: TestServer): Promise<Scene> {
  const shop = await server.openStore()
  const merchant = browserOn(server)
  await merchant.submit(`/admin/sign-in?store=${encodeURIComponent(shop.store.secureUrl)}`, merchantAccount, {
    action: '/admin/sign-in',
  })
  const client = await openClient(server, { CallBackURL: receiver.url })
  const code = await codeOf({ ...shop, merchant }, client)
  const token = await post(server, '/oauth/token', exchangeOf(client, code))
  const granted = await openClient(server, { Kind: 'new' })
  const s256 = { code_challenge: challenge, code_challenge_method: 'S256' }
  const grantCode = await codeOf({ ...shop, merchant }, granted, s256)
  const grant = await post(server, '/oauth/token', exchangeOf(granted, grantCode, { code_verifier: verifier }))
  const webhookId = await newWebhook(shop.call, { Url: receiver.url })
  const owner = await newAppOwner(server)
  server.clock.ms = Date.now()
  const [{ Secret }] = (await shop.call('GET', `/Webhooks/${webhookId}/Secret`)).json()
  const { services } = server
  const of = { identityId: null, storeId: shop.store.id, causedBy: null }
  const mail = { kind: 'customer-link', to: 'ann@shop.example', ...of } as const
  const data = { storeName: 'A name in a sealed mail', link: '/account', expiresAt: services.now() } as const
  await inTransaction(services.db, (tx) => writeMail(tx, services, { ...mail, data }))
  const brought = await bringKeys(server, shop)
  const { id: mailId } = await services.db.mail.findFirstOrThrow({ where: { kind: mail.kind } })
  return {
    shop,
    brought,
    client,
    mailId,
    accessToken: token.json().access_token,
    grant: { client: granted, refreshToken: grant.json().refresh_token },
    merchant,
    webhookId,
    webhookSecret: Secret,
    callbackSecret: client.CallBackSecret,
    inbox: await inboxWithMessage(server),
    appOwner: owner,
    recoveryCodes: [...owner.recoveryCodes],
  }
}

async function inboxWithMessage({ app, services }: TestServer): Promise<Inbox> {
  const { id: developerId } = await services.db.developer.findFirstOrThrow()
  const inbox = await makeInbox(services, developerId, { Name: 'Webhooks' }, operator)
  await app.inject({ method: 'POST', url: `/developers/inbox/${inbox.name}`, payload: 'a sealed message' })
  return inbox
}

/** Brings an application with a token, a further address and a user key, which the store has from then on. */
async function bringKeys({ operate }: TestServer, { store }: TestStore) {
  const send = async (...request: Parameters<typeof operate>) => {
    const answer = await operate(...request)
    expect(answer.statusCode, answer.body).toBeLessThan(300)
  }
  const [PublicKey, PrivateKey, Token, UserKey] = [generateKey(), generateKey(), generateKey(), generateKey()]
  const Privileges = { Orders: ['read'] }
  await send('POST', '/admin/applications', { Name: 'Brought', PublicKey, PrivateKey, Privileges })
  await send('POST', `/admin/stores/${store.id}/subscriptions`, { PublicKey, Token })
  await send('PUT', `/admin/stores/${store.id}`, { UserKey, SecureURLs: ['https://old.platform.example'] })
  Object.assign(store, { userKey: UserKey })
  return { secureurl: 'old.platform.example', privatekey: PrivateKey, token: Token }
}

/** Throws unless all that the scene has works at every process, and what one of them makes works at the others. */
async function expectAllWorks(scene: Scene, servers: readonly TestServer[]): Promise<void> {
  // Clocks that stand since different starts would delay sign-ins.
  const now = Math.max(Date.now(), ...servers.map(({ clock }) => clock.ms))
  for (const { clock } of servers) clock.ms = now
  for (const [index, server] of servers.entries()) {
    const other = servers[(index + 1) % servers.length] ?? server
    await expectAccess(scene, server)
    await expectPages(scene, server, other)
    const [message] = await listMessages(server.services, scene.inbox, { limit: 1 })
    expect(message?.body).toBe('a sealed message')
    await expectCodes(scene, server, other)
    await expectSignatures(scene, server)
    await expectApp(scene, server)
  }
  const [server] = servers
  if (server) await signInAndOut(server, { ...scene.appOwner.account, Code: scene.recoveryCodes.pop() })
}

/** The session ends at once, so that the former key has not to stay for it. */
async function signInAndOut(server: TestServer, account: object): Promise<void> {
  const person = testPerson(server.app)
  const answer = await person.call('POST', '/admin/sign-in', account)
  expect(answer.statusCode, answer.body).toBe(200)
  await person.call('POST', '/admin/sign-out')
}

/** The key of the app is read at every process. */
async function expectApp({ appOwner: { account, codeAt } }: Scene, server: TestServer): Promise<void> {
  // The clocks of these processes stand, and no code works twice.
  await database.db.identity.updateMany({ data: { totpUsed: null } })
  await signInAndOut(server, { ...account, Code: codeAt(server) })
}

async function expectAccess({ shop, accessToken, grant, brought }: Scene, server: TestServer): Promise<void> {
  const { secureUrl } = shop.store
  for (const headers of [shop.credentials, brought, { authorization: `Bearer ${accessToken}`, secureurl: secureUrl }]) {
    const answer = await server.app.inject({ url: '/StoreWebAPI/v1/OrderStatus', headers })
    expect(answer.statusCode, answer.body).toBe(200)
  }
  const { PublicKey: client_id, PrivateKey: client_secret } = grant.client
  const form = { grant_type: 'refresh_token', refresh_token: grant.refreshToken, client_id, client_secret }
  const refreshed = await post(server, '/oauth/token', form)
  expect(refreshed.statusCode, refreshed.body).toBe(200)
  grant.refreshToken = refreshed.json().refresh_token
  expect(await soapCall(server, shop, 'getProductCount')).toContain('<ProductQuantity>')
}

/** A session is good everywhere, and so is a form that another process has shown. */
async function expectPages({ merchant, mailId }: Scene, server: TestServer, other: TestServer): Promise<void> {
  merchant.balancer.server = server
  const page = await merchant.open('/admin/settings')
  expect(page.statusCode).toBe(200)
  expect((await merchant.open(`/admin/outbox/${mailId}`)).body).toContain('your orders at A name in a sealed mail')
  const [, csrf = ''] = /name="_csrf" value="([^"]+)"/.exec(page.body) ?? []
  merchant.balancer.server = other
  const answer = await other.app.inject({
    method: 'POST',
    url: '/admin/settings',
    headers: {
      cookie: [...merchant.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    },
    payload: new URLSearchParams({ _csrf: csrf }).toString(),
  })
  // Not 403: the form is taken, and its fields are missing.
  expect([303, 400, 404, 412, 422], answer.body).toContain(answer.statusCode)
}

/** What one process gives out once, another redeems. */
async function expectCodes({ shop, merchant, client }: Scene, server: TestServer, other: TestServer): Promise<void> {
  merchant.balancer.server = server
  const code = await codeOf({ ...shop, merchant }, client)
  const answer = await post(other, '/oauth/token', exchangeOf(client, code))
  expect(answer.statusCode, answer.body).toBe(200)
  const authorization = `Bearer ${answer.json().access_token}`
  expect((await server.app.inject({ url: '/StoreWebAPI/v1/OrderStatus', headers: { authorization } })).statusCode).toBe(
    200,
  )

  const added = await server.app.inject({
    method: 'POST',
    url: '/StoreWebAPI/v1/Customers',
    headers: shop.credentials,
    payload: { Email: `c${++serial}@customers.example`, Password: 'secret' },
  })
  const { services } = server
  const customer = { customerId: Number(added.json()[0].Value), minutes: 5 }
  const issued = await issueCustomerToken(
    { ...services, publicUrl: '' },
    { ...shop.caller, now: services.now },
    customer,
  )
  const person: TestPerson = testPerson(other.app)
  const used = await person.submit(issued.url, {}, { action: '/account/sign-in' })
  expect(used.statusCode, used.body).toBe(303)
}

/** Receivers go on with the secrets that they were given. */
async function expectSignatures(scene: Scene, server: TestServer): Promise<void> {
  const { shop, webhookId, client } = scene
  const url = `/StoreWebAPI/v1/Webhooks/${webhookId}`
  const shown = await server.app.inject({ url: `${url}/Secret`, headers: shop.credentials })
  expect(shown.json()[0].Secret).toBe(scene.webhookSecret)
  expect((await read(developerAt(scene, server), client)).CallBackSecret).toBe(scene.callbackSecret)

  receiver.received.length = 0
  await server.app.inject({ method: 'POST', url: `${url}/Test`, headers: shop.credentials })
  const dispatcher = dispatcherOf(server)
  await dispatcher.settle()
  await dispatcher.stop()
  const tried = await developerAt(scene, server).call('POST', `/developers/applications/${client.Id}/callback-test`)
  expect(tried.statusCode, tried.body).toBe(200)
  const [event, callback] = receiver.received
  new Webhook(scene.webhookSecret).verify(event?.text ?? '', event?.headers as Record<string, string>)
  new Webhook(scene.callbackSecret).verify(callback?.text ?? '', callback?.headers as Record<string, string>)
}

/** The developer's browser, at this process. */
function developerAt({ client }: Scene, server: TestServer): TestPerson {
  const person = testPerson(server.app)
  for (const [name, value] of client.developer.cookies) person.cookies.set(name, value)
  return person
}

interface Ending {
  /** Null: a signal ended it. */
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

function rotate(settings: Record<string, string> = steps.switched): { ended: Promise<Ending>; kill: () => void } {
  const file = fileURLToPath(new URL('../../../../src/cli/rotate-secret-key.ts', import.meta.url))
  const env = { ...programEnv, DATABASE_URL: database.url, OPERATOR_KEY: 'operator-key-of-the-tests', ...settings }
  const { promise, resolve } = Promise.withResolvers<Ending>()
  const child = execFile(process.execPath, [file], { env }, (error, output, errors) =>
    resolve({ code: error ? (typeof error.code === 'number' ? error.code : null) : 0, output, errors }),
  )
  return { ended: promise, kill: () => child.kill('SIGKILL') }
}

async function keysInUse(): Promise<string[]> {
  const { db } = database
  const rows = [
    ...(await db.store.findMany()).map(({ userKeySealed }) => userKeySealed),
    ...(await db.application.findMany()).flatMap((row) => [row.privateKeySealed, row.callbackSecretSealed]),
    ...(await db.subscription.findMany()).map(({ tokenSealed }) => tokenSealed),
    ...(await db.accessToken.findMany()).map(({ tokenSealed }) => tokenSealed ?? ''),
    ...(await db.accessGrant.findMany()).map(({ tokenSealed }) => tokenSealed),
    ...(await db.webhook.findMany()).map(({ secretSealed }) => secretSealed),
    ...(await db.identity.findMany()).flatMap(({ totpSealed }) => totpSealed ?? []),
    ...(await db.recoveryCode.findMany()).map(({ codeSealed }) => codeSealed),
    ...(await db.mail.findMany()).map(({ contentSealed }) => contentSealed ?? ''),
  ]
  return [...new Set(rows.map((sealed) => sealed.split('.').slice(0, -1).join('.')))].sort()
}

const nameOf = (key: string) => `v2.${createSecrets(key).keyId}`

test('a new key comes into use in two processes, one restart after the other, and nothing fails at any moment', async () => {
  let one = await start(steps.before)
  let two = await start(steps.before)
  const scene = await makeScene(one)
  const works = () => expectAllWorks(scene, [one, two])
  const restart = async (server: TestServer, settings: Record<string, string>) => {
    await close(server)
    return start(settings)
  }
  await works()
  for (const step of [steps.told, steps.switched]) {
    two = await restart(two, step)
    await works()
    one = await restart(one, step)
    await works()
  }

  await killedHalfway()
  expect(await keysInUse()).toEqual([nameOf(former), nameOf(next)].sort())
  await works()
  await expect(checkSecretKey(database.db, createSecrets(next))).rejects.toThrow(/^SECRET_KEY .* is not the key/)
  expect(await findings()).toBeGreaterThan(0)

  const { code, output, errors } = await rotate().ended
  expect(output).toMatch(/Everything that is sealed is under the new key\.\nUnder the former key there still are:\n/)
  expect(output).toMatch(/ {2}\d+ sessions, until [\dT:.-]+Z\n/)
  expect(output).toMatch(/SECRET_KEY_PREVIOUS has to stay until [\dT:.-]+Z\. Then run this command again\.\n$/)
  expect(output + errors).not.toMatch(new RegExp(`${former}|${next}`))
  expect(code).toBe(0)
  expect(await keysInUse()).toEqual([nameOf(next)])
  expect(await findings()).toBe(0)
  await works()

  // Again, nothing is to be done, and the date stays.
  const again = await rotate().ended
  expect(again.output.split('\n').at(-2)).toBe(output.split('\n').at(-2))

  // When the sessions of the former key have ended, it can go.
  await database.db.session.deleteMany()
  two = await restart(two, steps.after)
  one = await restart(one, steps.after)
  const anew = browserOn(one)
  const signedIn = await anew.submit('/admin/sign-in', merchantAccount)
  expect(signedIn.statusCode).toBe(303)
  await expectAccess(scene, one)
  await expectAccess(scene, two)
}, 240_000)

/** A run that waits for a webhook that somebody holds, and dies there. */
async function killedHalfway(): Promise<void> {
  const client = new Connection({ connectionString: database.url })
  await client.connect()
  try {
    await client.query('BEGIN')
    await client.query('SELECT FROM "Webhook" FOR UPDATE')
    const run = rotate()
    await expect.poll(keysOfApplications, { timeout: 60_000 }).toEqual([nameOf(next)])
    run.kill()
    expect((await run.ended).code).toBeNull()
  } finally {
    await client.end()
  }
}

async function keysOfApplications(): Promise<string[]> {
  const rows = await database.db.application.findMany()
  return [...new Set(rows.map(({ privateKeySealed }) => privateKeySealed.slice(0, nameOf(next).length)))]
}

async function findings(): Promise<number> {
  for await (const { check, count } of checkDatabase(database.url, 0)) if (check.name === 'secret-key') return count
  throw new Error('There is no such check')
}

describe('a run is refused', () => {
  test('without a key to replace', async () => {
    const { code, errors } = await rotate(steps.after).ended
    expect(code).toBe(1)
    expect(errors).toMatch(/^There is no key to replace\. /)
  })

  test('with a former key that is not the database’s', async () => {
    await start(steps.after).then((server) => server.openStore())
    const { code, errors } = await rotate({ SECRET_KEY: former, SECRET_KEY_PREVIOUS: 'x'.repeat(32) }).ended
    expect(code).toBe(1)
    expect(errors).toMatch(/^SECRET_KEY .* is not the key .*SECRET_KEY_PREVIOUS/)
  })

  test('while a process still stores under the former key', async () => {
    const client = new Connection({ connectionString: database.url })
    await client.connect()
    await announceKeys(client, createSecrets(next, [former]))
    const { code, errors } = await rotate({ SECRET_KEY: former, SECRET_KEY_PREVIOUS: next }).ended
    await client.end()
    expect(code).toBe(1)
    expect(errors).toMatch(/^A running process still stores under the former key\. Restart every process /)
  })
})

describe('a process does not start beside one', () => {
  test.each([
    { name: 'that cannot read what it stores', running: [former], starts: [next, former] },
    { name: 'that stores what it cannot read', running: [next, former], starts: [former] },
  ])('$name', async ({ running, starts }) => {
    const [other, own] = [1, 2].map(() => new Connection({ connectionString: database.url }))
    const secretsOf = ([key = '', ...others]: string[]) => createSecrets(key, others)
    try {
      await Promise.all([other?.connect(), own?.connect()])
      if (!other || !own) return
      await joinProcesses(other, secretsOf(running), 0)
      await expect(joinProcesses(own, secretsOf(starts), 0)).rejects.toThrow('SECRET_KEY_NEXT')
      // It may, as soon as that one is gone.
      const joins = joinProcesses(own, secretsOf(starts))
      await other.end()
      await joins
    } finally {
      await Promise.all([other?.end(), own?.end()])
    }
  })
})

test('secrets that an early version derived, and access tokens that it kept as a hash alone, go on under a new key', async () => {
  const { db } = database
  const server = await start(steps.after)
  const scene = await makeScene(server)
  const secrets = createSecrets(next)
  const { id, publicKey } = await db.application.findUniqueOrThrow({ where: { publicKey: scene.client.PublicKey } })
  const seed = 'c'.repeat(64)
  const derived = (purpose: string) => newSigningSecret(secrets.derivations(purpose)[0])
  const of = { storeId: scene.shop.store.id, id: scene.webhookId }
  await db.webhook.update({ where: { storeId_id: of }, data: { secretSealed: seed } })
  await db.application.update({ where: { id }, data: { callbackSecretSealed: '', callbackSecretVersion: 3 } })
  await db.accessToken.updateMany({ data: { tokenSealed: null } })

  // The upgrade and the new key may come with the same restart.
  const renewed = createSecrets(former, [next])
  const once = { db, secrets: renewed, now: () => new Date() }
  await Promise.all([storeDerivedSecrets(once), storeDerivedSecrets(once)])
  const webhook = await db.webhook.findUniqueOrThrow({ where: { storeId_id: of } })
  const application = await db.application.findUniqueOrThrow({ where: { id } })
  expect(renewed.open(webhook.secretSealed)).toBe(derived(`webhook ${seed}`))
  expect(renewed.open(application.callbackSecretSealed)).toBe(derived(`callback ${publicKey} 3`))

  // Once done, nothing is looked for any more.
  await db.application.update({ where: { id }, data: { callbackSecretSealed: '' } })
  await storeDerivedSecrets(once)
  expect(await db.application.findUniqueOrThrow({ where: { id } })).toMatchObject({ callbackSecretSealed: '' })
  await db.application.update({ where: { id }, data: { callbackSecretSealed: application.callbackSecretSealed } })

  const after = await start({ SECRET_KEY: former, SECRET_KEY_PREVIOUS: next })
  await expectAccess(scene, after)
  const tokens = await db.accessToken.findMany({ where: { subscription: { applicationId: id } } })
  expect(tokens.map(({ tokenSealed }) => tokenSealed && renewed.open(tokenSealed))).toEqual([scene.accessToken])
  expect(tokens.map(({ tokenHash }) => tokenHash)).toEqual([renewed.lookup(scene.accessToken)])
})

test('the operator’s former key works beside the new one, and then no more', async () => {
  const keys = { one: 'the-first-key-of-an-operator', two: 'the-second-key-of-an-operator' }
  const statusOf = async (server: TestServer, key: string) => {
    const headers = { authorization: `Bearer ${key}` }
    const figures = await server.app.inject({ url: '/metrics', headers, remoteAddress: '192.0.2.1' })
    expect(figures.statusCode === 200).toBe(
      (await server.app.inject({ url: '/admin/stores', headers })).statusCode === 200,
    )
    return figures.statusCode
  }
  const both = await start({ ...steps.after, OPERATOR_KEY: keys.two, OPERATOR_KEY_PREVIOUS: keys.one })
  expect([await statusOf(both, keys.one), await statusOf(both, keys.two)]).toEqual([200, 200])
  expect(await statusOf(both, `${keys.one}x`)).toBe(401)
  const alone = await start({ ...steps.after, OPERATOR_KEY: keys.two })
  expect([await statusOf(alone, keys.one), await statusOf(alone, keys.two)]).toEqual([401, 200])
})
