import type { Caller } from '../../engine/caller.ts'
import type { Row } from '../../engine/merge.ts'

/**
 * The items by which an order's returns put something back in stock; those of the return `butNot` are left out.
 * They stay as they are for as long as the order is locked.
 */
export function restockedItems(caller: Caller, orderId: number, butNot = 0): Promise<Row[]> {
  return caller.db.$queryRawUnsafe<Row[]>(
    `SELECT i."productId", i."optionCode", i."sku", i."restockQuantity"::float8 AS "restockQuantity"
     FROM "Rma" a JOIN "RmaItem" i ON i."storeId" = a."storeId" AND i."rmaId" = a."id"
     WHERE a."storeId" = $1::int AND a."orderId" = $2::int AND a."id" <> $3::int AND i."restockQuantity" > 0`,
    caller.store.id,
    orderId,
    butNot,
  )
}
