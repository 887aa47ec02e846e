import { describe, expect, test } from 'vitest'
import type { Actor } from '../../../../src/access/audit/audit.ts'
import { issueCustomerToken, redeemCustomerToken } from '../../../../src/access/people/customer-tokens.ts'
import {
  changeStore,
  endOtherSessions,
  findSession,
  listSessions,
  type SessionKind,
} from '../../../../src/access/people/sessions.ts'
import { operatorCaller } from '../../../../src/access/stores/caller-store.ts'
import { sweepsByAge } from '../../../../src/parts/retention.ts'
import { openAccess } from '../../../support/access.ts'
import { shared } from '../../../support/shared.ts'
import {
  enter,
  entered,
  freshAddress,
  freshEmail,
  newCustomer,
  newDeveloper,
  newMerchant,
  refusal,
  sessionOf,
} from './persons.ts'

const access = await shared(openAccess())
const { services } = access

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const kinds: readonly SessionKind[] = ['developer', 'merchant', 'customer']

function pass(ms: number): void {
  access.clock.ms += ms
}

/** The token of somebody new of that kind. */
async function tokenOf(kind: SessionKind): Promise<string> {
  if (kind === 'developer') return (await enter(services, { kind, email: (await newDeveloper(services)).email })).token
  const { email, store } = await newMerchant(services)
  if (kind === 'merchant') return (await enter(services, { kind, email })).token
  return (await enteredCustomer(store.id)).token
}

async function enteredCustomer(storeId: number) {
  const customerId = await newCustomer(services, storeId)
  const caller = await operatorCaller(services, storeId)
  const options = { customerId, minutes: 5 }
  const { token } = await issueCustomerToken({ ...services, publicUrl: 'http://localhost:3000' }, caller, options)
  const client = { address: freshAddress(), userAgent: 'a browser' }
  return { customerId, ...(await redeemCustomerToken(services, token, client)) }
}

function isLive(kind: SessionKind, token: string): Promise<boolean> {
  return findSession(services, kind, token).then((session) => session !== null)
}

const actor: Actor = { kind: 'developer', name: 'a@people.example', address: '198.51.100.1' }

describe('a session is found', () => {
  test.each(kinds)('by the token of a %s as that kind alone', async (kind) => {
    const token = await tokenOf(kind)

    for (const each of kinds) expect([each, await isLive(each, token)]).toEqual([each, each === kind])
  })

  test('by no other text', async () => {
    const token = await tokenOf('developer')
    const { tokenHash } = await services.db.session.findFirstOrThrow({ orderBy: { id: 'desc' } })

    const like = [token.slice(1), token.toUpperCase(), `${token} `]
    for (const text of ['', tokenHash, ...like, 'x'.repeat(100_000), 'zero\0']) {
      expect(await findSession(services, 'developer', text)).toBeNull()
    }
  })

  test('with the customer, whom the store may disable at any time', async () => {
    const { store } = await newMerchant(services)
    const { customerId, token } = await enteredCustomer(store.id)
    const { name, secureUrl, currency, timeZone } = store
    expect((await sessionOf(services, 'customer', token)).person).toEqual({
      kind: 'customer',
      id: customerId,
      email: `ada-${customerId}@customers.example`,
      name: 'Ada Lovelace',
      store: { id: store.id, name, secureUrl, currency, timeZone, country: '', orderMails: [] },
    })

    await services.db.customer.updateMany({ where: { storeId: store.id, id: customerId }, data: { enabled: false } })
    expect(await isLive('customer', token)).toBe(false)
  })

  test('not after its account is gone', async () => {
    const { email, id } = await newDeveloper(services)
    const { token } = await entered(services, { kind: 'developer', email })
    await services.db.developer.delete({ where: { id } })

    expect(await isLive('developer', token)).toBe(false)
  })
})

