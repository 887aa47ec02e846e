import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registerApplication, updateApplication } from '../../src/access/applications.ts'
import { type Credentials, createAuthenticator, requireAccess } from '../../src/access/authenticate.ts'
import { subscribe, unsubscribe } from '../../src/access/subscriptions.ts'
import type { Db } from '../../src/database/client.ts'
import { StoreFailure } from '../../src/failure.ts'
import { newStore, openAccess, type Services, subscribed } from './fixture.ts'

let access: Awaited<ReturnType<typeof openAccess>>
let services: Services
let authenticate: (credentials: Credentials) => ReturnType<Services['authenticator']['authenticate']>

beforeAll(async () => {
  access = await openAccess()
  services = access.services
  authenticate = services.authenticator.authenticate
})
afterAll(() => access.drop())

async function refusal(credentials: Credentials): Promise<StoreFailure> {
  const failure = await authenticate(credentials).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(failure instanceof StoreFailure)) throw new Error('not refused', { cause: failure })
  return failure
}

/** Everything of a refusal that the caller sees. */
const visible = ({ kind, status, field, message }: StoreFailure) => ({ kind, status, field, message })

async function headers() {
  const { store, application, token, subscriptionId } = await subscribed(services)
  const credentials = { secureUrl: store.secureUrl, privateKey: application.privateKey, token }
  return { store, application, token, subscriptionId, credentials }
}

describe('the three headers', () => {
  test('name the store, the application and its bucket', async () => {
    const { store, application, credentials } = await headers()
    const { caller, throttle } = await authenticate(credentials)
    expect(caller).toMatchObject({
      store: {
        id: store.id,
        name: 'A shop',
        secureUrl: store.secureUrl,
        currency: 'USD',
        timeZone: 'America/New_York',
      },
      application: { id: application.id, name: application.name },
      privileges: null,
      actor: application.name,
    })
    expect(throttle).toEqual({ key: `${store.id}:${application.id}`, capacity: 50, leakPerSecond: 2 })
  })

  test('wrong in any way or absent, give one and the same 401, whose reason only the log has', async () => {
    const { credentials } = await headers()
    const other = (await headers()).credentials
    const wrong: Credentials[] = [
      { ...credentials, privateKey: '0'.repeat(32) },
      { ...credentials, privateKey: credentials.privateKey.toUpperCase() },
      { ...credentials, privateKey: other.privateKey },
      { ...credentials, token: '0'.repeat(32) },
      { ...credentials, token: other.token },
      { ...credentials, secureUrl: other.secureUrl },
      { ...credentials, secureUrl: `${credentials.secureUrl}.evil.example` },
      { ...credentials, secureUrl: 'https://' },
      { ...credentials, privateKey: undefined },
      { ...credentials, token: '' },
      { ...credentials, secureUrl: undefined },
      {},
      { authorization: 'Bearer' },
      { authorization: `Bearer ${'0'.repeat(32)}` },
      { authorization: `Basic ${credentials.token}` },
      { ...credentials, authorization: `Bearer ${'0'.repeat(32)}` },
      { authorization: `Bearer ${credentials.token}`, privateKey: other.privateKey },
      { authorization: `Bearer ${credentials.token}`, secureUrl: other.secureUrl },
    ]
    const failures = await Promise.all(wrong.map(refusal))
    const expected = {
      kind: 'unauthorized',
      status: 401,
      field: '',
      message: 'Authentication failed: PrivateKey, Token and SecureURL must be valid together',
    }
    for (const failure of failures) expect(visible(failure)).toEqual(expected)
    expect(new Set(failures.map(({ logDetail }) => logDetail)).size).toBeGreaterThan(3)
    const secret = Object.values(credentials)
    for (const { logDetail } of failures) for (const text of secret) expect(logDetail).not.toContain(text)
  })

  test('a wrong private key is refused right after the right one was accepted', async () => {
    const { credentials } = await headers()
    await authenticate(credentials)
    expect((await refusal({ ...credentials, privateKey: '0'.repeat(32) })).status).toBe(401)
    expect((await refusal({ ...credentials, secureUrl: 'https://other.example' })).status).toBe(401)
  })

  test.each([
    ['with a slash', (host: string) => `https://${host}/`],
    ['without scheme', (host: string) => host],
    ['with www.', (host: string) => `https://www.${host}`],
    ['with a port', (host: string) => `https://${host}:443`],
    ['with a path', (host: string) => `http://${host}/store/default.asp?a=1`],
    ['in upper case', (host: string) => `HTTPS://WWW.${host.toUpperCase()}/`],
    ['with a trailing dot and blanks', (host: string) => `  ${host}. `],
  ])('SecureURL fits %s', async (_, written) => {
    const { store, credentials } = await headers()
    const host = store.secureUrl.replace('https://', '')
    const { caller } = await authenticate({ ...credentials, secureUrl: written(host) })
    expect(caller.store.id).toBe(store.id)
  })

  test('SecureURL fits without the www. that the store was opened with', async () => {
    const store = await newStore(services, { SecureURL: 'https://www.opened-with-www.example/' })
    const { application } = await subscribed(services)
    const { token } = await subscribe(services, { storeId: store.id, publicKey: application.publicKey })
    const { caller } = await authenticate({
      secureUrl: 'opened-with-www.example',
      privateKey: application.privateKey,
      token,
    })
    expect(caller.store).toMatchObject({ id: store.id, secureUrl: 'https://www.opened-with-www.example' })
  })
})

