import { type Db, inTransaction, type Transaction } from '../../database/client.ts'
import { stopNumbering } from '../numbering.ts'
import type { WebhookKey } from './claim.ts'
import type { Pause } from './decide.ts'

/** Recorded as the last editor. */
const ACTOR = 'platform'

/**
 * Disables a webhook and gives up what waits for it, in one transaction. Does nothing when it is gone, when somebody
 * disabled it already, when it has another address by now, or when an attempt has succeeded since the failures that are the
 * reason.
 */
export async function pauseWebhook(
  db: Db,
  webhook: WebhookKey & { readonly url: string },
  { reason, failingSince }: Pause,
  at: Date,
): Promise<void> {
  const { storeId, webhookId, url } = webhook
  await inTransaction(db, async (tx) => {
    const locked = await tx.$queryRaw<unknown[]>`
      SELECT 1 FROM "Webhook"
      WHERE "storeId" = ${storeId} AND "id" = ${webhookId} AND "enabled" AND "url" = ${url}
        AND (${failingSince}::timestamptz IS NULL OR "failingSince" <= ${failingSince}::timestamptz)
      FOR NO KEY UPDATE`
    if (locked.length === 0) return
    await giveUp(tx, webhook, reason, at)
    // No event of the store gets its number any more: a resume looks for those that come from here on. This is short,
    // since the thousands that may wait for a dead receiver have been given up already.
    await stopNumbering(tx, storeId, webhookId)
    await giveUp(tx, webhook, reason, at)
    await tx.$executeRaw`
      UPDATE "Webhook" SET "enabled" = FALSE, "disabledAt" = ${at}, "pauseReason" = ${reason},
        "updatedAt" = greatest("updatedAt", ${at}), "updatedBy" = ${ACTOR}, "disabledAtSequence" = coalesce(
          (SELECT "lastSequence" FROM "EventFeed" WHERE "EventFeed"."storeId" = ${storeId}), 0
        )
      WHERE "storeId" = ${storeId} AND "id" = ${webhookId}`
  })
}

async function giveUp(tx: Transaction, { storeId, webhookId }: WebhookKey, reason: string, at: Date): Promise<void> {
  await tx.$executeRaw`
    UPDATE "Delivery" SET "state" = 'failed', "dueAt" = NULL, "endedAt" = ${at},
      "reason" = ${`The webhook was paused: ${reason}`}
    WHERE "storeId" = ${storeId} AND "webhookId" = ${webhookId} AND "state" = 'pending'`
}
