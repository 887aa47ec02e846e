import { describe, expect, test } from 'vitest'
import { createSecrets } from '../../../../../src/foundation/values/secrets.ts'
import { type TestPerson, testPerson } from '../../../../support/person.ts'
import { refused } from '../../../../support/refused.ts'
import { developerIn, operatorIn } from '../../../../support/signed-in.ts'
import { statementsOf } from '../../../../support/statements.ts'
import { sharedServer } from '../../../../support/store.ts'
import { alertOf, leadsTo } from '../../../http/pages/people/fixture.ts'
import {
  codeOf,
  halfway,
  newAppOwner,
  newOwner,
  openStoreOf,
  PERIOD_MS,
  sendCode,
  signInByProgram,
  withApp,
} from './fixture.ts'

const server = await sharedServer()

/** Twenty browsers that have shown the password, after a time in which the network's budget of sign-ins has filled again. */
async function manyHalfway(account: object): Promise<TestPerson[]> {
  server.clock.ms += 120_000
  const browsers: TestPerson[] = []
  for (let count = 0; count < 20; count++) browsers.push(await halfway(server, account))
  return browsers
}

function actions(storeId: number) {
  const select = { action: true } as const
  return server.services.db.auditEntry.findMany({ where: { storeId }, select, orderBy: { id: 'asc' } })
}

describe('setting up an authenticator app', () => {
  test('by the pages: the key as QR code and as text, a code that confirms it, and recovery codes', async () => {
    const { person, account, shop } = await newOwner(server)
    const setUp = '/admin/account/factors/authenticator'
    expect(leadsTo(await person.submit('/admin/account/factors', {}, { action: setUp }))).toEqual([303, setUp])
    const { body } = await person.open(setUp)
    expect(body).toMatch(/<img src="data:image\/svg\+xml;base64,[A-Za-z0-9+/=]{100,}"/)
    const key = (/Key: <code>([A-Z2-7 ]+)</.exec(body)?.[1] ?? '').replaceAll(' ', '')
    expect(key).toMatch(/^[A-Z2-7]{32}$/)

    const wrong = await person.submit(setUp, { Code: '000000' }, { action: `${setUp}/confirm` })
    expect([wrong.statusCode, alertOf(wrong)]).toEqual([400, expect.stringContaining('Code is not the code')])
    // Until a code confirms it, the password alone signs in.
    expect((await signInByProgram(server, account)).statusCode).toBe(200)

    const confirmed = await person.submit(setUp, { Code: codeOf(server, key) }, { action: `${setUp}/confirm` })
    expect(confirmed.statusCode).toBe(200)
    const codes = confirmed.body.match(/\b[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}\b/g) ?? []
    expect(new Set(codes).size).toBe(10)
    const after = await person.open('/admin/account/factors')
    expect(after.body).toContain('10 are left')
    for (const code of codes) expect(after.body).not.toContain(code)
    expect((await person.open(setUp)).statusCode).toBe(404)
    expect(refused(await signInByProgram(server, account))).toMatchObject({ statusCode: 401, field: 'Code' })
    expect(await actions(shop.store.id)).toContainEqual({ action: 'factor.authenticator-added' })
  })

  test('stores key and codes sealed, and the codes as hashes', async () => {
    const { account, recoveryCodes } = await newAppOwner(server)
    const row = await server.services.db.identity.findFirstOrThrow({
      where: { email: account.Email },
      include: { recoveryCodes: true },
    })
    expect(row.totpSealed).toMatch(/^v2\./)
    for (const { codeSealed, codeHash } of row.recoveryCodes) {
      const code = server.services.secrets.open(codeSealed)
      expect(recoveryCodes.map((each) => each.replaceAll('-', ''))).toContain(code)
      expect(codeHash).toBe(server.services.secrets.lookup(code))
    }
    expect(() => createSecrets('another secret key of these tests').open(row.totpSealed ?? '')).toThrow()
  })

  test('ends all other sessions of the person, which no factor opened', async () => {
    const { account, person } = await newOwner(server)
    const other = testPerson(server.app)
    await other.submit('/admin/sign-in', account)
    await withApp(server, person, { account })
    expect((await other.open('/admin')).statusCode).toBe(303)
    expect((await person.open('/admin')).statusCode).toBe(200)
  })

  test('a second app needs the removal of the first, and removing the last factor removes the codes', async () => {
    const { person, account } = await newAppOwner(server)
    const again = await person.call('POST', '/admin/account/factors/authenticator')
    expect(refused(again)).toMatchObject({ statusCode: 409 })
    const removed = await person.call('POST', '/admin/account/factors/authenticator/remove')
    expect(removed.statusCode).toBe(204)
    expect((await signInByProgram(server, account)).statusCode).toBe(200)
    const { recoveryCodes } = await server.services.db.identity.findFirstOrThrow({
      where: { email: account.Email },
      include: { recoveryCodes: true },
    })
    expect(recoveryCodes).toEqual([])
    expect((await person.call('POST', '/admin/account/factors/codes')).statusCode).toBe(409)
  })

  test('of twenty confirmations at once one puts it in force', async () => {
    const { person } = await newOwner(server)
    const setUp = '/admin/account/factors/authenticator'
    const { Key } = (await person.call('POST', setUp)).json()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => person.call('POST', `${setUp}/confirm`, { Code: codeOf(server, Key) })),
    )
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
  })
})

