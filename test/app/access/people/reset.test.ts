import { beforeEach, describe, expect, test } from 'vitest'
import { insertResetLink } from '../../../../src/access/people/reset.ts'
import { buildApp } from '../../../../src/app.ts'
import { inTransaction } from '../../../../src/foundation/database/client.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { testPerson } from '../../../support/person.ts'
import { refused } from '../../../support/refused.ts'
import { ofTest } from '../../../support/shared.ts'
import { newDeveloper } from '../../../support/signed-in.ts'
import { statementsOf } from '../../../support/statements.ts'
import { openServer, sharedServer, type TestStore } from '../../../support/store.ts'
import { leadsTo, steady } from '../../http/pages/people/fixture.ts'
import { enter, freshEmail, mailTo, memberWith, password, tokenIn, tryToEnter } from '../../shop/staff/fixture.ts'

// A lost password: a link by mail, by which the person chooses another.

const HOUR_MS = 3_600_000
const chosen = 'another password of mine'

let shop: TestStore

const server = await sharedServer()
beforeEach(async () => {
  // The hour of the bounds of mails is over.
  server.clock.ms += 2 * HOUR_MS
  shop = await server.openStore()
})

function ask(email: string, area = 'admin') {
  return testPerson(server.app).call('POST', `/${area}/reset`, { Email: email })
}

/** Asks by the page; the path of the link that was mailed. */
async function linkTo(email: string, area = 'admin'): Promise<string> {
  const page = `/${area}/reset`
  const answer = await testPerson(server.app).submit(page, { Email: email })
  expect([answer.statusCode, answer.body.includes('a link is on its way')]).toEqual([200, true])
  const mail = await mailTo(server, email)
  expect(mail).toMatchObject({ kind: 'reset', state: 'shown', storeId: null })
  expect(mail?.link.startsWith(`${page}?token=`)).toBe(true)
  return mail?.link ?? ''
}

function choose(link: string, fields: Record<string, string> = {}, area = 'admin') {
  return testPerson(server.app).submit(link, { Password: chosen, ...fields }, { action: `/${area}/reset/password` })
}

function chooseAs(token: string, body: Record<string, unknown> = {}, area = 'admin') {
  return testPerson(server.app).call('POST', `/${area}/reset/password`, { Token: token, Password: chosen, ...body })
}

const canEnter = async (email: string, given: string, options: { store?: string; area?: string } = {}) =>
  (await tryToEnter(testPerson(server.app), email, { given, ...options })).statusCode === 200

test('the person chooses another password, is signed out everywhere, and the former one opens nothing', async () => {
  const { email, person } = await memberWith(server, shop, 'orders')
  const other = buildApp(server.services)
  await other.ready()
  const elsewhere = await enter({ app: other }, email)

  const link = await linkTo(email)
  const { text = '' } = (await mailTo(server, email)) ?? {}
  expect(text).toContain('- the store administration')
  const shown = await testPerson(server.app).open(link)
  expect(shown.body).toContain(`The password opens: the store ${shop.store.name}.`)
  expect(shown.headers['referrer-policy']).toBe('same-origin')
  expect(leadsTo(await choose(link))).toEqual([303, '/admin/sign-in?notice=password-reset'])

  for (const each of [person, elsewhere]) expect((await each.call('GET', '/admin/account')).statusCode).toBe(401)
  await other.close()
  expect([await canEnter(email, password), await canEnter(email, chosen)]).toEqual([false, true])
  expect(await mailTo(server, email)).toMatchObject({ kind: 'password-changed' })
  const [identity] = await server.services.db.identity.findMany({ where: { email } })
  expect(identity?.emailProvedAt).toEqual(server.services.now())
  const entry = await server.services.db.auditEntry.findFirst({
    where: { storeId: shop.store.id, action: 'account.password-changed' },
  })
  expect(entry).toMatchObject({ actorKind: 'merchant', actor: email, target: email, details: { byLink: true } })
})

