import type { LightMyRequestResponse } from 'fastify'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestPerson, testPerson } from '../../../support/person.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { decide, openClient, queryOf, type TestClient } from '../../http/oauth/fixture.ts'
import {
  enter,
  freshEmail,
  handedOver,
  mailTo,
  memberWith,
  password,
  type TestMember,
  tokenIn,
  tryToEnter,
} from './fixture.ts'

// A hundred ways to get more than a role has. None works, and afterwards nothing is changed.

const people = '/admin/people'
const everything = { Orders: 'write', Settings: 'write', Keys: 'write', People: 'write' }

const server = await sharedServer()

const builtIn = ['manager', 'orders', 'catalogue', 'reader'] as const
/** Roles of the store's own, by their choices in the form. */
const ownRoles = {
  keeper: { People: 'write', Orders: 'write' },
  watcher: { People: 'read', Orders: 'read' },
  porter: { Keys: 'write', Orders: 'read' },
  boss: { People: 'write', Orders: 'write', Settings: 'write' },
  /** Somebody to whom a keeper may give what a keeper has. */
  picker: { Orders: 'read' },
} as const
type Role = (typeof builtIn)[number] | keyof typeof ownRoles

const scene = await openScene()
let before: Record<string, string[]>
beforeEach(async () => {
  server.clock.ms += 10_000
  before = await dump()
})

async function openScene() {
  const shop = await server.openStore()
  const other = await server.openStore()
  const owner = await memberWith(server, shop, 'owner')
  const roleIds: Record<string, number> = {}
  for (const [name, choices] of Object.entries(ownRoles)) {
    await owner.person.submit(
      `${people}/roles/new`,
      { Name: name, ...choicesOf(choices) },
      { action: `${people}/roles` },
    )
    const where = { storeId_name: { storeId: shop.store.id, name } }
    roleIds[name] = (await server.services.db.storeRole.findUniqueOrThrow({ where })).id
  }
  const members: Partial<Record<Role, TestMember>> = {}
  for (const role of [...builtIn, ...Object.keys(ownRoles)] as Role[])
    members[role] = await memberWith(server, shop, role)
  const product = await shop.add('/Products', { SKUInfo: { SKU: 'CUP', Name: 'Cup', Price: 5, Stock: 3 } })
  const order = await shop.placeOrder([{ CatalogID: product, ItemQuantity: 1 }])
  const toOwner = await handedOver(owner, shop.store.id, freshEmail(), 'owner')
  return {
    ...{ shop, other, owner, roleIds, members: members as Record<Role, TestMember>, product, order, toOwner },
    ...(await openStrangers(shop, other, owner)),
    importId: await importOf(owner.person),
    client: await openClient(server),
  }
}

/** Somebody of the other store, somebody who calls the own account by that address, and links that are not theirs. */
async function openStrangers(shop: TestStore, other: TestStore, owner: TestMember) {
  const victim = await memberWith(server, other, 'owner')
  const link = await handedOver(owner, shop.store.id, victim.email, 'reader')
  const mallory = testPerson(server.app)
  const Password = 'the password of Mallory'
  await mallory.call('POST', '/admin/invitations', { Token: link.token, Password })
  const mailed = freshEmail()
  await owner.person.call('POST', `/admin/stores/${shop.store.id}/invitations`, { Email: mailed, Role: 'owner' })
  const proved = await provedPerson(shop, owner)
  await victim.person.call('POST', `/admin/stores/${other.store.id}/invitations`, { Email: proved, Role: 'owner' })
  const reset = await resetLinkOf(owner.email)
  const sessions = await server.services.db.session.findMany({ where: { storeUserId: victim.id } })
  return {
    ...{ victim, mallory, malloryPassword: Password, proved, reset, victimSession: sessions[0]?.id ?? 0 },
    mailed: tokenIn((await mailTo(server, mailed))?.link ?? ''),
    forProved: tokenIn((await mailTo(server, proved))?.link ?? ''),
  }
}

/** Somebody whose address is proved, with an account in the shop. */
async function provedPerson(shop: TestStore, owner: TestMember): Promise<string> {
  const email = freshEmail()
  await owner.person.call('POST', `/admin/stores/${shop.store.id}/invitations`, { Email: email, Role: 'reader' })
  const Token = tokenIn((await mailTo(server, email))?.link ?? '')
  await testPerson(server.app).call('POST', '/admin/invitations', { Token, Password: password })
  return email
}