const areas = [
  { area: '/admin', open: () => newAppOwner(server) },
  {
    area: '/developers',
    open: async () => {
      const developer = await developerIn(server)
      return withApp(server, developer, { area: '/developers', account: developer.account })
    },
  },
  {
    area: '/operator',
    open: async () => {
      const person = await operatorIn(server)
      return withApp(server, person, { area: '/operator', account: person.account })
    },
  },
]

describe.each(areas)('signing in at $area with an app', ({ area, open }) => {
  test('leads from the password to the code, and then to the page that was asked for', async () => {
    const { account, code } = await open()
    const person = testPerson(server.app)
    const next = `${area}/account`
    const first = await person.submit(
      `${area}/sign-in?next=${encodeURIComponent(next)}`,
      { ...account },
      { action: `${area}/sign-in` },
    )
    const step = `${area}/sign-in/factor?next=${encodeURIComponent(next)}`
    expect(leadsTo(first)).toEqual([303, step])
    // Nothing is open yet.
    expect((await person.open(next)).statusCode).toBe(303)
    expect([...person.cookies.keys()].filter((name) => /^(merchant|developer|operator)$/.test(name))).toEqual([])
    const cookie = first.cookies.find(({ name }) => name.endsWith('-factor'))
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', maxAge: 600 })

    const second = await person.submit(
      step,
      { Code: ` ${code().replace(/(...)/, '$1 ')} ` },
      { action: `${area}/sign-in/factor` },
    )
    expect(leadsTo(second)).toEqual([303, next])
    expect((await person.open(next)).statusCode).toBe(200)
    // It was used up.
    expect((await person.open(`${area}/sign-in/factor`)).statusCode).toBe(303)
  })

  test('takes the code of a program with the password', async () => {
    const { account, code } = await open()
    expect(refused(await signInByProgram(server, account, area))).toMatchObject({ statusCode: 401, field: 'Code' })
    const wrong = await signInByProgram(server, { ...account, Code: code(5) }, area)
    expect(refused(wrong)).toMatchObject({ statusCode: 401, field: 'Code' })
    const right = await signInByProgram(server, { ...account, Code: code() }, area)
    expect([right.statusCode, right.json()]).toEqual([200, { Email: account.Email, ExpiresAt: expect.any(String) }])
  })
})

