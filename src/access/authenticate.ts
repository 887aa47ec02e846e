import { LRUCache } from 'lru-cache'
import type { Access, Caller, CallerStore, Privileges } from '../caller.ts'
import type { Db } from '../database/client.ts'
import { StoreFailure } from '../failure.ts'
import { contractFigures, type Figures } from '../throttle.ts'
import { bearerToken } from './bearer.ts'
import { endOfKey } from './private-key.ts'
import { allows, bothOf } from './privileges.ts'
import type { Secrets } from './secrets.ts'
import { normaliseHost } from './secure-url.ts'
import { findStoreEntry, RefusedStore, type StoreCredentials, type StoreEntry } from './store-access.ts'

/** The request headers that say who calls; undefined where the request has none. */
export interface Credentials {
  readonly secureUrl?: string | undefined
  readonly privateKey?: string | undefined
  readonly token?: string | undefined
  readonly authorization?: string | undefined
}

export interface Authenticated {
  readonly caller: Caller
  /** The bucket that the call counts in: one for application and store (contract §8). */
  readonly throttle: Figures & { readonly key: string }
}

export interface Authenticator {
  /**
   * Every refusal is the same 401; its logDetail tells which of the credentials was wrong. It is a RefusedSubscription
   * when the token is a subscription's.
   */
  authenticate(credentials: Credentials): Promise<Authenticated>
  /** The store that cartAPI is called for. Refuses with RefusedStore. */
  authenticateStore(credentials: StoreCredentials): Promise<Pick<StoreEntry, 'caller' | 'throttle'>>
  /** Forgets all callers, also those whose look-up is under way. Call it after a change of access, here or in another process. */
  invalidate(): void
}

/** A 401 for what came with a token that is good. The caller must not learn that it is. */
export class RefusedSubscription extends StoreFailure {
  readonly subscriptionId: number
  /** What was wrong: for the store's and the application's owner. */
  readonly reason: string

  constructor(subscriptionId: number, reason: string) {
    super('unauthorized', REFUSED, { logDetail: reason })
    this.subscriptionId = subscriptionId
    this.reason = reason
  }
}

const REFUSED = 'Authentication failed: PrivateKey, Token and SecureURL must be valid together'

/** How long a caller that was found is believed without another look. */
const CACHED_MS = 5_000
const CACHED_MAX = 10_000
const ACTOR_LENGTH_MAX = 50

export interface CreateAuthenticator {
  db: Db
  secrets: Secrets
  now: () => Date
}

/**
 * Finds the caller by the headers of contract §5, or by a Bearer token (rest-protocol 9.3), which names application and
 * store alone; PrivateKey and SecureURL must fit it when they are sent as well. A token is the subscription's or an OAuth
 * access token of it, either way. For a while after a rotation the former private key works too. A caller found is
 * remembered for seconds, and no longer than its key works; one not found is looked for each time, so that a new token
 * works at once.
 */
export function createAuthenticator({ db, secrets, now }: CreateAuthenticator): Authenticator {
  const remember = { max: CACHED_MAX, ttl: CACHED_MS, ttlResolution: 0, perf: { now: () => now().getTime() } }
  const cache = new LRUCache<string, Authenticated>(remember)
  const stores = new LRUCache<string, StoreEntry>(remember)
  let generation = 0

  async function authenticate(credentials: Credentials): Promise<Authenticated> {
    const presented = read(credentials)
    const cacheKey = secrets.lookup(JSON.stringify(presented))
    const known = cache.get(cacheKey)
    if (known) return known
    const before = generation
    const subscription = await findSubscription(db, secrets.lookup(presented.token))
    if (!subscription) throw failed('the token belongs to no subscription')
    const untilMs = check(subscription, presented, { secrets, now })
    const authenticated = authenticatedBy(subscription, { db, now })
    // An entry is still used at the very end of its time, when the key is not.
    const ttl = Math.min(CACHED_MS, untilMs - 1 - now().getTime())
    // What was read before a revocation may answer this call, but none after it.
    if (generation === before && ttl > 0) cache.set(cacheKey, authenticated, { ttl })
    return authenticated
  }

  async function authenticateStore({ storeUrl, userKey, address }: StoreCredentials): Promise<StoreEntry> {
    const cacheKey = secrets.lookup(JSON.stringify([userKey, normaliseHost(storeUrl)]))
    const entry = stores.get(cacheKey) ?? (await lookForStore(cacheKey, { storeUrl, userKey }))
    if (!entry.isEnabled) throw new RefusedStore('switched-off')
    if (!entry.isAllowed(address)) throw new RefusedStore('address')
    return entry
  }

  async function lookForStore(cacheKey: string, given: Pick<StoreCredentials, 'storeUrl' | 'userKey'>) {
    const before = generation
    const entry = await findStoreEntry({ db, secrets, now }, given)
    if (entry === null) throw new RefusedStore('key')
    if (generation === before) stores.set(cacheKey, entry)
    return entry
  }

  function invalidate() {
    generation++
    cache.clear()
    stores.clear()
  }

  return { authenticate, authenticateStore, invalidate }
}

