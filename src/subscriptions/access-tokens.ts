import { createHash } from 'node:crypto'
import type { OAuthClient } from '../applications/oauth-clients.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import type { DataServices, Transaction } from '../database/client.ts'
import { StoreFailure } from '../values/failure.ts'
import { generateKey, sameSecret } from '../values/secrets.ts'
import { type AccessChange, changeAccess } from './access-changes.ts'
import type { CodeChallenge } from './authorization-codes.ts'

const TOKENS_MAX = 100

export type TokenServices = DataServices & AccessChange

export interface CodeExchange {
  /** The client that presents the code, already authenticated. */
  readonly client: OAuthClient
  readonly code: string
  /** Null: not sent. */
  readonly redirectUri: string | null
  readonly verifier: string | null
  readonly actor: Actor
}

export interface IssuedToken {
  readonly token: string
  /** The account of the merchant who agreed. */
  readonly userId: number
}

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
export async function exchangeCode(services: TokenServices, exchange: CodeExchange): Promise<IssuedToken> {
  const codeHash = services.secrets.lookup(exchange.code)
  // Checked first, so that an arbitrary text sent as a code does not invalidate the cached callers.
  if (!(await isKnown(services, codeHash, exchange.client))) throw refused(unknown)
  const outcome = await changeAccess(services, (tx) => present(tx, services, codeHash, exchange))
  if (typeof outcome === 'string') throw refused(outcome)
  return outcome
}

const unknown = 'The code is none that this server gave to the client'

/** Thrown after the transaction commits, because its changes must persist. */
function refused(why: string): StoreFailure {
  return new StoreFailure('bad-request', why, { field: 'code' })
}

async function isKnown({ db }: TokenServices, codeHash: string, client: OAuthClient): Promise<boolean> {
  const [row] = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM "AuthorizationCode" WHERE "codeHash" = ${codeHash} AND "applicationId" = ${client.id}
    UNION ALL
    SELECT 1 FROM "AccessToken" JOIN "Subscription" ON "Subscription"."id" = "subscriptionId"
    WHERE "codeHash" = ${codeHash} AND "applicationId" = ${client.id}`
  return row !== undefined
}

/** Returns the token, or the reason for refusing it. */
async function present(
  tx: Transaction,
  { secrets, now }: TokenServices,
  codeHash: string,
  exchange: CodeExchange,
): Promise<IssuedToken | string> {
  const subscription = await lockSubscription(tx, codeHash)
  if (!subscription) return unknown
  const code = await tx.authorizationCode.findUnique({ where: { codeHash } })
  if (!code || code.usedAt) {
    await endTokenOf(tx, now, codeHash, subscription, exchange)
    return 'The code was used before; the token that it gave is revoked'
  }
  const at = now()
  if (code.expiresAt <= at) return 'The code has expired'
  await tx.authorizationCode.update({ where: { codeHash }, data: { usedAt: at } })
  const fault = faultIn(exchange, code)
  if (fault !== null) return fault

  const token = generateKey()
  await tx.accessToken.create({
    data: { tokenHash: secrets.lookup(token), subscriptionId: subscription.id, codeHash, createdAt: at },
  })
  await endOldest(tx, subscription.id)
  await audit(tx, now, 'token.issued', subscription, exchange, {})
  return { token, userId: code.storeUserId }
}

interface LockedSubscription {
  readonly id: number
  readonly storeId: number
}

/** Locks the subscription. Serializes requests with its codes, and the removal of the subscription. */
async function lockSubscription(tx: Transaction, codeHash: string): Promise<LockedSubscription | undefined> {
  const [row] = await tx.$queryRaw<LockedSubscription[]>`
    SELECT "id", "storeId" FROM "Subscription" WHERE "id" = (
      SELECT "subscriptionId" FROM "AuthorizationCode" WHERE "codeHash" = ${codeHash}
      UNION ALL
      SELECT "subscriptionId" FROM "AccessToken" WHERE "codeHash" = ${codeHash}
      LIMIT 1
    ) FOR NO KEY UPDATE`
  return row
}

interface Bound {
  readonly redirectUri: string
  readonly codeChallenge: string | null
  readonly codeChallengeMethod: string | null
}

/** Returns what does not match the code's binding; null if everything matches. */
function faultIn({ redirectUri, verifier }: CodeExchange, code: Bound): string | null {
  if (redirectUri !== null && redirectUri !== code.redirectUri) {
    return 'redirect_uri is not the one that the code was sent to'
  }
  if (code.codeChallenge === null) {
    // RFC 9700 §4.8.2: an attacker may have removed the challenge from the client's request.
    return verifier === null ? null : 'code_verifier is sent, but the code was asked for without code_challenge'
  }
  if (verifier === null) return 'code_verifier is missing: the code was asked for with code_challenge'
  const challenge = { text: code.codeChallenge, method: code.codeChallengeMethod as CodeChallenge['method'] }
  return fits(verifier, challenge)
    ? null
    : 'code_verifier does not fit the code_challenge that the code was asked for with'
}

/** RFC 7636 §4.1 and §4.6 */
function fits(verifier: string, { text, method }: CodeChallenge): boolean {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false
  const proof = method === 'S256' ? createHash('sha256').update(verifier).digest('base64url') : verifier
  return sameSecret(proof, text)
}

async function endOldest(tx: Transaction, subscriptionId: number): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM "AccessToken" WHERE "id" IN (
      SELECT "id" FROM "AccessToken" WHERE "subscriptionId" = ${subscriptionId} ORDER BY "id" DESC OFFSET ${TOKENS_MAX})`
}

