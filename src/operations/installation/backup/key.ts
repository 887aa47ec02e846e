import type { Query } from '../../../foundation/database/query.ts'
import { StartupError } from '../../../foundation/process/startup-error.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'

/**
 * Tell the keys that the secrets are of, the current one first: 64 hexadecimal characters each. HKDF makes them of the key, and
 * nothing makes the key of them.
 */
export function keyFingerprints(secrets: Secrets): [string, ...string[]] {
  return secrets.derivations('fingerprint').map((bytes) => bytes.toString('hex')) as [string, ...string[]]
}

/** Throws `StartupError` when `secrets` do not open what the database's stores have stored. */
export async function refuseOtherKey({ query }: Query, secrets: Secrets): Promise<void> {
  const [store] = await query<{ sealed: string }>(`SELECT "userKeySealed" AS "sealed" FROM "Store" LIMIT 1`)
  try {
    if (store) secrets.open(store.sealed)
  } catch {
    throw new StartupError(
      'SECRET_KEY (without it: keys.json in DATA_DIR) is not the key that the secrets in this database were stored under. Give the settings of the server',
    )
  }
}
