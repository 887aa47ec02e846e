import { beforeEach, describe, expect, test } from 'vitest'
import { sweepsByAge } from '../../../../src/parts/retention.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { type TestPerson, testPerson } from '../../../support/person.ts'
import { refused } from '../../../support/refused.ts'
import { ofTest } from '../../../support/shared.ts'
import { openServer, sharedServer, type TestStore } from '../../../support/store.ts'
import { leadsTo } from '../../http/pages/people/fixture.ts'
import {
  enter,
  freshEmail,
  handedOver,
  mailTo,
  memberWith,
  password,
  peopleOf,
  type TestMember,
  tokenIn,
} from './fixture.ts'

// An invitation: how somebody comes to belong to a store.

const page = '/admin/people'
const DAY_MS = 86_400_000

let shop: TestStore
let owner: TestMember

const server = await sharedServer()
beforeEach(async () => {
  // The hour of the bounds of mails is over.
  server.clock.ms += DAY_MS / 4
  shop = await server.openStore()
  owner = await memberWith(server, shop, 'owner')
})

/** Invites by the page; the path of the link that was mailed. */
async function invited(email: string, role = 'orders', by = owner): Promise<string> {
  const answer = await by.person.submit(
    page,
    { Email: email, Role: role, HandOver: [] },
    { action: `${page}/invitations` },
  )
  expect(leadsTo(answer)).toEqual([303, `${page}?notice=invited`])
  const mail = await mailTo(server, email)
  expect(mail).toMatchObject({ kind: 'invitation', state: 'shown', storeId: shop.store.id })
  return mail?.link ?? ''
}

function join(link: string, given = password, person = testPerson(server.app)) {
  return person.submit(link, { Password: given }, { action: '/admin/invitations' })
}

function accept(person: TestPerson, link: string) {
  return person.call('POST', '/admin/invitations/accept', { Token: tokenIn(link) })
}

async function actions(): Promise<[string, string, string][]> {
  const entries = await server.services.db.auditEntry.findMany({
    where: { storeId: shop.store.id, action: { startsWith: 'invitation.' } },
    orderBy: { id: 'asc' },
  })
  return entries.map(({ action, actor, target }) => [action, actor, target])
}

const identityOf = (email: string) => server.services.db.identity.findMany({ where: { email } })

