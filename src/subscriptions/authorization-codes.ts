import { randomBytes } from 'node:crypto'
import type { OAuthClient } from '../applications/oauth-clients.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { type DataServices, databaseError, inTransaction, type Transaction } from '../database/client.ts'
import { deleteExpired } from '../database/delete-expired.ts'
import { StoreFailure } from '../values/failure.ts'

/** RFC 6749 §4.1.2: the longest recommended lifetime. */
export const CODE_MS = 10 * 60 * 1_000
const CODE_BYTES = 32

/** RFC 7636 §4.2: derived by the client from its own secret, which later proves that the code is its own. */
export interface CodeChallenge {
  readonly text: string
  readonly method: 'S256' | 'plain'
}

/** The merchant's decision, and the client that asked for it. */
export interface Consent {
  readonly client: OAuthClient
  readonly storeId: number
  readonly redirectUri: string
  readonly actor: Actor
}

export interface Agreement extends Consent {
  readonly subscriptionId: number
  /** The account that agreed. */
  readonly storeUserId: number
  /** Null: the client sent none. */
  readonly challenge: CodeChallenge | null
}

/**
 * Creates a code for the application that the merchant agreed to: 43 letters, digits, `-` and `_`, valid once and for
 * ten minutes. Also deletes up to 100 expired codes. Throws when the subscription, application or account no longer
 * exists (409).
 */
export async function createAuthorizationCode(
  { db, secrets, now }: DataServices,
  agreement: Agreement,
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
    await recordConsent(tx, now, agreement, 'authorization.granted')
    // Deletes expired codes too: an access token stores the hash of its code, so a later reuse is still detected.
    await deleteExpired(tx, { table: 'AuthorizationCode', key: 'codeHash' }, createdAt)
  })
  return code
}

function refuseVanished(error: unknown): never {
  if (!/^AuthorizationCode_\w+_fkey$/.test(databaseError(error)?.constraint ?? '')) throw error
  throw new StoreFailure('conflict', 'The application was removed from the store meanwhile; allow it again')
}

/** Records the refusal in the audit log and changes nothing else. */
export async function denyAuthorization({ db, now }: Omit<DataServices, 'secrets'>, consent: Consent): Promise<void> {
  await inTransaction(db, (tx) => recordConsent(tx, now, consent, 'authorization.denied'))
}

function recordConsent(
  tx: Transaction,
  now: () => Date,
  { client, storeId, redirectUri, actor }: Consent,
  action: 'authorization.granted' | 'authorization.denied',
): Promise<void> {
  const { id: applicationId, name: target, developerId } = client
  const details = { redirectHost: new URL(redirectUri).host }
  return recordAudit(tx, now, { actor, action, target, storeId, applicationId, developerId, details })
}
