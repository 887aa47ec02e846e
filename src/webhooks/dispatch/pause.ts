import { type Db, inTransaction } from '../../database/client.ts'
import { endDeliveries } from '../numbering.ts'
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
    const given = `The webhook was paused: ${reason}`
    const disabledAtSequence = await endDeliveries(tx, { storeId, webhookId, reason: given, at })
    await tx.$executeRaw`
      UPDATE "Webhook" SET "enabled" = FALSE, "disabledAt" = ${at}, "pauseReason" = ${reason},
        "updatedAt" = greatest("updatedAt", ${at}), "updatedBy" = ${ACTOR}, "disabledAtSequence" = ${disabledAtSequence}
      WHERE "storeId" = ${storeId} AND "id" = ${webhookId}`
  })
}
