import { describe, expect, test } from 'vitest'
import { createAuthenticator } from '../../../../src/access/applications/authenticate.ts'
import { findStoreEntry, RefusedStore } from '../../../../src/access/applications/user-keys.ts'
import { accessChannel } from '../../../../src/access/stores/access-changes.ts'
import { rotateUserKey, type Store, updateStore } from '../../../../src/access/stores/stores.ts'
import { connect, type Db } from '../../../../src/foundation/database/client.ts'
import { listen } from '../../../../src/foundation/database/connection.ts'
import { StoreFailure } from '../../../../src/foundation/values/failure.ts'
import { newStore, openAccess, type Services } from '../../../support/access.ts'
import { operator } from '../../../support/actors.ts'
import { shared } from '../../../support/shared.ts'

const access = await shared(openAccess())
const { services } = access

const here = '203.0.113.7'
const credentialsOf = ({ secureUrl, userKey }: Store) => ({ storeUrl: secureUrl, userKey, address: here })

type Authenticator = Pick<Services['authenticator'], 'authenticateStore'>

async function refusal(
  credentials: ReturnType<typeof credentialsOf>,
  authenticator: Authenticator = services.authenticator,
): Promise<RefusedStore> {
  const failure = await authenticator.authenticateStore(credentials).catch((error: unknown) => error)
  if (!(failure instanceof RefusedStore)) throw new Error('not refused', { cause: failure })
  return failure
}

const set = (store: Store, CartAPI: object) => updateStore(services, store.id, { CartAPI }, operator)

describe('storeUrl and userKey', () => {
  test('name the store and its bucket; what is changed is changed by API', async () => {
    const store = await newStore(services)
    const { caller, throttle } = await services.authenticator.authenticateStore(credentialsOf(store))
    const { id, name, secureUrl, currency, timeZone } = store
    expect(caller).toEqual({
      store: { id, name, secureUrl, currency, timeZone, country: '', orderMails: [] },
      application: null,
      channel: 'api',
      privileges: null,
      actor: 'API',
      db: services.db,
      now: services.now,
      secrets: services.secrets,
    })
    expect(throttle).toEqual({ key: `cartAPI ${id}`, capacity: 50, leakPerSecond: 2 })
  })

  test('bring the store’s own figures', async () => {
    const store = await newStore(services, { Throttle: { Capacity: 7, LeakPerSecond: 0.125 } })
    const { throttle } = await services.authenticator.authenticateStore(credentialsOf(store))
    expect(throttle).toEqual({ key: `cartAPI ${store.id}`, capacity: 7, leakPerSecond: 0.125 })
  })

  test.each([
    ['with a slash', (host: string) => `https://${host}/`],
    ['without scheme', (host: string) => host],
    ['with www.', (host: string) => `http://www.${host}`],
    ['with a path', (host: string) => `http://${host}/store/default.asp?a=1`],
    ['in upper case', (host: string) => `HTTPS://WWW.${host.toUpperCase()}/`],
    ['with a trailing dot and blanks', (host: string) => `  ${host}. `],
  ])('fit the store %s', async (_name, written) => {
    const store = await newStore(services)
    const storeUrl = written(new URL(store.secureUrl).host)
    const { caller } = await services.authenticator.authenticateStore({ ...credentialsOf(store), storeUrl })
    expect(caller.store.id).toBe(store.id)
  })

  test('that do not fit together in any way give one and the same refusal, before anything of the store is told', async () => {
    const [store, other] = [await newStore(services), await newStore(services)]
    const closed = await newStore(services)
    await set(closed, { Enabled: false, Addresses: ['10.0.0.5'] })
    const right = credentialsOf(store)
    const wrong = [
      { ...right, userKey: '0'.repeat(32) },
      { ...right, userKey: right.userKey.toUpperCase() },
      { ...right, userKey: '' },
      { ...right, userKey: other.userKey },
      { ...right, userKey: services.secrets.lookup(right.userKey) },
      { ...right, storeUrl: other.secureUrl },
      { ...right, storeUrl: 'https://nowhere.example' },
      { ...right, storeUrl: `${right.storeUrl}.evil.example` },
      { ...right, storeUrl: 'https://' },
      { ...right, storeUrl: '' },
      { ...credentialsOf(closed), userKey: '0'.repeat(32) },
      { ...credentialsOf(closed), userKey: store.userKey },
    ]
    for (const credentials of wrong) {
      const failure = await refusal(credentials)
      expect(failure).toBeInstanceOf(StoreFailure)
      expect({ ...failure, message: failure.message }).toEqual({
        name: 'StoreFailure',
        code: 'unauthorized',
        status: 401,
        reason: 'key',
        field: 'userKey',
        faults: [],
        parts: [],
        origin: undefined,
        retryAfterSeconds: undefined,
        logDetail: undefined,
        logMessage: 'userKey is not the key of the store that storeUrl names',
        message: 'userKey is not the key of the store that storeUrl names',
      })
    }
  })

  test('a wrong key is refused right after the right one was accepted, and the right one after it', async () => {
    const right = credentialsOf(await newStore(services))
    await services.authenticator.authenticateStore(right)
    expect((await refusal({ ...right, userKey: '0'.repeat(32) })).reason).toBe('key')
    expect((await refusal({ ...right, storeUrl: 'https://other.example' })).reason).toBe('key')
    await services.authenticator.authenticateStore(right)
  })

  test('cannot be pushed into one another: a key with the address in it is another key', async () => {
    const store = await newStore(services)
    const { storeUrl, userKey } = credentialsOf(store)
    await services.authenticator.authenticateStore(credentialsOf(store))
    for (const [key, url] of [
      [`${userKey}","${new URL(storeUrl).host}`, ''],
      ['', `${userKey}${storeUrl}`],
      [`${userKey}${storeUrl}`, ''],
    ]) {
      expect((await refusal({ storeUrl: url ?? '', userKey: key ?? '', address: here })).reason).toBe('key')
    }
  })

  test('are looked for with one statement, and nothing of them is kept', async () => {
    const store = await newStore(services)
    const entry = await findStoreEntry(services, credentialsOf(store))
    expect(JSON.stringify({ ...entry, caller: { ...entry?.caller, db: null } })).not.toContain(store.userKey)
    expect(await findStoreEntry(services, { ...credentialsOf(store), userKey: 'wrong' })).toBeNull()
  })
})