test('a mailed link does not prove the address of who can still sign in by a passkey', async () => {
  const { email } = await memberWith(server, shop, 'owner')
  const { identity } = server.services.db
  await identity.updateMany({ where: { email }, data: { passkeySince: new Date() } })
  await choose(await linkTo(email))
  expect(await identity.findMany({ where: { email } })).toMatchObject([{ emailProvedAt: null }])
})

test('a developer does the same', async () => {
  const { Email, Password } = await newDeveloper(server)
  const session = await enter(server, Email, { area: 'developers', password: Password })
  const link = await linkTo(Email, 'developers')
  expect(leadsTo(await choose(link, {}, 'developers'))).toEqual([303, '/developers/sign-in?notice=password-reset'])
  expect((await session.call('GET', '/developers/account')).statusCode).toBe(401)
  const area = 'developers'
  expect([await canEnter(Email, Password, { area }), await canEnter(Email, chosen, { area })]).toEqual([false, true])
})

test('the link of one area is none in the other', async () => {
  const { Email } = await newDeveloper(server)
  await memberWith(server, shop, 'owner', Email)
  const token = tokenIn(await linkTo(Email, 'developers'))
  expect(refused(await chooseAs(token))).toMatchObject({ statusCode: 404, field: 'Token' })
  expect(await canEnter(Email, password)).toBe(true)
})

test('the mail is in the language of who has proved the address, else in that of who asks, and names the stores of that person', async () => {
  const email = freshEmail()
  await memberWith(server, shop, 'reader', email)
  const { identity } = server.services.db
  await identity.updateMany({ where: { email }, data: { locale: 'en-GB' } })
  const told = async () => {
    const headers = { accept: 'application/json', 'accept-language': 'de-AT' }
    const answer = await server.app.inject({ method: 'POST', url: '/admin/reset', headers, payload: { Email: email } })
    expect(answer.statusCode, answer.body).toBe(204)
    const { text = '' } = (await mailTo(server, email)) ?? {}
    const [until = ''] = /(?<=bis |until ).*(?=:)/.exec(text) ?? []
    return { until, hasStore: text.includes(shop.store.name) }
  }
  expect(await told()).toEqual({ until: expect.stringMatching(/^\d+\. /), hasStore: false })
  await identity.updateMany({ where: { email }, data: { emailProvedAt: new Date() } })
  expect(await told()).toEqual({ until: expect.stringMatching(/^\d+ [A-Z]/), hasStore: true })
})

describe('whether an address has an account', () => {
  test.each([['admin'], ['developers']])(
    'cannot be told at /%s/reset: same answer, same statements, a mail’s row either way',
    async (area) => {
      const known =
        area === 'admin' ? (await memberWith(server, shop, 'owner')).email : (await newDeveloper(server)).Email
      const unknown = freshEmail()
      // What is prepared once.
      await ask(freshEmail(), area)
      const sent = async (email: string) => {
        let answer: Awaited<ReturnType<typeof ask>> | undefined
        const statements = await statementsOf(async () => {
          answer = await ask(email, area)
        })
        // What wakes the sender follows the commit, and may come after the answer.
        const texts = statements.map(({ text }) => text).filter((text) => !text.includes('pg_notify'))
        return [answer?.statusCode, answer?.body, texts]
      }
      const first = await sent(known)
      expect(await sent(unknown)).toEqual(first)
      expect(first[0]).toBe(204)

      const { db } = server.services
      const rows = await db.mail.findMany({
        where: { recipient: { in: [known, unknown] }, kind: 'reset' },
        orderBy: { id: 'asc' },
      })
      expect(rows).toMatchObject([
        { recipient: known, state: 'shown' },
        { recipient: unknown, state: 'void', contentSealed: null },
      ])
      expect(await db.resetLink.count({ where: { email: { in: [known, unknown] } } })).toBe(2)
      const page = async (email: string) => {
        const { body } = await testPerson(server.app).submit(`/${area}/reset`, { Email: email })
        return steady({ body: body.replaceAll(email, 'the address') } as never)
      }
      expect(await page(unknown)).toBe(await page(known))
      await db.identity.updateMany({ where: { email: known }, data: { emailProvedAt: new Date(), locale: 'de-DE' } })
      expect(await sent(known)).toEqual(first)
    },
  )

  test('cannot be told by the bounds of mails', async () => {
    const { email } = await memberWith(server, shop, 'owner')
    for (const address of [email, freshEmail()]) {
      const statuses = []
      for (let time = 0; time < 6; time++) statuses.push((await ask(address)).statusCode)
      expect(statuses).toEqual([204, 204, 204, 204, 204, 429])
    }
  })
})