async function resetLinkOf(email: string): Promise<string> {
  await testPerson(server.app).call('POST', '/admin/reset', { Email: email })
  return tokenIn((await mailTo(server, email))?.link ?? '')
}

async function importOf(person: TestPerson): Promise<number> {
  const { headers } = await person.upload('/admin/products/csv', 'SKUInfo.SKU,SKUInfo.Name\nCUP,Mug\n')
  return Number(headers.location?.toString().split('/').at(-1))
}

function choicesOf(choices: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(choices).map(([name, choice]) => [`Privileges.${name}`, choice]))
}

/** Every row but those that any request may write: when a session was seen, and tries that failed. */
async function dump(): Promise<Record<string, string[]>> {
  const { db } = server.services
  await server.services.callLog.flush()
  const passing = ['SignInDelay', 'Throttle', 'IdempotencyKey']
  const tables = await db.$queryRawUnsafe<{ name: string }[]>(
    `SELECT "table_name" AS "name" FROM information_schema.tables
     WHERE "table_schema" = 'public' AND "table_type" = 'BASE TABLE' ORDER BY 1`,
  )
  const entries = tables
    .filter(({ name }) => !passing.includes(name))
    .map(async ({ name }) => {
      const rows = await db.$queryRawUnsafe<{ row: string }[]>(
        `SELECT (to_jsonb(t) - 'seenAt' - 'lastUsedAt')::text AS "row" FROM "${name}" t ORDER BY 1`,
      )
      return [name, rows.map(({ row }) => row)] as const
    })
  return Object.fromEntries(await Promise.all(entries))
}

type Attempt = readonly [what: string, act: () => Promise<LightMyRequestResponse>]

/** What nobody of these roles may do, whichever it is. */
function byEach(role: Role): Attempt[] {
  const me = () => scene.members[role]
  const json = () => `/admin/stores/${scene.shop.store.id}`
  const send = (url: string, body: unknown) => me().person.call('POST', url, body)
  const invitation = { Email: freshEmail(), Role: 'owner', HandOver: 'true' }
  return [
    ['invites somebody as owner, by the page', () => send(`${people}/invitations`, invitation)],
    [
      'invites somebody as owner, by the JSON route',
      () => send(`${json()}/invitations`, { ...invitation, HandOver: true }),
    ],
    ['makes itself the owner', () => send(`${people}/${me().id}`, { Role: 'owner' })],
    ['takes the owner’s role', () => send(`${people}/${scene.owner.id}`, { Role: 'reader' })],
    ['removes the owner', () => send(`${people}/${scene.owner.id}/remove`, {})],
    ['makes a role of everything', () => send(`${people}/roles`, { Name: `All of ${role}`, ...choicesOf(everything) })],
    [
      'gives the keepers everything',
      () => send(`${people}/roles/${scene.roleIds.keeper}`, { Name: 'keeper', ...choicesOf(everything) }),
    ],
    ['deletes a role with more', () => send(`${people}/roles/${scene.roleIds.boss}/delete`, {})],
    ['withdraws an owner’s invitation', () => send(`${people}/invitations/${scene.toOwner.id}/withdraw`, {})],
    [
      'adds an account as only the operator may',
      () => send(`${json()}/users`, { Email: freshEmail(), Password: password, Role: 'owner' }),
    ],
    [
      'sets the owner’s password',
      () => me().person.call('PUT', `${json()}/users/${scene.owner.id}`, { Password: password }),
    ],
    [
      'removes the owner as only the operator may',
      () => me().person.call('DELETE', `${json()}/users/${scene.owner.id}`),
    ],
    ['takes the invitation of somebody else', () => send('/admin/invitations/accept', { Token: scene.toOwner.token })],
    ['takes somebody else’s invitation by mail', () => send('/admin/invitations/accept', { Token: scene.mailed })],
    ['reads the operator’s list of applications', () => me().person.call('GET', '/admin/applications')],
    [
      'invites to the other store',
      () => send(`/admin/stores/${scene.other.store.id}/invitations`, { ...invitation, HandOver: true }),
    ],
  ]
}