describe.each([
  { kind: 'developer' as const, idleHours: 12, wholeHours: 7 * 24 },
  { kind: 'merchant' as const, idleHours: 12, wholeHours: 7 * 24 },
  { kind: 'customer' as const, idleHours: 1, wholeHours: 12 },
])('the session of a $kind', ({ kind, idleHours, wholeHours }) => {
  test(`ends after ${idleHours} h without a request`, async () => {
    const token = await tokenOf(kind)
    pass(idleHours * HOUR_MS - 1)
    expect(await isLive(kind, token)).toBe(true)
    pass(idleHours * HOUR_MS - 1)
    expect(await isLive(kind, token)).toBe(true)
    pass(idleHours * HOUR_MS)
    expect(await isLive(kind, token)).toBe(false)
  })

  test(`ends after ${wholeHours} h, whatever happens in it`, async () => {
    const token = await tokenOf(kind)
    const endsAt = access.clock.ms + wholeHours * HOUR_MS
    const step = (idleHours * HOUR_MS) / 2
    while (access.clock.ms + step < endsAt) {
      pass(step)
      expect(await isLive(kind, token)).toBe(true)
    }
    access.clock.ms = endsAt - 1
    expect(await isLive(kind, token)).toBe(true)
    access.clock.ms = endsAt
    expect(await isLive(kind, token)).toBe(false)
  })
})

test('a request is noted once a minute', async () => {
  const { token, session } = await entered(services, { kind: 'developer', email: (await newDeveloper(services)).email })
  const startMs = access.clock.ms
  const seen = async () => {
    await Promise.all(Array.from({ length: 5 }, () => findSession(services, 'developer', token)))
    const { seenAt } = await services.db.session.findUniqueOrThrow({ where: { id: session.id } })
    return seenAt.getTime() - startMs
  }
  pass(MINUTE_MS - 1)
  expect(await seen()).toBe(0)
  pass(1)
  expect(await seen()).toBe(MINUTE_MS)
  pass(MINUTE_MS - 1)
  expect(await seen()).toBe(MINUTE_MS)
})

describe('an account has 50 sessions at most', () => {
  test('a further one ends the oldest', async () => {
    const { id, email } = await newDeveloper(services)
    const first = await enter(services, { kind: 'developer', email })
    const second = await enter(services, { kind: 'developer', email })
    for (let count = 0; count < 49; count++) await enter(services, { kind: 'developer', email })

    expect(await services.db.session.count({ where: { developerId: id } })).toBe(50)
    expect(await isLive('developer', first.token)).toBe(false)
    expect(await isLive('developer', second.token)).toBe(true)
  })

  test('also of those that come at once, and in stores whose accounts are open together', async () => {
    const email = freshEmail()
    const first = await newMerchant(services, { Email: email })
    const second = await newMerchant(services, { Email: email })
    for (let round = 0; round < 12; round++) {
      await Promise.all(
        Array.from({ length: 5 }, (_, index) =>
          enter(services, { kind: 'merchant', email, ...(index === 0 && { store: second.store.secureUrl }) }),
        ),
      )
    }

    const ofSecond = { OR: [{ storeUserId: second.id }, { otherUserIds: { has: second.id } }] }
    expect(await services.db.session.count({ where: ofSecond })).toBe(50)
    expect(await services.db.session.count({ where: { storeUserId: first.id } })).toBeLessThanOrEqual(50)
  })
})

test('sessions that ended by themselves are swept', async () => {
  const { id, email } = await newDeveloper(services)
  const at = services.now()
  await services.db.session.deleteMany()
  await services.db.session.createMany({
    data: Array.from({ length: 150 }, (_, index) => ({
      tokenHash: `ended ${index}`,
      developerId: id,
      createdAt: at,
      provedAt: at,
      seenAt: at,
      expiresAt: at,
      address: '',
      userAgent: '',
    })),
  })
  await enter(services, { kind: 'developer', email })
  await sweepsByAge(services, { historyDays: null })['old sessions'](() => false)
  expect(await services.db.session.count()).toBe(1)
})

test('of browser and address no more is kept than can be shown', async () => {
  const { email } = await newDeveloper(services)
  const { session } = await entered(services, {
    kind: 'developer',
    email,
    userAgent: `zero\0\r\n${'x'.repeat(192)}\u{1F600}`,
  })
  const [listed] = await listSessions(services, session)
  expect(listed?.userAgent).toBe(`zero   ${'x'.repeat(192)}\uFFFD`)

  const unnamed = await entered(services, { kind: 'developer', email, userAgent: undefined })
  expect((await listSessions(services, unnamed.session)).find(({ isThis }) => isThis)).toMatchObject({ userAgent: '' })
})

