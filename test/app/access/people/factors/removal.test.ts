import { describe, expect, test } from 'vitest'
import { cancelFactorRemoval, requestFactorRemoval } from '../../../../../src/access/people/factors/removal.ts'
import { sweepsByAge } from '../../../../../src/parts/retention.ts'
import { operator } from '../../../../support/actors.ts'
import { sharedServer } from '../../../../support/store.ts'
import { newAppOwner, newOwner, signInByProgram } from './fixture.ts'

const DAY_MS = 24 * 3_600_000

const server = await sharedServer({ SANDBOX: 'yes' })

function identityOf({ account }: { account: { Email: string } }) {
  return server.services.db.identity.findFirstOrThrow({
    where: { email: account.Email },
    include: { recoveryCodes: true, passkeys: true },
  })
}

async function actionsOf(storeId: number) {
  const where = { storeId, action: { startsWith: 'factor.' } }
  const rows = await server.services.db.auditEntry.findMany({ where, orderBy: { id: 'asc' } })
  return rows.map(({ action }) => action)
}

const kindsTo = async (recipient: string) =>
  (await server.services.db.mail.findMany({ where: { recipient }, orderBy: { id: 'asc' } })).map(({ kind }) => kind)

describe('a removal by the operator', () => {
  test('takes effect after 24 hours: then the password alone signs in, and the factors are gone', async () => {
    const owner = await newAppOwner(server)
    const { id } = await identityOf(owner)
    const endsAt = await requestFactorRemoval(server.services, id, operator)
    expect(endsAt.getTime()).toBe(server.clock.ms + DAY_MS)
    expect(await kindsTo(owner.account.Email)).toContain('factor-ending')
    server.clock.ms += DAY_MS - 1
    expect((await signInByProgram(server, owner.account)).statusCode).toBe(401)
    // Asked for again, it ends no later.
    expect(await requestFactorRemoval(server.services, id, operator)).toEqual(endsAt)
    server.clock.ms += 1
    expect((await signInByProgram(server, owner.account)).statusCode).toBe(200)
    expect(await identityOf(owner)).toMatchObject({
      totpSealed: null,
      totpSince: null,
      factorsEndAt: null,
      recoveryCodes: [],
      passkeys: [],
    })
    expect(await actionsOf(owner.shop.store.id)).toEqual([
      'factor.authenticator-added',
      'factor.removal-requested',
      'factor.all-removed',
    ])
  })

  test.each(['app', 'recovery code'])('is cancelled by a sign-in with the %s', async (way) => {
    const owner = await newAppOwner(server)
    const { id } = await identityOf(owner)
    await requestFactorRemoval(server.services, id, operator)
    const Code = way === 'app' ? owner.code() : owner.recoveryCodes[0]
    expect((await signInByProgram(server, { ...owner.account, Code })).statusCode).toBe(200)
    server.clock.ms += DAY_MS
    expect((await signInByProgram(server, owner.account)).statusCode).toBe(401)
    expect(await actionsOf(owner.shop.store.id)).toContain('factor.removal-cancelled')
  })

  test('is cancelled by the operator', async () => {
    const owner = await newAppOwner(server)
    const { id } = await identityOf(owner)
    await requestFactorRemoval(server.services, id, operator)
    expect(await cancelFactorRemoval(server.services, id, operator)).toBe(true)
    expect(await cancelFactorRemoval(server.services, id, operator)).toBe(false)
    server.clock.ms += DAY_MS
    expect((await signInByProgram(server, owner.account)).statusCode).toBe(401)
  })

  test('is finished by the sweep where nobody signs in', async () => {
    const owner = await newAppOwner(server)
    const { id } = await identityOf(owner)
    await requestFactorRemoval(server.services, id, operator)
    const sweep = sweepsByAge(server.services, server.services.config)['second factors that were removed']
    await sweep(() => false)
    expect((await identityOf(owner)).totpSince).not.toBeNull()
    server.clock.ms += DAY_MS
    await sweep(() => false)
    expect(await identityOf(owner)).toMatchObject({ totpSince: null, recoveryCodes: [] })
  })

  test('counts at once for somebody who is signed in: there is none to see, and another can be set up', async () => {
    const owner = await newAppOwner(server)
    const { id } = await identityOf(owner)
    await requestFactorRemoval(server.services, id, operator)
    server.clock.ms += DAY_MS
    await server.services.db.session.updateMany({
      data: { provedAt: new Date(server.clock.ms), seenAt: new Date(server.clock.ms) },
    })
    const factors = '/admin/account/factors'
    expect((await owner.person.call('GET', factors)).json()).toMatchObject({
      AuthenticatorSince: null,
      RecoveryCodes: 0,
    })
    expect((await owner.person.call('POST', `${factors}/authenticator`)).statusCode).toBe(200)
  })

  test('is refused for somebody without a factor, and for nobody', async () => {
    const { id } = await identityOf(await newOwner(server))
    await expect(requestFactorRemoval(server.services, id, operator)).rejects.toMatchObject({ status: 409 })
    await expect(requestFactorRemoval(server.services, 2_000_000_000, operator)).rejects.toMatchObject({
      code: 'not-found',
    })
    await expect(cancelFactorRemoval(server.services, 2_000_000_000, operator)).rejects.toMatchObject({
      code: 'not-found',
    })
  })
})

describe('mails', () => {
  test('tell of a browser that is new to the account, and of none that has been used before', async () => {
    const { account, person } = await newOwner(server)
    expect(await kindsTo(account.Email)).toEqual(['new-browser'])
    person.cookies.delete('merchant')
    expect((await person.submit('/admin/sign-in', account)).statusCode).toBe(303)
    expect(await kindsTo(account.Email)).toEqual(['new-browser'])
    await signInByProgram(server, account)
    expect(await kindsTo(account.Email)).toEqual(['new-browser', 'new-browser'])
  })

  test('tell of every change of second factors, and beyond their bound nobody is kept from signing in', async () => {
    const { account, person, code } = await newAppOwner(server)
    await person.call('POST', '/admin/account/factors/codes')
    await person.call('POST', '/admin/account/factors/authenticator/remove')
    expect(await kindsTo(account.Email)).toEqual(['new-browser', 'factor-changed', 'factor-changed', 'factor-changed'])
    for (let count = 0; count < 4; count++) {
      expect((await signInByProgram(server, { ...account, Code: code() })).statusCode).toBe(200)
    }
    expect(await kindsTo(account.Email)).toHaveLength(5)
  })
})
