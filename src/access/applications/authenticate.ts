import { hash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Access, Caller, CallerStore, Privileges } from '../../engine/caller.ts'
import type { DataServices } from '../../foundation/database/client.ts'
import type { Application } from '../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { isOneLine } from '../../foundation/values/input.ts'
import { callerStoreJson, hostsOfStore, storeClosed } from '../stores/caller-store.ts'
import { type RateLimit, rateLimitOf } from '../stores/rate-limit.ts'
import { normaliseHost } from '../stores/secure-url.ts'
import { contractRateLimit } from './limits/throttle.ts'
import { allows, bothOf } from './privileges.ts'
import { endOfKey } from './tokens/oauth-clients.ts'
import { findStoreEntry, RefusedStore, type StoreCredentials, type StoreEntry } from './user-keys.ts'

// Who calls: an application by REST, or a program by cartAPI.

/** The request headers that identify the caller. Undefined: not sent. */
export type Credentials = {
  readonly [Header in 'secureUrl' | 'privateKey' | 'token' | 'authorization']?: string | undefined
}

export interface Authenticated {
  readonly caller: Caller
  /** The bucket of the call: one per application and store, and one per store for cartAPI (contract §8). */
  readonly throttle: RateLimit & { readonly key: string }
  /** A Bearer token named the caller, and not the header Token. */
  readonly isByBearer: boolean
  /** Of a new application, which is told of every mistake. */
  readonly isStrict: boolean
  /** The merchant lets the bodies of refused requests be kept. */
  readonly keepsBodies: boolean
}

/** A 401 with a valid token. The message is that of an unknown token, so as not to confirm that the token is valid. */
export class RefusedSubscription extends StoreFailure {
  readonly subscriptionId: number
  /**
   * The reason, for the log of calls that the merchant and the application's developer see. It tells of no other store, application
   * or token.
   */
  readonly reason: string

  constructor(subscriptionId: number, message: string, reason: string, logDetail = reason) {
    super('unauthorized', message, { logDetail })
    this.subscriptionId = subscriptionId
    this.reason = reason
  }
}

const REFUSED = 'Authentication failed: PrivateKey, Token and SecureURL must be valid together'
const REFUSED_BEARER =
  'Authentication failed: the Bearer token is not valid, or PrivateKey and SecureURL do not fit it; the token of a subscription needs both headers beside it'

const NOT_OF_PAIR = 'the token is not one of the application in this store'

/** How long a caller is cached. */
const CACHED_MS = 5_000
const CACHED_MAX = 10_000
const ACTOR_LENGTH_MAX = 50

const salt = randomBytes(32).toString('base64')
/** Neither reveals the credentials nor lets their comparison be timed. Computed for every request, so no HMAC. */
const cacheKeyOf = (presented: object) => hash('sha256', salt + JSON.stringify(presented), 'base64')

export type Authenticator = ReturnType<typeof createAuthenticator>

/**
 * Creates an authenticator. It finds the caller by a token in the header Token, or as Bearer in Authorization, which
 * takes precedence (contract §5, rest-protocol §9.3). A Bearer that was never a token of this server is ignored beside three
 * valid headers. A subscription's token requires PrivateKey and SecureURL, so that
 * rotating the key ends the access of the former one. An OAuth access token identifies application and store by itself;
 * PrivateKey and SecureURL must match it if sent. The former private key works until it expires. Callers are cached for
 * seconds, but never longer than their key and their token are valid. Failures are not cached, so that a new token works at once.
 */