async function endTokenOf(
  tx: Transaction,
  now: () => Date,
  codeHash: string,
  subscription: LockedSubscription,
  by: Revoker,
): Promise<void> {
  const { count } = await tx.accessToken.deleteMany({ where: { codeHash } })
  if (count > 0) await audit(tx, now, 'token.revoked', subscription, by, { reason: 'the code was presented again' })
}

interface Revoker {
  readonly client: OAuthClient
  readonly actor: Actor
}

function audit(
  tx: Transaction,
  now: () => Date,
  action: 'token.issued' | 'token.revoked',
  { storeId }: { readonly storeId: number },
  { client, actor }: Revoker,
  details: { readonly reason?: string },
): Promise<void> {
  const { id: applicationId, name: target, developerId } = client
  return recordAudit(tx, now, { actor, action, target, storeId, applicationId, developerId, details })
}

/**
 * Revokes an access token of the client (RFC 7009): once this resolves, the token is refused in this process, and
 * within moments in the others. Ignores text that is not one of the client's access tokens. Throws for the token of a
 * subscription (409), because only the merchant ends a subscription.
 */
export async function revokeAccessToken(
  services: TokenServices,
  { client, token, actor }: Revoker & { readonly token: string },
): Promise<void> {
  const { db, secrets, now } = services
  const tokenHash = secrets.lookup(token)
  const subscription = { applicationId: client.id }
  const found = await db.accessToken.findFirst({
    where: { tokenHash, subscription },
    select: { subscription: { select: { storeId: true } } },
  })
  if (!found) return refuseSubscriptionToken(services, client, tokenHash)
  await changeAccess(services, async (tx) => {
    const { count } = await tx.accessToken.deleteMany({ where: { tokenHash } })
    const details = { reason: 'the application asked for it' }
    if (count > 0) await audit(tx, now, 'token.revoked', found.subscription, { client, actor }, details)
  })
}

async function refuseSubscriptionToken({ db }: TokenServices, client: OAuthClient, tokenHash: string): Promise<void> {
  const count = await db.subscription.count({ where: { tokenHash, applicationId: client.id } })
  if (count === 0) return
  const message = 'The token is that of the subscription: it ends when the merchant removes the application'
  throw new StoreFailure('conflict', message, { field: 'token' })
}
