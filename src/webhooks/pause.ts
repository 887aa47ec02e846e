import { type Db, inTransaction } from '../database/client.ts'
import type { WebhookKey } from './claim.ts'
import type { Pause } from './decide.ts'

/**
 * Disables a webhook and gives up what waits for it. Does nothing when it is gone, when somebody disabled it already, or when an
 * attempt has succeeded since the failures that are the reason.
 */
export async function pauseWebhook(
  db: Db,
  { storeId, webhookId }: WebhookKey,
  { reason, failingSince }: Pause,
  at: Date,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    // No event of the store can get its number meanwhile: what comes after it is what a resume has to look for.
    const locked = await tx.$queryRaw<unknown[]>`
      SELECT 1 FROM "Webhook"
      WHERE "storeId" = ${storeId} AND "id" = ${webhookId} AND "enabled"
        AND (${failingSince}::timestamptz IS NULL OR "failingSince" <= ${failingSince}::timestamptz)
      FOR UPDATE`
    if (locked.length === 0) return
    await tx.$executeRaw`
      UPDATE "Webhook" SET "enabled" = FALSE, "disabledAt" = ${at}, "pauseReason" = ${reason},
        "disabledAtSequence" =
          coalesce((SELECT "lastSequence" FROM "EventFeed" WHERE "EventFeed"."storeId" = ${storeId}), 0)
      WHERE "storeId" = ${storeId} AND "id" = ${webhookId}`
    await tx.$executeRaw`
      UPDATE "Delivery" SET "state" = 'failed', "dueAt" = NULL, "endedAt" = ${at},
        "reason" = ${`The webhook was paused: ${reason}`}
      WHERE "storeId" = ${storeId} AND "webhookId" = ${webhookId} AND "state" = 'pending'`
  })
}
