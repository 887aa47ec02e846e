import { sql } from '../../database/sql.ts'
import type { Caller } from '../../engine/caller.ts'
import { StoreFailure } from '../../values/failure.ts'

/**
 * Gives the order the store's next invoice number. Numbers have no gaps, so that whoever takes one keeps others waiting
 * until the transaction ends: this is its last statement.
 */
export async function takeInvoiceNumber(
  caller: Caller,
  orderId: number,
): Promise<{ invoicePrefix: string; invoiceNumber: number }> {
  const [taken] = await caller.db.$queryRaw<{ invoicePrefix: string; invoiceNumber: number }[]>(sql`
     WITH taken AS (
       UPDATE "Store" SET "nextInvoiceNumber" = "nextInvoiceNumber" + 1
       WHERE "id" = ${caller.store.id}::int AND "nextInvoiceNumber" < 2147483647
       RETURNING "id", "invoicePrefix", "nextInvoiceNumber" - 1 AS "number")
     UPDATE "Order" o SET "invoicePrefix" = taken."invoicePrefix", "invoiceNumber" = taken."number"
     FROM taken WHERE o."storeId" = taken."id" AND o."id" = ${orderId}::int
     RETURNING o."invoicePrefix", o."invoiceNumber"`)
  if (!taken) throw new StoreFailure('unavailable', 'The store has no invoice numbers left')
  return taken
}
