import { afterEach, describe, expect, test } from 'vitest'
import { setDeveloperPassword } from '../../../../src/access/people/accounts.ts'
import { findSession } from '../../../../src/access/people/sessions.ts'
import type { SignIn } from '../../../../src/access/people/sign-in.ts'
import { connect } from '../../../../src/foundation/database/client.ts'
import type { StoreFailure } from '../../../../src/foundation/values/failure.ts'
import { sweepsByAge } from '../../../../src/parts/retention.ts'
import { openAccess, type Services } from '../../../support/access.ts'
import { looks } from '../../../support/argon2.ts'
import { untilItWaits } from '../../../support/held.ts'
import { ofTest, shared } from '../../../support/shared.ts'
import {
  enter,
  entered,
  freshAddress,
  freshEmail,
  newDeveloper,
  newMerchant,
  operator,
  password,
  refusal,
  visible,
} from './persons.ts'

const access = await shared(openAccess())
const { services } = access
afterEach(() => {
  looks.afterwards = async () => {}
})

/** How many looks `work` takes. */
async function looksOf(work: () => Promise<unknown>): Promise<number> {
  const before = looks.count
  await work()
  return looks.count - before
}

function pass(seconds: number): void {
  access.clock.ms += seconds * 1000
}

const wrongPassword = 'a guess of somebody'
type Input = Partial<SignIn> & Pick<SignIn, 'kind' | 'email'>

function fail(input: Input, on: Services = services): Promise<StoreFailure> {
  return refusal(enter(on, { password: wrongPassword, ...input }))
}

/** Of somebody who has an account. */
const newInput = async () => ({ kind: 'developer' as const, email: (await newDeveloper(services)).email })

async function failTimes(times: number, input: Input): Promise<void> {
  for (let count = 0; count < times; count++) expect(await fail(input)).toMatchObject({ code: 'unauthorized' })
}

describe('signing in', () => {
  test('opens a developer’s session of 7 days, in whatever case the address is written', async () => {
    const { id, email } = await newDeveloper(services)
    const { token, expiresAt } = await enter(services, { kind: 'developer', email: ` ${email.toUpperCase()} ` })

    expect(token).toMatch(/^[\w-]{43}$/)
    expect(expiresAt).toEqual(new Date(access.clock.ms + 7 * 24 * 3_600_000))
    const session = await findSession(services, 'developer', token)
    const own = { kind: 'developer', id, email, identityId: expect.any(Number) }
    expect(session?.person).toEqual({ ...own, locale: null, testStores: null })
  })

  test('a merchant’s account is none of a developer, and the other way round', async () => {
    const developer = await newDeveloper(services)
    const merchant = await newMerchant(services)

    expect(await refusal(enter(services, { kind: 'merchant', email: developer.email }))).toMatchObject({ status: 401 })
    expect(await refusal(enter(services, { kind: 'developer', email: merchant.email }))).toMatchObject({ status: 401 })
  })

  test('is told in the audit log: of a developer with the developer, of a merchant with the store', async () => {
    const developer = await newDeveloper(services)
    const merchant = await newMerchant(services)
    const address = freshAddress()
    await enter(services, { kind: 'developer', email: developer.email, address })
    await enter(services, { kind: 'merchant', email: merchant.email, address })

    const action = 'account.signed-in'
    const entries = await services.db.auditEntry.findMany({ where: { address }, orderBy: { id: 'asc' } })
    expect(entries).toMatchObject([
      { action, actorKind: 'developer', actor: developer.email, developerId: developer.id, storeId: null },
      { action, actorKind: 'merchant', actor: merchant.email, storeId: merchant.store.id, developerId: null },
    ])
  })

  test.each([
    ['Email', { email: '' }],
    ['Email', { email: 'x'.repeat(255) }],
    ['Email', { email: 'zero\0@people.example' }],
    ['Password', { password: '' }],
    ['Password', { password: 'x'.repeat(1001) }],
    ['Store', { store: 'zero\0.example' }],
    ['Store', { store: 'x'.repeat(2049) }],
  ])('refuses an impossible %s without counting it', async (field, changes) => {
    const input = { kind: 'merchant' as const, email: freshEmail(), ...changes }

    const looked = await looksOf(async () => {
      expect(await refusal(enter(services, input))).toMatchObject({ status: 400, field, faults: [{ field }] })
    })
    expect(looked).toBe(0)
  })

  test('a password that is changed while it is looked at opens nothing', async () => {
    const { id, email } = await newDeveloper(services)
    looks.afterwards = async () => {
      looks.afterwards = async () => {}
      await setDeveloperPassword(services, id, { Password: 'set by the operator' }, operator)
    }

    expect(await refusal(enter(services, { kind: 'developer', email }))).toMatchObject({ status: 401 })
    expect(await services.db.session.count({ where: { developerId: id } })).toBe(0)
  })

  test.each(['developer', 'merchant'] as const)(
    'a %s whose password is just being changed waits for it, and enters no more',
    async (kind) => {
      const { email } = kind === 'developer' ? await newDeveloper(services) : await newMerchant(services)
      let entering: Promise<StoreFailure> | undefined
      await services.db.$transaction(async (tx) => {
        await tx.identity.updateMany({ where: { email }, data: { passwordHash: 'another' } })
        entering = refusal(enter(services, { kind, email }))
        await untilItWaits(services, entering)
      })

      expect(await entering).toMatchObject({ status: 401, logDetail: 'the password was changed meanwhile' })
    },
  )
})

