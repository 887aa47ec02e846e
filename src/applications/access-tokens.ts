import { createHash, randomBytes } from 'node:crypto'
import { type Actor, type AuditAction, aboutApplication, recordAudit } from '../audit/audit.ts'
import { type DataServices, inTransaction, type Transaction } from '../database/client.ts'
import type { AuthorizationCode } from '../database/generated/client.ts'
import { databaseError } from '../database/outage.ts'
import { StoreFailure } from '../values/failure.ts'
import { generateKey, sameSecret } from '../values/secrets.ts'
import { type AccessServices, changeAccess } from './access-changes.ts'
import type { OAuthClient } from './oauth-clients.ts'

// OAuth's authorization codes, and the access tokens that applications exchange them for.

/** RFC 6749 §4.1.2: the longest recommended lifetime. */
const CODE_MS = 10 * 60 * 1_000
const CODE_BYTES = 32
const TOKENS_MAX = 100

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
  throw new StoreFailure('conflict', 'The application was removed from the store meanwhile; allow it again')
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
type IssuedToken = { readonly token: string; readonly userId: number }

/**
 * Exchanges a code for an access token (RFC 6749 §4.1.3). The token works like the subscription's token and as long,
 * unless it is revoked. Of one subscription, only the 100 newest tokens work.
 *
 * The client's first request uses up the code, whether it succeeds or not, so that nobody can guess verifiers. Every
 * further request, at any time, revokes the token that the first obtained, because the code has leaked. A request of
 * another client leaves the code unchanged. Of concurrent requests with one code, at most one gets a token, and in the
 * end no token works.
 *
 * Throws (400) with a sentence about what is wrong with the code, the redirect address or the verifier.
 */
export async function exchangeCode(services: AccessServices, exchange: CodeExchange): Promise<IssuedToken> {
  const { db, secrets } = services
  const codeHashes = secrets.lookups(exchange.code)
  const applicationId = exchange.client.id
  // Checked first, so that an arbitrary text sent as a code does not invalidate the cached callers.
  const [known] = await db.$queryRaw<{ codeHash: string }[]>`
    SELECT "codeHash" FROM "AuthorizationCode" WHERE "codeHash" = ANY (${codeHashes}) AND "applicationId" = ${applicationId}
    UNION ALL
    SELECT "codeHash" FROM "AccessToken" JOIN "Subscription" ON "Subscription"."id" = "subscriptionId"
    WHERE "codeHash" = ANY (${codeHashes}) AND "applicationId" = ${applicationId}`
  const outcome = known
    ? await changeAccess(services, (tx) => present(tx, services, known.codeHash, exchange))
    : unknown
  // Thrown after the transaction commits, because its changes must persist.
  if (typeof outcome === 'string') throw new StoreFailure('bad-request', outcome, { field: 'code' })
  return outcome
}

const unknown = 'This code was not issued to this client'

/** Returns the token, or the reason for refusing it. */
async function present(
  tx: Transaction,
  { secrets, now }: AccessServices,
  codeHash: string,
  exchange: CodeExchange,
): Promise<IssuedToken | string> {
  const { client, actor } = exchange
  // Serializes requests with the subscription's codes, and the removal of the subscription.
  const [subscription] = await tx.$queryRaw<{ id: number; storeId: number }[]>`
    SELECT "id", "storeId" FROM "Subscription" WHERE "id" = (
      SELECT "subscriptionId" FROM "AuthorizationCode" WHERE "codeHash" = ${codeHash}
      UNION ALL
      SELECT "subscriptionId" FROM "AccessToken" WHERE "codeHash" = ${codeHash}
      LIMIT 1
    ) FOR NO KEY UPDATE`
  if (!subscription) return unknown
  const { id: subscriptionId, storeId } = subscription
  const about = { actor, ...aboutApplication(client), storeId }
  const code = await tx.authorizationCode.findUnique({ where: { codeHash } })
  if (!code || code.usedAt) {
    const { count } = await tx.accessToken.deleteMany({ where: { codeHash } })
    const details = { reason: 'the code was presented again' }
    if (count > 0) await recordAudit(tx, now, { ...about, action: 'token.revoked', details })
    return 'The code has already been used; the token issued for it is revoked'
  }
  const at = now()
  if (code.expiresAt <= at) return 'The code has expired'
  await tx.authorizationCode.update({ where: { codeHash }, data: { usedAt: at } })
  const fault = faultIn(exchange, code)
  if (fault !== null) return fault

  const token = generateKey()
  const stored = { tokenHash: secrets.lookup(token), tokenSealed: secrets.seal(token) }
  const data = { ...stored, subscriptionId, codeHash, createdAt: at }
  await tx.accessToken.create({ data })
  await tx.$executeRaw`
    DELETE FROM "AccessToken" WHERE "id" IN (
      SELECT "id" FROM "AccessToken" WHERE "subscriptionId" = ${subscriptionId} ORDER BY "id" DESC OFFSET ${TOKENS_MAX})`
  await recordAudit(tx, now, { ...about, action: 'token.issued' })
  return { token, userId: code.storeUserId }
}

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
 * Revokes an access token of the client (RFC 7009): once this resolves, the token is refused in this process, and
 * within moments in the others. Ignores text that is not one of the client's access tokens. Throws for the token of a
 * subscription (409), because only the merchant ends a subscription.
 */
export async function revokeAccessToken(
  services: AccessServices,
  { client, token, actor }: { client: OAuthClient; token: string; actor: Actor },
): Promise<void> {
  const { db, secrets, now } = services
  const tokenHash = { in: secrets.lookups(token) }
  const applicationId = client.id
  const found = await db.accessToken.findFirst({
    where: { tokenHash, subscription: { applicationId } },
    select: { subscription: { select: { storeId: true } } },
  })
  if (!found) {
    if ((await db.subscription.count({ where: { tokenHash, applicationId } })) === 0) return
    const message = 'This is the token of the subscription: it ends when the merchant removes the application'
    throw new StoreFailure('conflict', message, { field: 'token' })
  }
  await changeAccess(services, async (tx) => {
    const { count } = await tx.accessToken.deleteMany({ where: { tokenHash } })
    if (count === 0) return
    const details = { reason: 'the application asked for it' }
    const about = { actor, ...aboutApplication(client), ...found.subscription }
    await recordAudit(tx, now, { ...about, action: 'token.revoked', details })
  })
}
