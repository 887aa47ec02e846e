import { createHash, randomBytes } from 'node:crypto'
import {
  type DataServices,
  type Db,
  inTransaction,
  type SealingServices,
  type Transaction,
} from '../../../foundation/database/client.ts'
import type { AuthorizationCode } from '../../../foundation/database/generated/client.ts'
import { databaseError } from '../../../foundation/database/outage.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { generateKey, isOneOf, sameSecret } from '../../../foundation/values/secrets.ts'
import type { AuditAction } from '../../audit/actions.ts'
import { type Actor, aboutApplication, recordAudit } from '../../audit/audit.ts'
import { type AccessServices, changeAccess } from '../../stores/access-changes.ts'
import { openStoreById } from '../../stores/closing.ts'
import type { OAuthClient } from './oauth-clients.ts'

// OAuth's authorization codes, and the tokens that applications exchange them for. The code of an existing application gives an
// access token that does not expire. That of a new one gives a grant: access tokens of an hour, and a refresh token that is
// replaced with each of them.

/** RFC 6749 §4.1.2: the longest recommended lifetime. */
const CODE_MS = 10 * 60 * 1_000
const CODE_BYTES = 32
/** Access tokens that work, and grants, of one subscription. */
const TOKENS_MAX = 100
const EXPIRES_IN_SECONDS = 3_600
/** How long a grant lives that nobody refreshes. */
const GRANT_MS = 90 * 24 * 60 * 60 * 1_000
/** How long the former refresh token is answered again, for a client that did not get the answer. */
const REPEATED_MS = 30_000
/** How long an expired access token is told from one that never was. */
export const EXPIRED_TOKEN_DAYS = 7

/** RFC 7636 §4.2: derived by the client from its own secret, which later proves that the code is its own. */
export interface CodeChallenge {
  readonly text: string
  readonly method: 'S256' | 'plain'
}

/** The merchant's decision, and the client that asked for it. */
interface Consent {
  readonly client: OAuthClient
  readonly storeId: number
  readonly redirectUri: string
  readonly actor: Actor
}

/**
 * Creates a code for the application that the merchant agreed to: 43 letters, digits, `-` and `_`, valid once and for
 * ten minutes. `storeUserId` is the account that agreed; a null `challenge`: the client sent none. Throws when the
 * subscription, application or account no longer exists (409).
 */
export async function createAuthorizationCode(
  { db, secrets, now }: DataServices,
  agreement: Consent & { subscriptionId: number; storeUserId: number; challenge: CodeChallenge | null },
): Promise<string> {
  const { client, subscriptionId, storeUserId, redirectUri, challenge } = agreement
  const code = randomBytes(CODE_BYTES).toString('base64url')
  const createdAt = now()
  const data = {
    codeHash: secrets.lookup(code),
    applicationId: client.id,
    subscriptionId,
    storeUserId,
    redirectUri,
    codeChallenge: challenge?.text ?? null,
    codeChallengeMethod: challenge?.method ?? null,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + CODE_MS),
  }
  await inTransaction(db, async (tx) => {
    await tx.authorizationCode.create({ data }).catch(refuseVanished)
    await recordAudit(tx, now, consentEntry(agreement, 'authorization.granted'))
  })
  return code
}

function refuseVanished(error: unknown): never {
  if (!/^AuthorizationCode_\w+_fkey$/.test(databaseError(error)?.constraint ?? '')) throw error
  throw new StoreFailure('invalid-state', 'The application was removed from the store meanwhile; allow it again')
}

/** Records the refusal in the audit log and changes nothing else. */
export async function denyAuthorization({ db, now }: DataServices, consent: Consent): Promise<void> {
  await inTransaction(db, (tx) => recordAudit(tx, now, consentEntry(consent, 'authorization.denied')))
}

function consentEntry({ client, storeId, redirectUri, actor }: Consent, action: AuditAction) {
  const details = { redirectHost: new URL(redirectUri).host }
  return { actor, action, ...aboutApplication(client), storeId, details }
}

interface CodeExchange {
  /** The client that presents the code, already authenticated. */
  readonly client: OAuthClient
  readonly code: string
  /** Null: not sent. */
  readonly redirectUri: string | null
  readonly verifier: string | null
  readonly actor: Actor
}

/** `userId`: the account of the merchant who agreed. */
export interface IssuedToken {
  readonly token: string
  readonly userId: number
  /** Null: it does not expire, and nothing refreshes it. */
  readonly refresh: Refreshing | null
}

interface Refreshing {
  readonly token: string
  readonly expiresInSeconds: number
  /** SecureURL of the store. */
  readonly storeUrl: string
}