describe('several stores of one e-mail address', () => {
  test('are open together where the password is the same, and only there', async () => {
    const email = freshEmail()
    const first = await newMerchant(services, { Email: email, Name: 'First' })
    const second = await newMerchant(services, { Email: email.toUpperCase(), Name: 'Second' })
    await newMerchant(services, { Email: email, Name: 'Locked', Password: 'a password of its own' })
    const { session } = await entered(services, { kind: 'merchant', email })

    const { id, name, secureUrl } = second.store
    expect(session.person).toMatchObject({
      id: first.id,
      store: { name: 'First' },
      others: [{ userId: second.id, storeId: id, name, secureUrl }],
    })
    for (const storeId of [first.store.id, id]) {
      expect(await services.db.auditEntry.count({ where: { storeId, action: 'account.signed-in' } })).toBe(1)
    }
  })

  test('the store’s address as typed opens that one alone', async () => {
    const email = freshEmail()
    await newMerchant(services, { Email: email })
    const { id, store } = await newMerchant(services, { Email: email })
    const host = new URL(store.secureUrl).host

    for (const typed of [store.secureUrl, ` ${host} `, `http://WWW.${host.toUpperCase()}/admin`]) {
      const { session } = await entered(services, { kind: 'merchant', email, store: typed })
      expect(session.person).toMatchObject({ id, others: [] })
    }
    const foreign = await newMerchant(services)
    for (const typed of [foreign.store.secureUrl, 'nobody.example', '//']) {
      expect(await refusal(enter(services, { kind: 'merchant', email, store: typed }))).toMatchObject({ status: 401 })
    }
    const { session } = await entered(services, { kind: 'merchant', email, store: '  ' })
    expect(session.person).toMatchObject({ others: [{ userId: id }] })
  })
})

describe('who guesses learns of no account', () => {
  test('an unknown address, a wrong password and another store are refused alike, after the same looks', async () => {
    const developer = await newDeveloper(services)
    const merchant = await newMerchant(services)
    const email = freshEmail()
    const doubled = freshEmail()
    await newMerchant(services, { Email: doubled })
    await newMerchant(services, { Email: doubled })
    const store = merchant.store.secureUrl

    const groups: Input[][] = [
      [
        { kind: 'developer', email: developer.email },
        { kind: 'developer', email },
      ],
      [
        { kind: 'merchant', email: merchant.email },
        { kind: 'merchant', email: doubled },
        { kind: 'merchant', email },
      ],
      [
        { kind: 'merchant', email: merchant.email, store },
        { kind: 'merchant', email, store },
        { kind: 'merchant', email: doubled, store },
        { kind: 'merchant', email: merchant.email, store: 'nobody.example' },
      ],
    ]
    for (const inputs of groups) {
      const told = []
      for (const input of inputs) {
        let failure: StoreFailure | undefined
        const count = await looksOf(async () => {
          failure = await fail(input)
        })
        told.push({ count, ...visible(failure as StoreFailure) })
      }
      expect(told[0]).toMatchObject({ status: 401, field: '', faults: [], retryAfterSeconds: undefined })
      expect(told[0]?.count).toBeGreaterThan(0)
      for (const each of told) expect(each).toEqual(told[0])
    }
  })

  test('an unknown address is delayed like a known one', async () => {
    const { email } = await newDeveloper(services)
    const told = []
    for (const of of [email, freshEmail()]) {
      const input = { kind: 'developer' as const, email: of }
      await failTimes(5, input)
      told.push(visible(await fail(input)))
    }

    expect(told[0]).toMatchObject({ code: 'rate-limited', retryAfterSeconds: 1 })
    expect(told[1]).toEqual(told[0])
  })
})

