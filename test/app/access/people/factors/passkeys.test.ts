import { describe, expect, test } from 'vitest'
import { testPerson } from '../../../../support/person.ts'
import { refused } from '../../../../support/refused.ts'
import { ofTest } from '../../../../support/shared.ts'
import { openServer, sharedServer } from '../../../../support/store.ts'
import { newOwner } from './fixture.ts'

// What needs no device; the rest is in test/load/browser/people.test.ts.

const passkeys = '/admin/account/factors/passkeys'

const server = await sharedServer()

let serial = 0

/** An owner with passkeys of devices that nobody has. */
async function withPasskeys(count: number) {
  const owner = await newOwner(server)
  const { db } = server.services
  const { id: identityId } = await db.identity.findFirstOrThrow({ where: { email: owner.account.Email } })
  const createdAt = new Date(server.clock.ms)
  await db.passkey.createMany({
    data: Array.from({ length: count }, () => {
      const credentialId = `credential-${++serial}`
      return { identityId, credentialId, publicKey: Buffer.from('key'), counter: 0, name: credentialId, createdAt }
    }),
  })
  await db.identity.update({ where: { id: identityId }, data: { passkeySince: createdAt } })
  const ids = (await db.passkey.findMany({ where: { identityId }, orderBy: { id: 'asc' } })).map(({ id }) => id)
  return { ...owner, identityId, ids }
}

/** What a browser would send, signed by nobody. */
function forged(challenge: string, credentialId: string) {
  const clientData = { type: 'webauthn.get', challenge, origin: 'http://localhost:3000', crossOrigin: false }
  const encoded = (text: string) => Buffer.from(text).toString('base64url')
  return {
    id: credentialId,
    rawId: credentialId,
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: encoded(JSON.stringify(clientData)),
      authenticatorData: encoded('x'.repeat(37)),
      signature: encoded('x'.repeat(64)),
    },
  }
}

describe('passkeys', () => {
  test('of somebody else are not removed', async () => {
    const own = await withPasskeys(1)
    const other = await withPasskeys(1)
    for (const Passkey of [other.ids[0], 999_999]) {
      const answer = await own.person.call('POST', `${passkeys}/remove`, { Passkey })
      expect(refused(answer)).toMatchObject({ statusCode: 404, field: 'Passkey' })
    }
    expect(await server.services.db.passkey.count({ where: { identityId: other.identityId } })).toBe(1)
  })

  test('are a second factor until the last is removed', async () => {
    const { person, account, ids } = await withPasskeys(2)
    const signIn = async () => (await testPerson(server.app).call('POST', '/admin/sign-in', account)).statusCode
    expect(await signIn()).toBe(401)
    expect((await person.call('POST', `${passkeys}/remove`, { Passkey: ids[0] })).statusCode).toBe(204)
    expect(await signIn()).toBe(401)
    expect((await person.call('POST', `${passkeys}/remove`, { Passkey: ids[1] })).statusCode).toBe(204)
    expect(await signIn()).toBe(200)
  })

  test('are ten at most', async () => {
    const { person } = await withPasskeys(10)
    expect(refused(await person.call('POST', `${passkeys}/options`))).toMatchObject({ statusCode: 409 })
  })

  test('are refused to the script of a page in the language of its reader, and to programs in English', async () => {
    const { person } = await withPasskeys(10)
    const asked = async (language: string) => {
      const headers = { accept: 'application/json', 'accept-language': language }
      const sent = { action: `${passkeys}/remove`, to: `${passkeys}/options`, headers }
      return (await person.submit('/admin/account/factors', {}, sent)).json()[0].Message
    }
    const inEnglish = 'There are 10 passkeys already: remove one first'
    expect(await asked('de-DE')).toBe('Es gibt schon 10 Passkeys: Entfernen Sie zuerst einen')
    expect(await asked('en')).toBe(inEnglish)
    await server.services.db.identity.updateMany({ data: { locale: 'de-DE' } })
    expect((await person.call('POST', `${passkeys}/options`)).json()[0].Message).toBe(inEnglish)
    await server.services.db.identity.updateMany({ data: { locale: null } })
  })

  test('are asked for as the standard says: of this host, and known ones are not made again', async () => {
    const { person } = await withPasskeys(1)
    const options = (await person.call('POST', `${passkeys}/options`)).json()
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      attestation: 'none',
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      excludeCredentials: [{ id: `credential-${serial}` }],
    })
    const anyone = (await testPerson(server.app).call('POST', '/admin/sign-in/passkey/options')).json()
    expect(anyone).toMatchObject({ rpId: 'localhost', userVerification: 'required', allowCredentials: [] })
  })

  test('need a host name', async () => {
    const other = await ofTest(openServer({ PUBLIC_URL: 'https://192.0.2.7' }))
    const answer = await testPerson(other.app).call('POST', '/admin/sign-in/passkey/options')
    expect(answer.statusCode).toBe(403)
    const https = { host: '192.0.2.7', 'x-requested-with': 'a program', 'sec-fetch-site': 'same-origin' }
    const page = await other.app.inject({ url: '/admin/sign-in', headers: { ...https, accept: 'text/html' } })
    expect(page.body).not.toContain('data-passkey')
  })
})

describe('what no device has signed', () => {
  test.each([
    { Credential: undefined },
    { Credential: 'nonsense' },
    { Credential: '{}' },
    { Credential: { id: 'x\0', rawId: 'x', type: 'public-key', response: { clientDataJSON: 'x' } } },
    { Credential: { id: 'x', rawId: 'x', type: 'other', response: { clientDataJSON: 'x' } } },
  ])('is refused as no credential: $Credential', async (sent) => {
    const answer = await testPerson(server.app).call('POST', '/admin/sign-in/passkey', sent)
    expect(answer.statusCode, answer.body).toBe(400)
  })

  test('opens nothing, by whatever challenge, and uses the challenge up', async () => {
    const { person, identityId } = await withPasskeys(1)
    const stranger = testPerson(server.app)
    const ask = async () => (await stranger.call('POST', '/admin/sign-in/passkey/options')).json().challenge
    await server.services.db.challenge.deleteMany()
    const before = await server.services.db.session.count()
    const challenge = await ask()
    const tries = [
      forged('x'.repeat(43), `credential-${serial}`),
      forged(challenge, 'nobody'),
      forged(challenge, 'nobody'),
    ]
    for (const Credential of [...tries, forged(await ask(), `credential-${serial}`)]) {
      const answer = await stranger.call('POST', '/admin/sign-in/passkey', { Credential })
      expect(refused(answer)).toMatchObject({ statusCode: 401, message: expect.stringContaining('was not accepted') })
    }
    expect(await server.services.db.session.count()).toBe(before)
    expect(await server.services.db.challenge.count({ where: { purpose: 'passkey-sign-in' } })).toBe(0)
    const proof = await person.call('POST', '/admin/prove/passkey', {
      Credential: forged(challenge, `credential-${serial}`),
    })
    expect(proof.statusCode).toBe(401)
    const added = { Name: 'Mine', Credential: forged(challenge, 'new') }
    expect((await person.call('POST', passkeys, added)).statusCode).toBe(401)
    expect(await server.services.db.passkey.count({ where: { identityId } })).toBe(1)
  })

  test('a second factor by passkey needs a sign-in that waits', async () => {
    const stranger = testPerson(server.app)
    for (const address of ['/admin/sign-in/factor/passkey/options', '/admin/sign-in/factor/passkey']) {
      const answer = await stranger.call('POST', address, { Credential: forged('x'.repeat(43), 'nobody') })
      expect([address, answer.statusCode]).toEqual([address, 401])
    }
  })
})