const keeper = () => scene.members.keeper.person
const giving = (Role: unknown) => keeper().call('POST', `${people}/${scene.members.picker.id}`, { Role })
const editing = (name: keyof typeof ownRoles, choices: Record<string, string>) =>
  keeper().call('POST', `${people}/roles/${scene.roleIds[name]}`, { Name: name, ...choicesOf(choices) })

/** Of somebody who may change people, but has little else to give. */
const byKeeper: readonly Attempt[] = [
  ...['manager', 'MANAGER', ' owner ', 'catalogue', 'reader', 'boss', 'porter', 'watcher,boss', '', 'ｏｗｎｅｒ'].map(
    (role): Attempt => [`gives somebody the role ${JSON.stringify(role)}`, () => giving(role)],
  ),
  ['gives two roles in one', () => giving(['orders', 'owner'])],
  ['gives a role that is no text', () => giving({ role: 'owner', roleId: null })],
  [
    'gives a role with the columns of its table',
    () => keeper().call('POST', `${people}/${scene.members.picker.id}`, { Role: 'keeper', roleId: scene.roleIds.boss }),
  ],
  [
    'gives itself a role with more',
    () => keeper().call('POST', `${people}/${scene.members.keeper.id}`, { Role: 'boss' }),
  ],
  ['gives the manager less', () => keeper().call('POST', `${people}/${scene.members.manager.id}`, { Role: 'keeper' })],
  ['removes the manager', () => keeper().call('POST', `${people}/${scene.members.manager.id}/remove`, {})],
  [
    'removes somebody of another role with more',
    () => keeper().call('POST', `${people}/${scene.members.boss.id}/remove`, {}),
  ],
  ['adds settings to the own role', () => editing('keeper', { ...ownRoles.keeper, Settings: 'read' })],
  ['adds keys to the own role', () => editing('keeper', { ...ownRoles.keeper, Keys: 'write' })],
  ['adds what goods cost to the own role', () => editing('keeper', { ...ownRoles.keeper, Cost: 'read' })],
  ['makes a role with more the same as the own', () => editing('boss', ownRoles.keeper)],
  ['makes a role with another privilege the same as the own', () => editing('porter', ownRoles.keeper)],
  [
    'makes a role with one privilege more',
    () =>
      keeper().call('POST', `${people}/roles`, { Name: 'More', ...choicesOf({ Orders: 'write', Customers: 'read' }) }),
  ],
  [
    'calls a role owner',
    () => keeper().call('POST', `${people}/roles`, { Name: 'Owner', ...choicesOf({ Orders: 'read' }) }),
  ],
  [
    'invites to a role with more',
    () => keeper().call('POST', `${people}/invitations`, { Email: freshEmail(), Role: 'boss', HandOver: 'true' }),
  ],
  [
    'invites as manager by the JSON route',
    () =>
      keeper().call('POST', `/admin/stores/${scene.shop.store.id}/invitations`, {
        Email: freshEmail(),
        Role: 'manager',
        HandOver: true,
      }),
  ],
  [
    'invites who belongs to the store, to change the role',
    () =>
      keeper().call('POST', `${people}/invitations`, {
        Email: scene.members.keeper.email,
        Role: 'keeper',
        HandOver: 'true',
      }),
  ],
  [
    'changes people of the other store',
    () => keeper().call('POST', `${people}/${scene.victim.id}`, { Role: 'keeper' }),
  ],
  ['removes people of the other store', () => keeper().call('POST', `${people}/${scene.victim.id}/remove`, {})],
  ['opens the settings', () => keeper().call('GET', '/admin/settings')],
  ['reads the audit log', () => keeper().call('GET', '/admin/audit')],
]

const apply = (role: Role) => scene.members[role].person.call('POST', `/admin/csv/${scene.importId}/apply`, {})
const put = (role: Role, body: object) =>
  scene.members[role].person.call('PUT', `/admin/stores/${scene.shop.store.id}`, body)
const post = (role: Role, url: string, body: object = {}) => scene.members[role].person.call('POST', url, body)
const product = { 'SKUInfo.SKU': 'NEW', 'SKUInfo.Name': 'New' }
const webhook = { Name: 'Hook', URL: 'https://there.example/', EventType: 'Order New', Format: 'JSON', Enabled: 'true' }
const status = { OrderStatusID: '4' }

