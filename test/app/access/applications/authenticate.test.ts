import { describe, expect, test } from 'vitest'
import { registerApplication, updateApplication } from '../../../../src/access/applications/applications.ts'
import {
  type Credentials,
  createAuthenticator,
  RefusedSubscription,
} from '../../../../src/access/applications/authenticate.ts'
import { subscribe, unsubscribe } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import type { Db } from '../../../../src/foundation/database/client.ts'
import { Prisma } from '../../../../src/foundation/database/generated/client.ts'
import type { StoreFailure } from '../../../../src/foundation/values/failure.ts'
import { generateKey } from '../../../../src/foundation/values/secrets.ts'
import { newStore, openAccess, subscribed } from '../../../support/access.ts'
import { operator } from '../../../support/actors.ts'
import { shared } from '../../../support/shared.ts'
import { refusal as refusalOf } from '../people/persons.ts'

const access = await shared(openAccess())
const { services } = access
const authenticate = services.authenticator.authenticate

const refusal = (credentials: Credentials) => refusalOf(authenticate(credentials))

const unauthorized = { code: 'unauthorized', status: 401, field: '' }

/** Everything of a refusal that the caller sees. */
const visible = ({ code, status, field, message }: StoreFailure) => ({ code, status, field, message })

/** An OAuth access token of the subscription. */
async function accessToken(subscriptionId: number): Promise<string> {
  const token = generateKey()
  const { db, secrets, now } = services
  const stored = { tokenHash: secrets.lookup(token), tokenSealed: secrets.seal(token) }
  const data = { subscriptionId, ...stored, codeHash: secrets.lookup(generateKey()) }
  await db.accessToken.create({ data: { ...data, createdAt: now() } })
  return token
}

/** Gives the application another private key; the former one works for so long. */
async function rotate(id: number, formerMs: number): Promise<string> {
  const privateKey = generateKey()
  const { db, secrets, now, authenticator } = services
  const { privateKeyHash } = await db.application.findUniqueOrThrow({ where: { id } })
  await db.application.update({
    where: { id },
    data: {
      privateKeyHash: secrets.lookup(privateKey),
      previousPrivateKeyHash: privateKeyHash,
      previousPrivateKeyUntil: new Date(now().getTime() + formerMs),
    },
  })
  authenticator.invalidate()
  return privateKey
}

async function headers() {
  const { store, application, token, subscriptionId } = await subscribed(services)
  const credentials = { secureUrl: store.secureUrl, privateKey: application.privateKey, token }
  return { store, application, token, subscriptionId, credentials }
}

const use = ({ id: storeId }: { id: number }, { publicKey }: { publicKey: string }) =>
  subscribe(services, { storeId, publicKey, actor: operator })

describe('the three headers', () => {
  test('name the store, the application and its bucket', async () => {
    const { store, application, subscriptionId, credentials } = await headers()
    const { id, secureUrl } = store
    const { caller, throttle } = await authenticate(credentials)
    expect(caller).toMatchObject({
      store: { id, secureUrl, name: 'A shop', currency: 'USD', timeZone: 'America/New_York' },
      application: { id: application.id, name: application.name, subscriptionId },
      privileges: null,
      actor: application.name,
    })
    expect(throttle).toEqual({ key: `${store.id}:${application.id}`, capacity: 50, leakPerSecond: 2 })
  })

  test('wrong in any way, give one and the same 401, whose reason only the log has', async () => {
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
    ]
    const failures = await Promise.all(wrong.map(refusal))
    const message = 'Authentication failed: PrivateKey, Token and SecureURL must be valid together'
    for (const failure of failures) expect(visible(failure)).toEqual({ ...unauthorized, message })
    expect(new Set(failures.map(({ logDetail }) => logDetail)).size).toBeGreaterThanOrEqual(3)
    const secret = Object.values(credentials)
    for (const { logDetail } of failures) for (const text of secret) expect(logDetail).not.toContain(text)
  })

  test('a wrong private key is refused right after the right one was accepted', async () => {
    const { credentials } = await headers()
    await authenticate(credentials)
    expect((await refusal({ ...credentials, privateKey: '0'.repeat(32) })).status).toBe(401)
    expect((await refusal({ ...credentials, secureUrl: 'https://other.example' })).status).toBe(401)
  })

  test('SecureURL fits without the www. that the store was opened with', async () => {
    const store = await newStore(services, { SecureURL: 'https://www.opened-with-www.example/' })
    const { application } = await subscribed(services)
    const { token } = await use(store, application)
    const { privateKey } = application
    const { caller } = await authenticate({ secureUrl: 'opened-with-www.example', privateKey, token })
    expect(caller.store).toMatchObject({ id: store.id, secureUrl: 'https://www.opened-with-www.example' })
  })
})

