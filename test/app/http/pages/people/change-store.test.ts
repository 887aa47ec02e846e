import { expect, test } from 'vitest'
import { addMember } from '../../../../../src/shop/staff/members.ts'
import { testPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'
import { leadsTo } from './fixture.ts'

const page = '/admin/change-store'

const server = await sharedServer()
const first = await server.openStore()
const second = await server.openStore()
const third = await server.openStore()

async function accountIn({ store }: TestStore): Promise<number> {
  const { id } = await server.services.db.storeUser.findFirstOrThrow({
    where: { storeId: store.id },
    orderBy: { id: 'asc' },
  })
  return id
}

test('a merchant goes on in another store, and back', async () => {
  const person = await merchantIn(server)
  const { body } = await person.open(page)
  expect(body).toContain(second.store.name)
  expect(body).toContain(third.store.name)

  const answer = await person.submit(page, { UserId: String(await accountIn(second)) })
  expect(leadsTo(answer)).toEqual([303, '/admin'])
  expect((await person.open('/admin/account')).body).toContain(second.store.name)

  const back = await person.call('POST', page, { UserId: await accountIn(first) })
  expect(back.statusCode).toBe(204)
  expect((await person.open('/admin/account')).body).toContain(first.store.name)
})

test('programs read which stores there are', async () => {
  const person = await merchantIn(server)

  expect((await person.call('GET', page)).json()).toEqual([
    {
      UserId: await accountIn(second),
      StoreId: second.store.id,
      Name: second.store.name,
      SecureURL: second.store.secureUrl,
    },
    {
      UserId: await accountIn(third),
      StoreId: third.store.id,
      Name: third.store.name,
      SecureURL: third.store.secureUrl,
    },
  ])
})

test('asked for one store, the page offers that one, and leads on to where the merchant wanted to go', async () => {
  const person = await merchantIn(server)
  const query = new URLSearchParams({ store: third.store.secureUrl, next: '/admin/audit?limit=5' })
  const { body } = await person.open(`${page}?${query}`)
  expect(body).toContain(third.store.name)
  expect(body).not.toContain(second.store.name)

  const fields = { UserId: String(await accountIn(third)) }
  const answer = await person.submit(`${page}?${query}`, fields, { action: page })
  expect(leadsTo(answer)).toEqual([303, '/admin/audit?limit=5'])
})

test.each(['https://evil.example', '/\\evil.example', '//evil.example', 'javascript:alert(1)'])(
  'it never leads to another place, such as %j',
  async (next) => {
    const person = await merchantIn(server)
    const asked = `${page}?${new URLSearchParams({ next })}`
    const { body } = await person.open(asked)
    const answer = await person.submit(asked, { UserId: String(await accountIn(second)) }, { action: page })
    const forged = await person.submit(page, { UserId: String(await accountIn(first)), next })

    expect(body).not.toMatch(/evil|javascript:/)
    expect([leadsTo(answer), leadsTo(forged)]).toEqual([
      [303, '/admin'],
      [303, '/admin'],
    ])
  },
)

test('an account that the sign-in did not open stays closed', async () => {
  const actor = { kind: 'operator', name: '', address: '' } as const
  const colleague = { Email: 'colleague@shop.example', Password: 'another password' }
  const { id } = await addMember(server.services, second.store.id, colleague, actor)
  const person = await merchantIn(server)
  const answer = await person.submit(page, { UserId: String(id) })

  expect(answer.statusCode).toBe(404)
  expect((await person.open('/admin/account')).body).toContain(first.store.name)
})

test('a form that was filled in for one store is not carried out in another one', async () => {
  const person = await merchantIn(server)
  const { body } = await person.open('/admin/account')
  const _csrf = /name="_csrf" value="([^"]+)"/.exec(body)?.[1] ?? ''
  await person.submit(page, { UserId: String(await accountIn(second)) })

  const late = await person.submit('/admin/account', { Session: 'others', _csrf }, { action: '/admin/sign-out' })
  expect(late.statusCode).toBe(403)
})

test('who has one account is told how to get to another store', async () => {
  const person = testPerson(server.app)
  await person.call('POST', '/admin/sign-in', {
    Email: 'merchant@shop.example',
    Password: 'correct horse battery',
    Store: first.store.secureUrl,
  })
  const { body } = await person.open(page)

  expect(body).toContain('sign out and sign in there')
  expect(body).not.toContain('href="/admin/change-store"')
})
