import { sameSecret } from '../values/secrets.ts'

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