export function createAuthenticator(services: DataServices) {
  const { now } = services
  const remember = { max: CACHED_MAX, ttl: CACHED_MS, ttlResolution: 0, perf: { now: () => now().getTime() } }
  const cache = new LRUCache<string, Authenticated>(remember)
  const stores = new LRUCache<string, StoreEntry>(remember)
  let generation = 0

  /**
   * Throws a 401 that names missing headers, but never says which credential was wrong or that a token exists; its
   * logDetail does. Throws RefusedSubscription when the token is valid but another credential is not.
   */
  async function authenticate(credentials: Credentials): Promise<Authenticated> {
    const presented = read(credentials)
    const first = presented.bearer ?? presented.token
    if (first === null) throw failed(refusalOf(presented), `not sent: ${missingOf(presented).join(', ')}`)
    // The cache key includes missing headers: a request without PrivateKey never matches the entry of one with it.
    const cacheKey = cacheKeyOf(presented)
    const known = cache.get(cacheKey)
    if (known) return known
    const before = generation
    const { authenticated, ttl } = await lookUp(services, presented, first)
    // A lookup that began before a revocation may answer this call, but must not be cached.
    if (generation === before && ttl > 0) cache.set(cacheKey, authenticated, { ttl })
    return authenticated
  }

  /** Returns the store of a cartAPI call. Throws RefusedStore. */
  async function authenticateStore({ storeUrl, userKey, address }: StoreCredentials): Promise<Authenticated> {
    const cacheKey = cacheKeyOf([userKey, normaliseHost(storeUrl)])
    const before = generation
    const known = stores.get(cacheKey)
    const entry = known ?? (await findStoreEntry(services, { storeUrl, userKey }))
    if (entry === null) throw new RefusedStore('key')
    if (!known && generation === before) stores.set(cacheKey, entry)
    if (entry.isClosed) throw new RefusedStore('closed')
    if (!entry.isEnabled) throw new RefusedStore('switched-off')
    if (!entry.isAllowed(address)) throw new RefusedStore('address')
    return entry
  }

  /** Drops all cached callers and lookups in progress. Call it after a change of access in any process. */
  function invalidate() {
    generation++
    cache.clear()
    stores.clear()
  }

  const attribute = (credentials: Credentials) => attributionOf(services, credentials)
  return { authenticate, attribute, authenticateStore, invalidate }
}

/** Returns the caller that `first`, its Bearer token or else its token, names, and how long it may be cached. */
async function lookUp(services: DataServices, presented: Presented, first: string) {
  const { now } = services
  const named = await findSubscription(services, first)
  const expired = named && hasExpired(named, now()) ? named : undefined
  const isUsable = named !== undefined && expired === undefined
  const subscription = isUsable ? named : await findByThreeHeaders(services, presented, expired)
  if (!subscription) throw refusedToken(presented, expired)
  const untilMs = check(subscription, presented, services)
  const { token, unsealedTokenId } = subscription
  if (unsealedTokenId !== null) await sealAccessToken(services, unsealedTokenId, token)
  const authenticated: Authenticated = {
    ...authenticatedBy(subscription, services),
    isByBearer: token === presented.bearer,
  }
  // A cache entry is still served in the last millisecond of its TTL, when the key has already expired.
  return { authenticated, ttl: Math.min(CACHED_MS, untilMs - 1 - now().getTime()) }
}

/**
 * Seals an access token that an early version kept as a hash alone, now that it was sent. Gives up without an error, since a database
 * that only reads still answers the caller; the next use tries again.
 */
async function sealAccessToken({ db, secrets }: DataServices, id: number, token: string): Promise<void> {
  const data = { tokenHash: secrets.lookup(token), tokenSealed: secrets.seal(token) }
  await db.accessToken.updateMany({ where: { id, tokenSealed: null }, data }).catch(() => undefined)
}

/**
 * Returns whose log of calls has a request that `authenticate` refused, and why it was refused. Null unless the request proves
 * that it is the application's, by its valid private key beside the address of a store that uses it, or by an ended token of
 * it in the store: what everybody may know leads to no one's log, and nobody's log says anything of another store or application.
 */
async function attributionOf(services: DataServices, credentials: Credentials) {
  const presented = read(credentials)
  const byKey = await subscriptionByKey(services, presented)
  if (byKey !== null && presented.bearer === null && presented.token === null) {
    return { subscriptionId: byKey, reason: 'the header Token is missing' }
  }
  const byToken = await subscriptionByEndedToken(services, presented)
  const isEnded = byToken !== null && (byKey === null || byKey === byToken)
  if (isEnded) return { subscriptionId: byToken, reason: 'the token has ended' }
  return byKey === null ? null : { subscriptionId: byKey, reason: NOT_OF_PAIR }
}

type Presented = ReturnType<typeof read>

/** Null: not sent. An empty host: not an address. */
function read({ secureUrl, privateKey, token, authorization }: Credentials) {
  const bearer = bearerToken(authorization)
  const host = secureUrl ? normaliseHost(secureUrl) : null
  return { bearer, token: token || null, privateKey: privateKey || null, host }
}

/** Returns the names of the headers that were not sent. A Bearer token stands for Token. */
function missingOf({ bearer, token, privateKey, host }: Presented): string[] {
  const sent = { PrivateKey: privateKey, Token: bearer ?? token, SecureURL: host }
  return Object.entries(sent).flatMap(([name, value]) => (value === null ? [name] : []))
}

