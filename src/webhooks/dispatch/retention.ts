import type { Db } from '../../database/client.ts'
import { KEPT_MS } from '../deliveries.ts'

const BATCH_MAX = 1_000

interface Swept {
  /** Where the next batch begins. */
  readonly last: number | null
  /** Whether it has to be looked at: something in this batch was old. */
  readonly goesOn: boolean
}

type Sweep = (db: Db, before: Date, after: number) => Promise<Swept | undefined>

/**
 * Deletes what is older than 30 days, and the log of webhooks that are gone, in small steps; `isStopping` ends it after
 * one. Ids follow the time, so each table is walked from its lowest id to where nothing is old any more. Rows that
 * somebody works on stay until the next time.
 */
export async function sweepOld(db: Db, at: Date, isStopping: () => boolean): Promise<void> {
  for (let deleted = BATCH_MAX; deleted === BATCH_MAX && !isStopping(); ) deleted = await sweepOrphans(db)
  const before = new Date(at.getTime() - KEPT_MS)
  for (const sweep of [sweepAttempts, sweepDeliveries, sweepEvents]) {
    let after: number | null = 0
    while (after !== null && !isStopping()) {
      const swept: Swept | undefined = await sweep(db, before, after)
      after = swept?.goesOn ? swept.last : null
    }
  }
}

/** Deliveries of webhooks that are gone. Those that have any are found by jumping from one to the next in the index. */
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

const sweepAttempts: Sweep = async (db, before, after) => {
  const [swept] = await db.$queryRaw<Swept[]>`
    WITH "batch" AS MATERIALIZED (
      SELECT "id", "at" < ${before} AS "isOld" FROM "DeliveryAttempt"
      WHERE "id" > ${after} ORDER BY "id" LIMIT ${BATCH_MAX}
    ), "deleted" AS (
      DELETE FROM "DeliveryAttempt" WHERE "id" = ANY (ARRAY (
        SELECT "id" FROM "DeliveryAttempt" WHERE "id" = ANY (ARRAY (SELECT "id" FROM "batch" WHERE "isOld"))
        FOR UPDATE SKIP LOCKED
      ))
    )
    SELECT max("id")::float8 AS "last", coalesce(bool_or("isOld"), FALSE) AS "goesOn" FROM "batch"`
  return swept
}

/** Those that wait for an attempt stay, however old. */
const sweepDeliveries: Sweep = async (db, before, after) => {
  const [swept] = await db.$queryRaw<Swept[]>`
    WITH "batch" AS MATERIALIZED (
      SELECT "id", "createdAt" < ${before} AS "isOld" FROM "Delivery"
      WHERE "id" > ${after} ORDER BY "id" LIMIT ${BATCH_MAX}
    ), "deleted" AS (
      DELETE FROM "Delivery" WHERE "id" = ANY (ARRAY (
        SELECT "id" FROM "Delivery"
        WHERE "id" = ANY (ARRAY (SELECT "id" FROM "batch" WHERE "isOld")) AND "endedAt" < ${before}
        FOR UPDATE SKIP LOCKED
      ))
    )
    SELECT max("id")::float8 AS "last", coalesce(bool_or("isOld"), FALSE) AS "goesOn" FROM "batch"`
  return swept
}

/** The feed tells readers that come from before `deletedThrough` that they have missed something. */
const sweepEvents: Sweep = async (db, before, after) => {
  const [swept] = await db.$queryRaw<Swept[]>`
    WITH "batch" AS MATERIALIZED (
      SELECT "id", "createdAt" < ${before} AS "isOld" FROM "Event"
      WHERE "id" > ${after} ORDER BY "id" LIMIT ${BATCH_MAX}
    ), "deleted" AS (
      DELETE FROM "Event" WHERE "id" = ANY (ARRAY (
        SELECT "id" FROM "Event"
        WHERE "id" = ANY (ARRAY (SELECT "id" FROM "batch" WHERE "isOld")) AND "sequence" IS NOT NULL
          AND NOT EXISTS (SELECT FROM "Delivery" WHERE "Delivery"."eventId" = "Event"."id")
        FOR UPDATE SKIP LOCKED
      ))
      RETURNING "storeId", "eventType", "sequence"
    ), "cuts" AS (
      INSERT INTO "EventCut" ("storeId", "eventType", "deletedThrough")
      SELECT "storeId", "eventType", max("sequence") FROM "deleted" WHERE "sequence" > 0
      GROUP BY "storeId", "eventType" ORDER BY "storeId", "eventType"
      ON CONFLICT ("storeId", "eventType") DO UPDATE
        SET "deletedThrough" = greatest("EventCut"."deletedThrough", EXCLUDED."deletedThrough")
    )
    SELECT max("id")::float8 AS "last", coalesce(bool_or("isOld"), FALSE) AS "goesOn" FROM "batch"`
  return swept
}
