import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { updateApplication } from '../../../../src/access/applications/applications.ts'
import {
  addSubscription,
  listSubscriptions,
  subscriptionById,
} from '../../../../src/access/applications/subscriptions/subscription-rows.ts'
import { subscribe, unsubscribe } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import { accessChannel } from '../../../../src/access/stores/access-changes.ts'
import { operatorCaller } from '../../../../src/access/stores/caller-store.ts'
import { newStore, openAccess } from '../../../support/access.ts'
import { ofTest, shared } from '../../../support/shared.ts'
import { auditOf, credentialsWith, leftOf, merchant, nothing, statusWith, storeAndApplication } from './subscribing.ts'

const access = await shared(openAccess())
const { services } = access

/** A store that uses an application which nobody has to ask. */
async function subscribed() {
  const scene = await storeAndApplication(services, null)
  const { id: subscriptionId, token } = await subscribe(services, scene.wanted)
  return { ...scene, subscriptionId, token }
}

test('twenty at once make one subscription with one token', async () => {
  const scene = await storeAndApplication(services, null)
  const all = await Promise.all(Array.from({ length: 20 }, () => subscribe(services, scene.wanted)))
  expect(new Set(all.map(({ token }) => token)).size).toBe(1)
  expect(all.filter(({ created }) => created)).toHaveLength(1)
  expect(await leftOf(services, scene)).toEqual({ ...nothing, subscriptions: 1 })
})

test('two stores of one application have tokens of their own', async () => {
  const { wanted, token } = await subscribed()
  const other = await newStore(services)
  const second = await subscribe(services, { ...wanted, storeId: other.id })
  expect(second.created).toBe(true)
  expect(second.token).not.toBe(token)
})

test('subscribing again after unsubscribing gives another token, and the old one stays dead', async () => {
  const { token, subscriptionId, ...scene } = await subscribed()
  await unsubscribe(services, { storeId: scene.store.id, subscriptionId, actor: merchant })
  const again = await subscribe(services, scene.wanted)
  expect(again.token).not.toBe(token)
  expect(await statusWith(services, scene, token)).toBe(401)
  expect(await statusWith(services, scene, again.token)).toBe(200)
})

test('a list holds the subscriptions of one store alone, and one of them is read by its id', async () => {
  const { store, application, token, subscriptionId } = await subscribed()
  await subscribed()
  const list = await listSubscriptions(services, { storeId: store.id, limit: 10, offset: 0 })
  const { id: applicationId, name, publicKey } = application
  const none = { privileges: null, askedPrivileges: null, postBackUrl: null, lastUsedAt: null }
  const made = {
    tokenBroughtAt: null,
    privateKeyBroughtAt: null,
    openToMerchants: true,
    calledUrl: null,
    keepsBodies: false,
    ordersPerHour: 1_000,
  }
  const one = { id: subscriptionId, applicationId, name, publicKey, token, ...made, ...none, createdAt: services.now() }
  expect(list).toEqual([one])
  expect(await subscriptionById(services, { storeId: store.id, subscriptionId })).toEqual(one)
})

test('removing a subscription ends its codes and access tokens, in this process at once', async () => {
  const { store, application, subscriptionId } = await subscribed()
  const { db, secrets, authenticator } = services
  const { id: storeUserId } = await db.storeUser.findFirstOrThrow({ where: { storeId: store.id } })
  const times = { createdAt: services.now(), expiresAt: services.now() }
  const code = { codeHash: `code ${subscriptionId}`, redirectUri: 'https://app.example/', storeUserId, subscriptionId }
  await db.authorizationCode.create({ data: { ...code, applicationId: application.id, ...times } })
  const accessToken = 'a'.repeat(32)
  const { codeHash } = code
  const tokenHash = secrets.lookup(accessToken)
  await db.accessToken.create({ data: { tokenHash, subscriptionId, codeHash, createdAt: services.now() } })
  const authorization = `Bearer ${accessToken}`
  await authenticator.authenticate({ authorization })

  await unsubscribe(services, { storeId: store.id, subscriptionId, actor: merchant })
  await expect(authenticator.authenticate({ authorization })).rejects.toMatchObject({ status: 401 })
  expect(await db.accessToken.count({ where: { subscriptionId } })).toBe(0)
  expect(await db.authorizationCode.count({ where: { subscriptionId } })).toBe(0)
})