describe('a link', () => {
  test('is used by the button alone, and once, of twenty at once too', async () => {
    const { email } = await memberWith(server, shop, 'owner')
    const link = await linkTo(email)
    for (let time = 0; time < 5; time++) expect((await testPerson(server.app).open(link)).statusCode).toBe(200)
    await server.app.inject({ method: 'HEAD', url: link })
    expect(await canEnter(email, password)).toBe(true)
    const answers = await Promise.all(Array.from({ length: 20 }, () => chooseAs(tokenIn(link))))
    const statuses = answers.map(({ statusCode }) => statusCode).toSorted()
    expect(statuses).toEqual([204, ...Array.from({ length: 19 }, () => 404)])
    expect((await testPerson(server.app).open(link)).body).toContain('This link has been used')
  })

  test('is one, of twenty that are asked for at once', async () => {
    const { email } = await memberWith(server, shop, 'owner')
    await Promise.all(Array.from({ length: 20 }, () => ask(email)))
    expect(await server.services.db.resetLink.count({ where: { email } })).toBe(1)
  })

  test('does not work after an hour, nor once there is a newer one', async () => {
    const { email } = await memberWith(server, shop, 'owner')
    const first = await linkTo(email)
    const second = await linkTo(email)
    expect((await chooseAs(tokenIn(first))).statusCode).toBe(404)
    server.clock.ms += HOUR_MS
    expect((await chooseAs(tokenIn(second))).statusCode).toBe(404)
    expect(await canEnter(email, password)).toBe(true)
  })

  test('is not made up: one to an address without an account goes nowhere, and other tokens open nothing', async () => {
    const email = freshEmail()
    await ask(email)
    expect((await mailTo(server, email))?.link).toBe('/')
    for (const token of ['', 'x', 'a'.repeat(43)]) {
      expect(refused(await chooseAs(token))).toMatchObject({ statusCode: 404, field: 'Token' })
    }
  })

  test('takes no password that is too easy, and stays', async () => {
    const { email } = await memberWith(server, shop, 'owner')
    const link = await linkTo(email)
    for (const Password of ['short', 'password2024!', email.toUpperCase(), shop.store.name.padEnd(13, '1')]) {
      const answer = await choose(link, { Password })
      expect([Password, answer.statusCode, answer.body.includes('id="Password-problem"')]).toEqual([
        Password,
        400,
        true,
      ])
    }
    expect((await choose(link)).statusCode).toBe(303)
  })

  test('no longer concerns an address that was changed since', async () => {
    const { email, id } = await memberWith(server, shop, 'owner')
    const link = await linkTo(email)
    const { identityId } = await server.services.db.storeUser.findUniqueOrThrow({ where: { id } })
    await server.services.db.identity.update({ where: { id: identityId }, data: { email: freshEmail() } })
    expect((await chooseAs(tokenIn(link))).statusCode).toBe(404)
  })

  test('goes to the address as the account has it, not as it was typed', async () => {
    const { email } = await memberWith(server, shop, 'owner')
    expect((await ask(email.toUpperCase())).statusCode).toBe(204)
    expect(await mailTo(server, email)).toMatchObject({ kind: 'reset' })
  })

  test('ends the delay that failed sign-ins caused', async () => {
    const { email } = await memberWith(server, shop, 'owner')
    for (let time = 0; time < 6; time++) await canEnter(email, 'a wrong password')
    expect((await tryToEnter(testPerson(server.app), email)).statusCode).toBe(429)
    await choose(await linkTo(email))
    expect(await canEnter(email, chosen)).toBe(true)
  })

  test('leaves second factors as they are', async () => {
    const { email } = await memberWith(server, shop, 'owner')
    const { db, secrets } = server.services
    const since = server.services.now()
    await db.identity.updateMany({ where: { email }, data: { totpSealed: secrets.seal('key'), totpSince: since } })
    await choose(await linkTo(email))
    expect(await db.identity.findMany({ where: { email } })).toMatchObject([{ totpSince: since }])
  })
})

