import type { Caller } from '../../caller.ts'

/** Who is cut off from the database in the middle holds up the numbering for so long, in milliseconds. */
const IDLE_MS_MAX = '10000'

/**
 * To the end of the transaction no event of the webhook's kind gets its number, and what was numbered before is visible to
 * the next statement: numbering passes over a store whose webhooks it cannot lock.
 */
export async function stopNumbering({ db, store }: Caller, webhookId: number): Promise<void> {
  await db.$queryRaw`
    SELECT set_config('idle_in_transaction_session_timeout', ${IDLE_MS_MAX}, true) FROM "Webhook"
    WHERE "storeId" = ${store.id}::int AND "id" = ${webhookId}::int FOR UPDATE`
}
