import {
  type DataServices,
  inTransaction,
  type SealingServices,
  type Transaction,
} from '../../../foundation/database/client.ts'
import type { Application, RemovalNotice } from '../../../foundation/database/generated/client.ts'
import { claimFree, leases } from '../../../foundation/database/leases.ts'
import { sql } from '../../../foundation/database/sql.ts'
import { nextTry, TRIES_MAX } from '../../../foundation/outbound/retry-schedule.ts'
import { createWorker } from '../../../foundation/process/worker.ts'
import { aboutApplication, recordAudit } from '../../audit/audit.ts'
import { type CallbackServices, callbackText, newMessageId, postCallback } from './callback.ts'
import { abandonHandshake, claimHandshake, endHandshake } from './handshakes.ts'

/** The number of notices sent at the same time. */
const BATCH_MAX = 5
const EVERY_MS = 5_000

/**
 * Stores a REMOVE in the transaction that ends the subscription: one that the application did not accept, for retries, or one that was not
 * sent yet. `body` is its text, and `reason` why the first attempt failed; empty: there was none.
 */
export async function addRemovalNotice(
  tx: Transaction,
  { secrets, now }: SealingServices,
  given: Pick<RemovalNotice, 'storeId' | 'applicationId' | 'url' | 'messageId' | 'reason'> & { body: string },
): Promise<void> {
  const { body, ...notice } = given
  const createdAt = now()
  const attempts = notice.reason === '' ? 0 : 1
  const nextAttemptAt = nextTry(attempts, createdAt) ?? createdAt
  const data = { ...notice, bodySealed: secrets.seal(body), attempts, nextAttemptAt, createdAt }
  await tx.removalNotice.create({ data })
}

/** Returns what stores a REMOVE for every application that a store uses and that has a CallBackURL; call it once the subscriptions are ended. */
export async function removalsOf(tx: Transaction, services: SealingServices, storeId: number) {
  const { secrets, now } = services
  const where = { storeId, application: { openToMerchants: true, callbackUrl: { not: null } } }
  const include = { application: true, store: { select: { secureUrl: true } } } as const
  const told = await tx.subscription.findMany({ where, include })
  return async () => {
    for (const { application, applicationId, store, tokenSealed } of told) {
      const token = secrets.open(tokenSealed)
      const body = callbackText(now, { publicKey: application.publicKey, action: 'REMOVE', token, ...store })
      const notice = { storeId, applicationId, url: application.callbackUrl ?? '', body, messageId: newMessageId() }
      await addRemovalNotice(tx, services, { ...notice, reason: '' })
    }
  }
}

export type RemovalNoticeServices = DataServices &
  CallbackServices & { log: { warn(details: object, message: string): void } }

/**
 * Sends REMOVE callbacks that failed when a merchant forced a removal, or whose store is deleted, until the application answers 200, a store
 * subscribes to it again, or the last attempt fails; and the REDACT callbacks of erasures (redactions.ts), until the application answers
 * 200 or the last attempt fails. Any number of processes may run this on one database.
 */
export function createRemovalNotices(services: RemovalNoticeServices, { everyMs = EVERY_MS } = {}) {
  const { db, now, log } = services
  // One of each application, because an erasure by rule may have left thousands for one that does not answer.
  const isFirst = () => sql`"id" IN (
    SELECT "first"."id" FROM (SELECT DISTINCT "applicationId" FROM "RemovalNotice") "each", LATERAL (
      SELECT "due"."id" FROM "RemovalNotice" "due"
      WHERE "due"."applicationId" = "each"."applicationId" AND "due"."nextAttemptAt" <= ${now()}
      ORDER BY "due"."nextAttemptAt" LIMIT 1) "first")`
  const wanted = () => ({ key: ['id'], where: isFirst(), order: 'nextAttemptAt', limit: BATCH_MAX })
  return createWorker({
    log,
    complaint: 'removal notices could not be looked for',
    everyMs,
    // Attempts are counted in advance, so that one that crashes the process is not retried forever.
    claim: () => claimFree<RemovalNotice>(db, leases.removalNotice, now, wanted()),
    work: (notice) => send(services, notice),
    failed: ({ applicationId }) => [{ applicationId }, 'a removal notice could not be sent'],
  })
}

async function send(services: RemovalNoticeServices, notice: RemovalNotice): Promise<void> {
  const { db, secrets, now } = services
  const { id, attempts, storeId, applicationId, url, messageId } = notice
  const application = await db.application.findUnique({ where: { id: applicationId } })
  if (!application) return
  // The last attempt was interrupted: the process was killed, or the attempt failed.
  if (attempts > TRIES_MAX) return settle(services, notice, application, notice.reason)
  const body = secrets.open(notice.bodySealed)
  const { TokenKey: token } = JSON.parse(body) as { TokenKey: string }
  // Holds the handshake, so that the store cannot subscribe meanwhile: an application that identifies stores by their
  // address would end that new subscription. A deleted store cannot subscribe, and a REDACT ends nothing.
  const isHeld = notice.action === 'REMOVE' && (await db.store.count({ where: { id: storeId } })) > 0
  const claim = { storeId, applicationId, action: 'REMOVE', token } as const
  const handshake = isHeld ? await claimHandshake(services, claim) : null
  if (isHeld && !handshake) {
    const later = { attempts: attempts - 1, nextAttemptAt: new Date(now().getTime() + EVERY_MS) }
    await db.removalNotice.updateMany({ where: { id, attempts }, data: later })
    return
  }
  try {
    // A new subscription of the store deletes the notice, and so does closing the application to merchants.
    if ((await db.removalNotice.count({ where: { id } })) === 0) return
    const result = await postCallback(services, application, { url, body, messageId })
    await settle(services, notice, application, result.ok ? null : result.reason)
  } finally {
    // Leaves the AUTHORIZE of a killed process to be taken over.
    if (handshake?.action === 'REMOVE') await endHandshake(db, handshake)
    else if (handshake) await abandonHandshake(db, now, handshake)
  }
}

/** Stores nothing for an attempt past its lease, because the next attempt has begun. */
async function settle(
  { db, now }: RemovalNoticeServices,
  { id, action: asked, attempts, storeId, messageId }: RemovalNotice,
  application: Application,
  refusal: string | null,
): Promise<void> {
  const where = { id, attempts }
  const nextAttemptAt = refusal === null ? null : nextTry(attempts, now())
  if (refusal !== null && nextAttemptAt) {
    await db.removalNotice.updateMany({ where, data: { nextAttemptAt, reason: refusal } })
    return
  }
  await inTransaction(db, async (tx) => {
    const { count } = await tx.removalNotice.deleteMany({ where })
    if (count === 0 || refusal === null) return
    const actor = { kind: 'application', name: application.name, address: '' } as const
    const details = { asked, messageId, reason: refusal, attempts, givenUp: true }
    const entry = { actor, action: 'subscription.refused', storeId, details } as const
    await recordAudit(tx, now, { ...entry, ...aboutApplication(application) })
  })
}
