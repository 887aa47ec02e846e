import { describe, expect, test } from 'vitest'
import { type TestPerson, testPerson } from '../../../../support/person.ts'
import { developerIn, merchantAccount, merchantIn, newDeveloper } from '../../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'
import { leadsTo } from './fixture.ts'

const server = await sharedServer({ TRUST_PROXY: '127.0.0.1' })

async function developerAccount() {
  const account = await newDeveloper(server)
  return { account, open: async () => (await signedIn('/developers/sign-in', account)).person }
}

/** A store of its own, so that nobody else signs in to its account. */
async function merchantsAccount() {
  const shop = await server.openStore()
  return { account: merchantAccount, shop, open: () => merchantIn(server, shop.store) }
}

async function signedIn(address: string, account: Record<string, string>, headers: Record<string, string> = {}) {
  const person = testPerson(server.app)
  return { person, answer: await person.submit(address, account, { headers }) }
}

async function sessionsOf(person: TestPerson, area: string): Promise<Record<string, unknown>[]> {
  return (await person.call('GET', `/${area}/account`)).json().Sessions
}

const areas = [
  { area: 'admin', prepare: merchantsAccount },
  { area: 'developers', prepare: developerAccount },
]

describe.each(areas)('/$area/account', ({ area, prepare }) => {
  const page = `/${area}/account`
  const password = `${page}/password`
  const sessions = `${page}/sessions`

  test('a new password counts from now on, and ends the other sessions', async () => {
    const { account, open } = await prepare()
    const [person, elsewhere] = [await open(), await open()]
    const change = { CurrentPassword: account.Password, NewPassword: 'a wholly new password' }
    const answer = await person.submit(page, change, { action: password })

    expect(leadsTo(answer)).toEqual([303, `${page}?notice=password-changed`])
    expect((await person.open(`${page}?notice=password-changed`)).body).toContain('Your password is changed.')
    expect((await elsewhere.call('GET', page)).statusCode).toBe(401)
    expect((await person.call('POST', password, change)).json()[0].Value).toBe('CurrentPassword')
    const again = { CurrentPassword: change.NewPassword, NewPassword: 'once more a new one' }
    expect((await person.call('POST', password, again)).statusCode).toBe(204)
  })

  test('a wrong current password, or a new one that is too short, changes nothing and is said beside its field', async () => {
    const { account, open } = await prepare()
    const person = await open()
    const wrong = { CurrentPassword: 'typed password', NewPassword: 'a wholly new password' }
    const short = { CurrentPassword: account.Password, NewPassword: 'short' }
    const ofWrong = await person.submit(page, wrong, { action: password })
    const ofShort = await person.submit(page, short, { action: password })

    expect([ofWrong.statusCode, ofShort.statusCode]).toEqual([400, 400])
    expect(ofWrong.body).toMatch(/id="CurrentPassword-problem"[^<]*is not the current password/)
    expect(ofShort.body).toMatch(/id="NewPassword-problem"[^<]*12 to 1000 characters/)
    expect(ofWrong.body).not.toContain('typed password')
    await open()
  })

  test('the menu of every page leads to it by name, under the address', async () => {
    const { account, open } = await prepare()
    const { body } = await (await open()).open(`/${area}/audit`)
    const [menu = ''] = /<div class="who">[\s\S]*?<\/div>/.exec(body) ?? []
    expect(menu).toContain(`<span class="quiet">${account.Email}</span>`)
    expect(menu).toContain(`<a href="${page}">Your account</a>`)
  })

  test('the browsers are listed, this one marked, with address and what they say they are', async () => {
    const { open } = await prepare()
    await open()
    const person = await open()
    const { body } = await person.open(page)
    const listed = await sessionsOf(person, area)

    expect(listed.map(({ IsThis }) => IsThis).toSorted()).toEqual([false, true])
    expect(listed[0]).toMatchObject({ Address: '127.0.0.1', UserAgent: 'lightMyRequest' })
    expect(body).toContain('This device')
    expect(body).toContain('lightMyRequest')
    expect(body).toContain('127.0.0.1')
  })

  test('what a browser says of itself is shown as text, and cut', async () => {
    const { account, open } = await prepare()
    const person = await open()
    await server.app.inject({
      method: 'POST',
      url: `/${area}/sign-in`,
      headers: { 'user-agent': `<script>alert(1)</script>${'x'.repeat(300)}`, 'content-type': 'application/json' },
      payload: account,
    })
    const { body } = await person.open(page)

    expect(body).not.toContain('<script>alert')
    expect(body).not.toContain('x'.repeat(100))
    expect(body).toContain('&lt;script&gt;alert(1)')
  })

  test('one browser is signed out, and no other', async () => {
    const { open } = await prepare()
    const [person, one, another] = [await open(), await open(), await open()]
    const [id] = (await sessionsOf(one, area)).filter(({ IsThis }) => IsThis).map(({ Id }) => Id)

    const answer = await person.submit(page, { Session: String(id) }, { action: sessions })

    expect(leadsTo(answer)).toEqual([303, `${page}?notice=sessions-ended`])
    expect((await one.call('GET', page)).statusCode).toBe(401)
    expect((await another.call('GET', page)).statusCode).toBe(200)
    expect((await person.call('POST', sessions, { Session: id })).statusCode).toBe(404)
  })

  test('all others are signed out, and this one is not', async () => {
    const { open } = await prepare()
    const [person, one, another] = [await open(), await open(), await open()]
    const answer = await person.call('POST', sessions, { Session: 'others' })

    expect(answer.statusCode).toBe(204)
    expect((await one.call('GET', page)).statusCode).toBe(401)
    expect((await another.call('GET', page)).statusCode).toBe(401)
    expect(await sessionsOf(person, area)).toHaveLength(1)
    expect((await person.open(page)).body).not.toContain('Sign out everywhere else')
  })

  test('ending this very session is signing out', async () => {
    const { open } = await prepare()
    const person = await open()
    const [own] = (await sessionsOf(person, area)).map(({ Id }) => Id)

    expect((await person.call('POST', sessions, { Session: own })).statusCode).toBe(204)
    expect([...person.cookies.keys()]).not.toContain(area === 'admin' ? 'merchant' : 'developer')
    expect((await person.call('GET', page)).statusCode).toBe(401)
  })

  test.each([{ Session: 'all' }, { Session: 0 }, {}, { Session: '1', Other: 1 }])('%j ends nothing', async (body) => {
    const { open } = await prepare()
    const person = await open()
    await open()

    expect((await person.call('POST', sessions, body)).statusCode).toBe(400)
    expect(await sessionsOf(person, area)).toHaveLength(2)
  })
})

test('times are shown in the zone of the store, and to developers in UTC', async () => {
  const shop: TestStore = await server.openStore({ timeZone: 'Asia/Tokyo' })
  const merchant = await merchantIn(server, shop.store)
  const person = await developerIn(server)

  expect((await merchant.open('/admin/account')).body).toContain('GMT+9')
  expect((await person.open('/developers/account')).body).toContain('UTC')
})
