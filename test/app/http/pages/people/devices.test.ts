import { describe, expect, test } from 'vitest'
import { cloneDatabase } from '../../../../support/database.ts'
import { type TestPerson, testPerson } from '../../../../support/person.ts'
import { ofTest } from '../../../../support/shared.ts'
import { developerIn, merchantAccount, newDeveloper } from '../../../../support/signed-in.ts'
import { openServer, sharedServer } from '../../../../support/store.ts'
import { cookieSet } from './fixture.ts'

const server = await sharedServer({ TRUST_PROXY: '127.0.0.1', DEVELOPER_SIGNUP: 'open' })

let addresses = 0
function freshAddress(): string {
  return `10.8.${++addresses >> 8}.${addresses & 255}`
}

function pass(seconds: number): void {
  server.clock.ms += seconds * 1000
}

interface Account {
  readonly Email: string
  readonly Password: string
}

const wrong = 'a guess of somebody'
const areas = [
  {
    area: 'admin',
    newAccount: async (): Promise<Account> => {
      const { store } = await server.openStore()
      const Email = `owner-${store.id}@shop.example`
      await server.services.db.identity.updateMany({
        where: { users: { some: { storeId: store.id } } },
        data: { email: Email },
      })
      return { ...merchantAccount, Email }
    },
  },
  { area: 'developers', newAccount: (): Promise<Account> => newDeveloper(server) },
]

