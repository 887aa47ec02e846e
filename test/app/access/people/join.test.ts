import { beforeEach, describe, expect, test } from 'vitest'
import { type TestPerson, testPerson } from '../../../support/person.ts'
import { refused } from '../../../support/refused.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { leadsTo } from '../../http/pages/people/fixture.ts'
import { enter, freshEmail, memberWith, password, peopleOf, tryToEnter } from '../../shop/staff/fixture.ts'

// Accounts of one address become one person's, by proving the password of each.

const page = '/admin/account'
const others = '/admin/change-store'
const anotherPassword = 'the password of the other'

let first: TestStore
let second: TestStore
let email: string
let person: TestPerson

const server = await sharedServer()

/** Two accounts of one address with passwords of their own; `person` is signed in to the first. */
beforeEach(async () => {
  server.clock.ms += 3_600_000
  first = await server.openStore()
  second = await server.openStore()
  email = freshEmail()
  person = (await memberWith(server, first, 'orders', email)).person
  await accountIn(second, anotherPassword)
})

/** A further account of the address, which nobody is signed in to. */
async function accountIn(shop: TestStore, given: string, role = 'owner'): Promise<number> {
  const { id } = await memberWith(server, shop, role, email)
  await server.operate('PUT', `/admin/stores/${shop.store.id}/users/${id}`, { Password: given })
  return id
}

function join(by: TestPerson, given = anotherPassword) {
  return by.call('POST', `${page}/join`, { Password: given })
}

const identities = () => server.services.db.identity.findMany({ where: { email }, orderBy: { id: 'asc' } })
const storesOf = async (by: TestPerson) =>
  (await by.call('GET', others)).json().map(({ StoreId }: { StoreId: number }) => StoreId)
const canEnter = async (given: string, shop: TestStore) =>
  (await tryToEnter(testPerson(server.app), email, { given, store: shop.store.secureUrl })).statusCode === 200

test('a second factor whose removal took effect does not keep the accounts apart, before its rows are gone', async () => {
  const { db, secrets, now } = server.services
  const [, other] = await identities()
  const at = now()
  const data = { totpSealed: secrets.seal('key'), totpSince: at, factorsEndAt: new Date(at.getTime() + 1) }
  await db.identity.update({ where: { id: other?.id ?? 0 }, data })
  expect((await join(person)).statusCode).toBe(409)
  server.clock.ms += 1
  expect((await join(person)).statusCode).toBe(204)
})

test('what is joined opens with the own password, keeps its role and mails, and is in the session at once', async () => {
  const { mail } = server.services.db
  const [own, other] = await identities()
  await mail.updateMany({ where: { recipient: email }, data: { identityId: other?.id ?? null } })
  const elsewhere = await enter(server, email, { store: first.store.secureUrl })
  const there = await enter(server, email, { store: second.store.secureUrl, password: anotherPassword })
  const answer = await person.submit(page, { Password: anotherPassword }, { action: `${page}/join` })
  expect(leadsTo(answer)).toEqual([303, `${page}?notice=accounts-joined`])

  expect(await storesOf(person)).toEqual([second.store.id])
  expect(await mail.count({ where: { identityId: own?.id ?? null } })).toBeGreaterThan(0)
  for (const each of [elsewhere, there]) expect((await each.call('GET', page)).statusCode).toBe(401)
  expect(await identities()).toHaveLength(1)
  expect(await peopleOf(server, second)).toContain(`${email} owner`)
  for (const shop of [first, second]) {
    expect([await canEnter(password, shop), await canEnter(anotherPassword, shop)]).toEqual([true, false])
  }
  const where = { action: 'account.joined', target: email }
  expect(await server.services.db.auditEntry.findMany({ where })).toMatchObject([
    { storeId: second.store.id, actor: email },
  ])
  expect(await storesOf(await enter(server, email))).toEqual([second.store.id])
})

test('takes all whose password it is, and leaves the others', async () => {
  const [third, fourth] = [await server.openStore(), await server.openStore()]
  await accountIn(third, anotherPassword, 'reader')
  await accountIn(fourth, 'a third password of mine')
  expect((await join(person)).statusCode).toBe(204)
  expect((await storesOf(person)).toSorted()).toEqual([second.store.id, third.store.id].toSorted())
  expect(await identities()).toHaveLength(2)
  expect(await canEnter('a third password of mine', fourth)).toBe(true)
})

