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
  /** Who presents the code, and has proved to be it. */
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
 * An access token for a code (RFC 6749 §4.1.3). It works as the subscription's token does, and as long as that, unless it
 * is revoked; of one subscription the 100 newest work.
 *
 * A code has one try. Its client's first request uses it up, whatever comes of it, so that nobody can try verifiers on it.
 * Each further one, at any time, ends the token that the first got: somebody else has the code too. A code that is presented
 * by another client is left as it is. Of many requests at once with one code, one gets a token at most, and no token works
 * in the end.
 *
 * Refuses (400) with a sentence about what is wrong with the code, the redirect address or the verifier.
 */
export async function exchangeCode(services: TokenServices, exchange: CodeExchange): Promise<IssuedToken> {
  const codeHash = services.secrets.lookup(exchange.code)
  // Callers are forgotten by a change alone, not by any text that somebody takes for a code.
  if (!(await isKnown(services, codeHash, exchange.client))) throw refused(unknown)
  const outcome = await changeAccess(services, (tx) => present(tx, services, codeHash, exchange))
  if (typeof outcome === 'string') throw refused(outcome)
  return outcome
}

const unknown = 'The code is none that this server gave to the client'

/** What changed on the way to it is to stay, so the transaction ends before it is thrown. */
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

/** The token, or why there is none. */
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

/** Whoever presents a code of the subscription waits here for the others, and so does the subscription's end. */
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

/** What the code is bound to and the request is not; null: nothing. */
function faultIn({ redirectUri, verifier }: CodeExchange, code: Bound): string | null {
  if (redirectUri !== null && redirectUri !== code.redirectUri) {
    return 'redirect_uri is not the one that the code was sent to'
  }
  if (code.codeChallenge === null) {
    // RFC 9700 §4.8.2: the challenge may have been taken out of the client's request on the way.
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
 * Ends an access token of the client (RFC 7009): when the promise is fulfilled it is refused in this process, and within
 * moments in the others. A text that is none of the client's access tokens is left alone. Refuses (409) the token of a
 * subscription of the client: that one ends with the subscription, which is the merchant's to end.
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
