import { describe, expect, test } from 'vitest'
import type { Actor } from '../../../../src/access/audit/audit.ts'
import { changePassword, setDeveloperPassword, signUpDeveloper } from '../../../../src/access/people/accounts.ts'
import { verifyPassword } from '../../../../src/access/people/passwords.ts'
import { findSession, type Session } from '../../../../src/access/people/sessions.ts'
import { StoreFailure } from '../../../../src/foundation/values/failure.ts'
import { addMember, listMembers } from '../../../../src/shop/staff/members.ts'
import { openAccess } from '../../../support/access.ts'
import { shared } from '../../../support/shared.ts'
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
  sessionOf,
} from './persons.ts'

const access = await shared(openAccess())
const { services } = access

const chosen = 'a password of my own'

function isLive(kind: 'developer' | 'merchant', token: string): Promise<boolean> {
  return findSession(services, kind, token).then((session) => session !== null)
}

function signUp(input: unknown, address = freshAddress(), developerSignup: 'open' | 'closed' = 'open') {
  return signUpDeveloper({ ...services, config: { developerSignup } }, input, { address, userAgent: 'a browser' })
}

describe('signing up', () => {
  test('opens the account and a session of it, and the log tells so', async () => {
    const email = freshEmail()
    const address = freshAddress()
    const { token } = await signUp({ Email: ` ${email} `, Password: chosen }, address)
    const { person } = await sessionOf(services, 'developer', token)

    expect(person).toMatchObject({ kind: 'developer', email })
    expect(await services.db.auditEntry.findMany({ where: { developerId: person.id } })).toMatchObject([
      { action: 'account.created', actorKind: 'developer', actor: email, target: email, address },
    ])
    await enter(services, { kind: 'developer', email, password: chosen })
  })

  test.each<[string, Record<string, unknown>]>([
    ['Email', { Email: 'no address' }],
    ['Email', { Email: `${'x'.repeat(250)}@people.example` }],
    ['Email', { Email: 'zero\0@people.example' }],
    ['Password', { Password: 'x'.repeat(11) }],
    ['Password', { Password: '\u{1F600}'.repeat(11) }],
    ['Password', { Password: 'x'.repeat(1001) }],
    ['Password', { Password: undefined }],
    ['Password', { Email: 'Long.Name@people.example', Password: ' long.name@PEOPLE.example' }],
    ['Name', { Name: 'Ada' }],
  ])('refuses a bad %s, without repeating it where it is secret', async (field, changes) => {
    const failure = await refusal(signUp({ Email: 'new@people.example', Password: chosen, ...changes }))

    expect(failure).toMatchObject({ status: 400, field, faults: [{ field: expect.any(String) }] })
    if (field === 'Password') expect(failure.message).not.toContain(String(changes.Password))
  })

  test('takes twelve characters, whatever their length in bytes', async () => {
    await signUp({ Email: freshEmail(), Password: '\u{1F600}'.repeat(12) })
  })

  test('with a taken address counts as a failed sign-in of account and network', async () => {
    const { email } = await newDeveloper(services)
    const address = freshAddress()
    for (let count = 0; count < 5; count++) {
      expect(await refusal(signUp({ Email: email, Password: chosen }, address))).toMatchObject({ status: 409 })
    }
    const late = { status: 429, retryAfterSeconds: 1 }
    expect(await refusal(signUp({ Email: email, Password: chosen }))).toMatchObject(late)
    expect(await refusal(enter(services, { kind: 'developer', email }))).toMatchObject({ status: 429 })
    for (let count = 0; count < 15; count++) {
      const guess = enter(services, { kind: 'developer', email: freshEmail(), address })
      expect(await refusal(guess)).toMatchObject({ status: 401 })
    }
    const more = enter(services, { kind: 'developer', email: freshEmail(), address })
    expect(await refusal(more)).toMatchObject({ status: 429 })
  })

  test('of ten at once with one address opens one account', async () => {
    const email = freshEmail()
    const signingUp = Array.from({ length: 10 }, () => signUp({ Email: email, Password: chosen }))
    const outcomes = await Promise.allSettled(signingUp)

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StoreFailure)
    }
    expect(await services.db.developer.count({ where: { email } })).toBe(1)
  })

  test('twenty times from one network is free, and then delayed, without delaying who signs in there', async () => {
    const address = freshAddress()
    for (let count = 0; count < 20; count++) await signUp({ Email: freshEmail(), Password: chosen }, address)

    const email = freshEmail()
    expect(await refusal(signUp({ Email: email, Password: chosen }, address))).toMatchObject({ retryAfterSeconds: 1 })
    expect(await services.db.developer.count({ where: { email } })).toBe(0)
    const { email: known } = await newDeveloper(services)
    await enter(services, { kind: 'developer', email: known, address })
  })
})

