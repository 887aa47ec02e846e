import { expect, test } from 'vitest'
import { addSubscription } from '../../../../src/access/applications/subscriptions/subscription-rows.ts'
import { newStore } from '../../../support/access.ts'
import { refused } from '../../../support/refused.ts'
import { shared } from '../../../support/shared.ts'
import { openAdmin } from './fixture.ts'

const admin = await shared(openAdmin())

async function register(body: object = { Name: 'App' }) {
  return (await admin.call('POST', '/admin/applications', body)).json()
}

test('POST /admin/applications answers 201 with a new key pair; without Privileges everything is allowed', async () => {
  const answer = await admin.call('POST', '/admin/applications', { Name: ' Order sync ' })
  expect(answer.statusCode).toBe(201)
  const application = answer.json()
  expect(application).toEqual({
    Id: expect.any(Number),
    Name: 'Order sync',
    Kind: 'existing',
    PublicKey: expect.stringMatching(/^[0-9a-f]{32}$/),
    PrivateKey: expect.stringMatching(/^[0-9a-f]{32}$/),
    DatePrivateKeyBrought: null,
    OpenToMerchants: true,
    CallBackURL: null,
    Erasures: false,
    RedirectURIs: [],
    Privileges: null,
    Throttle: null,
    DateCreated: '2026-03-01T12:00:00.000Z',
  })
  expect(application.PrivateKey).not.toBe(application.PublicKey)
})

test('GET /admin/applications lists what POST and PUT answered', async () => {
  const first = await register({ Name: 'First', Throttle: { Capacity: 100, LeakPerSecond: 10 } })
  const second = await register({ Name: 'Second', Privileges: { Products: ['read'] } })
  const changed = (await admin.call('PUT', `/admin/applications/${first.Id}`, { Name: 'Renamed' })).json()
  const all = (await admin.call('GET', '/admin/applications?limit=500')).json()
  expect(all.slice(-2)).toEqual([changed, second])
  expect(changed).toEqual({ ...first, Name: 'Renamed' })
})

test('PUT changes what is named and leaves the rest; null takes Privileges and Throttle back to the default', async () => {
  const before = await register({
    Name: 'App',
    Privileges: { Products: ['read'] },
    Throttle: { Capacity: 100, LeakPerSecond: 10 },
  })
  const put = async (body: object) => (await admin.call('PUT', `/admin/applications/${before.Id}`, body)).json()
  expect(await put({})).toEqual(before)
  expect(await put({ Privileges: { Orders: ['write'] } })).toEqual({ ...before, Privileges: { Orders: ['write'] } })
  expect(await put({ Privileges: null })).toEqual({ ...before, Privileges: null })
  expect(await put({ Throttle: null })).toEqual({ ...before, Privileges: null, Throttle: null })
  expect((await put({ Erasures: true })).Erasures).toBe(true)
  expect((await put({ Name: 'Other' })).Erasures).toBe(true)
})

test.each([
  [{}, 'Name', 'Name is missing and must be a text'],
  [
    { Name: 'App', Privileges: { Product: ['read'] } },
    'Privileges.Product',
    'allowed are Category, Manufacturers, Distributors',
  ],
  [{ Name: 'App', Privileges: { Products: 'read' } }, 'Privileges.Products', 'must be a list of read and write'],
  [{ Name: 'App', Kind: 'New' }, 'Kind', 'must be existing or new'],
  [{ Name: 'App', Privileges: ['Products'] }, 'Privileges', 'must be an object'],
  [{ Name: 'App', Privileges: { Products: [], products: [] } }, 'Privileges.Products', 'is given twice'],
  [
    { Name: 'App', Colour: 'red' },
    'Colour',
    'allowed are Name, CallBackURL, Erasures, RedirectURIs, Privileges, Kind, Throttle',
  ],
])('%j is refused with a 400 that names the field', async (body, field, message) => {
  const answer = await admin.call('POST', '/admin/applications', body)
  expect(refused(answer)).toMatchObject({ statusCode: 400, field, message: expect.stringContaining(message) })
})

test('the log tells who registered and changed an application, and each store whose agreement was replaced', async () => {
  const { services } = admin
  const logOf = async (applicationId: number) => {
    const entries = await services.db.auditEntry.findMany({ where: { applicationId }, orderBy: { id: 'asc' } })
    return entries.map(({ actorKind, address, action, storeId, details }) => [
      actorKind,
      address,
      action,
      storeId,
      details,
    ])
  }
  const by = ['operator', '127.0.0.1']
  const { Id, PublicKey } = await register({ Name: 'Watched', Privileges: { Orders: ['read'] } })
  const stores = [await newStore(services), await newStore(services)]
  for (const { id: storeId } of stores) await addSubscription(services, { storeId, publicKey: PublicKey })
  const created = [...by, 'application.created', null, {}]
  expect(await logOf(Id)).toEqual([created])

  const put = (body: object) => admin.call('PUT', `/admin/applications/${Id}`, body)
  await put({ Name: 'Watched', Privileges: { Orders: ['read'] } })
  expect(await logOf(Id)).toEqual([created])

  expect((await put({ Throttle: { Capacity: 10, LeakPerSecond: 1 }, Kind: 'new', Privileges: null })).json().Kind).toBe(
    'new',
  )
  expect(await logOf(Id)).toEqual([
    created,
    [...by, 'application.changed', null, { changed: ['kind', 'privileges', 'throttle'] }],
    ...stores.map(({ id }) => [...by, 'subscription.agreed', id, { privileges: null }]),
  ])
  await put({ Privileges: { Orders: ['write'] } })
  expect((await logOf(Id)).at(-1)).toEqual([
    ...by,
    'subscription.agreed',
    stores[1]?.id,
    { privileges: { Orders: ['write'] } },
  ])
})