/** What the buttons post that these roles do not see. */
const byHiddenButtons: readonly Attempt[] = [
  ['orders adds a product', () => post('orders', '/admin/products', product)],
  ['orders changes a product', () => post('orders', `/admin/products/${scene.product}/edit`, product)],
  ['orders deletes a product', () => post('orders', `/admin/products/${scene.product}/delete`)],
  ['orders changes stock', () => post('orders', `/admin/products/${scene.product}/stock`, { Stock: '9' })],
  ['reader adds a product', () => post('reader', '/admin/products', product)],
  ['reader deletes a product', () => post('reader', `/admin/products/${scene.product}/delete`)],
  ['reader ships an order', () => post('reader', `/admin/orders/${scene.order}/status`, status)],
  [
    'reader changes the status of many orders',
    () => post('reader', '/admin/orders/bulk/status', { ids: String(scene.order), ...status }),
  ],
  [
    'catalogue places an order',
    () =>
      post('catalogue', `/admin/stores/${scene.shop.store.id}/orders`, {
        BillingEmail: 'a@b.example',
        OrderItemList: [],
      }),
  ],
  ['catalogue reads an order', () => scene.members.catalogue.person.call('GET', `/admin/orders/${scene.order}`)],
  ['catalogue reads customers', () => scene.members.catalogue.person.call('GET', '/admin/customers')],
  ['catalogue exports customers', () => scene.members.catalogue.person.call('GET', '/admin/customers/export')],
  ['orders exports products', () => scene.members.orders.person.call('GET', '/admin/products/export')],
  ['orders adds a webhook', () => post('orders', '/admin/webhooks', webhook)],
  ['porter adds a webhook', () => post('porter', '/admin/webhooks', webhook)],
  ['reader changes the settings', () => post('reader', '/admin/settings', { Name: 'Mine' })],
  ['catalogue changes the store by JSON', () => put('catalogue', { Name: 'Mine' })],
  [
    'orders adds a status of orders',
    () => post('orders', `/admin/stores/${scene.shop.store.id}/order-statuses`, { StatusText: 'Mine' }),
  ],
  [
    'reader changes payment methods',
    () =>
      scene.members.reader.person.call('PUT', `/admin/stores/${scene.shop.store.id}/payment-methods`, [
        { Name: 'Mine' },
      ]),
  ],
  ['manager sets CartAPI among the settings', () => put('manager', { Name: 'Shop', CartAPI: { Enabled: false } })],
  ['manager changes cartAPI by its page', () => post('manager', '/admin/modules/cartapi', { Enabled: 'false' })],
  ['manager makes a new user key', () => post('manager', '/admin/modules/cartapi/user-key')],
  ['manager makes a new user key by JSON', () => post('manager', `/admin/stores/${scene.shop.store.id}/user-key`)],
  [
    'porter sets the rate limit, as only the operator may',
    () => put('porter', { Throttle: { capacity: 9, leakPerSecond: 9 } }),
  ],
  ['orders applies the products of a CSV file', () => apply('orders')],
  ['reader applies the products of a CSV file', () => apply('reader')],
  ['keeper applies the products of a CSV file', () => apply('keeper')],
  [
    'orders reads a CSV file of products',
    () => scene.members.orders.person.call('GET', `/admin/csv/${scene.importId}`),
  ],
  ['orders cancels a CSV file of products', () => post('orders', `/admin/csv/${scene.importId}/cancel`)],
  [
    'reader uploads a CSV file',
    () => scene.members.reader.person.upload('/admin/products/csv', 'SKUInfo.SKU\nCUP\n').catch(noForm),
  ],
]

/** The page with the form is refused already. */
const noForm = () => scene.members.reader.person.open('/admin/products/csv')

const key = () => scene.client.PublicKey
const home = '/admin/modules/rest-api'
const all = { PublicKey: '', Privileges: 'null' }