describe('a code', () => {
  test('works once, and none before it afterwards', async () => {
    const { account, code } = await newAppOwner(server)
    const used = code()
    expect((await signInByProgram(server, { ...account, Code: used })).statusCode).toBe(200)
    expect((await signInByProgram(server, { ...account, Code: used })).statusCode).toBe(401)
    expect((await signInByProgram(server, { ...account, Code: code(1) })).statusCode).toBe(200)
    expect((await signInByProgram(server, { ...account, Code: used })).statusCode).toBe(401)
  })

  test.each([' $1 $2', '$1-$2', '$1–$2 ', '$1\u00a0\u2011$2'])('typed as “%s” is taken', async (form) => {
    const { account, code } = await newAppOwner(server)
    const typed = code().replace(/(...)(...)/, form)
    expect((await signInByProgram(server, { ...account, Code: typed })).statusCode).toBe(200)
  })

  test.each([
    { periods: -2, status: 401 },
    { periods: -1, status: 200 },
    { periods: 1, status: 200 },
    { periods: 2, status: 401 },
  ])('of $periods periods from now answers $status', async ({ periods, status }) => {
    const { account, code } = await newAppOwner(server)
    server.clock.ms += 5 * PERIOD_MS
    expect((await signInByProgram(server, { ...account, Code: code(periods) })).statusCode).toBe(status)
  })

  test('sent twenty times at once opens one session', async () => {
    const { account, code, shop } = await newAppOwner(server)
    const { db } = server.services
    const ofStore = { where: { storeUser: { storeId: shop.store.id } } }
    const before = await db.session.count(ofStore)
    const browsers = await manyHalfway(account)
    const answers = await Promise.all(browsers.map((person) => sendCode(person, code())))
    expect(answers.filter(({ statusCode }) => statusCode === 303)).toHaveLength(1)
    expect(await db.session.count(ofStore)).toBe(before + 1)
  })

  test('of one browser sent twenty times at once opens one session', async () => {
    const { account, code, shop } = await newAppOwner(server)
    const { db } = server.services
    const ofStore = { where: { storeUser: { storeId: shop.store.id } } }
    const before = await db.session.count(ofStore)
    const person = await halfway(server, account)
    const codes = [code(), code(-1), code(1)]
    await Promise.all(Array.from({ length: 20 }, (_, index) => sendCode(person, codes[index % 3] ?? '')))
    expect(await db.session.count(ofStore)).toBe(before + 1)
  })

  test('comes too late after ten minutes, after a change of the password, and after another sign-in used it up', async () => {
    const late = await newAppOwner(server)
    const waiting = await halfway(server, late.account)
    server.clock.ms += 10 * 60_000
    expect((await waiting.open('/admin/sign-in/factor')).statusCode).toBe(303)
    const answer = await waiting.call('POST', '/admin/sign-in/factor', { Code: late.code() })
    expect(refused(answer)).toMatchObject({ statusCode: 401, message: expect.stringContaining('begin again') })

    const changed = await newAppOwner(server)
    const person = await halfway(server, changed.account)
    const change = { CurrentPassword: changed.account.Password, NewPassword: 'another horse battery' }
    expect((await changed.person.call('POST', '/admin/account/password', change)).statusCode).toBe(204)
    expect((await person.call('POST', '/admin/sign-in/factor', { Code: changed.code() })).statusCode).toBe(401)
  })
})

describe('a recovery code', () => {
  test('takes the place of the app once, however it is written', async () => {
    const { account, recoveryCodes, person } = await newAppOwner(server)
    const [first = '', second = ''] = recoveryCodes
    expect((await signInByProgram(server, { ...account, Code: first })).statusCode).toBe(200)
    expect((await signInByProgram(server, { ...account, Code: first })).statusCode).toBe(401)
    const typed = second.toUpperCase().replaceAll('-', ' ')
    expect((await signInByProgram(server, { ...account, Code: typed })).statusCode).toBe(200)
    expect((await person.call('GET', '/admin/account/factors')).json()).toMatchObject({ RecoveryCodes: 8 })
  })

  test('sent twenty times at once opens one session', async () => {
    const { account, recoveryCodes } = await newAppOwner(server)
    const browsers = await manyHalfway(account)
    const answers = await Promise.all(browsers.map((person) => sendCode(person, recoveryCodes[0] ?? '')))
    expect(answers.filter(({ statusCode }) => statusCode === 303)).toHaveLength(1)
  })

  test('of somebody else, or one that was replaced, is wrong', async () => {
    const one = await newAppOwner(server)
    const other = await newAppOwner(server)
    const foreign = await signInByProgram(server, { ...one.account, Code: other.recoveryCodes[0] })
    expect(foreign.statusCode).toBe(401)
    const renewed = await one.person.call('POST', '/admin/account/factors/codes')
    expect(renewed.json().RecoveryCodes).toHaveLength(10)
    const former = await signInByProgram(server, { ...one.account, Code: one.recoveryCodes[0] })
    expect(former.statusCode).toBe(401)
    const current = await signInByProgram(server, { ...one.account, Code: renewed.json().RecoveryCodes[0] })
    expect(current.statusCode).toBe(200)
  })
})