test('a proof of the address is kept', async () => {
  const at = new Date('2026-01-01T00:00:00Z')
  const [, other] = await identities()
  await server.services.db.identity.update({ where: { id: other?.id ?? 0 }, data: { emailProvedAt: at } })
  await join(person)
  expect(await identities()).toMatchObject([{ emailProvedAt: at }])
})

describe('is refused', () => {
  test('with another password, which counts as a failed sign-in, the same with and without other accounts', async () => {
    const lone = await memberWith(server, first, 'reader')
    for (const by of [person, lone.person]) {
      const answers = []
      for (let time = 0; time < 6; time++) answers.push(await join(by, 'a wrong password'))
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([400, 400, 400, 400, 400, 429])
      expect(refused(answers[0] as never).message).toBe(
        'Password is not the password of another account with your address',
      )
    }
    expect(await identities()).toHaveLength(2)
  })

  test('with the own password, where the other has a different one', async () => {
    expect(refused(await join(person, password))).toMatchObject({ statusCode: 400, field: 'Password' })
  })

  test('for an account of another address, whose password it is', async () => {
    const stranger = await memberWith(server, await server.openStore(), 'owner')
    expect((await join(person, password)).statusCode).toBe(400)
    expect((await stranger.person.call('GET', page)).statusCode).toBe(200)
  })

  test('where the other one has a second factor', async () => {
    const { db, secrets, now } = server.services
    const [, other] = await identities()
    const factor = { totpSealed: secrets.seal('key'), totpSince: now() }
    await db.identity.update({ where: { id: other?.id ?? 0 }, data: factor })
    const answer = await join(person)
    expect(refused(answer)).toMatchObject({ statusCode: 409, message: expect.stringContaining('second factor') })
    expect([await identities(), await storesOf(person)]).toMatchObject([[{}, {}], []])
  })

  test('where the other one has a passkey alone', async () => {
    const [, other] = await identities()
    const passkey = { credentialId: `passkey of ${email}`, publicKey: Buffer.from('key'), counter: 0, name: 'Phone' }
    const data = { ...passkey, identityId: other?.id ?? 0, createdAt: server.services.now() }
    await server.services.db.passkey.create({ data })
    await server.services.db.identity.update({
      where: { id: other?.id ?? 0 },
      data: { passkeySince: server.services.now() },
    })
    expect((await join(person)).statusCode).toBe(409)
  })

  test('to developers, who have one account', async () => {
    expect((await person.call('POST', '/developers/account/join', { Password: password })).statusCode).toBe(404)
  })
})

describe('at once', () => {
  test('in both directions: one identity stays, with all accounts, ten times', async () => {
    for (let time = 0; time < 10; time++) {
      server.clock.ms += 3_600_000
      email = freshEmail()
      const here = (await memberWith(server, first, 'orders', email)).person
      await accountIn(second, anotherPassword)
      const there = await enter(server, email, { store: second.store.secureUrl, password: anotherPassword })
      const answers = await Promise.all([join(here), join(there, password)])
      expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([204, 401])
      const [left, ...none] = await identities()
      expect(none).toEqual([])
      const users = await server.services.db.storeUser.findMany({ where: { email } })
      expect(users.map(({ identityId }) => identityId)).toEqual([left?.id, left?.id])
      expect(await storesOf(answers[0].statusCode === 204 ? here : there)).toHaveLength(1)
    }
  })

  test('twice the same: once', async () => {
    const answers = await Promise.all([join(person), join(person), join(person)])
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([204, 400, 400])
    expect(await identities()).toHaveLength(1)
  })

  test('with removals and role changes of the same people: no fault, and no account in between', async () => {
    const boss = await memberWith(server, second, 'owner')
    for (let time = 0; time < 10; time++) {
      server.clock.ms += 3_600_000
      email = freshEmail()
      const here = (await memberWith(server, first, 'orders', email)).person
      const id = await accountIn(second, anotherPassword, 'orders')
      const owner = await enter(server, boss.email)
      const answers = await Promise.all([
        join(here),
        owner.call('POST', `/admin/people/${id}`, { Role: 'reader' }),
        owner.call('POST', `/admin/people/${id}/remove`, {}),
        tryToEnter(testPerson(server.app), email, { given: anotherPassword }),
      ])
      expect(answers.filter(({ statusCode }) => statusCode >= 500).map(({ body }) => body)).toEqual([])
      expect(await peopleOf(server, second)).not.toContain(`${email} reader`)
      expect(await identities()).toHaveLength(1)
    }
  })
})