describe('a Bearer token', () => {
  test('wrong in any way, gives one and the same 401, which does not tell whether the token exists', async () => {
    const { credentials, subscriptionId } = await headers()
    const other = (await headers()).credentials
    const { secureUrl, privateKey, token } = credentials
    const ofSubscription = `Bearer ${token}`
    const ofClient = `Bearer ${await accessToken(subscriptionId)}`
    const unknown = `Bearer ${generateKey()}`
    const wrong: Credentials[] = [
      { authorization: unknown },
      { ...credentials, token: generateKey(), authorization: unknown },
      { ...credentials, privateKey: other.privateKey, authorization: unknown },
      { ...credentials, secureUrl: other.secureUrl, authorization: unknown },
      { authorization: ofSubscription },
      { authorization: ofSubscription, privateKey },
      { authorization: ofSubscription, secureUrl },
      { authorization: ofSubscription, token },
      { authorization: ofSubscription, secureUrl, privateKey: other.privateKey },
      { authorization: ofSubscription, privateKey, secureUrl: other.secureUrl },
      { authorization: ofSubscription, privateKey, secureUrl: 'https://' },
      { authorization: ofClient, privateKey: other.privateKey },
      { authorization: ofClient, secureUrl: other.secureUrl },
      { authorization: ofClient, secureUrl: 'https://' },
    ]
    const failures = await Promise.all(wrong.map(refusal))
    const message = expect.stringMatching(/^Authentication failed: the Bearer token is not valid, or PrivateKey and/)
    for (const failure of failures) expect(visible(failure)).toEqual({ ...unauthorized, message })
    expect(new Set(failures.map((failure) => failure.message)).size).toBe(1)
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

describe('which headers a token needs beside it', () => {
  const carriers: Record<string, (token: string) => Credentials> = {
    'in Token': (token) => ({ token }),
    'as Bearer': (token) => ({ authorization: `Bearer ${token}` }),
    'in both': (token) => ({ token, authorization: `Bearer ${token}` }),
  }
  const besides: Record<string, (keys: Credentials) => Credentials> = {
    'with PrivateKey and SecureURL': (keys) => keys,
    'without PrivateKey': ({ secureUrl }) => ({ secureUrl }),
    'with an empty PrivateKey': ({ secureUrl }) => ({ secureUrl, privateKey: '' }),
    'without SecureURL': ({ privateKey }) => ({ privateKey }),
    'without both': () => ({}),
  }
  const ways = Object.keys(carriers).flatMap((carrier) => Object.keys(besides).map((beside) => [carrier, beside]))

  describe.each(['the current private key', 'the former one, while it works'])('%s', (which) => {
    test.each(ways)('%s, %s', async (carrier, beside) => {
      const { store, application, subscriptionId, credentials } = await headers()
      if (which !== 'the current private key') await rotate(application.id, 60_000)
      const { token, ...keys } = credentials
      const sent = (each: string) => ({ ...besides[beside]?.(keys), ...carriers[carrier]?.(each) })
      const found = { store: { id: store.id }, application: { id: application.id, subscriptionId } }
      const ofClient = await accessToken(subscriptionId)
      // Entries in the cache, which must not answer for a request that lacks a key.
      for (const each of [token, ofClient]) await authenticate({ ...keys, ...carriers[carrier]?.(each) })

      const { caller, throttle } = await authenticate(sent(ofClient))
      expect(caller).toMatchObject(found)
      expect(throttle.key).toBe(`${store.id}:${application.id}`)

      if (beside === 'with PrivateKey and SecureURL') {
        expect((await authenticate(sent(token))).caller).toMatchObject(found)
        return
      }
      const failure = await refusal(sent(token))
      expect(visible(failure)).toEqual(visible(await refusal(sent(generateKey()))))
      expect(failure).toBeInstanceOf(RefusedSubscription)
      expect(failure).toMatchObject({ subscriptionId, reason: expect.stringMatching(/without (PrivateKey|SecureURL)/) })
    })
  })
})

describe('an access token', () => {
  test('as Bearer counts before another token in Token', async () => {
    const { store, subscriptionId, credentials } = await headers()
    const authorization = `Bearer ${await accessToken(subscriptionId)}`
    const other = (await headers()).token
    for (const token of [credentials.token, other, 'none']) {
      expect((await authenticate({ ...credentials, token, authorization })).caller.store.id).toBe(store.id)
    }
  })

  test('is refused as soon as it is revoked, while the token of the subscription goes on working', async () => {
    const { store, subscriptionId, credentials } = await headers()
    const authorization = `Bearer ${await accessToken(subscriptionId)}`
    await authenticate({ authorization })
    await services.db.accessToken.deleteMany({ where: { subscriptionId } })
    services.authenticator.invalidate()
    expect((await refusal({ authorization })).logDetail).toContain('no subscription')
    expect((await authenticate(credentials)).caller.store.id).toBe(store.id)
  })

  test('ends with the subscription', async () => {
    const { store, subscriptionId } = await headers()
    const authorization = `Bearer ${await accessToken(subscriptionId)}`
    await authenticate({ authorization })
    await unsubscribe(services, { storeId: store.id, subscriptionId, actor: operator })
    expect((await refusal({ authorization })).status).toBe(401)
  })

  test('costs one statement, as every look-up does', async () => {
    const { subscriptionId } = await headers()
    const token = await accessToken(subscriptionId)
    const statements: unknown[] = []
    const db = new Proxy(services.db, {
      get: (target, name) => {
        if (name !== '$queryRaw') throw new Error(`Another way to the database: ${String(name)}`)
        return (...query: Parameters<Db['$queryRaw']>) => {
          statements.push(query)
          return target.$queryRaw(...query)
        }
      },
    })
    const authenticator = createAuthenticator({ ...services, db })
    await authenticator.authenticate({ authorization: `Bearer ${token}` })
    expect(statements).toHaveLength(1)
  })
})

describe('the private key before the last rotation', () => {
  test.each([1, 2, 1_000, 4_999, 5_000, 5_001, 7_000])(
    'is refused after its %i ms although the caller was found a moment before, and not earlier',
    async (formerMs) => {
      const { application, credentials } = await headers()
      await rotate(application.id, formerMs)
      for (const passed of [0, formerMs - 1]) {
        access.clock.ms += passed
        await authenticate(credentials)
      }
      access.clock.ms += 1
      expect((await refusal(credentials)).status).toBe(401)
    },
  )
})

describe('a refusal', () => {
  test('tells the server whose token it was, and what was wrong, when the token is a subscription’s', async () => {
    const { subscriptionId, credentials } = await headers()
    const other = (await headers()).credentials
    const token = await accessToken(subscriptionId)
    const wrongKey = 'the private key is not that of the application that the token is for'
    const wrongUrl = 'the secure URL is not that of the store that the token is for'
    for (const [wrong, reason] of [
      [{ ...credentials, privateKey: other.privateKey }, wrongKey],
      [{ ...credentials, secureUrl: other.secureUrl }, wrongUrl],
      [{ ...credentials, token, secureUrl: other.secureUrl }, wrongUrl],
      [{ ...credentials, token, privateKey: other.privateKey }, wrongKey],
      [{ authorization: `Bearer ${token}`, privateKey: 'guessed' }, wrongKey],
    ] as const) {
      const failure = await refusal(wrong)
      expect(failure).toBeInstanceOf(RefusedSubscription)
      expect(failure).toMatchObject({ subscriptionId, reason })
    }
  })

  test('of another token is nobody’s', async () => {
    const { credentials } = await headers()
    for (const wrong of [{ ...credentials, token: generateKey() }, { ...credentials, token: undefined }, {}]) {
      expect(await refusal(wrong)).not.toBeInstanceOf(RefusedSubscription)
    }
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
    const { token } = await use(store, application)
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
    const asBearer = { ...credentials, token: undefined, authorization: `Bearer ${token}` }
    for (const way of [credentials, asBearer]) await authenticate(way)
    await unsubscribe(services, { storeId: store.id, subscriptionId, actor: operator })
    for (const way of [credentials, asBearer]) expect((await refusal(way)).status).toBe(401)
  })

  test('is refused after a look-up that was under way while it was revoked', async () => {
    const { store, credentials, subscriptionId } = await headers()
    const { db, read, answer } = pausing(services.db)
    const authenticator = createAuthenticator({ ...services, db })
    const underWay = authenticator.authenticate(credentials)
    await read
    await unsubscribe({ ...services, authenticator }, { storeId: store.id, subscriptionId, actor: operator })
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
  test('is held to changed privileges and figures at once', async () => {
    const { application, credentials } = await headers()
    await authenticate(credentials)
    const Throttle = { capacity: 500, leakPerSecond: 0.125 }
    await updateApplication(services, application.id, { Privileges: { Orders: ['read'] }, Throttle })
    const { caller, throttle } = await authenticate(credentials)
    expect(caller.privileges).toEqual({ Orders: ['read'] })
    expect(throttle).toMatchObject(Throttle)
  })

  test('has what it asks for as far as the subscription agreed to it', async () => {
    const { application, subscriptionId, credentials } = await headers()
    const effective = async (asked: Prisma.InputJsonObject | null, agreed: Prisma.InputJsonObject | null) => {
      const column = (privileges: typeof asked) => ({ privileges: privileges ?? Prisma.DbNull })
      await services.db.application.update({ where: { id: application.id }, data: column(asked) })
      await services.db.subscription.update({ where: { id: subscriptionId }, data: column(agreed) })
      services.authenticator.invalidate()
      return (await authenticate(credentials)).caller.privileges
    }
    const [all, orders, products] = [['read', 'write'], { Orders: ['read'] }, { Products: ['read', 'write'] }]
    expect(await effective(null, null)).toBeNull()
    expect(await effective(null, orders)).toEqual(orders)
    expect(await effective(orders, null)).toEqual(orders)
    expect(await effective({ Orders: all, Customers: all }, { ...orders, ...products })).toEqual(orders)
  })

  test('has at once, in every store, the privileges that the operator changes, whatever was agreed to', async () => {
    const { application, subscriptionId } = await headers()
    const store = await newStore(services)
    const { id } = await use(store, application)
    const other = await headers()
    const agreed = async (where: Prisma.SubscriptionWhereInput) =>
      (await services.db.subscription.findMany({ where, orderBy: { id: 'asc' } })).map(({ privileges }) => privileges)
    const own = { where: { id: subscriptionId }, data: { privileges: { Orders: ['read'] } } }
    await services.db.subscription.update(own)
    const all = ['read' as const, 'write' as const]
    const Privileges = { Products: all, Orders: all }
    await updateApplication(services, application.id, { Privileges })
    expect(await agreed({ id: { in: [subscriptionId, id] } })).toEqual([Privileges, Privileges])
    expect(await agreed({ id: other.subscriptionId })).toEqual([null])
    await updateApplication(services, application.id, { Name: 'Another name' })
    expect(await agreed({ id: { in: [subscriptionId, id] } })).toEqual([Privileges, Privileges])
    await updateApplication(services, application.id, { Privileges: null })
    expect(await agreed({ id: { in: [subscriptionId, id] } })).toEqual([null, null])
  })

  test('keeps its privileges where those of its subscriptions cannot be changed with them', async () => {
    const { application } = await headers()
    await services.db
      .$executeRaw`ALTER TABLE "Subscription" ADD CONSTRAINT "fixed" CHECK ("privileges" IS NULL) NOT VALID`
    try {
      const changed = updateApplication(services, application.id, { Privileges: { Orders: ['read'] } })
      await expect(changed).rejects.toThrow('fixed')
    } finally {
      await services.db.$executeRaw`ALTER TABLE "Subscription" DROP CONSTRAINT "fixed"`
    }
    const { privileges } = await services.db.application.findUniqueOrThrow({ where: { id: application.id } })
    expect(privileges).toBeNull()
  })

  test('is recorded as the last editor with the first 50 characters of its name, none cut in half', async () => {
    const store = await newStore(services)
    const application = await registerApplication(services, { Name: `${'x'.repeat(49)}🛒 and more` })
    const { token } = await use(store, application)
    const { secureUrl } = store
    const { caller } = await authenticate({ secureUrl, privateKey: application.privateKey, token })
    expect(caller.actor).toBe('x'.repeat(49))
  })
})
