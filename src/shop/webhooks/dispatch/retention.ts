import type { Db } from '../../../foundation/database/client.ts'
import { empty, identifier, type Sql, sql } from '../../../foundation/database/sql.ts'
import { inBatches, type Sweep } from '../../../foundation/database/sweeper.ts'
import { KEPT_MS } from '../deliveries.ts'

const BATCH_MAX = 1_000

/** A table to sweep: its time column, and which old rows can be deleted. */
interface AgedTable {
  readonly table: string
  readonly time: string
  readonly mayGo: (before: Date) => Sql
  /** The end of the statement that deletes. */
  readonly followUp?: Sql
}

const agedTables: readonly AgedTable[] = [
  { table: 'DeliveryAttempt', time: 'at', mayGo: () => sql`true` },
  // Pending ones stay, however old.
  { table: 'Delivery', time: 'createdAt', mayGo: (before) => sql`"endedAt" < ${before}` },
  {
    table: 'Event',
    time: 'createdAt',
    mayGo: () => sql`"sequence" IS NOT NULL
      AND NOT EXISTS (SELECT FROM "Delivery" WHERE "Delivery"."eventId" = "Event"."id")`,
    // The feed answers 410 to a reader that is behind `deletedThrough`.
    followUp: sql`RETURNING "storeId", "eventType", "sequence"), "cuts" AS (
      INSERT INTO "EventCut" ("storeId", "eventType", "deletedThrough")
      SELECT "storeId", "eventType", max("sequence") FROM "deleted" WHERE "sequence" > 0
      GROUP BY "storeId", "eventType" ORDER BY "storeId", "eventType"
      ON CONFLICT ("storeId", "eventType") DO UPDATE
        SET "deletedThrough" = greatest("EventCut"."deletedThrough", EXCLUDED."deletedThrough")`,
  },
]

/**
 * Deletes what is older than 30 days, and deliveries of deleted webhooks, in small batches. Ids follow the time, so each table is
 * walked from its lowest id to the first batch without old rows. Rows that another transaction holds stay until the next sweep.
 */
export function deliverySweep({ db, now }: { db: Db; now: () => Date }): Sweep {
  return async (isStopping) => {
    await inBatches(isStopping, BATCH_MAX, async () => ((await sweepOrphans(db)) === BATCH_MAX ? BATCH_MAX : null))
    const before = new Date(now().getTime() - KEPT_MS)
    for (const table of agedTables) await inBatches(isStopping, 0, (after) => sweepBatch(db, table, before, after))
  }
}

/** Returns the id after which the next batch begins; null: no row was old. */
async function sweepBatch(db: Db, { table, time, mayGo, followUp = empty }: AgedTable, before: Date, after: number) {
  const from = identifier(table)
  const [batch] = await db.$queryRaw<{ last: number | null }[]>`
    WITH "batch" AS MATERIALIZED (
      SELECT "id", ${identifier(time)} < ${before} AS "isOld" FROM ${from} WHERE "id" > ${after} ORDER BY "id" LIMIT ${BATCH_MAX}
    ), "deleted" AS (
      DELETE FROM ${from} WHERE "id" = ANY (ARRAY (
        SELECT "id" FROM ${from} WHERE "id" = ANY (ARRAY (SELECT "id" FROM "batch" WHERE "isOld")) AND ${mayGo(before)}
        FOR UPDATE SKIP LOCKED
      )) ${followUp}
    )
    SELECT CASE WHEN bool_or("isOld") THEN max("id")::float8 END AS "last" FROM "batch"`
  return batch?.last ?? null
}

/** Deletes deliveries of deleted webhooks. A skip scan of the index finds the webhooks that have any. */
function sweepOrphans(db: Db): Promise<number> {
  return db.$executeRaw`
    WITH RECURSIVE "known" ("storeId", "webhookId") AS (
      (SELECT "storeId", "webhookId" FROM "Delivery" ORDER BY "storeId", "webhookId" LIMIT 1)
      UNION ALL
      SELECT "next"."storeId", "next"."webhookId" FROM "known" CROSS JOIN LATERAL (
        SELECT "storeId", "webhookId" FROM "Delivery"
        WHERE ("storeId", "webhookId") > ("known"."storeId", "known"."webhookId")
        ORDER BY "storeId", "webhookId" LIMIT 1
      ) AS "next"
    ), "gone" AS MATERIALIZED (
      SELECT "storeId", "webhookId" FROM "known" WHERE NOT EXISTS (
        SELECT FROM "Webhook" WHERE "Webhook"."storeId" = "known"."storeId" AND "Webhook"."id" = "known"."webhookId"
      )
    )
    DELETE FROM "Delivery" WHERE "id" = ANY (ARRAY (
      SELECT "orphan"."id" FROM "gone" CROSS JOIN LATERAL (
        SELECT "id" FROM "Delivery"
        WHERE "Delivery"."storeId" = "gone"."storeId" AND "Delivery"."webhookId" = "gone"."webhookId"
        LIMIT ${BATCH_MAX} FOR UPDATE SKIP LOCKED
      ) AS "orphan" LIMIT ${BATCH_MAX}
    ))`
}
