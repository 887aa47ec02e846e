import { beforeEach, describe, expect, test } from 'vitest'
import { buildApp } from '../../../../src/app.ts'
import { untilWaiting } from '../../../support/held.ts'
import { testPerson } from '../../../support/person.ts'
import { refused } from '../../../support/refused.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { leadsTo } from '../../http/pages/people/fixture.ts'
import {
  enter,
  freshEmail,
  handedOver,
  memberWith,
  password,
  peopleOf,
  type TestMember,
  tryToEnter,
} from './fixture.ts'

// The people of a store and their roles.

const page = '/admin/people'
let shop: TestStore
let owner: TestMember

const server = await sharedServer()
beforeEach(async () => {
  server.clock.ms += 3_600_000
  shop = await server.openStore()
  owner = await memberWith(server, shop, 'owner')
})

function giveRole(by: TestMember, id: number, Role: string) {
  return by.person.call('POST', `${page}/${id}`, { Role })
}

function remove(by: TestMember, id: number) {
  return by.person.call('POST', `${page}/${id}/remove`, {})
}

/** The account that every store is opened with goes, so that `owner` is the only one. */
async function alone(): Promise<void> {
  const { id } = await server.services.db.storeUser.findFirstOrThrow({
    where: { storeId: shop.store.id, email: 'merchant@shop.example' },
  })
  expect((await remove(owner, id)).statusCode).toBe(303)
}

function ownRole(name: string, privileges: Record<string, string>, id: number | 'new' = 'new') {
  const fields = Object.entries(privileges).map(([privilege, choice]) => [`Privileges.${privilege}`, choice] as const)
  const url = `${page}/roles${id === 'new' ? '' : `/${id}`}`
  return owner.person.submit(`${page}/roles/${id}`, { Name: name, ...Object.fromEntries(fields) }, { action: url })
}

async function roleId(name: string): Promise<number> {
  const where = { storeId_name: { storeId: shop.store.id, name } }
  return (await server.services.db.storeRole.findUniqueOrThrow({ where })).id
}

async function entries(action: string) {
  const where = { storeId: shop.store.id, action }
  return server.services.db.auditEntry.findMany({ where, orderBy: { id: 'asc' } })
}

describe('another role', () => {
  test('counts at the next request of a session that is open, in every process, and the log tells it', async () => {
    const packer = await memberWith(server, shop, 'reader')
    const other = buildApp(server.services)
    await other.ready()
    const there = testPerson(other)
    for (const [name, value] of packer.person.cookies) there.cookies.set(name, value)
    expect((await packer.person.open('/admin/orders/new')).statusCode).toBe(403)

    const answer = await owner.person.submit(page, { Role: 'orders' }, { action: `${page}/${packer.id}` })
    expect(leadsTo(answer)).toEqual([303, `${page}?notice=role-changed`])
    for (const person of [packer.person, there]) expect((await person.open('/admin/orders/new')).statusCode).toBe(200)

    await giveRole(owner, packer.id, 'catalogue')
    for (const person of [packer.person, there]) expect((await person.open('/admin/orders/new')).statusCode).toBe(403)
    await other.close()
    expect(await entries('account.role-changed')).toMatchObject([
      { actor: owner.email, target: packer.email, details: { role: { from: 'reader', to: 'orders' } } },
      { actor: owner.email, target: packer.email, details: { role: { from: 'orders', to: 'catalogue' } } },
    ])
  })

  test('that is none, or the same, changes nothing', async () => {
    const packer = await memberWith(server, shop, 'orders')
    expect(refused(await giveRole(owner, packer.id, 'emperor'))).toMatchObject({ statusCode: 400, field: 'Role' })
    expect((await giveRole(owner, packer.id, 'orders')).statusCode).toBe(303)
    expect(refused(await giveRole(owner, 999_999, 'orders'))).toMatchObject({ statusCode: 404 })
    expect(await entries('account.role-changed')).toEqual([])
  })
})