describe('changing the password', () => {
  const change = { CurrentPassword: password, NewPassword: chosen }

  function actorOf({ person }: Session): Actor {
    return { kind: person.kind as 'developer' | 'merchant', name: person.email, address: freshAddress() }
  }

  test.each(['developer', 'merchant'] as const)(
    'of a %s ends every other session, and counts at once',
    async (kind) => {
      const { id, email } = kind === 'developer' ? await newDeveloper(services) : await newMerchant(services)
      const { token, session } = await entered(services, { kind, email })
      const other = await enter(services, { kind, email })
      const actor = actorOf(session)
      await changePassword(services, session, change, { actor })

      expect([await isLive(kind, token), await isLive(kind, other.token)]).toEqual([true, false])
      expect(await refusal(enter(services, { kind, email }))).toMatchObject({ status: 401 })
      await enter(services, { kind, email, password: chosen })
      const { address } = actor
      const [entry, ...more] = await services.db.auditEntry.findMany({ where: { address } })
      expect(entry).toMatchObject({ action: 'account.password-changed', actorKind: kind, actor: email, target: email })
      expect(kind === 'developer' ? entry?.developerId === id : entry?.storeId !== null).toBe(true)
      expect(more).toEqual([])
    },
  )

  test('of a merchant of two stores changes that of the current one, and ends sessions in which it is open as another', async () => {
    const email = freshEmail()
    const first = await newMerchant(services, { Email: email })
    const second = await newMerchant(services, { Email: email })
    const both = await enter(services, { kind: 'merchant', email })
    const ofFirst = await enter(services, { kind: 'merchant', email, store: first.store.secureUrl })
    const { session } = await entered(services, { kind: 'merchant', email, store: second.store.secureUrl })
    await changePassword(services, session, change, { actor: actorOf(session) })

    expect(await isLive('merchant', both.token)).toBe(false)
    expect(await isLive('merchant', ofFirst.token)).toBe(true)
    await enter(services, { kind: 'merchant', email, store: first.store.secureUrl })
  })

  test('needs the current one, and guesses at it are delayed like sign-ins', async () => {
    const { email } = await newDeveloper(services)
    const { session } = await entered(services, { kind: 'developer', email })
    const wrong = { ...change, CurrentPassword: 'a guess of somebody' }
    const [field, problem] = ['CurrentPassword', 'is not the current password']
    const changing = (input: object) => changePassword(services, session, input, { actor: actorOf(session) })
    for (let count = 0; count < 5; count++) {
      expect(await refusal(changing(wrong))).toMatchObject({ status: 400, field, faults: [{ field, problem }] })
    }
    for (const input of [wrong, change]) expect(await refusal(changing(input))).toMatchObject({ status: 429 })
    expect(await refusal(enter(services, { kind: 'developer', email }))).toMatchObject({ status: 429 })
    access.clock.ms += 1000
    await changing(change)
    await enter(services, { kind: 'developer', email, password: chosen })
  })

  test('twice at once changes it once', async () => {
    const { id, email } = await newDeveloper(services)
    const { session } = await entered(services, { kind: 'developer', email })
    const changing = ['one', 'other'].map((name) => {
      const other = { ...change, NewPassword: `${chosen}, ${name}` }
      return changePassword(services, session, other, { actor: actorOf(session) })
    })
    const outcomes = await Promise.allSettled(changing)

    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const { passwordHash } = await services.db.identity.findFirstOrThrow({ where: { developers: { some: { id } } } })
    const winner = outcomes[0]?.status === 'fulfilled' ? 'one' : 'other'
    expect(await verifyPassword(passwordHash, `${chosen}, ${winner}`)).toBe(true)
  })
})

describe('the operator', () => {
  test('gives a developer another password: every session ends, and the delay with it', async () => {
    const { id, email } = await newDeveloper(services)
    const { token } = await enter(services, { kind: 'developer', email })
    for (let count = 0; count < 5; count++) {
      await refusal(enter(services, { kind: 'developer', email, password: 'a guess of somebody' }))
    }
    await setDeveloperPassword(services, id, { Password: 'a password to set' }, operator)

    expect(await isLive('developer', token)).toBe(false)
    await enter(services, { kind: 'developer', email, password: 'a password to set' })
    expect(await services.db.auditEntry.findMany({ where: { developerId: id, actorKind: 'operator' } })).toMatchObject([
      { action: 'account.created', target: email },
      { action: 'account.password-changed', target: email, actor: '', address: operator.address },
    ])
  })

  test('opens further accounts in a store, each with an address of its own', async () => {
    const { id, email, store } = await newMerchant(services)
    const added = await addMember(services, store.id, { Email: freshEmail(), Password: 'a password given' }, operator)
    const taken = addMember(services, store.id, { Email: email.toUpperCase(), Password: 'a password given' }, operator)

    expect(await refusal(taken)).toMatchObject({ status: 409, field: 'Email' })
    const listed = await listMembers(services, { storeId: store.id, limit: 10, offset: 0 })
    expect(listed).toEqual([{ id, email, role: 'owner', ownPrivileges: null, createdAt: services.now() }, added])
    const { session } = await entered(services, { kind: 'merchant', email: added.email, password: 'a password given' })
    expect(session.person).toMatchObject({ store: { id: store.id } })
  })
})