/** Letting applications in. The client asks for everything. */
const byConsent: readonly Attempt[] = [
  ...(['manager', 'orders', 'reader', 'keeper', 'watcher', 'porter'] as const).flatMap((role): Attempt[] => [
    [`${role} lets an application in by its page`, () => post(role, `${home}/subscribe`, { ...all, PublicKey: key() })],
    [
      `${role} lets an application in by JSON`,
      () => post(role, `/admin/stores/${scene.shop.store.id}/subscriptions`, { PublicKey: key() }),
    ],
    [`${role} lets an application in by OAuth`, () => consent(role, scene.client)],
  ]),
  [
    'porter agrees to less than it asks for',
    () => post('porter', `${home}/subscribe`, { PublicKey: key(), Privileges: '{"Orders":["read"]}' }),
  ],
  ['orders removes an application', () => post('orders', `${home}/${subscription().id}/unsubscribe`)],
  [
    'manager removes an application by JSON',
    () =>
      scene.members.manager.person.call(
        'DELETE',
        `/admin/stores/${scene.shop.store.id}/subscriptions/${subscription().id}`,
      ),
  ],
  [
    'porter agrees to everything for one that is in',
    () => post('porter', `${home}/${subscription().id}/agree`, { Privileges: 'null' }),
  ],
]

/** By what the consent page posts, which is not shown to these. */
async function consent(role: Role, client: TestClient): Promise<LightMyRequestResponse> {
  const { person } = scene.members[role]
  const query = queryOf(client, scene.shop.store)
  return decide(person, query).catch(() =>
    person.call('POST', `/oauth/authorize?${query}`, { decision: 'allow', privileges: 'null' }),
  )
}

let subscribed: { id: number } | null = null
function subscription(): { id: number } {
  if (subscribed === null) throw new Error('No subscription')
  return subscribed
}
beforeAll(async () => {
  subscribed = await server.services.db.subscription.findFirst({ where: { storeId: scene.shop.store.id } })
})

const mallory = (method: 'GET' | 'POST', url: string, body?: unknown) => scene.mallory.call(method, url, body)
const stranger = (body: object, url = '/admin/invitations') => testPerson(server.app).call('POST', url, body)

/** Somebody whom a link handed over made a person with the address of the other store's owner. */
const byAddress: readonly Attempt[] = [
  ['changes to the other’s store', () => mallory('POST', '/admin/change-store', { UserId: scene.victim.id })],
  [
    'signs in at the other’s store',
    () =>
      tryToEnter(testPerson(server.app), scene.victim.email, {
        given: scene.malloryPassword,
        store: scene.other.store.secureUrl,
      }),
  ],
  [
    'joins the other with the own password',
    () => mallory('POST', '/admin/account/join', { Password: scene.malloryPassword }),
  ],
  [
    'joins the other with a wrong password',
    () => mallory('POST', '/admin/account/join', { Password: 'a guess of the password' }),
  ],
  ['joins the other without a password', () => mallory('POST', '/admin/account/join', { Password: '' })],
  [
    'joins the other by its id',
    () => mallory('POST', '/admin/account/join', { Password: 'a guess of the password', IdentityId: 1 }),
  ],
  ['reads what uses the other’s store', () => mallory('GET', `/admin/stores/${scene.other.store.id}/subscriptions`)],
  [
    'renames the other’s store',
    () => scene.mallory.call('PUT', `/admin/stores/${scene.other.store.id}`, { Name: 'Mine' }),
  ],
  ['ends the other’s session', () => mallory('POST', '/admin/account/sessions', { Session: scene.victimSession })],
  [
    'changes the password with the other’s session in mind',
    () =>
      mallory('POST', '/admin/account/password', {
        CurrentPassword: password,
        NewPassword: 'a password of the victim',
      }),
  ],
  [
    'confirms an address with a link that is none',
    () => mallory('POST', '/admin/account/address', { Token: 'a'.repeat(43) }),
  ],
  [
    'sets a password by a reset link that is none',
    () => stranger({ Token: 'a'.repeat(43), Password: password }, '/admin/reset/password'),
  ],
  [
    'sets the victim’s password by the reset link of another address',
    () => stranger({ Token: scene.reset, Password: 'a password of Mallory', Identity: 1 }, '/admin/reset/password'),
  ],
  [
    'sets a developer’s password by a merchant’s link',
    () => stranger({ Token: scene.reset, Password: 'a password of Mallory' }, '/developers/reset/password'),
  ],
  ['joins a store by a link for a new password', () => stranger({ Token: scene.reset, Password: password })],
  [
    'sets a password by an invitation',
    () => stranger({ Token: scene.toOwner.token, Password: password }, '/admin/reset/password'),
  ],
  [
    'confirms an address by an invitation',
    () => mallory('POST', '/admin/account/address', { Token: scene.toOwner.token }),
  ],
  [
    'accepts a mailed invitation as new, where the address is proved',
    () => stranger({ Token: scene.forProved, Password: password }),
  ],
  [
    'accepts a mailed invitation as somebody else',
    () => mallory('POST', '/admin/invitations/accept', { Token: scene.forProved }),
  ],
  [
    'accepts an invitation without a session',
    () => stranger({ Token: scene.toOwner.token }, '/admin/invitations/accept'),
  ],
  [
    'accepts an invitation by the hash of its token',
    async () => stranger({ Token: (await anyInvitation()).tokenHash, Password: password }),
  ],
  [
    'accepts an invitation by its id',
    async () => stranger({ Token: String((await anyInvitation()).id), Password: password }),
  ],
  [
    'accepts an invitation with another role',
    () => stranger({ Token: scene.mailed, Password: password, Role: 'owner' }),
  ],
  [
    'accepts an invitation under another address',
    () => stranger({ Token: scene.mailed, Password: password, Email: 'mallory@evil.example' }),
  ],
  ['accepts an invitation that was withdrawn', () => stranger({ Token: withdrawn.token, Password: password })],
  [
    'accepts, as the person, an invitation that was withdrawn',
    () => mallory('POST', '/admin/invitations/accept', { Token: withdrawn.token }),
  ],
]