describe('guessing codes', () => {
  test('is delayed after five, longer and longer, and the right password in between forgives nothing', async () => {
    const { account, code } = await newAppOwner(server)
    const guess = () => signInByProgram(server, { ...account, Code: '000000' })
    const statuses = []
    for (let count = 0; count < 6; count++) statuses.push((await guess()).statusCode)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
    // Signing in halfway, and with the code that is right by now.
    expect((await signInByProgram(server, account)).statusCode).toBe(401)
    expect((await signInByProgram(server, { ...account, Code: code() })).statusCode).toBe(429)
    const waits = []
    for (let count = 0; count < 13; count++) {
      const { headers } = await guess()
      waits.push(Number(headers['retry-after']))
      server.clock.ms += Number(headers['retry-after']) * 1_000
      expect((await guess()).statusCode).toBe(401)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900])
    server.clock.ms += 900_000
    expect((await signInByProgram(server, { ...account, Code: code() })).statusCode).toBe(200)
    expect((await guess()).statusCode).toBe(401)
  })

  test('twenty at once, at most five are looked at', async () => {
    const { account } = await newAppOwner(server)
    const browsers = await manyHalfway(account)
    const answers = await Promise.all(browsers.map((person) => sendCode(person, '000000')))
    const statuses = answers.map(({ statusCode }) => statusCode)
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(15)
  })
})

describe('before the password is right', () => {
  test('nothing tells whether there is an account, or whether it has a factor', async () => {
    const { account } = await newAppOwner(server)
    const plain = await openStoreOf(server)
    const emails = [account.Email, plain.account.Email, 'nobody@factors.example']
    const seen = []
    for (const Email of emails) {
      const answers: unknown[] = []
      const statements = await statementsOf(async () => {
        const { statusCode, body } = await signInByProgram(server, { Email, Password: 'a guess of somebody' })
        answers.push(statusCode, body)
      })
      // What was announced before goes on in the background.
      const own = statements.map(({ text }) => text).filter((text) => !text.includes('pg_notify'))
      seen.push([...answers, own])
    }
    expect(seen[1]).toEqual(seen[0])
    expect(seen[2]).toEqual(seen[0])
  })

  test('an account without a factor takes as many statements as it took before there were any', async () => {
    const { account } = await openStoreOf(server)
    const browser = testPerson(server.app)
    await browser.call('POST', '/admin/sign-in', account)
    const statements = await statementsOf(() => testPerson(server.app).call('POST', '/admin/sign-in', account))
    const ofFactors = statements.filter(({ text }) => /"Passkey"|"RecoveryCode"|"Challenge"/.test(text))
    expect(ofFactors).toEqual([])
  })
})

describe('several identities of one address and password', () => {
  /** Two stores of one address, each with an identity of its own. */
  async function twoStores() {
    const one = await openStoreOf(server)
    const other = await openStoreOf(server)
    await server.services.db.identity.updateMany({
      where: { users: { some: { storeId: other.shop.store.id } } },
      data: { email: one.account.Email },
    })
    const at = async ({ secureUrl }: { secureUrl: string }) => {
      const person = testPerson(server.app)
      const answer = await person.call('POST', '/admin/sign-in', { ...one.account, Store: secureUrl })
      expect(answer.statusCode, answer.body).toBe(200)
      return person
    }
    return { account: one.account, first: one.shop.store, second: other.shop.store, at }
  }

  const openIn = async (cookies: ReturnType<typeof testPerson>) =>
    (await cookies.call('GET', '/admin/change-store')).json().map(({ StoreId }: { StoreId: number }) => StoreId)

  test('one with a factor is not opened along with the first', async () => {
    const { account, first, second, at } = await twoStores()
    await withApp(server, await at(second), { account })
    const person = testPerson(server.app)
    expect((await person.call('POST', '/admin/sign-in', account)).statusCode).toBe(200)
    expect(await openIn(person)).toEqual([])
    expect((await person.call('GET', '/admin/stores')).json()[0].Id).toBe(first.id)
    const alone = await signInByProgram(server, { ...account, Store: second.secureUrl })
    expect(refused(alone)).toMatchObject({ statusCode: 401, field: 'Code' })
  })

  test('the factor of the first is asked for, and opens others that have none', async () => {
    const { account, first, second, at } = await twoStores()
    const { code } = await withApp(server, await at(first), { account })
    const person = await halfway(server, account)
    expect((await sendCode(person, code())).statusCode).toBe(303)
    expect(await openIn(person)).toEqual([second.id])
  })

  test('another that gets a factor while the first is asked for its own stays closed', async () => {
    const { account, first, second, at } = await twoStores()
    const { code } = await withApp(server, await at(first), { account })
    const other = await at(second)
    const person = await halfway(server, account)
    await withApp(server, other, { account })
    expect((await sendCode(person, code())).statusCode).toBe(303)
    expect(await openIn(person)).toEqual([])
  })
})