describe('a Bearer token', () => {
  test('alone names application and store', async () => {
    const { store, application, token } = await headers()
    const { caller } = await authenticate({ authorization: `Bearer ${token}` })
    expect(caller).toMatchObject({ store: { id: store.id }, application: { id: application.id } })
  })

  test('may come with the three headers, and then is the one that counts', async () => {
    const { store, credentials } = await headers()
    const both = { ...credentials, token: 'an older one', authorization: `bearer ${credentials.token}` }
    expect((await authenticate(both)).caller.store.id).toBe(store.id)
  })

  test('in an Authorization header that holds none leaves it to the three headers', async () => {
    const { store, credentials } = await headers()
    expect((await authenticate({ ...credentials, authorization: 'Basic abc' })).caller.store.id).toBe(store.id)
  })
})

describe('a caller that was found', () => {
  test('is believed for five seconds without a statement, and looked for again after them', async () => {
    const { credentials, subscriptionId } = await headers()
    await authenticate(credentials)
    await services.db.subscription.delete({ where: { id: subscriptionId } })
    access.clock.ms += 5000
    await authenticate(credentials)
    access.clock.ms += 1
    expect((await refusal(credentials)).logDetail).toContain('no subscription')
  })

  test('is not believed after an invalidation', async () => {
    const { credentials, subscriptionId } = await headers()
    await authenticate(credentials)
    await services.db.subscription.delete({ where: { id: subscriptionId } })
    services.authenticator.invalidate()
    expect((await refusal(credentials)).status).toBe(401)
  })

  test('a token that was refused works as soon as it exists', async () => {
    const store = await newStore(services)
    const { application } = await subscribed(services)
    const credentials = { secureUrl: store.secureUrl, privateKey: application.privateKey }
    await refusal({ ...credentials, token: '0'.repeat(32) })
    const { token } = await subscribe(services, { storeId: store.id, publicKey: application.publicKey })
    await services.db.subscription.updateMany({
      where: { tokenHash: services.secrets.lookup(token) },
      data: { tokenHash: services.secrets.lookup('0'.repeat(32)) },
    })
    expect((await authenticate({ ...credentials, token: '0'.repeat(32) })).caller.store.id).toBe(store.id)
  })
})

describe('a revoked subscription', () => {
  test('is refused by every way of calling as soon as unsubscribe is done', async () => {
    const { store, credentials, token, subscriptionId } = await headers()
    await authenticate(credentials)
    await authenticate({ authorization: `Bearer ${token}` })
    await unsubscribe(services, { storeId: store.id, subscriptionId })
    expect((await refusal(credentials)).status).toBe(401)
    expect((await refusal({ authorization: `Bearer ${token}` })).status).toBe(401)
  })

  test('is refused after a look-up that was under way while it was revoked', async () => {
    const { store, credentials, subscriptionId } = await headers()
    const { db, read, answer } = pausing(services.db)
    const authenticator = createAuthenticator({ ...services, db })
    const underWay = authenticator.authenticate(credentials)
    await read
    await unsubscribe({ ...services, authenticator }, { storeId: store.id, subscriptionId })
    answer()
    await underWay
    await expect(authenticator.authenticate(credentials)).rejects.toMatchObject({ status: 401 })
  })
})

/** The client itself, but its first raw query holds its answer back, once it `read` the rows, until `answer` is called. */
function pausing(db: Db) {
  const rowsRead = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const queryRaw = async (...query: Parameters<Db['$queryRaw']>) => {
    const rows = await db.$queryRaw(...query)
    rowsRead.resolve()
    await gate.promise
    return rows
  }
  const paused = new Proxy(db, {
    get: (target, name) => (name === '$queryRaw' ? queryRaw : Reflect.get(target, name)),
  })
  return { db: paused, read: rowsRead.promise, answer: gate.resolve }
}

describe('an application', () => {
  test('that lacks the privilege is refused with 401, per service and for reading and writing apart', async () => {
    const store = await newStore(services)
    const application = await registerApplication(services, {
      Name: 'Reads products',
      Privileges: { Products: ['read'], Orders: [] },
    })
    const { token } = await subscribe(services, { storeId: store.id, publicKey: application.publicKey })
    const { caller } = await authenticate({ authorization: `Bearer ${token}` })
    requireAccess(caller, 'Products', 'read')
    for (const [service, right] of [
      ['Products', 'write'],
      ['Orders', 'read'],
      ['CustomerGroups', 'read'],
    ] as const) {
      const message = `The application lacks the ${right} privilege for ${service}`
      const refused = expect.objectContaining({ status: 401, field: service, message })
      expect(() => requireAccess(caller, service, right)).toThrow(refused)
    }
  })

  test('without listed privileges may do everything', async () => {
    const { credentials } = await headers()
    const { caller } = await authenticate(credentials)
    requireAccess(caller, 'Products', 'write')
    requireAccess(caller, 'Orders', 'read')
  })

  test('is held to changed privileges and figures at once', async () => {
    const { application, credentials } = await headers()
    await authenticate(credentials)
    const changes = { Privileges: { Orders: ['read'] }, Throttle: { Capacity: 500, LeakPerSecond: 0.125 } }
    await updateApplication(services, application.id, changes)
    const { caller, throttle } = await authenticate(credentials)
    expect(caller.privileges).toEqual({ Orders: ['read'] })
    expect(throttle).toMatchObject({ capacity: 500, leakPerSecond: 0.125 })
  })

  test('is recorded as the last editor with the first 50 characters of its name, none cut in half', async () => {
    const store = await newStore(services)
    const application = await registerApplication(services, { Name: `${'x'.repeat(49)}🛒 and more` })
    const { token } = await subscribe(services, { storeId: store.id, publicKey: application.publicKey })
    const { caller } = await authenticate({ authorization: `Bearer ${token}` })
    expect(caller.actor).toBe('x'.repeat(49))
  })
})