/**
 * Exchanges a code for an access token (RFC 6749 §4.1.3). The token works like the subscription's token. An existing
 * application's works as long, unless it is revoked; a new one's for an hour, and comes with a refresh token. Of one
 * subscription, only the 100 newest tokens work.
 *
 * The client's first request uses up the code, whether it succeeds or not, so that nobody can guess verifiers. Every
 * further request, at any time, revokes the token that the first obtained, because the code has leaked. A request of
 * another client leaves the code unchanged. Of concurrent requests with one code, at most one gets a token, and in the
 * end no token works.
 *
 * Throws (400) with a sentence about what is wrong with the code, the redirect address or the verifier; for a closed store (403), where
 * nothing is used up.
 */
export async function exchangeCode(services: AccessServices, exchange: CodeExchange): Promise<IssuedToken> {
  const { db, secrets } = services
  const codeHashes = secrets.lookups(exchange.code)
  const applicationId = exchange.client.id
  // Checked first, so that an arbitrary text sent as a code does not invalidate the cached callers.
  const [known] = await db.$queryRaw<KnownCode[]>`
    SELECT "codeHash", "subscriptionId" FROM (
      SELECT "codeHash", "subscriptionId" FROM "AuthorizationCode"
      UNION ALL SELECT "codeHash", "subscriptionId" FROM "AccessToken"
      UNION ALL SELECT "codeHash", "subscriptionId" FROM "AccessGrant"
    ) AS "known" JOIN "Subscription" ON "Subscription"."id" = "subscriptionId"
    WHERE "codeHash" = ANY (${codeHashes}) AND "applicationId" = ${applicationId}`
  const outcome = known ? await changeAccess(services, (tx) => present(tx, services, known, exchange)) : unknown
  // Thrown after the transaction commits, because its changes must persist.
  if (typeof outcome === 'string') throw new StoreFailure('invalid-value', outcome, { field: 'code' })
  return outcome
}

/** A code that was issued to the client, whether it still works or not. */
type KnownCode = Pick<AuthorizationCode, 'codeHash' | 'subscriptionId'>

const unknown = 'This code was not issued to this client'

/** Returns the token, or the reason for refusing it. */
async function present(
  tx: Transaction,
  services: AccessServices,
  { codeHash, subscriptionId }: KnownCode,
  exchange: CodeExchange,
): Promise<IssuedToken | string> {
  const { now } = services
  const { client, actor } = exchange
  // Serializes requests with the subscription's codes, and the removal of the subscription.
  const [subscription] = await tx.$queryRaw<{ storeId: number }[]>`
    SELECT "storeId" FROM "Subscription" WHERE "id" = ${subscriptionId} FOR NO KEY UPDATE`
  if (!subscription) return unknown
  const { storeId } = subscription
  await openStoreById(tx, storeId)
  const about = { actor, ...aboutApplication(client), storeId }
  const code = await tx.authorizationCode.findUnique({ where: { codeHash } })
  if (!code || code.usedAt) {
    const { count: tokens } = await tx.accessToken.deleteMany({ where: { codeHash } })
    const { count: grants } = await tx.accessGrant.deleteMany({ where: { codeHash } })
    const details = { reason: 'the code was presented again' }
    if (tokens + grants > 0) await recordAudit(tx, now, { ...about, action: 'token.revoked', details })
    return 'The code has already been used; the token issued for it is revoked'
  }
  const at = now()
  if (code.expiresAt <= at) return 'The code has expired'
  await tx.authorizationCode.update({ where: { codeHash }, data: { usedAt: at } })
  const fault = faultIn(exchange, code)
  if (fault !== null) return fault

  const { storeUserId: userId } = code
  await recordAudit(tx, now, { ...about, action: 'token.issued' })
  if (client.isNew) return issueGrant(tx, services, { subscriptionId, storeUserId: userId, codeHash })
  return { token: await issueToken(tx, services, { subscriptionId, codeHash }), userId, refresh: null }
}

async function issueGrant(
  tx: Transaction,
  services: AccessServices,
  grant: { readonly subscriptionId: number; readonly storeUserId: number; readonly codeHash: string },
): Promise<IssuedToken> {
  const { subscriptionId, storeUserId: userId } = grant
  const name = generateKey()
  const refreshToken = name + generateKey()
  const { id: grantId } = await tx.accessGrant.create({
    data: { ...grant, name, ...refreshColumns(services, refreshToken) },
  })
  await tx.$executeRaw`
    DELETE FROM "AccessGrant" WHERE "id" IN (
      SELECT "id" FROM "AccessGrant" WHERE "subscriptionId" = ${subscriptionId} ORDER BY "id" DESC OFFSET ${TOKENS_MAX})`
  const token = await issueToken(tx, services, { subscriptionId, grantId })
  return expiring(tx, userId, token, { token: refreshToken, expiresInSeconds: EXPIRES_IN_SECONDS })
}