describe('the last owner', () => {
  test('neither gives the role up nor goes, not by the operator either', async () => {
    await alone()
    expect(refused(await giveRole(owner, owner.id, 'manager'))).toMatchObject({ statusCode: 409 })
    const own = await remove(owner, owner.id)
    expect([own.statusCode, own.body.includes('the last owner')]).toEqual([409, true])
    const byOperator = await server.operate('DELETE', `/admin/stores/${shop.store.id}/users/${owner.id}`)
    expect(refused(byOperator)).toMatchObject({ statusCode: 409, field: String(owner.id) })
    expect(await peopleOf(server, shop)).toEqual([`${owner.email} owner`])
  })

  test('reads so on the page that would remove them, which has no button until there is another owner', async () => {
    await alone()
    const address = `${page}/${owner.id}/remove`
    const says = async () => {
      const { body } = await owner.person.open(address)
      return [body.includes('You are the last owner of this store'), body.includes(`action="${address}"`)]
    }
    expect(await says()).toEqual([true, false])
    await memberWith(server, shop, 'owner')
    expect(await says()).toEqual([false, true])
  })

  test('an owner goes when there is another, and may be made one again', async () => {
    await alone()
    const second = await memberWith(server, shop, 'reader')
    await giveRole(owner, second.id, 'owner')
    expect((await giveRole(owner, owner.id, 'reader')).statusCode).toBe(303)
    expect(refused(await giveRole(second, second.id, 'manager'))).toMatchObject({ statusCode: 409 })
    expect((await remove(second, owner.id)).statusCode).toBe(303)
    expect(await peopleOf(server, shop)).toEqual([`${second.email} owner`])
  })

  const ways: readonly [string, (by: TestMember, id: number) => ReturnType<typeof remove>][] = [
    ['demote', (by, id) => giveRole(by, id, 'reader')],
    ['remove', remove],
  ]
  test.each(ways)('of two owners who %s one another at once, one stays, ten times', async (_what, take) => {
    await alone()
    let first = owner
    for (let time = 0; time < 10; time++) {
      server.clock.ms += 60_000
      const second = await memberWith(server, shop, 'owner')
      const answers = await Promise.all([take(first, second.id), take(second, first.id)])
      const owners = (await peopleOf(server, shop)).filter((one) => one.endsWith(' owner'))
      expect([owners.length, answers.filter(({ statusCode }) => statusCode === 303).length]).toEqual([1, 1])
      expect(answers.every(({ statusCode }) => [303, 401, 403, 404, 409].includes(statusCode))).toBe(true)
      if (owners[0] === `${second.email} owner`) first = second
    }
  })

  test('of two owners who each go themselves at once, one stays', async () => {
    await alone()
    const second = await memberWith(server, shop, 'owner')
    const answers = await Promise.all([remove(owner, owner.id), remove(second, second.id)])
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 409])
    expect(await peopleOf(server, shop)).toHaveLength(1)
  })
})

