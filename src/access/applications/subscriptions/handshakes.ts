import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { DataServices, Db, Transaction } from '../../../foundation/database/client.ts'
import { isFree, leaseEnd, leases } from '../../../foundation/database/leases.ts'
import { databaseError } from '../../../foundation/database/outage.ts'
import { type CallbackAction, newMessageId } from './callback.ts'

/** A store and an application that uses it or is about to. */
export interface Pair {
  readonly storeId: number
  readonly applicationId: number
}

/**
 * The lease for calling an application about a store and for changing their subscription: one holder at a time, across
 * all processes. A handshake without a valid claim remains only after its process was killed. `token` is what the
 * application has received, or may have received; `claim` is random, and different for each holder.
 */
export type Handshake = NonNullable<Awaited<ReturnType<typeof claimHandshake>>>

const FOREIGN_KEY_VIOLATION = '23503'

/**
 * Claims the handshake of a store and an application. Takes over the handshake of a killed process unchanged, because
 * the application may already have received its action, token and message id, and a retry must repeat them. Null:
 * another holder has it, or the store or application no longer exists.
 */
export async function claimHandshake(
  { db, secrets, now }: DataServices,
  { storeId, applicationId, action, token }: Pair & { action: CallbackAction; token: string },
) {
  const claim = randomUUID()
  const claimedUntil = leaseEnd(leases.handshake, now)
  const [row] = await db.$queryRaw<{ action: CallbackAction; tokenSealed: string; messageId: string }[]>`
    INSERT INTO "Handshake" AS "held"
      ("storeId", "applicationId", "action", "tokenSealed", "messageId", "claim", "claimedUntil")
    VALUES (${storeId}, ${applicationId}, ${action}, ${secrets.seal(token)}, ${newMessageId()}, ${claim}, ${claimedUntil})
    ON CONFLICT ("storeId", "applicationId") DO UPDATE
      SET "claim" = EXCLUDED."claim", "claimedUntil" = EXCLUDED."claimedUntil" WHERE ${isFree(leases.handshake, now, 'held')}
    RETURNING "action", "tokenSealed", "messageId"`.catch((error) => {
    if (databaseError(error)?.code === FOREIGN_KEY_VIOLATION) return []
    throw error
  })
  if (!row) return null
  const { tokenSealed, ...kept } = row
  return { storeId, applicationId, ...kept, token: secrets.open(tokenSealed), claim }
}

const held = ({ storeId, applicationId, claim }: Handshake) => ({ where: { storeId, applicationId, claim } })

/**
 * Ends the handshake, because its outcome is now certain. Must be the first change in its transaction, after the locks
 * on store and application. False: another holder took over, and the caller must change nothing.
 */
export async function endHandshake(db: Db | Transaction, handshake: Handshake): Promise<boolean> {
  const { count } = await db.handshake.deleteMany(held(handshake))
  return count > 0
}

/** Releases the claim, so that the next caller can take over at once. False: another holder already has. */
export async function abandonHandshake(db: Db | Transaction, now: () => Date, handshake: Handshake): Promise<boolean> {
  const { count } = await db.handshake.updateMany({ ...held(handshake), data: { claimedUntil: now() } })
  return count > 0
}

const FIRST_LOOK_MS = 25
const LOOK_MS = 250
/** The total time that one request waits for others: longer than a holder and one successor can take together. */
export const WAIT_MS = 30_000

/**
 * Waits until the current handshake ends and returns its message id. Null: none exists, its lease expired, or the time
 * of `wait` is up, from which the time waited is subtracted.
 */
export async function awaitHandshake(
  { db, now }: DataServices,
  { storeId, applicationId }: Pair,
  wait: { leftMs: number },
): Promise<string | null> {
  const where = { storeId_applicationId: { storeId, applicationId } }
  const begun = await db.handshake.findUnique({ where })
  let current = begun
  let lookMs = FIRST_LOOK_MS
  do {
    wait.leftMs -= lookMs
    if (current && current.claimedUntil <= now()) return null
    await delay(lookMs)
    if (!begun || wait.leftMs <= 0) return null
    lookMs = Math.min(lookMs * 2, LOOK_MS)
    current = await db.handshake.findUnique({ where })
  } while (current?.messageId === begun.messageId)
  return begun.messageId
}