/** Returns the message to the caller: the same for every token sent in the same header. */
function refusalOf(presented: Presented): string {
  if (presented.bearer !== null) return REFUSED_BEARER
  const missing = missingOf(presented)
  if (missing.length === 0) return REFUSED
  const names = new Intl.ListFormat('en-GB').format(missing)
  return `Authentication failed: ${missing.length === 1 ? `the header ${names} is` : `the headers ${names} are`} missing`
}

interface SubscriptionFound
  extends Pick<Application, 'kind' | 'privateKeyHash' | 'previousPrivateKeyHash' | 'previousPrivateKeyUntil'> {
  /** By which it was found. */
  token: string
  application: NonNullable<Caller['application']>
  /** False: the token of the subscription itself. */
  isAccessToken: boolean
  /** Of an access token of a grant. */
  expiresAt: Date | null
  /** An access token of an early version, which kept only its hash: a new secret key cannot take that over. */
  unsealedTokenId: number | null
  keepsBodies: boolean
  isClosed: boolean
  store: CallerStore
  hosts: readonly string[]
  asked: Privileges
  agreed: Privileges
  throttleCapacity: number | null
  throttleLeakPerSecond: number | null
}

/** Reads everything that a call needs in one statement. */
async function findSubscription({ db, secrets }: DataServices, token: string): Promise<SubscriptionFound | undefined> {
  const tokenHashes = secrets.lookups(token)
  const [row] = await db.$queryRaw<Omit<SubscriptionFound, 'token'>[]>`
    SELECT "isAccessToken", "unsealedTokenId", "expiresAt", "kind", "keepsBodies", "closedAt" IS NOT NULL AS "isClosed",
      ${callerStoreJson} AS "store", ${hostsOfStore} AS "hosts", json_build_object('id', "Application"."id",
        'name', "Application"."name", 'subscriptionId', "Subscription"."id") AS "application",
      "privateKeyHash", "previousPrivateKeyHash", "previousPrivateKeyUntil", "Application"."privileges" AS "asked",
      "Subscription"."privileges" AS "agreed", "Application"."throttleCapacity",
      "Application"."throttleLeakPerSecond"::float8
    FROM (
      SELECT "id", false AS "isAccessToken", NULL::int AS "unsealedTokenId", NULL::timestamptz AS "expiresAt"
      FROM "Subscription" WHERE "tokenHash" = ANY (${tokenHashes})
      UNION ALL
      SELECT "subscriptionId", true, CASE WHEN "tokenSealed" IS NULL THEN "id" END, "expiresAt"
      FROM "AccessToken" WHERE "tokenHash" = ANY (${tokenHashes})
      LIMIT 1
    ) "found"
    JOIN "Subscription" ON "Subscription"."id" = "found"."id"
    JOIN "Store" ON "Store"."id" = "Subscription"."storeId"
    JOIN "Application" ON "Application"."id" = "Subscription"."applicationId"`
  return row && { ...row, token }
}

function hasExpired({ expiresAt }: SubscriptionFound, at: Date): boolean {
  return expiresAt !== null && expiresAt <= at
}

/**
 * Returns the subscription of the header Token, if the request has all three headers and its Bearer token is unknown: a gateway or
 * an HTTP library added it. `expired`: what it was a token of. Throws RefusedSubscription for a Bearer token of another application or store that has ended, because
 * the program may mean that one.
 */
async function findByThreeHeaders(
  { db, secrets, now }: DataServices,
  presented: Presented,
  expired: SubscriptionFound | undefined,
): Promise<SubscriptionFound | undefined> {
  const { bearer, token } = presented
  if (bearer === null || token === null || missingOf(presented).length > 0) return
  const found = await findSubscription({ db, secrets, now }, token)
  if (!found || hasExpired(found, now())) return
  const { application, store } = found
  const isOfOther =
    expired !== undefined && (expired.store.id !== store.id || expired.application.id !== application.id)
  const isElsewhere = [{ storeId: { not: store.id } }, { applicationId: { not: application.id } }]
  const where = { tokenHash: { in: secrets.lookups(bearer) }, OR: isElsewhere }
  const ended = isOfOther || (await db.endedToken.findFirst({ where }))
  if (!ended) return found
  const logDetail = 'the Bearer token is an ended token of another application or store'
  throw new RefusedSubscription(application.subscriptionId, refusalOf(presented), NOT_OF_PAIR, logDetail)
}