describe('somebody who is removed', () => {
  test('is out at once, whichever store the session is at, and keeps the accounts elsewhere', async () => {
    const email = freshEmail()
    const other = await server.openStore()
    const boss = await memberWith(server, other, 'owner')
    await memberWith(server, shop, 'manager', email)
    const second = await memberWith(server, other, 'manager', email)
    const [here, there] = [await enter(server, email), await enter(server, email)]
    const [{ UserId }] = (await there.call('GET', '/admin/change-store')).json()
    await there.call('POST', '/admin/change-store', { UserId })

    expect((await remove(boss, second.id)).statusCode).toBe(303)
    for (const person of [here, there, second.person])
      expect((await person.call('GET', '/admin/account')).statusCode).toBe(401)
    expect((await tryToEnter(testPerson(server.app), email, { store: other.store.secureUrl })).statusCode).toBe(401)
    const later = await enter(server, email)
    expect((await later.call('GET', '/admin/change-store')).json()).toEqual([])
    expect((await later.open('/admin')).body).toContain(shop.store.name)
  })

  test('with the last account loses the password too, and comes back by an invitation alone', async () => {
    const { id, email } = await memberWith(server, shop, 'orders')
    expect((await remove(owner, id)).statusCode).toBe(303)
    expect(await server.services.db.identity.count({ where: { email } })).toBe(0)
    expect((await tryToEnter(testPerson(server.app), email)).statusCode).toBe(401)
    expect(await entries('account.deleted')).toMatchObject([{ actor: owner.email, target: email }])
    const { token } = await handedOver(owner, shop.store.id, email, 'reader')
    const again = await testPerson(server.app).call('POST', '/admin/invitations', { Token: token, Password: password })
    expect(again.statusCode).toBe(200)
  })

  const acts: readonly [string, (by: TestMember, victim: number) => ReturnType<typeof remove>][] = [
    ['another role', (by, victim) => giveRole(by, victim, 'reader')],
    ['a removal', remove],
    [
      'an invitation',
      (by) => by.person.call('POST', `${page}/invitations`, { Email: freshEmail(), Role: 'owner', HandOver: 'true' }),
    ],
    ['a role', (by) => by.person.call('POST', `${page}/roles`, { Name: 'Packer', 'Privileges.Orders': 'read' })],
  ]
  test.each(acts)('does nothing by a request that was admitted before: %s', async (_what, act) => {
    const [second, victim] = [await memberWith(server, shop, 'owner'), await memberWith(server, shop, 'owner')]
    const { db } = server.services
    let ends: ReturnType<typeof remove>[] = []
    await db.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM "Store" WHERE "id" = ${shop.store.id} FOR UPDATE`
      ends = [remove(owner, second.id)]
      await untilWaiting({ db }, 1)
      ends.push(act(second, victim.id))
      await untilWaiting({ db }, 2)
    })
    const answers = await Promise.all(ends)
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 403])
    expect(await peopleOf(server, shop)).toContain(`${victim.email} owner`)
    expect(await db.invitation.count({ where: { storeId: shop.store.id } })).toBe(0)
    expect(await db.storeRole.count({ where: { storeId: shop.store.id } })).toBe(0)
  })
})

describe('a role of the store’s own', () => {
  test('opens what it names, and its changes count at the next request of an open session', async () => {
    expect(leadsTo(await ownRole('Packer', { Orders: 'read' }))).toEqual([303, `${page}?notice=role-added`])
    const packer = await memberWith(server, shop, 'packer')
    expect(await peopleOf(server, shop)).toContain(`${packer.email} Packer`)
    const pages = ['/admin/orders', '/admin/orders/new', '/admin/products']
    const statuses = () => Promise.all(pages.map(async (url) => (await packer.person.open(url)).statusCode))
    expect(await statuses()).toEqual([200, 403, 403])
    const id = await roleId('Packer')
    const changed = await ownRole('Packer', { Orders: 'write', Products: 'read', Customers: 'read' }, id)
    expect(leadsTo(changed)).toEqual([303, `${page}?notice=role-changed`])
    expect(await statuses()).toEqual([200, 200, 200])
    await ownRole('Packer', { Orders: 'none', Products: 'read' }, id)
    expect(await statuses()).toEqual([403, 403, 200])
    expect(await entries('role.changed')).toHaveLength(2)
  })

  test.each(['owner', ' Owner ', 'READER', 'packer', 'PACKER '])('may not be called %j beside Packer', async (name) => {
    await ownRole('Packer', { Orders: 'read' })
    const answer = await ownRole(name, { Orders: 'read' })
    expect([name, [400, 409].includes(answer.statusCode)]).toEqual([name, true])
    expect(answer.body).toContain('id="Name-problem"')
    await ownRole('Shipper', { Orders: 'read' })
    expect((await ownRole(name, { Orders: 'read' }, await roleId('Shipper'))).body).toContain('id="Name-problem"')
    expect(await server.services.db.storeRole.count({ where: { storeId: shop.store.id } })).toBe(2)
  })

  test('of one name is added once by ten at once, and keeps it when it is saved again', async () => {
    const fields = { Name: 'Packer', 'Privileges.Orders': 'read' }
    const adding = Array.from({ length: 10 }, () => owner.person.call('POST', `${page}/roles`, fields))
    const [first, ...others] = (await Promise.all(adding)).map(({ statusCode }) => statusCode).toSorted()
    expect([first, new Set(others)]).toEqual([303, new Set([409])])
    expect(leadsTo(await ownRole('PACKER', { Orders: 'write' }, await roleId('Packer')))[0]).toBe(303)
  })

  test.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['a privilege that there is not', { Emperor: 'write' }],
    ['an access that there is not', { Orders: 'delete' }],
  ])('that names %s is refused', async (_what, privileges) => {
    const fields = Object.fromEntries(
      Object.entries(privileges).map(([name, choice]) => [`Privileges.${name}`, choice]),
    )
    const answer = await owner.person.call('POST', `${page}/roles`, { Name: 'Packer', ...fields })
    expect(answer.statusCode).toBe(400)
  })

  test('is not deleted while somebody has it, of a deletion and a new person at once too', async () => {
    await ownRole('Packer', { Orders: 'read' })
    const id = await roleId('Packer')
    const packer = await memberWith(server, shop, 'Packer')
    const erase = () => owner.person.call('POST', `${page}/roles/${id}/delete`, {})
    expect(refused(await erase())).toMatchObject({ statusCode: 409, message: expect.stringContaining('Somebody has') })
    await giveRole(owner, packer.id, 'reader')
    const { token } = await handedOver(owner, shop.store.id, freshEmail(), 'Packer')
    const join = testPerson(server.app).call('POST', '/admin/invitations', { Token: token, Password: password })
    const [erased, joined] = await Promise.all([erase(), join])
    expect([erased.statusCode, joined.statusCode]).toEqual([409, 200])
    const [{ id: joinedId = 0 } = {}] = await server.services.db.storeUser.findMany({ where: { roleId: id } })
    await giveRole(owner, joinedId, 'reader')
    expect(leadsTo(await erase())).toEqual([303, `${page}?notice=role-deleted`])
    expect(refused(await giveRole(owner, joinedId, 'Packer'))).toMatchObject({ statusCode: 400, field: 'Role' })
  })

  test('is the fiftieth at most', async () => {
    const at = server.services.now()
    const data = Array.from({ length: 50 }, (_, number) => {
      return { storeId: shop.store.id, name: `Role ${number}`, privileges: { Orders: ['read'] }, createdAt: at }
    })
    await server.services.db.storeRole.createMany({ data })
    expect((await ownRole('Packer', { Orders: 'read' })).statusCode).toBe(409)
  })
})