describe.each(areas)('a browser that signed in before at /$area/sign-in', ({ area, newAccount }) => {
  const signInAddress = `/${area}/sign-in`

  async function signIn(person: TestPerson, account: Account, from = freshAddress()): Promise<number> {
    for (const session of ['merchant', 'developer']) person.cookies.delete(session)
    const headers = { 'x-forwarded-for': from }
    return (await person.submit(signInAddress, { ...account }, { headers })).statusCode
  }

  async function guess(person: TestPerson, { Email }: Account, times: number, from = freshAddress()) {
    const statuses: number[] = []
    for (let count = 0; count < times; count++) {
      statuses.push(await signIn(person, { Email, Password: wrong }, from))
    }
    return statuses
  }

  /** The account, and a browser that has signed in to it. */
  async function known() {
    const account = await newAccount()
    const person = testPerson(server.app)
    expect(await signIn(person, account)).toBe(303)
    return { account, person }
  }

  /** A browser with that cookie of another one. */
  function withDevices(value: string): TestPerson {
    const person = testPerson(server.app)
    person.cookies.set('devices', value)
    return person
  }

  test('is not kept out by the guesses of strangers, which keep others out', async () => {
    const { account, person } = await known()
    expect(await guess(testPerson(server.app), account, 6)).toEqual([401, 401, 401, 401, 401, 429])

    expect(await signIn(testPerson(server.app), account)).toBe(429)
    expect(await signIn(person, account)).toBe(303)
    expect(await signIn(testPerson(server.app), account)).toBe(429)
  })

  test('is not kept out by those of its own network', async () => {
    const { account, person } = await known()
    const from = freshAddress()
    for (let count = 0; count < 21; count++) {
      await signIn(testPerson(server.app), { Email: `nobody-${count}@people.example`, Password: wrong }, from)
    }

    expect(await signIn(testPerson(server.app), account, from)).toBe(429)
    expect(await signIn(person, account, from)).toBe(303)
  })

  test('changes the password while strangers guess', async () => {
    const { account, person } = await known()
    await signIn(person, account)
    await guess(testPerson(server.app), account, 6)

    const change = { CurrentPassword: account.Password, NewPassword: 'a wholly new password' }
    expect((await person.call('POST', `/${area}/account/password`, change)).statusCode).toBe(204)
  })

  test('has a counter of its own, which delays nobody else', async () => {
    const { account, person } = await known()
    expect(await guess(person, account, 6)).toEqual([401, 401, 401, 401, 401, 429])

    expect(await signIn(person, account)).toBe(429)
    expect(await signIn(testPerson(server.app), account)).toBe(303)
    pass(1)
    expect(await signIn(person, account)).toBe(303)
    expect(await guess(person, account, 5)).toEqual([401, 401, 401, 401, 401])
  })

  test('with ten failures counts as any other, until it has signed in again', async () => {
    const { account, person } = await known()
    const stolen = person.cookies.get('devices') ?? ''
    for (let count = 0; count < 10; count++) {
      expect(await guess(withDevices(stolen), account, 1)).toEqual([401])
      pass(60)
    }
    expect(await guess(testPerson(server.app), account, 5)).toEqual([401, 401, 401, 401, 401])

    expect(await signIn(withDevices(stolen), account)).toBe(429)
    pass(1)
    expect(await signIn(person, account)).toBe(303)
    await guess(testPerson(server.app), account, 6)
    expect(await signIn(person, account)).toBe(303)
  })

  test('is known by an entry that each sign-in makes anew', async () => {
    const { account, person } = await known()
    const former = person.cookies.get('devices')
    await signIn(person, account)

    expect(person.cookies.get('devices')).not.toBe(former)
    expect(person.cookies.get('devices')).toHaveLength(44)
  })

  test('is known for its accounts alone', async () => {
    const { account, person } = await known()
    const another = await newAccount()
    await guess(testPerson(server.app), another, 6)
    expect(await signIn(person, another)).toBe(429)

    pass(1)
    expect(await signIn(person, another)).toBe(303)
    expect(person.cookies.get('devices')?.split('.')).toHaveLength(2)
    for (const each of [account, another]) {
      await guess(testPerson(server.app), each, 6)
      expect(await signIn(person, each)).toBe(303)
    }
  })

  test.each<[string, (value: string) => string]>([
    ['altered', (value) => value.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
    ['cut off', (value) => value.slice(0, -1)],
    ['empty', () => ''],
    ['nonsense', () => `${'.'.repeat(500)}${'x'.repeat(44)}`],
  ])('is not known by a cookie that is %s', async (_what, change) => {
    const { account, person } = await known()
    await guess(testPerson(server.app), account, 6)

    expect(await signIn(withDevices(change(person.cookies.get('devices') ?? '')), account)).toBe(429)
    expect(await signIn(person, account)).toBe(303)
  })

  test('is told apart by a cookie that only a success sets, for a year, out of reach of scripts', async () => {
    const account = await newAccount()
    const person = testPerson(server.app)
    const refused = await person.call('POST', signInAddress, { ...account, Password: wrong })
    expect([refused.statusCode, cookieSet(refused, 'devices')]).toEqual([401, undefined])

    const answer = await person.call('POST', signInAddress, account)
    const attributes = { path: '/', httpOnly: true, sameSite: 'Lax', maxAge: 31_536_000 }
    expect(cookieSet(answer, 'devices')).toMatchObject(attributes)
    expect(cookieSet(answer, 'devices')?.value).not.toContain(account.Email)
  })
})

test('of eleven accounts a browser is known for the ten used last', async () => {
  const person = testPerson(server.app)
  for (let count = 0; count < 11; count++) {
    await person.call('POST', '/developers/sign-in', await newDeveloper(server))
  }

  expect(person.cookies.get('devices')?.split('.')).toHaveLength(10)
})

test('a browser that signed up is known', async () => {
  const person = testPerson(server.app)
  const account = { Email: 'new@tools.example', Password: 'correct horse battery' }
  expect((await person.call('POST', '/developers/sign-up', account)).statusCode).toBe(200)

  expect(person.cookies.get('devices')).toHaveLength(44)
})

test('a developer’s browser is not known for the merchant’s account of the same address', async () => {
  const { cookies, account } = await developerIn(server)
  const { store } = await server.openStore()
  await server.services.db.identity.updateMany({
    where: { users: { some: { storeId: store.id } } },
    data: { email: account.Email },
  })
  const stranger = testPerson(server.app)
  for (let count = 0; count < 5; count++) {
    await stranger.call('POST', '/admin/sign-in', { Email: account.Email, Password: wrong })
  }

  const person = testPerson(server.app)
  person.cookies.set('devices', cookies.get('devices') ?? '')
  expect((await person.call('POST', '/admin/sign-in', account)).statusCode).toBe(429)
})

test('with https the cookie is of this host alone, and secure', async () => {
  const settings = { PUBLIC_URL: 'https://api.shop.example', TRUST_PROXY: '127.0.0.1' }
  const https = await ofTest(openServer(settings, cloneDatabase))
  const account = await newDeveloper(https)
  const headers = { 'x-forwarded-proto': 'https', host: 'api.shop.example' }
  const answer = await https.app.inject({ method: 'POST', url: '/developers/sign-in', headers, payload: account })

  expect(cookieSet(answer, '__Host-devices')).toMatchObject({ secure: true, httpOnly: true })
})
