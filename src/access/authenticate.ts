import { LRUCache } from 'lru-cache'
import type { Access, Caller, CallerStore, Privileges } from '../caller.ts'
import type { Db } from '../database/client.ts'
import { StoreFailure } from '../failure.ts'
import { contractFigures, type Figures } from '../throttle.ts'
import { bearerToken } from './bearer.ts'
import { type Secrets, sameSecret } from './secrets.ts'
import { normaliseHost } from './secure-url.ts'

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
  /** Every refusal is the same 401; its logDetail tells which of the credentials was wrong. */
  authenticate(credentials: Credentials): Promise<Authenticated>
  /** Forgets all callers, also those whose look-up is under way. Call it after a change of access, here or in another process. */
  invalidate(): void
}

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
 * store alone; PrivateKey and SecureURL must fit it when they are sent as well. A caller found is remembered for seconds;
 * one not found is looked for each time, so that a new token works at once.
 */
export function createAuthenticator({ db, secrets, now }: CreateAuthenticator): Authenticator {
  const cache = new LRUCache<string, Authenticated>({
    max: CACHED_MAX,
    ttl: CACHED_MS,
    ttlResolution: 0,
    perf: { now: () => now().getTime() },
  })
  let generation = 0

  async function authenticate(credentials: Credentials): Promise<Authenticated> {
    const presented = read(credentials)
    const cacheKey = secrets.lookup(JSON.stringify(presented))
    const known = cache.get(cacheKey)
    if (known) return known
    const before = generation
    const subscription = await findSubscription(db, secrets.lookup(presented.token))
    if (!subscription) throw failed('the token belongs to no subscription')
    check(subscription, presented, secrets)
    const authenticated = authenticatedBy(subscription, { db, now })
    // What was read before a revocation may answer this call, but none after it.
    if (generation === before) cache.set(cacheKey, authenticated)
    return authenticated
  }

  function invalidate() {
    generation++
    cache.clear()
  }

  return { authenticate, invalidate }
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
  storeId: number
  storeName: string
  secureUrl: string
  host: string
  currency: string
  timeZone: string
  applicationId: number
  applicationName: string
  privateKeyHash: string
  privileges: Privileges
  throttleCapacity: number | null
  throttleLeakPerSecond: number | null
}

/** One statement for everything that a call needs to know. */
async function findSubscription(db: Db, tokenHash: string): Promise<SubscriptionFound | undefined> {
  const rows = await db.$queryRaw<SubscriptionFound[]>`
    SELECT "Store"."id" AS "storeId", "Store"."name" AS "storeName", "secureUrl", "host", "currency", "timeZone",
      "Application"."id" AS "applicationId", "Application"."name" AS "applicationName", "privateKeyHash", "privileges",
      "Application"."throttleCapacity", "Application"."throttleLeakPerSecond"::float8
    FROM "Subscription"
    JOIN "Store" ON "Store"."id" = "Subscription"."storeId"
    JOIN "Application" ON "Application"."id" = "Subscription"."applicationId"
    WHERE "Subscription"."tokenHash" = ${tokenHash}`
  return rows[0]
}

function check(subscription: SubscriptionFound, { privateKey, host }: Presented, secrets: Secrets) {
  if (privateKey !== null && !sameSecret(secrets.lookup(privateKey), subscription.privateKeyHash)) {
    throw failed('the private key is not that of the application that the token is for')
  }
  if (host !== null && host !== subscription.host) {
    throw failed('the secure URL is not that of the store that the token is for')
  }
}

function failed(logDetail: string): StoreFailure {
  const message = 'Authentication failed: PrivateKey, Token and SecureURL must be valid together'
  return new StoreFailure('unauthorized', message, { logDetail })
}

function authenticatedBy(found: SubscriptionFound, { db, now }: { db: Db; now: () => Date }): Authenticated {
  const { storeId, storeName, secureUrl, currency, timeZone, applicationId, applicationName, privileges } = found
  const { capacity, leakPerSecond } =
    found.throttleCapacity === null || found.throttleLeakPerSecond === null
      ? contractFigures
      : { capacity: found.throttleCapacity, leakPerSecond: found.throttleLeakPerSecond }
  const store: CallerStore = { id: storeId, name: storeName, secureUrl, currency, timeZone }
  const application = { id: applicationId, name: applicationName }
  return {
    caller: { store, application, privileges, actor: actorOf(applicationName), db, now },
    throttle: { key: `${storeId}:${applicationId}`, capacity, leakPerSecond },
  }
}

/** Half a surrogate pair at the end would be no text. */
function actorOf(name: string): string {
  return name.slice(0, ACTOR_LENGTH_MAX).replace(/[\uD800-\uDBFF]$/, '')
}

/** Refuses (401, contract §7) an application that was not given this access to the service. */
export function requireAccess({ privileges }: Caller, service: string, access: Access): void {
  if (privileges === null || privileges[service]?.includes(access)) return
  throw new StoreFailure('unauthorized', `The application lacks the ${access} privilege for ${service}`, {
    field: service,
  })
}
