import type { Db, Transaction } from '../database/client.ts'
import type { Privileges } from '../engine/caller.ts'
import { type Secrets, sameSecret } from '../values/secrets.ts'

/** An application, as OAuth sees it. */
export interface OAuthClient {
  readonly id: number
  readonly name: string
  readonly publicKey: string
  /** What it asks for. */
  readonly privileges: Privileges
  /** Asked before a store is subscribed; null: nobody is. */
  readonly callbackUrl: string | null
  /** Where a merchant may be sent back to; compared character by character. */
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

/** The application with this public key, which is its client_id; null: there is none. */
export async function findOAuthClient(db: Db | Transaction, publicKey: string): Promise<OAuthClient | null> {
  if (!isKey(publicKey)) return null
  const row = await db.application.findUnique({ where: { publicKey }, select: columns })
  return row && { ...row, privileges: row.privileges as Privileges }
}

/** What PostgreSQL takes for a text, and no longer than any key. */
function isKey(text: string): boolean {
  return /^[\x21-\x7e]{1,100}$/.test(text)
}

/**
 * The application whose keys these are; null: there is none. For a while after a rotation, the former private key is one
 * of them.
 */
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

/** What is stored of an application's private keys. */
export interface StoredKeys {
  readonly privateKeyHash: string
  readonly previousPrivateKeyHash: string | null
  readonly previousPrivateKeyUntil: Date | null
}

/**
 * When the key with this hash (`Secrets.lookup`) ceases to be the application's, in milliseconds since 1970: Infinity for
 * the present one; -Infinity: it never was, or nobody remembers.
 */
export function endOfKey(hash: string, stored: StoredKeys): number {
  const { privateKeyHash, previousPrivateKeyHash, previousPrivateKeyUntil } = stored
  if (sameSecret(hash, privateKeyHash)) return Number.POSITIVE_INFINITY
  const isPrevious = previousPrivateKeyHash !== null && sameSecret(hash, previousPrivateKeyHash)
  return isPrevious && previousPrivateKeyUntil ? previousPrivateKeyUntil.getTime() : Number.NEGATIVE_INFINITY
}
