import { z } from 'zod'
import type { Actor } from '../audit/audit.ts'
import { inTransaction } from '../database/client.ts'
import { type AccessChange, changeAccess } from '../subscriptions/access-changes.ts'
import { StoreFailure } from '../values/failure.ts'
import { namedObject } from '../values/input.ts'
import { generateKey, sameSecret } from '../values/secrets.ts'
import { privateKeyColumns } from './applications.ts'
import { callbackSecret } from './callback.ts'
import {
  findOwnApplication,
  lockOwnRow,
  type OwnApplication,
  type OwnApplicationReader,
  type OwnId,
  recordOwn,
} from './own-applications.ts'

const KEEP_HOURS_MAX = 720
const KEEP_HOURS_DEFAULT = 24
const HOUR_MS = 60 * 60 * 1_000

const hours = `must be a whole number from 0 to ${KEEP_HOURS_MAX}`
const current = 'must be the one to replace, of at most 100 characters'
const replacedInput = z.string(current).max(100, current).optional()

/** The body of `POST /developers/applications/{id}/private-key`. */
export const keyRotation = namedObject({
  KeepFormerForHours: z.int(hours).min(0, hours).max(KEEP_HOURS_MAX, hours).default(KEEP_HOURS_DEFAULT),
  PrivateKey: replacedInput,
})

/** The body of `POST /developers/applications/{id}/callback-secret`. */
export const secretRotation = namedObject({ CallBackSecret: replacedInput })

export type KeyServices = OwnApplicationReader & AccessChange

/**
 * Replaces an application's private key. The former key works for KeepFormerForHours (0 to 720, default 24; 0: it stops
 * at once); the key before it stops at once. If PrivateKey is given, only that key is replaced, so that a repeated
 * request disables no key in use. Throws for a PrivateKey that was already replaced (409), and for an id that is not
 * one of the developer's applications (404).
 */
export async function rotatePrivateKey(
  services: KeyServices,
  own: OwnId,
  { KeepFormerForHours, PrivateKey }: z.output<typeof keyRotation>,
  actor: Actor,
): Promise<OwnApplication> {
  const { secrets, now } = services
  await changeAccess(services, async (tx) => {
    const row = await lockOwnRow(tx, own)
    if (PrivateKey !== undefined && !sameSecret(secrets.lookup(PrivateKey), row.privateKeyHash)) {
      throw replacedAlready('PrivateKey', 'private key')
    }
    // Deletes a leaked key's hash instead of relying on its expiry, because the clocks of several processes differ.
    const isKept = KeepFormerForHours > 0
    await tx.application.update({
      where: { id: own.id },
      data: {
        ...privateKeyColumns(generateKey(), secrets),
        previousPrivateKeyHash: isKept ? row.privateKeyHash : null,
        previousPrivateKeyUntil: isKept ? new Date(now().getTime() + KeepFormerForHours * HOUR_MS) : null,
      },
    })
    await recordOwn(tx, now, actor, 'application.key-rotated', row, { keepFormerForHours: KeepFormerForHours })
  })
  return findOwnApplication(services, own)
}

function replacedAlready(field: string, what: string): StoreFailure {
  const message = `There is a newer ${what} than the one that was to be replaced; nothing was changed`
  return new StoreFailure('conflict', message, { field })
}

/**
 * Replaces the secret that signs an application's callbacks. For 24 h callbacks also carry a signature of the former
 * secret, but none of the one before it. If CallBackSecret is given, only that secret is replaced, so that a repeated
 * request disables no secret in use. Throws for a CallBackSecret that was already replaced (409), and for an id that is
 * not one of the developer's applications (404).
 */
export async function rotateCallbackSecret(
  services: OwnApplicationReader,
  own: OwnId,
  { CallBackSecret }: z.output<typeof secretRotation>,
  actor: Actor,
): Promise<OwnApplication> {
  const { db, secrets, now } = services
  await inTransaction(db, async (tx) => {
    const row = await lockOwnRow(tx, own)
    if (CallBackSecret !== undefined && !sameSecret(CallBackSecret, callbackSecret(secrets, row))) {
      throw replacedAlready('CallBackSecret', 'callback secret')
    }
    await tx.application.update({
      where: { id: own.id },
      data: { callbackSecretVersion: { increment: 1 }, callbackSecretRotatedAt: now() },
    })
    await recordOwn(tx, now, actor, 'application.secret-rotated', row)
  })
  return findOwnApplication(services, own)
}
