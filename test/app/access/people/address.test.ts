import { beforeEach, describe, expect, test } from 'vitest'
import { cloneDatabase } from '../../../support/database.ts'
import { type TestPerson, testPerson } from '../../../support/person.ts'
import { refused } from '../../../support/refused.ts'
import { ofTest } from '../../../support/shared.ts'
import { newDeveloper } from '../../../support/signed-in.ts'
import { openServer, sharedServer, type TestStore } from '../../../support/store.ts'
import { leadsTo } from '../../http/pages/people/fixture.ts'
import {
  enter,
  freshEmail,
  mailTo,
  memberWith,
  password,
  peopleOf,
  tokenIn,
  tryToEnter,
} from '../../shop/staff/fixture.ts'

// A person's e-mail address.

const page = '/admin/account'
const HOUR_MS = 3_600_000

let shop: TestStore

const server = await sharedServer()
beforeEach(async () => {
  // The hour of the bounds of mails is over.
  server.clock.ms += 2 * HOUR_MS
  shop = await server.openStore()
})

function ask(person: TestPerson, Email: string, CurrentPassword = password, area = 'admin') {
  return person.call('POST', `/${area}/account/address/change`, { Email, CurrentPassword })
}

/** Asks by the page; the path of the link that was mailed. */
async function linkTo(person: TestPerson, email: string): Promise<string> {
  const fields = { Email: email, CurrentPassword: password }
  const answer = await person.submit(page, fields, { action: `${page}/address/change` })
  expect(leadsTo(answer)).toEqual([303, `${page}?notice=address-mailed`])
  const mail = await mailTo(server, email)
  expect(mail).toMatchObject({ kind: 'address-change', state: 'shown' })
  return mail?.link ?? ''
}

const confirm = (person: TestPerson, link: string) => person.submit(link, {}, { action: `${page}/address` })
const confirmAs = (person: TestPerson, link: string) => person.call('POST', `${page}/address`, { Token: tokenIn(link) })
const status = async (person: TestPerson, area = 'admin') => (await person.call('GET', `/${area}/account`)).statusCode
const canEnter = async (email: string) => (await tryToEnter(testPerson(server.app), email)).statusCode === 200
const identitiesOf = (email: string) => server.services.db.identity.findMany({ where: { email } })