async function expiring(tx: Transaction, userId: number, token: string, refresh: Omit<Refreshing, 'storeUrl'>) {
  const { store } = await tx.storeUser.findUniqueOrThrow({ where: { id: userId }, select: { store: true } })
  return { token, userId, refresh: { ...refresh, storeUrl: store.secureUrl } }
}

type TokenOrigin = { readonly subscriptionId: number } & ({ readonly codeHash: string } | { readonly grantId: number })

/** Stores a new access token, which expires if it is of a grant. */
async function issueToken(tx: Transaction, { secrets, now }: SealingServices, origin: TokenOrigin): Promise<string> {
  const token = generateKey()
  const createdAt = now()
  const expiresAt = 'grantId' in origin ? new Date(createdAt.getTime() + EXPIRES_IN_SECONDS * 1_000) : null
  const stored = { tokenHash: secrets.lookup(token), tokenSealed: secrets.seal(token) }
  await tx.accessToken.create({ data: { ...origin, ...stored, createdAt, expiresAt } })
  await tx.$executeRaw`
    DELETE FROM "AccessToken" WHERE "id" IN (
      SELECT "id" FROM "AccessToken"
      WHERE "subscriptionId" = ${origin.subscriptionId} AND ("expiresAt" IS NULL) = ${expiresAt === null}
      ORDER BY "id" DESC OFFSET ${TOKENS_MAX})`
  return token
}

function refreshColumns({ secrets, now }: SealingServices, refreshToken: string) {
  const refreshedAt = now()
  const expiresAt = new Date(refreshedAt.getTime() + GRANT_MS)
  return { tokenHash: secrets.lookup(refreshToken), tokenSealed: secrets.seal(refreshToken), refreshedAt, expiresAt }
}

/** The name of the grant, and a secret. */
const REFRESH_TOKEN = /^([0-9a-f]{32})[0-9a-f]{32}$/

interface Refresh {
  /** The client that presents the token, already authenticated. */
  readonly client: OAuthClient
  readonly refreshToken: string
  readonly actor: Actor
}

/**
 * Exchanges a refresh token for an access token and the next refresh token (RFC 6749 §6). Returns null for a text that is no
 * refresh token of a grant of this client.
 *
 * A refresh token works once. For 30 seconds its repetition gets the tokens of the first answer, because that may have been lost on
 * the way, and because two processes of a client may refresh at once: no further token comes into being. Any other use of a former
 * one ends the grant with all its tokens, because one of its two holders is not the client (RFC 9700 §4.14.2). Throws (400) with
 * a sentence about what is wrong, and for a closed store (403), whose refresh tokens stay as they are.
 */
export async function refreshAccess(services: AccessServices, refresh: Refresh): Promise<IssuedToken | null> {
  const { client, refreshToken } = refresh
  const found = await findGrant(services.db, client, refreshToken)
  if (found === null) return null
  await openStoreById(services.db, found.storeId)
  const outcome = await inTransaction(services.db, (tx) => refreshGrant(tx, services, found.id, refresh))
  if (outcome !== 'former') {
    if (typeof outcome === 'string') throw new StoreFailure('invalid-value', outcome, { field: 'refresh_token' })
    return outcome
  }
  const reason = 'a former refresh token was presented'
  await endAccess(services, { storeId: found.storeId, client, actor: refresh.actor, reason }, ofGrant(found.id))
  const message = 'This refresh token was used before; the access that it belongs to is revoked'
  throw new StoreFailure('invalid-value', message, { field: 'refresh_token' })
}

/** Returns the tokens, `former` for a refresh token that was used before, or what is wrong. */
async function refreshGrant(tx: Transaction, services: AccessServices, id: number, { refreshToken }: Refresh) {
  const { secrets, now } = services
  // Requests with tokens of the grant come one after the other.
  await tx.$queryRaw`SELECT 1 FROM "AccessGrant" WHERE "id" = ${id} FOR NO KEY UPDATE`
  const grant = await tx.accessGrant.findUnique({ where: { id } })
  const at = now()
  if (grant === null || grant.expiresAt <= at) return 'The refresh token has expired or was revoked'
  const { subscriptionId, storeUserId: userId } = grant
  const hashes = secrets.lookups(refreshToken)
  if (!isOneOf(grant.tokenHash, hashes)) {
    const isRepeated =
      grant.formerTokenHash !== null &&
      isOneOf(grant.formerTokenHash, hashes) &&
      at.getTime() - grant.refreshedAt.getTime() < REPEATED_MS
    const last = isRepeated ? await tx.accessToken.findFirst({ where: { grantId: id }, orderBy: { id: 'desc' } }) : null
    if (!last?.tokenSealed || last.expiresAt === null) return 'former'
    const expiresInSeconds = Math.floor((last.expiresAt.getTime() - at.getTime()) / 1_000)
    const token = secrets.open(last.tokenSealed)
    return expiring(tx, userId, token, { token: secrets.open(grant.tokenSealed), expiresInSeconds })
  }
  const next = grant.name + generateKey()
  const data = { ...refreshColumns(services, next), formerTokenHash: grant.tokenHash }
  await tx.accessGrant.update({ where: { id }, data })
  const token = await issueToken(tx, services, { subscriptionId, grantId: id })
  return expiring(tx, userId, token, { token: next, expiresInSeconds: EXPIRES_IN_SECONDS })
}

