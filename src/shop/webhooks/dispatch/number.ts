import { deliveriesChannel } from '../../../engine/recording/events.ts'
import { locks } from '../../../foundation/database/advisory-locks.ts'
import { type Db, inTransaction, queryRows, type Transaction } from '../../../foundation/database/client.ts'
import { type Sql, sql } from '../../../foundation/database/sql.ts'
import { isHeard } from '../members.ts'

/** How long a process that is cut off in a transaction can block numbering, in milliseconds. */
const NUMBERING_IDLE_MS_MAX = 10_000
const BATCH_MAX = 500
/** Deliveries per batch of more than one event, because other stores wait for it. */
const DELIVERIES_MAX = 5_000

interface Numbered {
  /** Events that got a number. */
  readonly events: number
  readonly deliveries: number
  /** Whether more events may be waiting. */
  readonly isFull: boolean
  /** The store of all numbered events; null: several stores, or none. */
  readonly onlyStore: number | null
  /** Stores whose events must wait, because a webhook of theirs is being resumed, paused or deleted. */
  readonly busyStores: readonly number[]
}

/**
 * Numbers committed events in their store's feed and adds a delivery for each enabled webhook that is notified of them, in one
 * transaction: at most 500 events, without those of the stores `except`. Notifies other processes of the deliveries, with
 * `by` as the payload. One process at a time; null: another one holds the lock.
 *
 * The numbers of a store have no gaps, and a number is never visible before all lower ones. Events are numbered by id;
 * one that is committed late gets a higher number than those numbered before it.
 */
export function numberEvents(db: Db, at: Date, except: readonly number[], by: string): Promise<Numbered | null> {
  return inTransaction(db, async (tx) => ((await tryLock(tx)) ? numberLocked(tx, at, except, by) : null))
}

/**
 * A separate statement, so that the next one sees what the former holder committed. Its plan is made once, when there may be a
 * handful of events, and would read all that there will ever be if it did not keep to the indexes.
 */
async function tryLock(tx: Transaction): Promise<boolean> {
  const [lock] = await queryRows<{ isOurs: boolean }>(tx)`
    SELECT pg_try_advisory_xact_lock(${locks.numbering}::int, 0) AS "isOurs",
      set_config('idle_in_transaction_session_timeout', ${String(NUMBERING_IDLE_MS_MAX)}, true),
      set_config('enable_seqscan', 'off', true)`
  return lock?.isOurs === true
}

/**
 * What is numbered at once, for the list of a WITH. Locks webhooks for two reasons: deleting one also deletes its pending
 * deliveries, so none may be added then; and resuming or disabling one (FOR UPDATE) must know which events it missed. Skips
 * stores with locked webhooks instead of waiting, because deleting a webhook with thousands of pending deliveries takes long.
 */
const batchWithout = (stores: readonly number[]): Sql => sql`
    "waiting" AS MATERIALIZED (
      SELECT "id", "storeId", "eventType", "changed" FROM "Event"
      WHERE "sequence" IS NULL AND "storeId" <> ALL (string_to_array(${stores.join()}, ',')::int[])
      ORDER BY "id" LIMIT ${BATCH_MAX}
    ), "wanted" AS MATERIALIZED (
      SELECT "storeId", "id" FROM "Webhook"
      WHERE ("storeId", "eventType") IN (SELECT "storeId", "eventType" FROM "waiting")
    ), "webhooks" AS MATERIALIZED (
      SELECT "storeId", "id", "eventType", "enabled", "members" FROM "Webhook"
      WHERE ("storeId", "eventType") IN (SELECT "storeId", "eventType" FROM "waiting")
      FOR KEY SHARE SKIP LOCKED
    ), "busy" AS MATERIALIZED (
      SELECT DISTINCT "storeId" FROM "wanted"
      WHERE ("storeId", "id") NOT IN (SELECT "storeId", "id" FROM "webhooks")
    ), "listening" AS MATERIALIZED (
      SELECT "storeId", "eventType", count(*) AS "count" FROM "webhooks" WHERE "enabled" GROUP BY 1, 2
    ), "free" AS MATERIALIZED (
      SELECT "waiting".*, sum(coalesce("listening"."count", 0)) OVER (ORDER BY "id") - coalesce("listening"."count", 0) AS "before"
      FROM "waiting" LEFT JOIN "listening" USING ("storeId", "eventType")
      WHERE "storeId" NOT IN (SELECT "storeId" FROM "busy")
    ), "batch" AS MATERIALIZED (
      SELECT "id", "storeId", "eventType", "changed",
        row_number() OVER (PARTITION BY "storeId" ORDER BY "id") AS "position",
        count(*) OVER (PARTITION BY "storeId") AS "count"
      FROM "free" WHERE "before" < ${DELIVERIES_MAX}
    )`

async function numberLocked(tx: Transaction, at: Date, except: readonly number[], by: string): Promise<Numbered> {
  type Found = Omit<Numbered, 'isFull' | 'busyStores'> & { waiting: number; free: number; busy: string | null }
  const [found] = await queryRows<Found>(tx)`
    WITH ${batchWithout(except)}, "feeds" AS (
      INSERT INTO "EventFeed" ("storeId", "lastSequence")
      SELECT DISTINCT "storeId", "count" FROM "batch" ORDER BY "storeId"
      ON CONFLICT ("storeId") DO UPDATE SET "lastSequence" = "EventFeed"."lastSequence" + EXCLUDED."lastSequence"
      RETURNING "storeId", "lastSequence"
    ), "numbered" AS (
      UPDATE "Event" SET "sequence" = "feeds"."lastSequence" - "batch"."count" + "batch"."position"
      FROM "batch" JOIN "feeds" ON "feeds"."storeId" = "batch"."storeId"
      WHERE "Event"."id" = "batch"."id" AND "Event"."id" = ANY (ARRAY (SELECT "id" FROM "batch"))
      RETURNING 1
    ), "deliveries" AS (
      INSERT INTO "Delivery" ("storeId", "webhookId", "eventId", "state", "dueAt", "createdAt")
      SELECT "batch"."storeId", "webhooks"."id", "batch"."id", 'pending', ${at}, ${at}
      FROM "batch"
      JOIN "webhooks" ON "webhooks"."storeId" = "batch"."storeId" AND "webhooks"."eventType" = "batch"."eventType"
      WHERE "webhooks"."enabled" AND ${isHeard(sql`"webhooks"."members"`, sql`"batch"."changed"`)}
      ORDER BY "batch"."id", "webhooks"."id"
      RETURNING 1
    ), "made" AS MATERIALIZED (
      SELECT count(*)::int AS "count" FROM "deliveries"
    )
    SELECT (SELECT count(*)::int FROM "waiting") AS "waiting",
      (SELECT count(*)::int FROM "free") AS "free",
      (SELECT count(*)::int FROM "numbered") AS "events",
      (SELECT "count" FROM "made") AS "deliveries",
      (SELECT CASE WHEN count(DISTINCT "storeId") = 1 THEN min("storeId") END FROM "batch") AS "onlyStore",
      (SELECT string_agg("storeId"::text, ',') FROM "busy") AS "busy",
      CASE WHEN (SELECT "count" FROM "made") > 0 THEN pg_notify(${deliveriesChannel}, ${by})::text END AS "notified"`
  const { events = 0, deliveries = 0, waiting = 0, free = 0, onlyStore = null, busy = null } = found ?? {}
  const busyStores = busy === null ? [] : busy.split(',').map(Number)
  return { events, deliveries, isFull: waiting === BATCH_MAX || events < free, onlyStore, busyStores }
}

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