describe('the delay of an account', () => {
  test('of 200 guesses at once five are looked at, and then the right password is refused too', async () => {
    const input = await newInput()
    let guesses: StoreFailure[] = []
    const count = await looksOf(async () => {
      guesses = await Promise.all(Array.from({ length: 200 }, () => fail(input)))
    })

    expect(count).toBe(5)
    expect(guesses.filter(({ code }) => code === 'unauthorized')).toHaveLength(5)
    expect(guesses.filter(({ code }) => code === 'rate-limited')).toHaveLength(195)
    const late = { code: 'rate-limited', status: 429, retryAfterSeconds: 1 }
    expect(await refusal(enter(services, input))).toMatchObject(late)
    expect(await looksOf(() => fail(input))).toBe(0)
  })

  test('holds for two servers on one database', async () => {
    const db = await ofTest(connect(access.url))
    const servers = [services, { ...services, db }]
    const { email } = await newDeveloper(services)
    const guesses = await Promise.all(
      Array.from({ length: 60 }, (_, index) => fail({ kind: 'developer', email }, servers[index % 2])),
    )

    expect(guesses.filter(({ code }) => code === 'unauthorized')).toHaveLength(5)
    const tried = servers.map((each) => refusal(enter(each, { kind: 'developer', email })))
    for (const failure of await Promise.all(tried)) expect(failure.code).toBe('rate-limited')
  })

  test('is one for every spelling of the address', async () => {
    const { email } = await newDeveloper(services)
    await failTimes(3, { kind: 'developer', email })
    await failTimes(2, { kind: 'developer', email: email.toUpperCase() })

    expect(await fail({ kind: 'developer', email: ` ${email}` })).toMatchObject({ code: 'rate-limited' })
  })

  test('doubles from a second to a minute; tries before the time neither count nor lengthen it', async () => {
    const input = await newInput()
    await failTimes(5, input)
    const waits: (number | undefined)[] = []
    for (let count = 0; count < 9; count++) {
      const { retryAfterSeconds = 0 } = await fail(input)
      waits.push(retryAfterSeconds)
      pass(retryAfterSeconds - 0.001)
      expect(await fail(input)).toMatchObject({ code: 'rate-limited', retryAfterSeconds: 1 })
      pass(0.001)
      expect(await fail(input)).toMatchObject({ code: 'unauthorized' })
    }

    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  })

  test('ends with a success, and only with one of the account', async () => {
    const input = await newInput()
    await failTimes(5, input)
    pass(1)
    await failTimes(1, input)
    pass(2)
    const { email } = input
    await newMerchant(services, { Email: email })
    await enter(services, { kind: 'merchant', email })
    await failTimes(1, input)
    expect(await fail(input)).toMatchObject({ retryAfterSeconds: 4 })
    pass(4)

    await enter(services, input)
    await failTimes(5, input)
    expect(await fail(input)).toMatchObject({ retryAfterSeconds: 1 })
  })

  test('is forgotten 24 h after the last failure, and its row is swept', async () => {
    const input = await newInput()
    await failTimes(5, input)
    pass(24 * 3600 - 1)
    await failTimes(1, input)
    expect(await fail(input)).toMatchObject({ retryAfterSeconds: 2 })
    pass(24 * 3600)
    await failTimes(5, input)
    expect(await fail(input)).toMatchObject({ retryAfterSeconds: 1 })

    pass(24 * 3600)
    await fail({ kind: 'developer', email: freshEmail() })
    await sweepsByAge(services, { historyDays: null })['old failures of sign-ins'](() => false)
    expect(await services.db.signInDelay.count()).toBe(2)
  })
})

