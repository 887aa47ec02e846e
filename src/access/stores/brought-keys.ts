import { z } from 'zod'
import { locks } from '../../foundation/database/advisory-locks.ts'
import type { Transaction } from '../../foundation/database/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { isKeyStrong, KEY_LENGTH_MAX } from '../../foundation/values/key-strength.ts'
import type { Secrets } from '../../foundation/values/secrets.ts'

// Keys that the operator brings along from another platform, so that integrations with built-in keys go on working.

/** One sentence for every reason, because a refusal must not tell that somebody has the key. */
const unusable = `cannot be used as a key here; allowed are 32 random hexadecimal characters, or at least 128 random bits as printable ASCII without spaces, of at most ${KEY_LENGTH_MAX} characters, that are no key of this server yet`

/** Only the type and the length: `requireFreeKeys` tells the rest. */
export const broughtKeyInput = z.string(unusable).max(KEY_LENGTH_MAX, unusable).optional()

/**
 * Throws a 400 unless each key, by the member of the body that has it, is strong, different from the others, and no key of any
 * kind on this server: public, private or former private key, token or user key. Until the transaction ends, nobody else
 * brings keys, so that of any number of requests with one key, one gets it. The statements are the same for every key.
 */
export async function requireFreeKeys(
  tx: Transaction,
  secrets: Secrets,
  keys: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const brought = Object.entries(keys).flatMap(([field, key]) => (key === undefined ? [] : [{ field, key }]))
  if (brought.length === 0) return
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${locks.broughtKeys}::int, 0)`
  const seen = new Set<string>()
  for (const { field, key } of brought) {
    const isTaken = await isKeyTaken(tx, secrets, key)
    if (isTaken || !isKeyStrong(key) || seen.has(key.toLowerCase())) {
      throw new StoreFailure('invalid-value', `${field} ${unusable}`, { field })
    }
    seen.add(key.toLowerCase())
  }
}

/** A key that differs only in case from another counts as taken too: people who compare them do not see the difference. */
async function isKeyTaken(tx: Transaction, secrets: Secrets, key: string): Promise<boolean> {
  // PostgreSQL cannot store every text.
  const spellings = /^[\x21-\x7e]+$/.test(key) ? [...new Set([key, key.toLowerCase(), key.toUpperCase()])] : []
  const hashes = spellings.flatMap((spelling) => secrets.lookups(spelling))
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM "Application" WHERE "publicKey" = ANY (${spellings})
    UNION ALL SELECT 1 FROM "Application" WHERE "privateKeyHash" = ANY (${hashes})
    UNION ALL SELECT 1 FROM "Application" WHERE "previousPrivateKeyHash" = ANY (${hashes})
    UNION ALL SELECT 1 FROM "Subscription" WHERE "tokenHash" = ANY (${hashes})
    UNION ALL SELECT 1 FROM "AccessToken" WHERE "tokenHash" = ANY (${hashes})
    UNION ALL SELECT 1 FROM "Store" WHERE "userKeyHash" = ANY (${hashes})`
  return found.length > 0
}
