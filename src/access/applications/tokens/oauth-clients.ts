import type { Privileges } from '../../../engine/caller.ts'
import type { DataServices, Db, Transaction } from '../../../foundation/database/client.ts'
import type { Application } from '../../../foundation/database/generated/client.ts'
import { KEY_LENGTH_MAX } from '../../../foundation/values/key-strength.ts'
import { isOneOf } from '../../../foundation/values/secrets.ts'

/** An application as an OAuth client. A null `callbackUrl`: it gets no callback before a store subscribes. */
export type OAuthClient = ReturnType<typeof clientOf>

function clientOf(row: Application) {
  const { id, name, publicKey, callbackUrl, redirectUris, developerId } = row
  const privileges = row.privileges as Privileges
  return { id, name, publicKey, callbackUrl, redirectUris, developerId, privileges, isNew: row.kind === 'new' }
}

/** Returns the application that is open to merchants and has this public key (client_id), or null. */
export async function findOAuthClient(db: Db | Transaction, publicKey: string): Promise<OAuthClient | null> {
  const row = await findRow(db, publicKey)
  return row && clientOf(row)
}

async function findRow(db: Db | Transaction, publicKey: string): Promise<Application | null> {
  // PostgreSQL cannot store other text, and no key is longer.
  const isKey = publicKey.length <= KEY_LENGTH_MAX && /^[\x21-\x7e]+$/.test(publicKey)
  return isKey ? db.application.findUnique({ where: { publicKey, openToMerchants: true } }) : null
}

/** Returns the application that is open to merchants and has this key pair, or null. Accepts the former private key until it expires. */
export async function authenticateOAuthClient(
  { db, secrets, now }: DataServices,
  { publicKey, privateKey }: { publicKey: string; privateKey: string },
): Promise<OAuthClient | null> {
  const row = await findRow(db, publicKey)
  return row && endOfKey(secrets.lookups(privateKey), row) > now().getTime() ? clientOf(row) : null
}

/**
 * Returns when the key with these hashes (`Secrets.lookups`) expires, in milliseconds since 1970. Infinity: the current
 * key. -Infinity: never a key of the application, or no longer stored.
 */
export function endOfKey(
  hashes: readonly string[],
  stored: Pick<Application, 'privateKeyHash' | 'previousPrivateKeyHash' | 'previousPrivateKeyUntil'>,
): number {
  const { privateKeyHash, previousPrivateKeyHash, previousPrivateKeyUntil } = stored
  if (isOneOf(privateKeyHash, hashes)) return Number.POSITIVE_INFINITY
  const isPrevious = previousPrivateKeyHash !== null && isOneOf(previousPrivateKeyHash, hashes)
  return isPrevious && previousPrivateKeyUntil ? previousPrivateKeyUntil.getTime() : Number.NEGATIVE_INFINITY
}
