import type { DataServices, Db, Transaction } from '../database/client.ts'
import type { Application } from '../database/generated/client.ts'
import type { Privileges } from '../engine/caller.ts'
import { sameSecret } from '../values/secrets.ts'

const clientColumns = {
  id: true,
  name: true,
  publicKey: true,
  privileges: true,
  callbackUrl: true,
  redirectUris: true,
  developerId: true,
} as const

/** An application as an OAuth client. A null `callbackUrl`: it gets no callback before a store subscribes. */
export type OAuthClient = ReturnType<typeof clientOf>

function clientOf(row: Pick<Application, keyof typeof clientColumns>) {
  return { ...row, privileges: row.privileges as Privileges }
}

/** Returns the application whose public key is this client_id, or null. */
export async function findOAuthClient(db: Db | Transaction, publicKey: string): Promise<OAuthClient | null> {
  if (!isKey(publicKey)) return null
  const row = await db.application.findUnique({ where: { publicKey }, select: clientColumns })
  return row && clientOf(row)
}

/** Excludes text that PostgreSQL cannot store or that is longer than any key. */
function isKey(text: string): boolean {
  return /^[\x21-\x7e]{1,100}$/.test(text)
}

/** Returns the application with this key pair, or null. Accepts the former private key until it expires. */
export async function authenticateOAuthClient(
  { db, secrets, now }: DataServices,
  { publicKey, privateKey }: { publicKey: string; privateKey: string },
): Promise<OAuthClient | null> {
  if (!isKey(publicKey)) return null
  const keyColumns = { privateKeyHash: true, previousPrivateKeyHash: true, previousPrivateKeyUntil: true } as const
  const row = await db.application.findUnique({ where: { publicKey }, select: { ...clientColumns, ...keyColumns } })
  if (!row) return null
  const { privateKeyHash, previousPrivateKeyHash, previousPrivateKeyUntil, ...client } = row
  const keys = { privateKeyHash, previousPrivateKeyHash, previousPrivateKeyUntil }
  return endOfKey(secrets.lookup(privateKey), keys) > now().getTime() ? clientOf(client) : null
}

/**
 * Returns when the key with this hash (`Secrets.lookup`) expires, in milliseconds since 1970. Infinity: the current
 * key. -Infinity: never a key of the application, or no longer stored.
 */
export function endOfKey(
  hash: string,
  stored: Pick<Application, 'privateKeyHash' | 'previousPrivateKeyHash' | 'previousPrivateKeyUntil'>,
): number {
  const { privateKeyHash, previousPrivateKeyHash, previousPrivateKeyUntil } = stored
  if (sameSecret(hash, privateKeyHash)) return Number.POSITIVE_INFINITY
  const isPrevious = previousPrivateKeyHash !== null && sameSecret(hash, previousPrivateKeyHash)
  return isPrevious && previousPrivateKeyUntil ? previousPrivateKeyUntil.getTime() : Number.NEGATIVE_INFINITY
}