describe('several accounts of one address', () => {
  async function twoOf() {
    const other = await server.openStore()
    const { email } = await memberWith(server, shop, 'owner')
    await memberWith(server, other, 'reader', email)
    const stores = [shop.store, other.store] as const
    return {
      email,
      stores,
      open: (given: string) => Promise.all(stores.map(({ secureUrl: store }) => canEnter(email, given, { store }))),
    }
  }

  test('get one password, all of them', async () => {
    const { email, stores, open } = await twoOf()
    const link = await linkTo(email)
    const { body } = await testPerson(server.app).open(link)
    for (const { name } of stores) expect(body).toContain(`the store ${name}`)
    await choose(link, { Identity: '' })
    expect([await open(password), await open(chosen)]).toEqual([
      [false, false],
      [true, true],
    ])
  })

  test('or the one that is chosen, by which sessions of the other stay', async () => {
    const { email, stores, open } = await twoOf()
    const [here, there] = await Promise.all(stores.map(({ secureUrl: store }) => enter(server, email, { store })))
    const [first] = await server.services.db.identity.findMany({ where: { email }, orderBy: { id: 'asc' } })
    await choose(await linkTo(email), { Identity: String(first?.id) })
    expect([await open(password), await open(chosen)]).toEqual([
      [false, true],
      [true, false],
    ])
    expect((await here?.call('GET', '/admin/account'))?.statusCode).toBe(401)
    expect((await there?.call('GET', '/admin/account'))?.statusCode).toBe(200)
  })

  test('but none of another address', async () => {
    const { email } = await twoOf()
    const stranger = await memberWith(server, shop, 'owner')
    const [{ id = 0 } = {}] = await server.services.db.identity.findMany({ where: { email: stranger.email } })
    const token = tokenIn(await linkTo(email))
    expect(refused(await chooseAs(token, { Identity: id }))).toMatchObject({ statusCode: 400, field: 'Identity' })
    expect(await canEnter(stranger.email, password)).toBe(true)
    expect((await chooseAs(token)).statusCode).toBe(204)
  })

  test('a link that the operator hands over opens the one that it is for, and proves no address', async () => {
    const { email, open } = await twoOf()
    const { db } = server.services
    const [first] = await db.identity.findMany({ where: { email }, orderBy: { id: 'asc' } })
    const account = { kind: 'merchant', email, identityId: first?.id ?? 0 } as const
    const { link } = await inTransaction(db, (tx) => insertResetLink(tx, server.services, account))
    // Somebody who asks for a mail meanwhile does not end it.
    await ask(email)
    expect((await testPerson(server.app).open(link)).body).toContain(
      `The password opens: the store ${shop.store.name}.`,
    )
    expect((await choose(link)).statusCode).toBe(303)
    expect([await open(password), await open(chosen)]).toEqual([
      [false, true],
      [true, false],
    ])
    expect(await db.identity.findMany({ where: { email } })).toMatchObject([
      { emailProvedAt: null },
      { emailProvedAt: null },
    ])
  })
})

test('a server that sends no mail says so, and writes nothing', async () => {
  const plain = await ofTest(openServer({ SANDBOX: 'no' }, cloneDatabase))
  const store = await plain.openStore()
  const { email } = await memberWith(plain, store, 'owner')
  expect((await testPerson(plain.app).open('/admin/reset')).body).toContain('This server sends no mail')
  const answer = await testPerson(plain.app).call('POST', '/admin/reset', { Email: email })
  expect(refused(answer)).toMatchObject({ statusCode: 409 })
  expect([await plain.services.db.mail.count(), await plain.services.db.resetLink.count()]).toEqual([0, 0])
})

test('no token stands in the log', async () => {
  const { email } = await memberWith(server, shop, 'owner')
  const link = await linkTo(email)
  await testPerson(server.app).open(link)
  await choose(link)
  expect(server.log.join('')).not.toContain(tokenIn(link))
})