/** The grant that a refresh token of this client names, whether the token still works or not. */
async function findGrant(db: Db, { id: applicationId }: OAuthClient, refreshToken: string) {
  const [, name] = REFRESH_TOKEN.exec(refreshToken) ?? []
  if (name === undefined) return null
  const where = { name, subscription: { applicationId } }
  const select = { id: true, subscription: { select: { storeId: true } } } as const
  const found = await db.accessGrant.findFirst({ where, select })
  return found && { id: found.id, storeId: found.subscription.storeId }
}

/** Ends what `remove` deletes. Once this resolves, it is refused in this process, and within moments in the others. */
async function endAccess(
  services: AccessServices,
  { storeId, client, actor, reason }: Pick<Refresh, 'client' | 'actor'> & { storeId: number; reason: string },
  remove: (tx: Transaction) => Promise<{ count: number }>,
): Promise<void> {
  await changeAccess(services, async (tx) => {
    if ((await remove(tx)).count === 0) return
    const about = { actor, ...aboutApplication(client), storeId }
    await recordAudit(tx, services.now, { ...about, action: 'token.revoked', details: { reason } })
  })
}

/** Deletes a grant with its tokens. */
const ofGrant = (id: number) => (tx: Transaction) => tx.accessGrant.deleteMany({ where: { id } })

/** Returns what does not match the code's binding; null if everything matches. */
function faultIn({ redirectUri, verifier }: CodeExchange, code: AuthorizationCode): string | null {
  if (redirectUri !== null && redirectUri !== code.redirectUri) {
    return 'redirect_uri is not the one the code was issued for'
  }
  if (code.codeChallenge === null) {
    // RFC 9700 §4.8.2: an attacker may have removed the challenge from the client's request.
    return verifier === null ? null : 'code_verifier is sent, but the code was requested without code_challenge'
  }
  if (verifier === null) return 'code_verifier is missing: the code was requested with code_challenge'
  // RFC 7636 §4.1 and §4.6
  const isHashed = code.codeChallengeMethod === 'S256'
  const proof = isHashed ? createHash('sha256').update(verifier).digest('base64url') : verifier
  const fits = /^[A-Za-z0-9._~-]{43,128}$/.test(verifier) && sameSecret(proof, code.codeChallenge)
  return fits ? null : 'code_verifier does not match the code_challenge of the code'
}

/**
 * Revokes a token of the client (RFC 7009): an access token, or a grant by its refresh token or one of its access tokens. Once this
 * resolves, what is revoked is refused in this process, and within moments in the others. Ignores text that is not one of the
 * client's tokens. Throws for the token of a subscription (409), because only the merchant ends a subscription.
 */
export async function revokeToken(
  services: AccessServices,
  { client, token, actor }: { client: OAuthClient; token: string; actor: Actor },
): Promise<void> {
  const { db, secrets } = services
  const by = { client, actor, reason: 'the application asked for it' }
  const grant = await findGrant(db, client, token)
  if (grant !== null) return endAccess(services, { storeId: grant.storeId, ...by }, ofGrant(grant.id))
  const tokenHash = { in: secrets.lookups(token) }
  const applicationId = client.id
  const found = await db.accessToken.findFirst({
    where: { tokenHash, subscription: { applicationId } },
    select: { grantId: true, subscription: { select: { storeId: true } } },
  })
  if (!found) {
    if ((await db.subscription.count({ where: { tokenHash, applicationId } })) === 0) return
    const message = 'This is the token of the subscription: it ends when the merchant removes the application'
    throw new StoreFailure('invalid-state', message, { field: 'token' })
  }
  const { grantId, subscription } = found
  const ofToken = (tx: Transaction) => tx.accessToken.deleteMany({ where: { tokenHash } })
  await endAccess(services, { ...subscription, ...by }, grantId === null ? ofToken : ofGrant(grantId))
}
