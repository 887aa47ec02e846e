import type { Caller } from '../../caller.ts'

/**
 * To the end of the transaction no event of the webhook's kind gets its number, and what was numbered before is visible to
 * the next statement: numbering passes over a store whose webhooks it cannot lock.
 */
export async function stopNumbering({ db, store }: Caller, webhookId: number): Promise<void> {
  await db.$queryRaw`
    SELECT 1 FROM "Webhook" WHERE "storeId" = ${store.id}::int AND "id" = ${webhookId}::int FOR UPDATE`
}