describe('another address', () => {
  test('counts in all stores of the person once its link was opened, is proved, and ends the other sessions', async () => {
    const { email, person } = await memberWith(server, shop, 'orders')
    const elsewhere = await enter(server, email)
    const next = freshEmail()
    const link = await linkTo(person, next)
    expect([await canEnter(email), await canEnter(next)]).toEqual([true, false])

    expect((await person.open(link)).body).toContain(`Your present address is <strong>${email}</strong>`)
    expect(await peopleOf(server, shop)).toContain(`${email} orders`)
    expect(leadsTo(await confirm(person, link))).toEqual([303, `${page}?notice=address-changed`])
    expect([await status(person), await status(elsewhere)]).toEqual([200, 401])
    expect([await canEnter(email), await canEnter(next)]).toEqual([false, true])
    expect(await peopleOf(server, shop)).toContain(`${next} orders`)
    expect(await identitiesOf(next)).toMatchObject([{ emailProvedAt: server.services.now() }])
    const former = await mailTo(server, email)
    expect([former?.kind, former?.text.includes(next)]).toEqual(['address-changed', true])
    const where = { storeId: shop.store.id, action: 'account.address-changed' }
    expect(await server.services.db.auditEntry.findMany({ where })).toMatchObject([
      { actor: email, target: next, details: { from: email } },
    ])
  })

  test('of a developer counts too', async () => {
    const { Email, Password } = await newDeveloper(server)
    const person = await enter(server, Email, { area: 'developers', password: Password })
    const next = freshEmail()
    expect((await ask(person, next, Password, 'developers')).statusCode).toBe(204)
    const { link = '' } = (await mailTo(server, next)) ?? {}
    expect(link.startsWith('/developers/account/address?token=')).toBe(true)
    const answer = await person.submit(link, {}, { action: '/developers/account/address' })
    expect(leadsTo(answer)).toEqual([303, '/developers/account?notice=address-changed'])
    await enter(server, next, { area: 'developers', password: Password })
  })

  test('is not asked for with a wrong password, which counts as a failed sign-in, nor where it is the own one', async () => {
    const { email, person } = await memberWith(server, shop, 'orders')
    expect(refused(await ask(person, email))).toMatchObject({ statusCode: 400, field: 'Email' })
    expect(refused(await ask(person, 'nobody'))).toMatchObject({ statusCode: 400, field: 'Email' })
    const next = freshEmail()
    const wrong = await person.submit(
      page,
      { Email: next, CurrentPassword: 'a wrong password' },
      { action: `${page}/address/change` },
    )
    expect([wrong.statusCode, wrong.body.includes(next)]).toEqual([400, true])
    const statuses = []
    for (let time = 0; time < 6; time++) statuses.push((await ask(person, next, 'a wrong password')).statusCode)
    expect(statuses.at(-1)).toBe(429)
    expect(await mailTo(server, next)).toBeNull()
  })

  test('is confirmed by the person who asked alone, once, within a day, by the newest link', async () => {
    const { person } = await memberWith(server, shop, 'orders')
    const stranger = await memberWith(server, shop, 'owner')
    const next = freshEmail()
    const first = await linkTo(person, next)
    const second = await linkTo(person, next)
    expect(refused(await confirmAs(stranger.person, second))).toMatchObject({ statusCode: 404, field: 'Token' })
    expect(leadsTo(await testPerson(server.app).open(second))[1]).toContain('/admin/sign-in?next=')
    expect((await confirmAs(testPerson(server.app), second)).statusCode).toBe(401)
    expect((await confirmAs(person, first)).statusCode).toBe(404)
    const answers = await Promise.all(Array.from({ length: 20 }, () => confirmAs(person, second)))
    expect(answers.filter(({ statusCode }) => statusCode === 204)).toHaveLength(1)
    expect(answers.filter(({ statusCode }) => [401, 404].includes(statusCode))).toHaveLength(19)

    const again = await enter(server, next)
    const late = await linkTo(again, freshEmail())
    server.clock.ms += 24 * HOUR_MS
    expect((await confirmAs(await enter(server, next), late)).statusCode).toBe(404)
    expect(await identitiesOf(next)).toHaveLength(1)
  })

  test('of somebody else in the same store is refused at the end, and nothing is changed', async () => {
    const { email, person } = await memberWith(server, shop, 'orders')
    const other = await memberWith(server, shop, 'owner')
    const link = await linkTo(person, other.email.toUpperCase())
    const answer = await confirm(person, link)
    expect([answer.statusCode, answer.body.includes('another account where you have one')]).toEqual([409, true])
    expect(await canEnter(email)).toBe(true)
    expect(await peopleOf(server, shop)).toContain(`${email} orders`)
  })

  test('that an account elsewhere has is taken, and stays apart from it', async () => {
    const { person } = await memberWith(server, shop, 'orders')
    const other = await memberWith(server, await server.openStore(), 'owner')
    expect(leadsTo(await confirm(person, await linkTo(person, other.email)))[0]).toBe(303)
    expect(await identitiesOf(other.email)).toHaveLength(2)
    expect(await status(other.person)).toBe(200)
    expect((await person.call('GET', '/admin/change-store')).json()).toEqual([])
  })

  test('closes accounts that others have at the former address, in the session too', async () => {
    const { email } = await memberWith(server, shop, 'orders')
    const elsewhere = await server.openStore()
    await memberWith(server, elsewhere, 'owner', email)
    const person = await enter(server, email)
    const both = await enter(server, email)
    expect((await person.call('GET', '/admin/change-store')).json()).toMatchObject([{ StoreId: elsewhere.store.id }])
    const [{ UserId }] = (await person.call('GET', '/admin/change-store')).json()
    await confirm(person, await linkTo(person, freshEmail()))
    expect((await person.call('GET', '/admin/change-store')).json()).toEqual([])
    expect((await person.call('POST', '/admin/change-store', { UserId })).statusCode).toBe(404)
    expect(await status(both)).toBe(401)
    await enter(server, email, { store: elsewhere.store.secureUrl })
  })

  test('is not changed by a request of a session that has ended meanwhile', async () => {
    const { email, person } = await memberWith(server, shop, 'orders')
    const link = await linkTo(person, freshEmail())
    const { db } = server.services
    const [{ id = 0 } = {}] = await identitiesOf(email)
    let answer: Promise<unknown> | undefined
    await db.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM "Identity" WHERE "id" = ${id} FOR UPDATE`
      answer = confirmAs(person, link)
      await expect
        .poll(async () => {
          const [row] = await db.$queryRaw<{ count: number }[]>`
            SELECT count(*)::int AS "count" FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`
          return row?.count
        })
        .toBe(1)
      await tx.session.deleteMany({ where: { storeUser: { identityId: id } } })
    })
    expect(await answer).toMatchObject({ statusCode: 401 })
    expect(await canEnter(email)).toBe(true)
  })
})

test('where no mail can be sent, the address changes at once and is unproved; a taken one counts as a failed try', async () => {
  const plain = await ofTest(openServer({ SANDBOX: 'no' }, cloneDatabase))
  const store = await plain.openStore()
  const { email, person } = await memberWith(plain, store, 'orders')
  const other = await memberWith(plain, store, 'owner')
  expect((await person.open(page)).body).toContain('because this server sends no mail')
  for (let time = 0; time < 5; time++) {
    expect(refused(await ask(person, other.email))).toMatchObject({ statusCode: 409, field: 'Email' })
  }
  expect((await ask(person, other.email)).statusCode).toBe(429)
  plain.clock.ms += 60_000
  const next = freshEmail()
  const answer = await person.submit(
    page,
    { Email: next, CurrentPassword: password },
    { action: `${page}/address/change` },
  )
  expect(leadsTo(answer)).toEqual([303, `${page}?notice=address-changed`])
  expect(await plain.services.db.identity.findMany({ where: { email: next } })).toMatchObject([{ emailProvedAt: null }])
  expect((await tryToEnter(testPerson(plain.app), email)).statusCode).toBe(401)
  expect(await plain.services.db.mail.count()).toBe(0)
})