describe('by mail', () => {
  test('somebody new chooses a password and is in, with the role and a proved address', async () => {
    const email = freshEmail()
    const link = await invited(email)
    const mail = await mailTo(server, email)
    expect(mail?.text).toContain(
      `${owner.email} invites you to work in the store ${shop.store.name}. Your role there: Orders.`,
    )

    const person = testPerson(server.app)
    expect((await person.open(link)).body).toContain('Choose the password')
    expect(leadsTo(await join(link, password, person))).toEqual([303, '/admin'])
    expect((await person.open('/admin/orders')).statusCode).toBe(200)
    expect((await person.open('/admin/settings')).statusCode).toBe(403)

    expect(await peopleOf(server, shop)).toContain(`${email} orders`)
    expect(await identityOf(email)).toMatchObject([{ emailProvedAt: server.services.now() }])
    expect(await actions()).toEqual([
      ['invitation.created', owner.email, email],
      ['invitation.accepted', email, email],
    ])
    await enter(server, email)
  })

  test('opening the link changes nothing, however often: programs that scan mail open links', async () => {
    const email = freshEmail()
    const link = await invited(email)
    for (let time = 0; time < 3; time++) expect((await testPerson(server.app).open(link)).statusCode).toBe(200)
    for (const method of ['HEAD', 'OPTIONS'] as const) await server.app.inject({ method, url: link })
    expect(await peopleOf(server, shop)).toHaveLength(2)
    expect(leadsTo(await join(link))).toEqual([303, '/admin'])
  })

  test('somebody whose address is proved signs in first, and then has both stores in one session', async () => {
    const email = freshEmail()
    await join(await invited(email))
    const other = await server.openStore()
    const boss = await memberWith(server, other, 'owner')
    const made = await boss.person.call('POST', `/admin/stores/${other.store.id}/invitations`, {
      Email: email.toUpperCase(),
      Role: 'reader',
    })
    expect([made.statusCode, made.json().Link]).toEqual([201, null])
    const { link = '' } = (await mailTo(server, email.toUpperCase())) ?? {}

    const shown = await testPerson(server.app).open(link)
    expect(shown.body).toContain('You have an account with this address already')
    const token = tokenIn(link)
    const asNew = await testPerson(server.app).call('POST', '/admin/invitations', { Token: token, Password: password })
    expect(refused(asNew)).toMatchObject({ statusCode: 409 })

    const person = testPerson(server.app)
    const signIn = /href="(\/admin\/sign-in\?next=[^"]*)"/.exec(shown.body)?.[1] ?? ''
    const entered = await person.submit(signIn, { Email: email, Password: password }, { action: '/admin/sign-in' })
    expect(leadsTo(entered)).toEqual([303, link])
    expect(leadsTo(await person.submit(link, {}, { action: '/admin/invitations/accept' }))).toEqual([
      303,
      '/admin?notice=joined',
    ])
    const account = (await person.open('/admin/account')).body
    expect(account).toContain(other.store.name)
    expect((await person.call('GET', '/admin/change-store')).json()).toMatchObject([{ StoreId: shop.store.id }])
    expect(await identityOf(email)).toHaveLength(1)
    // The same password opens both from now on.
    const later = await enter(server, email)
    expect((await later.call('GET', '/admin/change-store')).json()).toHaveLength(1)
  })

  test('an account whose address nobody has proved yet may accept too, which proves it', async () => {
    const elsewhere = await server.openStore()
    const { email, person } = await memberWith(server, elsewhere, 'reader')
    expect(await identityOf(email)).toMatchObject([{ emailProvedAt: null }])
    expect((await accept(person, await invited(email))).statusCode).toBe(204)
    expect(await identityOf(email)).toMatchObject([{ emailProvedAt: server.services.now() }])
  })

  test('somebody else is refused, and the link goes on working', async () => {
    const email = freshEmail()
    const link = await invited(email)
    const stranger = await memberWith(server, await server.openStore(), 'owner')
    expect((await stranger.person.open(link)).body).toContain('Sign out, and open the link again')
    expect(refused(await accept(stranger.person, link))).toMatchObject({ statusCode: 403 })
    expect((await accept(testPerson(server.app), link)).statusCode).toBe(401)
    expect(leadsTo(await join(link))).toEqual([303, '/admin'])
  })

  test('beyond the bounds of mails it is refused, and none is open', async () => {
    const email = freshEmail()
    for (let time = 0; time < 5; time++) await invited(email)
    const sixth = await owner.person.call('POST', `/admin/stores/${shop.store.id}/invitations`, {
      Email: email,
      Role: 'owner',
    })
    expect([sixth.statusCode, Number(sixth.headers['retry-after']) > 0]).toEqual([429, true])
    expect(await server.services.db.invitation.findMany({ where: { email } })).toMatchObject([{ role: 'orders' }])
  })
})

describe('by a link to hand over', () => {
  test('the page shows it once, and who opens it is a new person with an unproved address', async () => {
    const email = freshEmail()
    const shown = await owner.person.submit(
      page,
      { Email: email, Role: 'catalogue', HandOver: 'true' },
      { action: `${page}/invitations` },
    )
    expect([shown.statusCode, await mailTo(server, email)]).toEqual([200, null])
    const link = /<code id="link">([^<]*)</.exec(shown.body)?.[1] ?? ''
    expect(link).toContain(server.services.config.publicUrl)
    expect((await owner.person.open(page)).body).not.toContain(tokenIn(link))

    const { pathname, search } = new URL(link)
    expect(leadsTo(await join(pathname + search))).toEqual([303, '/admin'])
    expect(await identityOf(email)).toMatchObject([{ emailProvedAt: null }])
    expect(await peopleOf(server, shop)).toContain(`${email} catalogue`)
  })

  test('a person of the address keeps the own account apart, and may accept with it instead', async () => {
    const other = await server.openStore()
    const { email, person } = await memberWith(server, other, 'owner')
    const first = await handedOver(owner, shop.store.id, email, 'reader')
    expect(leadsTo(await join(first.link, 'the password of a stranger'))).toEqual([303, '/admin'])
    expect(await identityOf(email)).toHaveLength(2)

    const third = await server.openStore()
    const boss = await memberWith(server, third, 'owner')
    const second = await handedOver(boss, third.store.id, email, 'reader')
    expect((await accept(person, second.link)).statusCode).toBe(204)
    expect(await identityOf(email)).toMatchObject([{ emailProvedAt: null }, { emailProvedAt: null }])
    expect((await person.call('GET', '/admin/change-store')).json()).toMatchObject([{ StoreId: other.store.id }])
  })

  test('is all that there is on a server that sends no mail', async () => {
    const plain = await ofTest(openServer({ SANDBOX: 'no' }, cloneDatabase))
    const store = await plain.openStore()
    const boss = await memberWith(plain, store, 'owner')
    expect((await boss.person.open(page)).body).toContain('This server sends no mail')
    const shown = await boss.person.submit(
      page,
      { Email: freshEmail(), Role: 'reader' },
      { action: `${page}/invitations` },
    )
    expect(shown.body).toContain('Hand this link over')
    const made = await boss.person.call('POST', `/admin/stores/${store.store.id}/invitations`, {
      Email: freshEmail(),
      Role: 'reader',
    })
    expect(made.json().Link).toMatch(/^http.*\/admin\/invitations\?token=[\w-]{43}$/)
    expect(await plain.services.db.mail.count()).toBe(0)
  })
})