interface Presented {
  readonly token: string
  /** Null: not sent beside a Bearer token. */
  readonly privateKey: string | null
  readonly host: string | null
}

function read({ secureUrl, privateKey, token, authorization }: Credentials): Presented {
  const host = secureUrl ? normaliseHost(secureUrl) : null
  const bearer = bearerToken(authorization)
  if (bearer) return { token: bearer, privateKey: privateKey || null, host }
  if (!token || !privateKey || host === null) {
    const missing = [!privateKey && 'PrivateKey', !token && 'Token', host === null && 'SecureURL'].filter(Boolean)
    throw failed(`not sent: ${missing.join(', ')}`)
  }
  return { token, privateKey, host }
}

interface SubscriptionFound {
  id: number
  storeId: number
  storeName: string
  secureUrl: string
  host: string
  currency: string
  timeZone: string
  applicationId: number
  applicationName: string
  privateKeyHash: string
  previousPrivateKeyHash: string | null
  previousPrivateKeyUntil: Date | null
  asked: Privileges
  agreed: Privileges
  throttleCapacity: number | null
  throttleLeakPerSecond: number | null
}

/** One statement for everything that a call needs to know. */
async function findSubscription(db: Db, tokenHash: string): Promise<SubscriptionFound | undefined> {
  const rows = await db.$queryRaw<SubscriptionFound[]>`
    SELECT "Subscription"."id", "Store"."id" AS "storeId", "Store"."name" AS "storeName", "secureUrl", "host", "currency",
      "timeZone", "Application"."id" AS "applicationId", "Application"."name" AS "applicationName", "privateKeyHash",
      "previousPrivateKeyHash", "previousPrivateKeyUntil", "Application"."privileges" AS "asked",
      "Subscription"."privileges" AS "agreed", "Application"."throttleCapacity",
      "Application"."throttleLeakPerSecond"::float8
    FROM "Subscription"
    JOIN "Store" ON "Store"."id" = "Subscription"."storeId"
    JOIN "Application" ON "Application"."id" = "Subscription"."applicationId"
    WHERE "Subscription"."id" = (
      SELECT "id" FROM "Subscription" WHERE "tokenHash" = ${tokenHash}
      UNION ALL
      SELECT "subscriptionId" FROM "AccessToken" WHERE "tokenHash" = ${tokenHash}
      LIMIT 1
    )`
  return rows[0]
}

/** Until when the credentials go on fitting, in milliseconds since 1970. */
function check(
  subscription: SubscriptionFound,
  { privateKey, host }: Presented,
  { secrets, now }: Pick<CreateAuthenticator, 'secrets' | 'now'>,
): number {
  const untilMs = privateKey === null ? Number.POSITIVE_INFINITY : endOfKey(secrets.lookup(privateKey), subscription)
  if (untilMs <= now().getTime()) {
    const isFormer = untilMs > Number.NEGATIVE_INFINITY
    const wrong = isFormer
      ? 'is a former one, whose time is over'
      : 'is not that of the application that the token is for'
    throw new RefusedSubscription(subscription.id, `the private key ${wrong}`)
  }
  if (host !== null && host !== subscription.host) {
    throw new RefusedSubscription(subscription.id, 'the secure URL is not that of the store that the token is for')
  }
  return untilMs
}

function failed(logDetail: string): StoreFailure {
  return new StoreFailure('unauthorized', REFUSED, { logDetail })
}

function authenticatedBy(found: SubscriptionFound, { db, now }: { db: Db; now: () => Date }): Authenticated {
  const { storeId, storeName, secureUrl, currency, timeZone, applicationId, applicationName } = found
  const { capacity, leakPerSecond } =
    found.throttleCapacity === null || found.throttleLeakPerSecond === null
      ? contractFigures
      : { capacity: found.throttleCapacity, leakPerSecond: found.throttleLeakPerSecond }
  const store: CallerStore = { id: storeId, name: storeName, secureUrl, currency, timeZone }
  const application = { id: applicationId, name: applicationName, subscriptionId: found.id }
  const privileges = bothOf(found.asked, found.agreed)
  return {
    caller: { store, application, channel: 'api', privileges, actor: actorOf(applicationName), db, now },
    throttle: { key: `${storeId}:${applicationId}`, capacity, leakPerSecond },
  }
}

/** Half a surrogate pair at the end would be no text. */
function actorOf(name: string): string {
  return name.slice(0, ACTOR_LENGTH_MAX).replace(/[\uD800-\uDBFF]$/, '')
}

/** Refuses (401, contract §7) an application that was not given this access to the service. */
export function requireAccess({ privileges }: Caller, service: string, access: Access): void {
  if (allows(privileges, service, access)) return
  throw new StoreFailure('unauthorized', `The application lacks the ${access} privilege for ${service}`, {
    field: service,
  })
}
