import type { Db, Transaction } from '../database/client.ts'
import type { Privileges } from '../engine/caller.ts'
import { type Secrets, sameSecret } from '../values/secrets.ts'

/** An application as an OAuth client. */
export interface OAuthClient {
  readonly id: number
  readonly name: string
  readonly publicKey: string
  /** The privileges it requests. */
  readonly privileges: Privileges
  /** Receives a callback before a store subscribes. Null: no callback. */
  readonly callbackUrl: string | null
  /** The addresses to which a merchant may be redirected, compared character by character. */
  readonly redirectUris: readonly string[]
  readonly developerId: number | null
}

const columns = {
  id: true,
  name: true,
  publicKey: true,
  privileges: true,
  callbackUrl: true,
  redirectUris: true,
  developerId: true,
} as const

/** Returns the application whose public key is this client_id, or null. */
export async function findOAuthClient(db: Db | Transaction, publicKey: string): Promise<OAuthClient | null> {
  if (!isKey(publicKey)) return null
  const row = await db.application.findUnique({ where: { publicKey }, select: columns })
  return row && { ...row, privileges: row.privileges as Privileges }
}

/** Excludes text that PostgreSQL cannot store or that is longer than any key. */
function isKey(text: string): boolean {
  return /^[\x21-\x7e]{1,100}$/.test(text)
}

/** Returns the application with this key pair, or null. Accepts the former private key until it expires. */
export async function authenticateOAuthClient(
  { db, secrets, now }: { db: Db; secrets: Secrets; now: () => Date },
  { publicKey, privateKey }: { publicKey: string; privateKey: string },
): Promise<OAuthClient | null> {
  if (!isKey(publicKey)) return null
  const row = await db.application.findUnique({
    where: { publicKey },
    select: { ...columns, privateKeyHash: true, previousPrivateKeyHash: true, previousPrivateKeyUntil: true },
  })
  if (!row) return null
  const { privateKeyHash, previousPrivateKeyHash, previousPrivateKeyUntil, ...client } = row
  const keys = { privateKeyHash, previousPrivateKeyHash, previousPrivateKeyUntil }
  if (endOfKey(secrets.lookup(privateKey), keys) <= now().getTime()) return null
  return { ...client, privileges: client.privileges as Privileges }
}

/** The stored columns of an application's private keys. */
export interface StoredKeys {
  readonly privateKeyHash: string
  readonly previousPrivateKeyHash: string | null
  readonly previousPrivateKeyUntil: Date | null
}

/**
 * Returns when the key with this hash (`Secrets.lookup`) expires, in milliseconds since 1970. Infinity: the current
 * key. -Infinity: never a key of the application, or no longer stored.
 */
export function endOfKey(hash: string, stored: StoredKeys): number {
  const { privateKeyHash, previousPrivateKeyHash, previousPrivateKeyUntil } = stored
  if (sameSecret(hash, privateKeyHash)) return Number.POSITIVE_INFINITY
  const isPrevious = previousPrivateKeyHash !== null && sameSecret(hash, previousPrivateKeyHash)
  return isPrevious && previousPrivateKeyUntil ? previousPrivateKeyUntil.getTime() : Number.NEGATIVE_INFINITY
}
