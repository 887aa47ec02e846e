import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { CALLBACK_MS, type CallbackAction, newMessageId } from '../applications/callback.ts'
import { type DataServices, type Db, databaseError, type Transaction } from '../database/client.ts'

/** A store and an application that it uses, or is about to. */
export interface Pair {
  readonly storeId: number
  readonly applicationId: number
}

/**
 * The lease under which an application is asked about a store, and what joins the two is changed: one holder at a time, in all
 * processes. It outlives its claim only where the process was killed.
 */
export interface Handshake extends Pair {
  readonly action: CallbackAction
  /** What the application is, or may have been, told. */
  readonly token: string
  readonly messageId: string
  /** The holder, at random. Whoever takes over has another. */
  readonly claim: string
}

const FOREIGN_KEY_VIOLATION = '23503'

/** A holder that has not come back by then is taken for dead. Should it live, the lost claim undoes its change. */
const CLAIM_MS = CALLBACK_MS + 5_000

/**
 * Claims the handshake of store and application. One whose holder was killed is taken over as it is: its action, token
 * and message id are what the application may have been told, so whoever asks again must ask the same. Null: somebody
 * holds it, or store or application is gone.
 */
export async function claimHandshake(
  { db, secrets, now }: DataServices,
  { storeId, applicationId, action, token }: Pick<Handshake, keyof Pair | 'action' | 'token'>,
): Promise<Handshake | null> {
  const claim = randomUUID()
  const claimedUntil = new Date(now().getTime() + CLAIM_MS)
  const [row] = await db.$queryRaw<{ action: CallbackAction; tokenSealed: string; messageId: string }[]>`
    INSERT INTO "Handshake" AS "held"
      ("storeId", "applicationId", "action", "tokenSealed", "messageId", "claim", "claimedUntil")
    VALUES (${storeId}, ${applicationId}, ${action}, ${secrets.seal(token)}, ${newMessageId()}, ${claim}, ${claimedUntil})
    ON CONFLICT ("storeId", "applicationId") DO UPDATE
      SET "claim" = EXCLUDED."claim", "claimedUntil" = EXCLUDED."claimedUntil" WHERE "held"."claimedUntil" <= ${now()}
    RETURNING "action", "tokenSealed", "messageId"`.catch((error) => {
    if (databaseError(error)?.code === FOREIGN_KEY_VIOLATION) return []
    throw error
  })
  if (!row) return null
  const { tokenSealed, ...kept } = row
  return { storeId, applicationId, ...kept, token: secrets.open(tokenSealed), claim }
}

/**
 * Ends it: nothing about it is uncertain any more. As the first change of the transaction that it allows, after the locks
 * on store and application. False, when another has taken over: nothing may be changed then.
 */
export async function endHandshake(
  db: Db | Transaction,
  { storeId, applicationId, claim }: Handshake,
): Promise<boolean> {
  const { count } = await db.handshake.deleteMany({ where: { storeId, applicationId, claim } })
  return count > 0
}

/** Leaves it to be taken over at once by whoever asks next. False, when another has taken over already. */
export async function abandonHandshake(
  db: Db | Transaction,
  now: () => Date,
  { storeId, applicationId, claim }: Handshake,
): Promise<boolean> {
  const where = { storeId, applicationId, claim }
  const { count } = await db.handshake.updateMany({ where, data: { claimedUntil: now() } })
  return count > 0
}

const FIRST_LOOK_MS = 25
const LOOK_MS = 250
/** How long one request waits for others in all: longer than a holder and one that takes over from it can need together. */
export const WAIT_MS = 30_000

/**
 * Waits until the handshake that somebody holds has ended, and returns its message id; null: there was none any more, it is
 * free to be taken over, or the time is over. Takes what it waits off `wait`.
 */
export async function awaitHandshake(
  { db, now }: DataServices,
  { storeId, applicationId }: Pair,
  wait: { leftMs: number },
): Promise<string | null> {
  const where = { storeId_applicationId: { storeId, applicationId } }
  const begun = await db.handshake.findUnique({ where })
  let held = begun
  let lookMs = FIRST_LOOK_MS
  do {
    wait.leftMs -= lookMs
    if (held && held.claimedUntil <= now()) return null
    await delay(lookMs)
    if (!begun || wait.leftMs <= 0) return null
    lookMs = Math.min(lookMs * 2, LOOK_MS)
    held = await db.handshake.findUnique({ where })
  } while (held?.messageId === begun.messageId)
  return begun.messageId
}