describe('the delay of an address', () => {
  /** A failed try for an account that has none yet. */
  const guess = (address: string) => fail({ kind: 'developer', email: freshEmail(), address })

  async function guessTimes(times: number, address: string): Promise<void> {
    for (let count = 0; count < times; count++) expect(await guess(address)).toMatchObject({ code: 'unauthorized' })
  }

  test('twenty failures are free, whatever the accounts; then it doubles to a quarter of an hour', async () => {
    const address = freshAddress()
    await guessTimes(20, address)
    const waits: number[] = []
    for (let count = 0; count < 12; count++) {
      const failure = await guess(address)
      expect(failure).toMatchObject({ code: 'rate-limited' })
      waits.push(failure.retryAfterSeconds ?? 0)
      pass(waits.at(-1) ?? 0)
      await guessTimes(1, address)
    }

    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
  })

  test('of a hundred guesses at once for as many accounts twenty are looked at, and those alone count for their accounts', async () => {
    const address = freshAddress()
    const accounts = { where: { key: { startsWith: 'account:' } } }
    const before = await services.db.signInDelay.count(accounts)
    const count = await looksOf(() => Promise.all(Array.from({ length: 100 }, () => guess(address))))

    expect(count).toBe(20)
    expect(await services.db.signInDelay.count(accounts)).toBe(before + 20)
  })

  test.each([
    ['an IPv6 /64', '2001:db8:1:2::1', '2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:3::1'],
    ['an IPv4 address, mapped or not', '203.0.113.9', '::ffff:203.0.113.9', '203.0.113.10'],
  ])('%s is one address', async (_network, one, same, other) => {
    await guessTimes(20, one)

    expect(await guess(same)).toMatchObject({ code: 'rate-limited' })
    await guessTimes(1, other)
  })

  test('successes do not count', async () => {
    const address = freshAddress()
    const { email } = await newDeveloper(services)
    for (let count = 0; count < 25; count++) await enter(services, { kind: 'developer', email, address })
    await guessTimes(20, address)

    expect(await guess(address)).toMatchObject({ retryAfterSeconds: 1 })
  })

  test('who has an account does not guess on by signing in now and then', async () => {
    const address = freshAddress()
    const { email } = await newDeveloper(services)
    await guessTimes(20, address)
    const waits: (number | undefined)[] = []
    for (let count = 0; count < 3; count++) {
      waits.push((await guess(address)).retryAfterSeconds)
      pass(waits.at(-1) ?? 0)
      await enter(services, { kind: 'developer', email, address })
      const { retryAfterSeconds = 0 } = await guess(address)
      pass(retryAfterSeconds)
      await guessTimes(1, address)
    }

    expect(waits).toEqual([1, 2, 4])
  })

  test('a try that the account’s delay refuses does not count for the address', async () => {
    const address = freshAddress()
    const input = { kind: 'developer' as const, email: freshEmail(), address }
    await failTimes(5, input)
    for (let count = 0; count < 30; count++) expect(await fail(input)).toMatchObject({ retryAfterSeconds: 1 })

    await guessTimes(15, address)
  })
})

test('no secret is in the tables, the audit log or a refusal', async () => {
  const { email } = await newDeveloper(services)
  const { token } = await enter(services, { kind: 'developer', email })
  const failure = await fail({ kind: 'developer', email })
  const tables = ['Developer', 'StoreUser', 'Session', 'SignInDelay', 'AuditEntry']
  const selects = tables.map((table) => `SELECT row_to_json(t)::text AS text FROM "${table}" t`)
  const rows = await services.db.$queryRawUnsafe<{ text: string }[]>(selects.join(' UNION ALL '))
  const stored = rows.map(({ text }) => text).join('\n')

  expect(stored).toContain(email)
  for (const secret of [token, password, wrongPassword]) {
    expect(stored).not.toContain(secret)
    expect(`${failure.message} ${failure.logDetail}`).not.toContain(secret)
  }
  expect(failure.logDetail).toBe('another password')
})
