import { setTimeout as delay } from 'node:timers/promises'
import { type CallbackServices, postCallback } from '../applications/callback.ts'
import { recordAudit } from '../audit/audit.ts'
import { type Db, inTransaction, type Transaction } from '../database/client.ts'
import type { RemovalNotice } from '../database/generated/client.ts'
import { retryWaitMs, TRIES_MAX } from '../outbound/retry-schedule.ts'
import type { Secrets } from '../values/secrets.ts'
import { abandonHandshake, claimHandshake, endHandshake, type Handshake, type Pair } from './handshakes.ts'

/** An attempt that has not ended by then was killed; the next one begins. */
const LEASE_MS = 60_000
/** How many are sent at the same time. */
const BATCH_MAX = 5
const EVERY_MS = 5_000

export interface NewRemovalNotice extends Pair {
  url: string
  /** As it was first sent. */
  body: string
  messageId: string
  /** What came of the first attempt. */
  reason: string
}

/** Keeps a REMOVE that the application did not take, to be sent again; in the transaction that removes the subscription. */
export async function addRemovalNotice(
  tx: Transaction,
  { secrets, now }: { secrets: Secrets; now: () => Date },
  { storeId, applicationId, url, body, messageId, reason }: NewRemovalNotice,
): Promise<void> {
  const attempts = 1
  await tx.removalNotice.create({
    data: {
      storeId,
      applicationId,
      url,
      bodySealed: secrets.seal(body),
      messageId,
      reason,
      attempts,
      nextAttemptAt: nextAttempt(attempts, now()) ?? now(),
      createdAt: now(),
    },
  })
}

/** Null: that was the last one. */
function nextAttempt(attempts: number, now: Date): Date | null {
  const waitMs = retryWaitMs(attempts, Math.random())
  return waitMs === null ? null : new Date(now.getTime() + waitMs)
}

export interface RemovalNoticeServices extends CallbackServices {
  db: Db
  log: { warn(details: object, message: string): void }
}

export interface RemovalNotices {
  /** From now on, sends what is due every few seconds. */
  start(): void
  /** Sends everything that is due, and comes back when the answers are there. */
  sendDue(): Promise<void>
  /** Begins nothing more, and waits for what is under way. */
  stop(): Promise<void>
}

/**
 * Tells applications again what they would not hear when a merchant removed them all the same, until they answer 200, a
 * store subscribes to them again, or the last attempt failed too. Any number of processes may do so on one database.
 */
export function createRemovalNotices(
  services: RemovalNoticeServices,
  { everyMs = EVERY_MS }: { everyMs?: number } = {},
): RemovalNotices {
  const { log } = services
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  async function run() {
    while (!stopping.signal.aborted) {
      await sendDue().catch((error) => log.warn({ err: error }, 'removal notices could not be looked for'))
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  async function sendDue() {
    for (let claimed = BATCH_MAX; claimed === BATCH_MAX && !stopping.signal.aborted; ) {
      const notices = await claimDue(services)
      claimed = notices.length
      await Promise.all(notices.map((notice) => trySend(notice)))
    }
  }

  function trySend(notice: RemovalNotice) {
    return send(services, notice).catch((error) => {
      log.warn({ err: error, applicationId: notice.applicationId }, 'a removal notice could not be sent')
    })
  }

  return {
    start: () => {
      running ??= run()
    },
    sendDue,
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

/** Due ones, this attempt counted already, so that one which ends the process is not tried for ever. */
function claimDue({ db, now }: RemovalNoticeServices): Promise<RemovalNotice[]> {
  return db.$queryRaw`
    UPDATE "RemovalNotice" SET "attempts" = "attempts" + 1, "nextAttemptAt" = ${leaseEnd(now)}
    WHERE "id" IN (
      SELECT "id" FROM "RemovalNotice" WHERE "nextAttemptAt" <= ${now()}
      ORDER BY "nextAttemptAt" LIMIT ${BATCH_MAX} FOR UPDATE SKIP LOCKED
    )
    RETURNING *`
}

function leaseEnd(now: () => Date): Date {
  return new Date(now().getTime() + LEASE_MS)
}

async function send(services: RemovalNoticeServices, notice: RemovalNotice): Promise<void> {
  const { db, secrets, now } = services
  const application = await db.application.findUnique({ where: { id: notice.applicationId } })
  if (!application) return
  // Of one beyond, the last did not end: the process was killed in it, or failed.
  if (notice.attempts > TRIES_MAX) {
    return settle(services, notice, application, {
      ok: false,
      reason: notice.reason,
      status: null,
      body: '',
      durationMs: 0,
    })
  }
  const body = secrets.open(notice.bodySealed)
  const held = await holdBack(services, notice, body)
  if (held === 'busy') return putBack(services, notice)
  // The store may have subscribed again before it was held.
  const isWanted = (await db.removalNotice.count({ where: { id: notice.id } })) > 0
  try {
    const { url, messageId } = notice
    if (isWanted)
      await settle(services, notice, application, await postCallback(services, application, { url, body, messageId }))
  } finally {
    // What a killed process left half done stays to be taken over.
    if (held?.action === 'REMOVE') await endHandshake(db, held)
    else if (held) await abandonHandshake(db, now, held)
  }
}

/**
 * Nobody subscribes the store to the application while it is told that the store is gone: applications that go by the
 * store's address would end what has just begun. Null: the store itself is gone, so nobody can.
 */
async function holdBack(
  services: RemovalNoticeServices,
  { storeId, applicationId }: RemovalNotice,
  body: string,
): Promise<Handshake | 'busy' | null> {
  const isStoreGone = (await services.db.store.count({ where: { id: storeId } })) === 0
  if (isStoreGone) return null
  const { TokenKey: token } = JSON.parse(body) as { TokenKey: string }
  return (await claimHandshake(services, { storeId, applicationId, action: 'REMOVE', token })) ?? 'busy'
}

/** As if it had not been looked at. */
async function putBack({ db, now }: RemovalNoticeServices, { id, attempts }: RemovalNotice): Promise<void> {
  const nextAttemptAt = new Date(now().getTime() + EVERY_MS)
  await db.removalNotice.updateMany({ where: { id, attempts }, data: { attempts: attempts - 1, nextAttemptAt } })
}

async function settle(
  { db, now }: RemovalNoticeServices,
  { id, attempts, storeId, applicationId, messageId }: RemovalNotice,
  { name, developerId }: { name: string; developerId: number | null },
  result: Awaited<ReturnType<typeof postCallback>>,
): Promise<void> {
  // Of an attempt that outlived its lease nothing is kept: the next one has begun.
  const ours = { id, attempts }
  const nextAttemptAt = result.ok ? null : nextAttempt(attempts, now())
  if (!result.ok && nextAttemptAt) {
    await db.removalNotice.updateMany({ where: ours, data: { nextAttemptAt, reason: result.reason } })
    return
  }
  await inTransaction(db, async (tx) => {
    const { count } = await tx.removalNotice.deleteMany({ where: ours })
    if (count === 0 || result.ok) return
    await recordAudit(tx, now, {
      actor: { kind: 'application', name, address: '' },
      action: 'subscription.refused',
      target: name,
      storeId,
      applicationId,
      developerId,
      details: { asked: 'REMOVE', messageId, reason: result.reason, attempts, givenUp: true },
    })
  })
}