/** Returns the subscription of the store at SecureURL whose application has this private key; null if none has. */
async function subscriptionByKey({ db, secrets, now }: DataServices, { privateKey, host }: Presented) {
  if (privateKey === null || host === null || !isOneLine(host)) return null
  const hashes = secrets.lookups(privateKey)
  const [row] = await db.$queryRaw<{ id: number }[]>`
    SELECT s."id" FROM "Application" a
    JOIN "Subscription" s ON s."applicationId" = a."id"
    JOIN "StoreHost" h ON h."storeId" = s."storeId"
    WHERE h."host" = ${host} AND (a."privateKeyHash" = ANY (${hashes})
      OR (a."previousPrivateKeyHash" = ANY (${hashes}) AND a."previousPrivateKeyUntil" > ${now()}))`
  return row?.id ?? null
}

/** Returns the subscription that one of the tokens was of, if it exists still or again; otherwise null. */
async function subscriptionByEndedToken({ db, secrets }: DataServices, { bearer, token }: Presented) {
  const hashes = [bearer, token].flatMap((given) => (given === null ? [] : secrets.lookups(given)))
  if (hashes.length === 0) return null
  const [row] = await db.$queryRaw<{ id: number }[]>`
    SELECT s."id" FROM "EndedToken" e
    JOIN "Subscription" s ON s."storeId" = e."storeId" AND s."applicationId" = e."applicationId"
    WHERE e."tokenHash" = ANY (${hashes}) LIMIT 1`
  return row?.id ?? null
}

/** Returns until when the credentials stay valid, in milliseconds since 1970. Throws RefusedSubscription, and a 403 for a closed store. */
function check(subscription: SubscriptionFound, presented: Presented, { secrets, now }: DataServices): number {
  const { privateKey, host } = presented
  const { subscriptionId } = subscription.application
  const refused = (reason: string) => new RefusedSubscription(subscriptionId, refusalOf(presented), reason)
  const missing = missingOf(presented)
  if (!subscription.isAccessToken && missing.length > 0) {
    throw refused(`the token of the subscription came without ${missing.join(' and ')}`)
  }
  const untilMs = privateKey === null ? Number.POSITIVE_INFINITY : endOfKey(secrets.lookups(privateKey), subscription)
  if (untilMs <= now().getTime()) {
    const isFormer = untilMs > Number.NEGATIVE_INFINITY
    const wrong = isFormer ? 'is a former key that has expired' : 'is not that of the application that the token is for'
    throw refused(`the private key ${wrong}`)
  }
  if (host !== null && !subscription.hosts.includes(host)) {
    throw refused('the secure URL is not that of the store that the token is for')
  }
  if (subscription.isClosed) throw storeClosed()
  return Math.min(untilMs, subscription.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY)
}

/** The refusal of a token that does not work: it is unknown, or was one of this subscription until it expired. */
function refusedToken(presented: Presented, expired: SubscriptionFound | undefined): StoreFailure {
  const message = refusalOf(presented)
  if (expired === undefined) return failed(message, 'the token belongs to no subscription')
  return new RefusedSubscription(expired.application.subscriptionId, message, 'the access token has expired')
}

function failed(message: string, logDetail: string): StoreFailure {
  return new StoreFailure('unauthorized', message, { logDetail })
}

function authenticatedBy(found: SubscriptionFound, { db, secrets, now }: DataServices) {
  const { store, application, keepsBodies } = found
  const privileges = bothOf(found.asked, found.agreed)
  // Removes a high surrogate that the cut left at the end, which PostgreSQL would reject.
  const actor = application.name.slice(0, ACTOR_LENGTH_MAX).replace(/[\uD800-\uDBFF]$/, '')
  return {
    caller: { store, application, channel: 'api' as const, privileges, actor, db, now, secrets },
    throttle: { key: `${store.id}:${application.id}`, ...(rateLimitOf(found) ?? contractRateLimit) },
    isStrict: found.kind === 'new',
    keepsBodies,
  }
}

/** Throws (401, contract §7) unless the application has this access to the service. */
export function requireAccess({ privileges }: Caller, service: string, access: Access): void {
  if (allows(privileges, service, access)) return
  const message = `The application lacks the ${access} privilege for ${service}`
  throw new StoreFailure('forbidden', message, { field: service, status: 401 })
}

/** The token of an `Authorization: Bearer …` header; null when there is no such header. */
export function bearerToken(authorization: string | undefined): string | null {
  return /^Bearer +(\S+)$/i.exec(authorization?.trim() ?? '')?.[1] ?? null
}