describe('a person’s sessions', () => {
  test('are listed, the one used last first, without those that have ended', async () => {
    const { email } = await newDeveloper(services)
    await enter(services, { kind: 'developer', email })
    pass(6 * HOUR_MS)
    const address = freshAddress()
    const earlier = await entered(services, { kind: 'developer', email, address, userAgent: 'Firefox' })
    await enter(services, { kind: 'developer', email: (await newDeveloper(services)).email })
    pass(6 * HOUR_MS)
    const { session } = await entered(services, { kind: 'developer', email })

    const listed = await listSessions(services, session)
    expect(listed).toMatchObject([
      { id: session.id, isThis: true },
      { id: earlier.session.id, isThis: false, address, userAgent: 'Firefox', createdAt: earlier.session.createdAt },
    ])
    expect(listed[0]).not.toHaveProperty('tokenHash')
  })

  test('are ended all at once but this one, and nobody else’s', async () => {
    const { id, email } = await newDeveloper(services)
    const { token, session } = await entered(services, { kind: 'developer', email })
    const others = [
      await enter(services, { kind: 'developer', email }),
      await enter(services, { kind: 'developer', email }),
    ]
    const stranger = await tokenOf('developer')

    expect(await endOtherSessions(services, session, actor)).toBe(2)
    for (const other of others) expect(await isLive('developer', other.token)).toBe(false)
    for (const kept of [token, stranger]) expect(await isLive('developer', kept)).toBe(true)
    const entry = { action: 'account.sessions-ended', developerId: id }
    expect(await services.db.auditEntry.findMany({ where: entry })).toMatchObject([
      { actor: actor.name, target: email, details: { sessions: 2 } },
    ])
    expect(await endOtherSessions(services, session, actor)).toBe(0)
    expect(await services.db.auditEntry.count({ where: entry })).toBe(1)
  })
})

describe('a merchant of several stores', () => {
  async function merchantOfTwo() {
    const email = freshEmail()
    const first = await newMerchant(services, { Email: email })
    const second = await newMerchant(services, { Email: email })
    return { email, first, second }
  }

  test('and a double click changes once', async () => {
    const { email, first, second } = await merchantOfTwo()
    const { token, session } = await entered(services, { kind: 'merchant', email })
    await Promise.all(Array.from({ length: 5 }, () => changeStore(services, session, second.id)))

    expect((await sessionOf(services, 'merchant', token)).person).toMatchObject({
      id: second.id,
      others: [{ userId: first.id }],
    })
  })

  test('does not get to a store whose password was not given', async () => {
    const { email, second } = await merchantOfTwo()
    const stranger = await newMerchant(services)
    const { token, session } = await entered(services, { kind: 'merchant', email, store: second.store.secureUrl })

    for (const userId of [stranger.id, 999_999]) {
      expect(await refusal(changeStore(services, session, userId))).toMatchObject({ code: 'not-found' })
    }
    const namesake = await services.db.storeUser.findFirstOrThrow({ where: { email, id: { not: second.id } } })
    expect(await refusal(changeStore(services, session, namesake.id))).toMatchObject({ code: 'not-found' })
    expect((await sessionOf(services, 'merchant', token)).person).toEqual(session.person)
  })

  test('sees and ends, from either, every session in which the account is open', async () => {
    const { email, second } = await merchantOfTwo()
    const both = await entered(services, { kind: 'merchant', email })
    const { session } = await entered(services, { kind: 'merchant', email, store: second.store.secureUrl })

    expect((await listSessions(services, session)).map(({ id }) => id)).toEqual([session.id, both.session.id])
    expect(await listSessions(services, both.session)).toHaveLength(1)
    const merchant: Actor = { ...actor, kind: 'merchant' }
    await endOtherSessions(services, session, merchant)
    expect(await isLive('merchant', both.token)).toBe(false)
    const entry = { action: 'account.sessions-ended', storeId: second.store.id }
    expect(await services.db.auditEntry.count({ where: entry })).toBe(1)
  })

  test('keeps the session when another store closes its account', async () => {
    const { email, second } = await merchantOfTwo()
    const { token } = await entered(services, { kind: 'merchant', email })
    await services.db.storeUser.delete({ where: { id: second.id } })

    expect((await sessionOf(services, 'merchant', token)).person).toMatchObject({ others: [] })
  })
})
