import { lockLedger } from '../../../engine/recording/ledger.ts'
import { type Db, execute, inTransaction } from '../../../foundation/database/client.ts'
import { sql } from '../../../foundation/database/sql.ts'
import type { ArchivedTable } from '../../../foundation/database/sweeper.ts'
import { CARRIED_FORWARD } from './stock.ts'

/** The ledger, whose movements are archived and then replaced by their sums, which no file has. */
export const oldMovements: ArchivedTable = {
  table: 'StockMovement',
  time: 'createdAt',
  archived: sql`"cause" <> ${CARRIED_FORWARD}`,
  remove: carryForward,
}

/**
 * Replaces movements by one for each stock, which has their sum and that of the one it had before, so that the sum of the ledger stays.
 * The last movement becomes that one: it keeps its place in the ledger, its time and the stock after it. A sum of zero leaves none.
 * Changes of stock append rows and never wait for this; imports, which replace rows, wait for each other's end.
 */
async function carryForward(db: Db, ids: readonly number[]): Promise<void> {
  await inTransaction(db, async (tx) => {
    await lockLedger(tx, { alone: true })
    await execute(tx)`
      WITH "old" AS MATERIALIZED (
        SELECT "id", "storeId", "productId", "optionCode", "quantity" FROM "StockMovement"
        WHERE "id" = ANY (string_to_array(${ids.join()}, ',')::bigint[]) AND "cause" <> ${CARRIED_FORWARD}
      ), "last" AS MATERIALIZED (
        SELECT max("id") AS "id", "storeId", "productId", "optionCode", sum("quantity") AS "quantity" FROM "old"
        GROUP BY "storeId", "productId", "optionCode"
      ), "former" AS MATERIALIZED (
        SELECT m."id", l."id" AS "lastId", m."quantity" FROM "last" l
        JOIN "StockMovement" m ON m."storeId" = l."storeId" AND m."productId" = l."productId" AND m."id" < l."id"
          AND m."optionCode" IS NOT DISTINCT FROM l."optionCode" AND m."cause" = ${CARRIED_FORWARD}
      ), "balance" AS MATERIALIZED (
        SELECT l."id", l."quantity" + coalesce(sum(f."quantity"), 0) AS "quantity" FROM "last" l
        LEFT JOIN "former" f ON f."lastId" = l."id" GROUP BY l."id", l."quantity"
      ), "carried" AS (
        UPDATE "StockMovement" m
        SET "quantity" = b."quantity", "cause" = ${CARRIED_FORWARD}, "orderId" = NULL, "actor" = '', "note" = ''
        FROM "balance" b WHERE m."id" = b."id" AND b."quantity" <> 0
      )
      DELETE FROM "StockMovement" m WHERE m."id" IN (SELECT "id" FROM "old" UNION ALL SELECT "id" FROM "former")
        AND NOT EXISTS (SELECT FROM "balance" b WHERE b."id" = m."id" AND b."quantity" <> 0)`
  })
}
