import { sql } from '../../database/sql.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Row } from '../../engine/merge.ts'

/**
 * The items by which an order's returns put something back in stock; those of the return `butNot` are left out.
 * They stay as they are for as long as the order is locked.
 */
export function restockedItems(caller: Caller, orderId: number, butNot = 0): Promise<Row[]> {
  return caller.db.$queryRaw<Row[]>(sql`
     SELECT i."productId", i."optionCode", i."sku", i."restockQuantity"::float8 AS "restockQuantity"
     FROM "Rma" a JOIN "RmaItem" i ON i."storeId" = a."storeId" AND i."rmaId" = a."id"
     WHERE a."storeId" = ${caller.store.id}::int AND a."orderId" = ${orderId}::int AND a."id" <> ${butNot}::int AND i."restockQuantity" > 0`)
}
