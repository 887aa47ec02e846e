import { describe, expect, test } from 'vitest'
import { type TestPerson, testPerson } from '../../../../support/person.ts'
import { refused } from '../../../../support/refused.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'
import { alertOf, leadsTo } from '../../../http/pages/people/fixture.ts'
import { type AppOwner, newAppOwner, newOwner, withApp } from './fixture.ts'

const security = '/admin/people/security'
const setUp = '/admin/account/factors'

const server = await sharedServer()

let serial = 0

/** Another person of the store, without a factor, signed in. */
async function memberOf({ store }: TestStore, Role = 'owner'): Promise<TestPerson & { account: AppOwner['account'] }> {
  const account = { Email: `member-${++serial}@factors.example`, Password: 'correct horse battery' }
  const added = await server.operate('POST', `/admin/stores/${store.id}/users`, { ...account, Role })
  expect(added.statusCode, added.body).toBe(201)
  const person = testPerson(server.app)
  expect((await person.submit('/admin/sign-in', account)).statusCode).toBe(303)
  return { ...person, account }
}

describe('an owner who requires a second factor', () => {
  test('needs one first', async () => {
    const { person, shop } = await newOwner(server)
    expect((await person.open(security)).body).toContain('You have no second factor yourself')
    expect(refused(await person.call('POST', security, { From: '2026-03-01' }))).toMatchObject({ statusCode: 409 })
    const { factorRequiredFrom } = await server.services.db.store.findUniqueOrThrow({ where: { id: shop.store.id } })
    expect(factorRequiredFrom).toBeNull()
  })

  test.each(['tomorrow', '2026-02-30', '03/10/2026', '2026-03-10T10:00'])('names a day: %s is none', async (From) => {
    const { person } = await newAppOwner(server)
    expect(refused(await person.call('POST', security, { From }))).toMatchObject({ statusCode: 400, field: 'From' })
    const page = await person.submit(security, { From })
    expect([page.statusCode, alertOf(page)]).toEqual([400, expect.stringContaining('Required from must be a day')])
  })

  test('sees who has one', async () => {
    const { person, shop, account } = await newAppOwner(server)
    const other = await memberOf(shop, 'reader')
    expect((await person.call('GET', security)).json()).toEqual({
      From: null,
      People: [
        { Id: expect.any(Number), Email: other.account.Email, HasFactor: false },
        { Id: expect.any(Number), Email: account.Email, HasFactor: true },
      ],
    })
    const { body } = await person.open(security)
    expect(body).toMatch(new RegExp(`${other.account.Email}[\\s\\S]*>no<[\\s\\S]*${account.Email}[\\s\\S]*>yes<`))
  })

  test('tells everybody who has none until the day, and shuts them out from then on', async () => {
    const { person, shop } = await newAppOwner(server)
    const other = await memberOf(shop)
    // The clock is at about noon of March 10 in the store's zone.
    expect(leadsTo(await person.submit(security, { From: '2026-03-12' }))).toEqual([
      303,
      `${security}?notice=factor-required`,
    ])
    const { factorRequiredFrom } = await server.services.db.store.findUniqueOrThrow({ where: { id: shop.store.id } })
    expect(factorRequiredFrom?.toISOString()).toBe('2026-03-12T04:00:00.000Z')
    const notice = 'This store requires a second factor from Mar 12, 2026'
    expect((await other.open('/admin')).body).toContain(notice)
    expect((await person.open('/admin')).body).not.toContain(notice)
    const entry = { action: 'store.factor-required', details: { from: '2026-03-12T04:00:00.000Z' } }
    expect(
      await server.services.db.auditEntry.findFirst({ where: { storeId: shop.store.id }, orderBy: { id: 'desc' } }),
    ).toMatchObject(entry)

    server.clock.ms = Date.parse('2026-03-12T04:00:00Z')
    const late = testPerson(server.app)
    expect((await late.submit('/admin/sign-in', other.account)).statusCode).toBe(303)
    for (const page of ['/admin', '/admin/orders', '/admin/settings', '/admin/people', '/admin/records']) {
      expect([page, ...leadsTo(await late.open(page))]).toEqual([page, 303, setUp])
    }
    for (const url of [`/admin/stores`, `/admin/stores/${shop.store.id}/subscriptions`]) {
      expect(refused(await late.call('GET', url))).toMatchObject({
        statusCode: 403,
        message: expect.stringContaining(setUp),
      })
    }
    for (const page of ['/admin/account', setUp, '/admin/change-store', '/admin/prove']) {
      expect([page, (await late.open(page)).statusCode]).toEqual([page, 200])
    }
    await withApp(server, late, { account: other.account })
    expect((await late.open('/admin')).statusCode).toBe(200)
    expect((await late.open('/admin')).body).not.toContain('requires a second factor')
    // Without it again, the next request is led back.
    expect((await late.call('POST', `${setUp}/authenticator/remove`)).statusCode).toBe(204)
    expect(leadsTo(await late.open('/admin'))).toEqual([303, setUp])
    expect((await late.submit('/admin/account', {}, { action: '/admin/sign-out' })).statusCode).toBe(303)
  })

  test('lets everybody in again without a day, at once', async () => {
    const { person, shop } = await newAppOwner(server)
    const other = await memberOf(shop)
    expect((await person.call('POST', security, { From: '2026-01-01' })).statusCode).toBe(204)
    expect(leadsTo(await other.open('/admin'))).toEqual([303, setUp])
    expect((await person.call('POST', security, { From: '' })).statusCode).toBe(204)
    expect((await other.open('/admin')).statusCode).toBe(200)
  })

  test('shuts out of that store alone', async () => {
    const { person, shop, account } = await newAppOwner(server)
    const other = await newOwner(server)
    expect((await person.call('POST', security, { From: '2026-01-01' })).statusCode).toBe(204)
    expect((await other.person.open('/admin')).statusCode).toBe(200)
    expect(shop.store.id).not.toBe(other.shop.store.id)
    expect(account.Email).not.toBe(other.account.Email)
  })

  test('is somebody who may change people', async () => {
    const { shop } = await newAppOwner(server)
    const manager = await memberOf(shop, 'manager')
    expect((await manager.open(security)).statusCode).toBe(403)
    expect((await manager.call('POST', security, { From: '' })).statusCode).toBe(403)
  })
})
