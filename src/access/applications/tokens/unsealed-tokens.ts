import type { DataServices } from '../../../foundation/database/client.ts'

/**
 * Seals an access token that an early version kept as a hash alone, now that it was sent. Gives up without an error, since a database
 * that only reads still answers the caller; the next use tries again.
 */
export async function sealAccessToken(
  { db, secrets }: Pick<DataServices, 'db' | 'secrets'>,
  id: number,
  token: string,
): Promise<void> {
  const data = { tokenHash: secrets.lookup(token), tokenSealed: secrets.seal(token) }
  await db.accessToken.updateMany({ where: { id, tokenSealed: null }, data }).catch(() => undefined)
}