describe('a link works once', () => {
  test('of twenty at once, as somebody new', async () => {
    const email = freshEmail()
    const { token } = await handedOver(owner, shop.store.id, email, 'reader')
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        testPerson(server.app).call('POST', '/admin/invitations', { Token: token, Password: password }),
      ),
    )
    const statuses = answers.map(({ statusCode }) => statusCode).toSorted()
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 404)])
    expect(await identityOf(email)).toHaveLength(1)
  })

  test('of twenty at once, as a person', async () => {
    const { email, person } = await memberWith(server, await server.openStore(), 'owner')
    const link = await invited(email)
    const answers = await Promise.all(Array.from({ length: 20 }, () => accept(person, link)))
    expect(answers.filter(({ statusCode }) => statusCode === 204)).toHaveLength(1)
    expect(answers.filter(({ statusCode }) => [404, 409].includes(statusCode))).toHaveLength(19)
    expect((await peopleOf(server, shop)).filter((one) => one.startsWith(email))).toEqual([`${email} orders`])
  })

  test.each<[string, (id: number, email: string) => Promise<unknown>]>([
    ['withdrawn', (id) => owner.person.submit(page, {}, { action: `${page}/invitations/${id}/withdraw` })],
    ['expired', () => server.clock.pass(7 * DAY_MS)],
    ['replaced by a newer one', (_id, email) => handedOver(owner, shop.store.id, email.toUpperCase(), 'reader')],
    [
      'swept after it expired',
      async () => {
        server.clock.ms += 8 * DAY_MS
        const sweeps = sweepsByAge(server.services, { historyDays: null })
        await sweeps['old invitations'](() => false)
        expect(await server.services.db.invitation.count({ where: { storeId: shop.store.id } })).toBe(0)
      },
    ],
    ['of an owner who was removed', async () => removed(owner.id)],
    ['of an owner who is one no longer', async () => asReader(owner.id)],
  ])('not where it is %s', async (_what, end) => {
    const email = freshEmail()
    const { id, link, token } = await handedOver(owner, shop.store.id, email, 'owner')
    await end(id, email)
    const shown = await testPerson(server.app).open(link)
    expect([shown.statusCode, shown.body.includes('This link no longer works')]).toEqual([404, true])
    const answer = await testPerson(server.app).call('POST', '/admin/invitations', { Token: token, Password: password })
    expect(refused(answer)).toMatchObject({ statusCode: 404, field: 'Token' })
    expect(await identityOf(email)).toEqual([])
  })

  test.each(['', 'x', 'a'.repeat(43), `${'a'.repeat(42)}\0`])('and the token %j never', async (token) => {
    const asNew = await testPerson(server.app).call('POST', '/admin/invitations', { Token: token, Password: password })
    expect(refused(asNew)).toMatchObject({ statusCode: 404, field: 'Token' })
    expect((await owner.person.call('POST', '/admin/invitations/accept', { Token: token })).statusCode).toBe(404)
    expect(
      (await testPerson(server.app).open(`/admin/invitations?token=${encodeURIComponent(token)}`)).statusCode,
    ).toBe(404)
  })
})

async function removed(id: number): Promise<void> {
  const boss = await memberWith(server, shop, 'owner')
  await boss.person.submit(`${page}/${id}/remove`, {})
}

async function asReader(id: number): Promise<void> {
  const boss = await memberWith(server, shop, 'owner')
  await boss.person.submit(page, { Role: 'reader' }, { action: `${page}/${id}` })
  expect((await boss.person.open(page)).body).toContain('no longer works')
}