describe('a new key', () => {
  test('ends the former at once, also where it was used a moment before', async () => {
    const store = await newStore(services)
    await services.authenticator.authenticateStore(credentialsOf(store))
    const { userKey } = await rotateUserKey(services, store.id, operator)
    expect(userKey).toMatch(/^[0-9a-f]{32}$/)
    expect(userKey).not.toBe(store.userKey)
    expect((await refusal(credentialsOf(store))).reason).toBe('key')
    const { caller } = await services.authenticator.authenticateStore({ ...credentialsOf(store), userKey })
    expect(caller.store.id).toBe(store.id)
  })

  test('ends the former after a look-up that was under way meanwhile', async () => {
    const store = await newStore(services)
    const { db, read, answer } = pausing(services.db)
    const authenticator = createAuthenticator({ ...services, db })
    const underWay = authenticator.authenticateStore(credentialsOf(store))
    await read
    await rotateUserKey({ ...services, authenticator }, store.id, operator)
    answer()
    await underWay
    expect((await refusal(credentialsOf(store), authenticator)).reason).toBe('key')
  })

  test('is looked for in another process as soon as that hears of it', async () => {
    const store = await newStore(services)
    const db = connect(access.url)
    const elsewhere = createAuthenticator({ ...services, db })
    const heard = Promise.withResolvers<void>()
    const invalidate = () => {
      elsewhere.invalidate()
      heard.resolve()
    }
    const listening = await listen(access.url, { [accessChannel]: invalidate }, { onConnect() {}, onLost() {} })
    try {
      await elsewhere.authenticateStore(credentialsOf(store))
      await rotateUserKey(services, store.id, operator)
      await heard.promise
      expect((await refusal(credentialsOf(store), elsewhere)).reason).toBe('key')
    } finally {
      await listening.stop()
      await db.$disconnect()
    }
  })
})

describe('a store that was found', () => {
  test('is believed for five seconds without a statement, and looked for again after them', async () => {
    const store = await newStore(services)
    await services.authenticator.authenticateStore(credentialsOf(store))
    await services.db.store.update({ where: { id: store.id }, data: { cartApiEnabled: false } })
    access.clock.ms += 5_000
    await services.authenticator.authenticateStore({ ...credentialsOf(store), storeUrl: `${store.secureUrl}/` })
    access.clock.ms += 1
    expect((await refusal(credentialsOf(store))).reason).toBe('switched-off')
  })

  test('one that was not is looked for each time, so that a new key works at once', async () => {
    const store = await newStore(services)
    const later = { ...credentialsOf(store), userKey: 'f'.repeat(32) }
    expect((await refusal(later)).reason).toBe('key')
    const data = { userKeyHash: services.secrets.lookup(later.userKey) }
    await services.db.store.update({ where: { id: store.id }, data })
    expect((await services.authenticator.authenticateStore(later)).caller.store.id).toBe(store.id)
  })
})

/** The client itself, but its first look-up of a store holds its answer back, once it was `read`, until `answer` is called. */
function pausing(db: Db) {
  const rowRead = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const findFirst = async (query: Parameters<Db['store']['findFirst']>[0]) => {
    const row = await db.store.findFirst(query)
    rowRead.resolve()
    await gate.promise
    return row
  }
  const store = new Proxy(db.store, {
    get: (target, name) => (name === 'findFirst' ? findFirst : Reflect.get(target, name)),
  })
  const paused = new Proxy(db, { get: (target, name) => (name === 'store' ? store : Reflect.get(target, name)) })
  return { db: paused, read: rowRead.promise, answer: gate.resolve }
}
