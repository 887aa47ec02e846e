import type { Db, Transaction } from '../database/client.ts'

/** How long a process that is cut off in the middle of a transaction holds up the numbering, in milliseconds. */
export const NUMBERING_IDLE_MS_MAX = 10_000

/**
 * To the end of the transaction no event of the webhook's kind gets its number, and what was numbered before is visible to
 * the next statement: numbering passes over a store whose webhooks it cannot lock.
 */
export async function stopNumbering(tx: Db | Transaction, storeId: number, webhookId: number): Promise<void> {
  await tx.$queryRaw`
    SELECT set_config('idle_in_transaction_session_timeout', ${String(NUMBERING_IDLE_MS_MAX)}, true) FROM "Webhook"
    WHERE "storeId" = ${storeId}::int AND "id" = ${webhookId}::int FOR UPDATE`
}

/** How far the store's feed reaches; 0: nothing is in it yet. */
export async function lastSequence(tx: Db | Transaction, storeId: number): Promise<number> {
  const [feed] = await tx.$queryRaw<{ last: bigint }[]>`
    SELECT "lastSequence" AS "last" FROM "EventFeed" WHERE "storeId" = ${storeId}::int`
  return Number(feed?.last ?? 0)
}

/**
 * Gives up what waits for a webhook that is being disabled: to the end of the transaction nothing is added. Returns how far the
 * feed reaches, where a resume goes on.
 */
export async function endDeliveries(
  tx: Db | Transaction,
  { storeId, webhookId, reason, at }: { storeId: number; webhookId: number; reason: string; at: Date },
): Promise<number> {
  const giveUp = () => tx.$executeRaw`
    UPDATE "Delivery" SET "state" = 'failed', "dueAt" = NULL, "endedAt" = ${at}, "reason" = ${reason}
    WHERE "storeId" = ${storeId}::int AND "webhookId" = ${webhookId}::int AND "state" = 'pending'`
  // Thousands may wait: they are given up before the numbering is held up, and then what came in between.
  await giveUp()
  await stopNumbering(tx, storeId, webhookId)
  await giveUp()
  return lastSequence(tx, storeId)
}