describe('roles', () => {
  test('of the store’s own count as they are when the person comes', async () => {
    const save = (url: string, fields: Record<string, string>) =>
      owner.person.submit(`${page}/roles/new`, fields, { action: `${page}/roles`, to: url })
    await save(`${page}/roles`, { Name: 'Packer', 'Privileges.Orders': 'read' })
    const [{ id = 0 } = {}] = await server.services.db.storeRole.findMany({ where: { storeId: shop.store.id } })
    const email = freshEmail()
    const link = await invited(email, 'Packer')
    await save(`${page}/roles/${id}`, { Name: 'Shipper', 'Privileges.Orders': 'write', 'Privileges.Customers': 'read' })
    const deleted = await owner.person.submit(`${page}/roles/${id}`, {}, { action: `${page}/roles/${id}/delete` })
    expect([deleted.statusCode, deleted.body.includes('is invited to it')]).toEqual([409, true])
    const person = testPerson(server.app)
    await join(link, password, person)
    expect(await peopleOf(server, shop)).toContain(`${email} Shipper`)
    expect((await person.open('/admin/orders/new')).statusCode).toBe(200)
  })

  test('that were deleted, or that no store has, are refused beside the field', async () => {
    for (const Role of ['Packer', 'emperor', '']) {
      const fields = { Email: freshEmail(), Role, HandOver: 'true' }
      const answer = await owner.person.submit(page, fields, { action: `${page}/invitations` })
      expect([Role, answer.statusCode, /problem">Role/.test(answer.body)]).toEqual([Role, 400, true])
    }
  })

  test('do not stay undeletable by an invitation that has expired', async () => {
    await owner.person.submit(
      `${page}/roles/new`,
      { Name: 'Packer', 'Privileges.Orders': 'read' },
      { action: `${page}/roles` },
    )
    const [{ id = 0 } = {}] = await server.services.db.storeRole.findMany({ where: { storeId: shop.store.id } })
    await handedOver(owner, shop.store.id, freshEmail(), 'Packer')
    server.clock.ms += 8 * DAY_MS
    const again = await enter(server, owner.email)
    const answer = await again.submit(`${page}/roles/${id}`, {}, { action: `${page}/roles/${id}/delete` })
    expect(leadsTo(answer)).toEqual([303, `${page}?notice=role-deleted`])
  })
})

describe('is refused', () => {
  test('for an address that belongs to the store, in any case of its letters', async () => {
    const given = { Email: owner.email.toUpperCase(), Role: 'reader', HandOver: true }
    const answer = await owner.person.call('POST', `/admin/stores/${shop.store.id}/invitations`, given)
    expect(refused(answer)).toMatchObject({ statusCode: 409, field: 'Email' })
  })

  test('for what is no address, and a password that is too easy does not use the link up', async () => {
    const answer = await owner.person.call('POST', `/admin/stores/${shop.store.id}/invitations`, {
      Email: 'nobody',
      Role: 'reader',
    })
    expect(refused(answer)).toMatchObject({ statusCode: 400, field: 'Email' })
    const { link } = await handedOver(owner, shop.store.id, freshEmail(), 'reader')
    for (const given of ['short', 'password2024!', shop.store.name.padEnd(12, '1')]) {
      expect([given, (await join(link, given)).statusCode]).toEqual([given, 400])
    }
    expect(leadsTo(await join(link))).toEqual([303, '/admin'])
  })

  test('as the 101st that is open, until one is withdrawn', async () => {
    const { db, now } = server.services
    const given = {
      storeId: shop.store.id,
      role: 'reader',
      isMailed: false,
      invitedBy: 'the operator',
      createdAt: now(),
    }
    const expiresAt = new Date(now().getTime() + DAY_MS)
    const data = Array.from({ length: 100 }, (_, at) => {
      return { ...given, expiresAt, email: `${at}@people.example`, tokenHash: `${shop.store.id} ${at}` }
    })
    await db.invitation.createMany({ data })
    const invite = () =>
      owner.person.call('POST', `/admin/stores/${shop.store.id}/invitations`, {
        Email: freshEmail(),
        Role: 'reader',
        HandOver: true,
      })
    expect(refused(await invite())).toMatchObject({ statusCode: 409, message: expect.stringContaining('at most 100') })
    const { id } = await db.invitation.findFirstOrThrow({ where: { storeId: shop.store.id } })
    await owner.person.submit(page, {}, { action: `${page}/invitations/${id}/withdraw` })
    const answers = await Promise.all([1, 2, 3].map(invite))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([201, 409, 409])
  })

  test('of accepting, for a person who came to belong to the store meanwhile', async () => {
    const { email, person } = await memberWith(server, await server.openStore(), 'owner')
    const { link } = await handedOver(owner, shop.store.id, email, 'owner')
    await memberWith(server, shop, 'reader', email)
    expect(refused(await accept(person, link))).toMatchObject({ statusCode: 409, field: 'Email' })
    expect(await peopleOf(server, shop)).toContain(`${email} reader`)
  })
})