describe('privileges', () => {
  const narrow = { Products: ['read'] } as const
  const wide = { Products: ['read', 'write'], Orders: ['read'] } as const

  async function asking(privileges: object) {
    const scene = await storeAndApplication(services, null)
    const ask = (asked: object) =>
      services.db.application.update({ where: { id: scene.application.id }, data: { privileges: asked } })
    await ask(privileges)
    return { ...scene, ask }
  }

  test('become what is asked for now when the store subscribes again, at once and with the same token', async () => {
    const scene = await asking(narrow)
    const first = await subscribe(services, scene.wanted)
    const credentials = credentialsWith(services, scene, first.token)
    await services.authenticator.authenticate(credentials)
    await scene.ask(wide)
    expect(await subscribe(services, { ...scene.wanted, agreed: wide })).toEqual({ ...first, created: false })
    const { caller } = await services.authenticator.authenticate(credentials)
    expect(caller.privileges).toEqual(wide)
    expect(await auditOf(services, scene)).toEqual([
      { action: 'subscription.created', actor: merchant.name, details: { privileges: narrow } },
      { action: 'subscription.agreed', actor: merchant.name, details: { privileges: wide } },
    ])
  })

  test('that nobody changed are not agreed to again', async () => {
    const scene = await asking({ Products: ['write', 'read'], Orders: ['read'], Customers: [] })
    await subscribe(services, scene.wanted)
    await Promise.all(
      [wide, undefined, wide].map((agreed) => subscribe(services, { ...scene.wanted, ...(agreed && { agreed }) })),
    )
    expect(await auditOf(services, scene)).toHaveLength(1)
  })

  test('agreed to at once twenty times are agreed to once', async () => {
    const scene = await asking(narrow)
    await subscribe(services, scene.wanted)
    await scene.ask(wide)
    await Promise.all(Array.from({ length: 20 }, () => subscribe(services, scene.wanted)))
    expect((await auditOf(services, scene)).map(({ action }) => action)).toEqual([
      'subscription.created',
      'subscription.agreed',
    ])
  })
})

test('what the platform itself sets up is subscribed in its transaction, asked about nobody and told by no log', async () => {
  const scene = await storeAndApplication(services, 'http://127.0.0.1:1/never-called')
  const undone = services.db.$transaction(async (tx) => {
    await addSubscription({ ...services, db: tx }, scene.wanted)
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect(await leftOf(services, scene)).toEqual(nothing)

  const all = await Promise.all(Array.from({ length: 20 }, () => addSubscription(services, scene.wanted)))
  expect(new Set(all.map(({ token }) => token)).size).toBe(1)
  expect(all.filter(({ created }) => created)).toHaveLength(1)
  expect(await auditOf(services, scene)).toEqual([])
})

test('other processes are told when a subscription ends and when an application changes', async () => {
  const listener = await ofTest(new pg.Client(access.url))
  await listener.connect()
  await listener.query(`LISTEN ${accessChannel}`)
  const { store, application, subscriptionId } = await subscribed()
  const heard = () => new Promise((resolve) => listener.once('notification', ({ channel }) => resolve(channel)))
  const ended = heard()
  await unsubscribe(services, { storeId: store.id, subscriptionId, actor: merchant })
  expect(await ended).toBe('access')
  const changed = heard()
  await updateApplication(services, application.id, { Name: 'Renamed' })
  expect(await changed).toBe('access')
})

test('the tables hold no key, token or password as it is', async () => {
  const { store, application, token } = await subscribed()
  const privateKey = services.secrets.open(application.privateKeySealed)
  const tables = ['Store', 'StoreUser', 'Application', 'Subscription', 'AuditEntry']
  const selects = tables.map((table) => `SELECT row_to_json(t)::text AS text FROM "${table}" t`)
  const rows = await services.db.$queryRawUnsafe<{ text: string }[]>(selects.join(' UNION ALL '))
  const stored = rows.map(({ text }) => text).join('\n')
  expect(stored).toContain(application.publicKey)
  for (const secret of [store.userKey, privateKey, token, 'correct horse battery']) {
    expect(stored).not.toContain(secret)
  }
})

test('the operator may do everything in a store, and in none that does not exist', async () => {
  const store = await newStore(services)
  const caller = await operatorCaller(services, store.id)
  expect(caller).toMatchObject({ store: { id: store.id }, application: null, privileges: null, actor: 'operator' })
  await expect(operatorCaller(services, 999_999)).rejects.toMatchObject({ code: 'not-found' })
})