const anyInvitation = () => server.services.db.invitation.findFirstOrThrow({ where: { storeId: scene.shop.store.id } })
let withdrawn = { token: '' }
beforeAll(async () => {
  const link = await handedOver(scene.owner, scene.shop.store.id, freshEmail(), 'owner')
  await scene.owner.person.call('POST', `${people}/invitations/${link.id}/withdraw`, {})
  withdrawn = link
})

async function expectRefused(act: () => Promise<LightMyRequestResponse>): Promise<void> {
  const { statusCode, body } = await act()
  expect([statusCode, body.slice(0, 200)]).toEqual([
    expect.toSatisfy((code) => code >= 400 && code < 500),
    expect.anything(),
  ])
  expect(await dump()).toEqual(before)
}

describe.each([...builtIn, 'keeper', 'watcher'] as const)('as %s, nobody', (role) => {
  test.each(byEach(role))('%s', (_what, act) => expectRefused(act))
})

describe('who keeps the people in no case', () => {
  test.each(byKeeper)('%s', (_what, act) => expectRefused(act))
})

describe('no hidden button works:', () => {
  test.each(byHiddenButtons)('%s', (_what, act) => expectRefused(act))
})

describe('no consent works:', () => {
  test.each(byConsent)('%s', (_what, act) => expectRefused(act))
})

describe('by an address or a link, nobody', () => {
  test.each(byAddress)('%s', (_what, act) => expectRefused(act))

  test('sees or ends more than the own account of the address', async () => {
    const { mallory, victim, malloryPassword, shop } = scene
    expect((await mallory.call('GET', '/admin/change-store')).json()).toEqual([])
    const again = await enter(server, victim.email, { password: malloryPassword })
    expect((await again.call('GET', '/admin/change-store')).json()).toEqual([])
    expect((await again.call('GET', '/admin/account')).json().Sessions).toHaveLength(2)
    expect((await again.call('POST', '/admin/account/sessions', { Session: 'others' })).statusCode).toBe(204)
    expect((await victim.person.call('GET', '/admin/account')).statusCode).toBe(200)
    expect((await again.open('/admin/account')).body).toContain(shop.store.name)
    expect((await victim.person.call('GET', '/admin/change-store')).json()).toEqual([])
  })
})

test('these are a hundred and more', () => {
  const roles = [...builtIn, 'keeper', 'watcher'] as const
  const all = [...roles.flatMap(byEach), ...byKeeper, ...byHiddenButtons, ...byConsent, ...byAddress]
  expect(all.length).toBeGreaterThan(200)
})
