import type { Db, Transaction } from '../database/client.ts'

/** How long a process that is cut off in a transaction can block numbering, in milliseconds. */
export const NUMBERING_IDLE_MS_MAX = 10_000

/**
 * Blocks numbering of events of the webhook's kind until the transaction ends; the next statement sees everything
 * numbered before. Numbering skips a store whose webhooks it cannot lock.
 */
export async function stopNumbering(tx: Db | Transaction, storeId: number, webhookId: number): Promise<void> {
  await tx.$queryRaw`
    SELECT set_config('idle_in_transaction_session_timeout', ${String(NUMBERING_IDLE_MS_MAX)}, true) FROM "Webhook"
    WHERE "storeId" = ${storeId}::int AND "id" = ${webhookId}::int FOR UPDATE`
}

/** Returns the last sequence number of the store's feed; 0: it is empty. */
export async function lastSequence(tx: Db | Transaction, storeId: number): Promise<number> {
  const [feed] = await tx.$queryRaw<{ last: bigint }[]>`
    SELECT "lastSequence" AS "last" FROM "EventFeed" WHERE "storeId" = ${storeId}::int`
  return Number(feed?.last ?? 0)
}

/**
 * Gives up the pending deliveries of a webhook being disabled; none are added until the transaction ends. Returns the
 * feed's last sequence number, after which a resume continues.
 */
export async function endDeliveries(
  tx: Db | Transaction,
  { storeId, webhookId, reason, at }: { storeId: number; webhookId: number; reason: string; at: Date },
): Promise<number> {
  const giveUp = () => tx.$executeRaw`
    UPDATE "Delivery" SET "state" = 'failed', "dueAt" = NULL, "endedAt" = ${at}, "reason" = ${reason}
    WHERE "storeId" = ${storeId}::int AND "webhookId" = ${webhookId}::int AND "state" = 'pending'`
  // Thousands may be pending: gives them up before blocking numbering, and then those added in between.
  await giveUp()
  await stopNumbering(tx, storeId, webhookId)
  await giveUp()
  return lastSequence(tx, storeId)
}
