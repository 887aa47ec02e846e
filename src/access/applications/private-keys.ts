import { z } from 'zod'
import type { SealingServices, Transaction } from '../../foundation/database/client.ts'
import type { Application } from '../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject } from '../../foundation/values/input.ts'
import { KEY_LENGTH_MAX } from '../../foundation/values/key-strength.ts'
import { generateKey, isOneOf, type Secrets } from '../../foundation/values/secrets.ts'
import { type Actor, aboutApplication, recordAudit } from '../audit/audit.ts'

const KEEP_HOURS_MAX = 720
const HOUR_MS = 60 * 60 * 1_000

const hours = `must be a whole number from 0 to ${KEEP_HOURS_MAX}`
const current = `must be the key or secret to replace, of at most ${KEY_LENGTH_MAX} characters`
export const replacedInput = z.string(current).max(KEY_LENGTH_MAX, current).optional()

/** The body of `POST /developers/applications/{id}/private-key` and `POST /admin/applications/{id}/private-key`. */
export const keyRotation = namedObject({
  KeepFormerForHours: z
    .int(hours)
    .min(0, hours)
    .max(KEEP_HOURS_MAX, hours)
    .default(24)
    .describe('The number of hours for which the former key keeps working. 0: it stops at once.'),
  PrivateKey: replacedInput.describe(
    'The key to replace, so that a repeated request replaces nothing twice. Left out: the one of now.',
  ),
})

export type KeyRotation = z.output<typeof keyRotation>

/** The columns of a private key. Omitted: a new one. */
export function privateKeyColumns(secrets: Secrets, privateKey = generateKey()) {
  return { privateKeyHash: secrets.lookup(privateKey), privateKeySealed: secrets.seal(privateKey) }
}

/**
 * Replaces the private key of the row `former`, which `tx` has locked. The former key still works for KeepFormerForHours (0 to
 * 720, default 24; 0: it stops at once); the key before it stops at once. If PrivateKey is given, only that key is replaced, so
 * that a repeated request disables no key in use: throws for one that was already replaced (409).
 */
export async function replacePrivateKey(
  tx: Transaction,
  { secrets, now }: SealingServices,
  { former, given, actor }: { former: Application; given: KeyRotation; actor: Actor },
): Promise<void> {
  const { KeepFormerForHours, PrivateKey } = given
  if (PrivateKey !== undefined && !isOneOf(former.privateKeyHash, secrets.lookups(PrivateKey))) {
    throw replacedAlready('PrivateKey', 'private key')
  }
  // Deletes a leaked key's hash instead of relying on its expiry, because the clocks of several processes differ.
  const isKept = KeepFormerForHours > 0
  const data = {
    ...privateKeyColumns(secrets),
    privateKeyBroughtAt: null,
    previousPrivateKeyHash: isKept ? former.privateKeyHash : null,
    previousPrivateKeyUntil: isKept ? new Date(now().getTime() + KeepFormerForHours * HOUR_MS) : null,
  }
  await tx.application.update({ where: { id: former.id }, data })
  const details = { keepFormerForHours: KeepFormerForHours }
  await recordAudit(tx, now, { actor, action: 'application.key-rotated', ...aboutApplication(former), details })
}

export function replacedAlready(field: string, what: string): StoreFailure {
  const message = `There is a newer ${what} than the one you wanted to replace; nothing was changed`
  return new StoreFailure('invalid-state', message, { field })
}
