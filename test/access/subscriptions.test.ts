import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registerApplication, updateApplication } from '../../src/access/applications.ts'
import { accessChannel } from '../../src/access/changes.ts'
import { verifyPassword } from '../../src/access/passwords.ts'
import { operatorCaller } from '../../src/access/stores.ts'
import { listSubscriptions, subscribe, unsubscribe } from '../../src/access/subscriptions.ts'
import { newStore, openAccess, type Services, subscribed } from './fixture.ts'

let access: Awaited<ReturnType<typeof openAccess>>
let services: Services

beforeAll(async () => {
  access = await openAccess()
  services = access.services
})
afterAll(() => access.drop())

test('subscribing again answers the same token', async () => {
  const { store, application, token, subscriptionId } = await subscribed(services)
  const again = await subscribe(services, { storeId: store.id, publicKey: application.publicKey })
  expect(again).toEqual({ id: subscriptionId, token, created: false })
})

test('twenty at once make one subscription with one token', async () => {
  const store = await newStore(services)
  const { publicKey } = await registerApplication(services, { Name: 'At once' })
  const all = await Promise.all(Array.from({ length: 20 }, () => subscribe(services, { storeId: store.id, publicKey })))
  expect(new Set(all.map(({ token }) => token)).size).toBe(1)
  expect(all.filter(({ created }) => created)).toHaveLength(1)
  expect(await services.db.subscription.count({ where: { storeId: store.id } })).toBe(1)
})

test('two stores of one application have tokens of their own', async () => {
  const { application, token } = await subscribed(services)
  const other = await newStore(services)
  const second = await subscribe(services, { storeId: other.id, publicKey: application.publicKey })
  expect(second.created).toBe(true)
  expect(second.token).not.toBe(token)
})

test('subscribing again after unsubscribing gives another token, and the old one stays dead', async () => {
  const { store, application, token, subscriptionId } = await subscribed(services)
  await unsubscribe(services, { storeId: store.id, subscriptionId })
  const again = await subscribe(services, { storeId: store.id, publicKey: application.publicKey })
  expect(again.token).not.toBe(token)
  const { authenticate } = services.authenticator
  await expect(authenticate({ authorization: `Bearer ${token}` })).rejects.toMatchObject({ status: 401 })
  await authenticate({ authorization: `Bearer ${again.token}` })
})

test('a store cannot end the subscription of another', async () => {
  const { token, subscriptionId } = await subscribed(services)
  const other = await newStore(services)
  const foreign = unsubscribe(services, { storeId: other.id, subscriptionId })
  await expect(foreign).rejects.toMatchObject({ kind: 'not-found', field: String(subscriptionId) })
  await services.authenticator.authenticate({ authorization: `Bearer ${token}` })
})

test('a list holds the subscriptions of one store alone', async () => {
  const { store, application, token, subscriptionId } = await subscribed(services)
  await subscribed(services)
  const list = await listSubscriptions(services, { storeId: store.id, limit: 10, offset: 0 })
  const { id: applicationId, name, publicKey } = application
  expect(list).toEqual([{ id: subscriptionId, applicationId, name, publicKey, token, createdAt: services.now() }])
})

test('other processes are told when a subscription ends and when an application changes', async () => {
  const listener = new pg.Client(access.url)
  await listener.connect()
  try {
    await listener.query(`LISTEN ${accessChannel}`)
    const { store, application, subscriptionId } = await subscribed(services)
    const heard = () => new Promise((resolve) => listener.once('notification', ({ channel }) => resolve(channel)))
    const ended = heard()
    await unsubscribe(services, { storeId: store.id, subscriptionId })
    expect(await ended).toBe('access')
    const changed = heard()
    await updateApplication(services, application.id, { Name: 'Renamed' })
    expect(await changed).toBe('access')
  } finally {
    await listener.end()
  }
})

test('the tables hold no key, token or password as it is', async () => {
  const { store, application, token } = await subscribed(services)
  const tables = ['Store', 'StoreUser', 'Application', 'Subscription']
  const selects = tables.map((table) => `SELECT row_to_json(t)::text AS text FROM "${table}" t`)
  const rows = await services.db.$queryRawUnsafe<{ text: string }[]>(selects.join(' UNION ALL '))
  const stored = rows.map(({ text }) => text).join('\n')
  expect(stored).toContain(application.publicKey)
  for (const secret of [store.userKey, application.privateKey, token, 'correct horse battery']) {
    expect(stored).not.toContain(secret)
  }
})

test('a new store has its merchant’s account and the twelve order statuses', async () => {
  const store = await newStore(services)
  const [user] = await services.db.storeUser.findMany({ where: { storeId: store.id } })
  expect(user?.email).toBe('merchant@shop.example')
  expect(await verifyPassword(user?.passwordHash ?? null, 'correct horse battery')).toBe(true)
  const statuses = await services.db.orderStatus.findMany({ where: { storeId: store.id }, orderBy: { id: 'asc' } })
  expect(statuses.map(({ id, text, visible }) => `${id} ${text}${visible ? '' : ' (hidden)'}`)).toEqual([
    '1 New',
    '2 Processing',
    '3 Partial',
    '4 Shipped',
    '5 Cancel',
    '6 Hold',
    '7 Not Completed',
    '8 Custom 1 (hidden)',
    '9 Custom 2 (hidden)',
    '10 Custom 3 (hidden)',
    '11 Unpaid',
    '12 Review',
  ])
  for (const { id, sorting, definition, text } of statuses) expect([sorting, definition]).toEqual([id, text])
})

test('the operator may do everything in a store, and in none that does not exist', async () => {
  const store = await newStore(services)
  const caller = await operatorCaller(services, store.id)
  expect(caller).toMatchObject({ store: { id: store.id }, application: null, privileges: null, actor: 'operator' })
  await expect(operatorCaller(services, 999_999)).rejects.toMatchObject({ kind: 'not-found' })
})
