import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { CALLBACK_MS, type CallbackAction } from '../applications/callback.ts'
import { type Db, databaseError, type Transaction } from '../database/client.ts'
import { StoreFailure } from '../values/failure.ts'
import type { Secrets } from '../values/secrets.ts'

/** A store and an application that it uses, or is about to. */
export interface Pair {
  readonly storeId: number
  readonly applicationId: number
}

/** The right to ask an application about a store, and to change what joins the two: one holder at a time, in all processes. */
export interface Handshake extends Pair {
  readonly action: CallbackAction
  /** What the application is, or may have been, told. */
  readonly token: string
  readonly messageId: string
  /** Who holds it, at random. Whoever takes over has another. */
  readonly claim: string
}

const FOREIGN_KEY_VIOLATION = '23503'

/** A holder that has not come back by then is taken for dead. Should it live, the lost claim undoes its change. */
const CLAIM_MS = CALLBACK_MS + 5_000

export interface HandshakeServices {
  db: Db
  secrets: Secrets
  now: () => Date
}

/**
 * Claims the handshake of store and application. One whose holder was killed is taken over as it is: its action, token
 * and message id are what the application may have been told, so whoever asks again must ask the same. Null: somebody
 * holds it, or store or application is gone.
 */
export async function claimHandshake(
  { db, secrets, now }: HandshakeServices,
  { storeId, applicationId, action, token }: Pair & { action: CallbackAction; token: string },
): Promise<Handshake | null> {
  const claim = randomUUID()
  const [row] = await db.$queryRaw<{ action: CallbackAction; tokenSealed: string; messageId: string }[]>`
    INSERT INTO "Handshake" AS "held"
      ("storeId", "applicationId", "action", "tokenSealed", "messageId", "claim", "claimedUntil")
    VALUES (${storeId}, ${applicationId}, ${action}, ${secrets.seal(token)}, ${newMessageId()}, ${claim}, ${claimEnd(now)})
    ON CONFLICT ("storeId", "applicationId") DO UPDATE
      SET "claim" = EXCLUDED."claim", "claimedUntil" = EXCLUDED."claimedUntil" WHERE "held"."claimedUntil" <= ${now()}
    RETURNING "action", "tokenSealed", "messageId"`.catch(noneWhereVanished)
  if (!row) return null
  const { tokenSealed, ...kept } = row
  return { storeId, applicationId, ...kept, token: secrets.open(tokenSealed), claim }
}

function noneWhereVanished(error: unknown): [] {
  if (databaseError(error)?.code === FOREIGN_KEY_VIOLATION) return []
  throw error
}

/** webhook-id of a callback that was never sent before. */
export function newMessageId(): string {
  return `msg_${randomUUID()}`
}

function claimEnd(now: () => Date): Date {
  return new Date(now().getTime() + CLAIM_MS)
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
  const { count } = await db.handshake.updateMany({
    where: { storeId, applicationId, claim },
    data: { claimedUntil: now() },
  })
  return count > 0
}

/** What is under way between store and application, or was when a process was killed; null: nothing. */
export function findHandshake(db: Db, { storeId, applicationId }: Pair) {
  return db.handshake.findUnique({
    where: { storeId_applicationId: { storeId, applicationId } },
    select: { action: true, messageId: true, claimedUntil: true },
  })
}

const FIRST_LOOK_MS = 25
const LOOK_MS = 250
/** Above the longest that a holder and one that takes over from it can need together. */
const WAIT_MS = 30_000

/** Waits for what others do. It is as long as one request may be made to wait, however often it has to. */
export interface Patience {
  leftMs: number
}

export function newPatience(): Patience {
  return { leftMs: WAIT_MS }
}

/**
 * Waits until the handshake that somebody holds has ended, and gives its message id; null: there was none any more, it is
 * free to be taken over, or the patience is over. Each call takes some of it.
 */
export async function awaitHandshake(
  { db, now }: HandshakeServices,
  pair: Pair,
  patience: Patience,
): Promise<string | null> {
  const begun = await findHandshake(db, pair)
  let held = begun
  let lookMs = FIRST_LOOK_MS
  do {
    patience.leftMs -= lookMs
    if (held && held.claimedUntil <= now()) return null
    await delay(lookMs)
    if (!begun || patience.leftMs <= 0) return null
    lookMs = Math.min(lookMs * 2, LOOK_MS)
    held = await findHandshake(db, pair)
  } while (held?.messageId === begun.messageId)
  return begun.messageId
}

export function inProgress(): StoreFailure {
  const message = 'The application is being asked by another request; try again in a moment'
  return new StoreFailure('in-progress', message, { retryAfterSeconds: 5 })
}
