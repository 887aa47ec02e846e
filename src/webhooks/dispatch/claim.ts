import type { Db, Transaction } from '../../database/client.ts'
import type { Delivery, Event, Webhook } from '../../database/generated/client.ts'
import { type Sql, sql } from '../../database/sql.ts'
import { deliveriesChannel } from '../../engine/announce.ts'
import type { Privileges } from '../../engine/caller.ts'
import { INT32_MAX } from '../../values/int32.ts'
import type { SecretSeeds } from '../secret.ts'

export type WebhookKey = Pick<Delivery, 'storeId' | 'webhookId'>

/** A delivery leased for one attempt, with everything that the attempt needs. */
export interface Claim
  extends WebhookKey,
    SecretSeeds,
    // `attempts` includes this one, and identifies the claim.
    Pick<Delivery, 'attempts' | 'triesBefore'>,
    // As known when this attempt began. Without a subscription it was made in the administration, and gets all records.
    Pick<Webhook, 'url' | 'format' | 'enabled' | 'failingSince' | 'subscriptionId'>,
    Pick<Event, 'messageId' | 'eventType' | 'body' | 'createdAt'> {
  readonly id: number
  /** 0: a test. */
  readonly sequence: number
  /** When another process may claim it. */
  readonly leaseEnd: Date
  /** Failing or slow: uses SLOTS_OF_ALL_FAILING. */
  readonly isIsolated: boolean
  /** What the merchant granted, and what the application requests. */
  readonly agreed: Privileges
  readonly asked: Privileges
}

/** Attempts at a time in one process. */
export const SLOTS = 500
/** Slots per webhook, and per webhook whose last attempt failed. */
export const SLOTS_OF_WEBHOOK = 20
export const SLOTS_OF_FAILING = 2
/** Slots shared by failing and slow webhooks, so that many dead receivers leave some for the others. */
export const SLOTS_OF_ALL_FAILING = 250
/** Longer than any attempt takes: an attempt past its lease was interrupted. */
export const LEASE_MS = 60_000
/** Bytes of records being sent per process. An idle process claims one record of any size. */
export const BYTES = 64 * 1024 * 1024
/** Bytes shared by failing and slow webhooks. */
export const BYTES_OF_ALL_FAILING = BYTES / 2

/** The limits of the next claim. */
export interface FreeSlots {
  /** In total, and for failing and slow webhooks. */
  readonly slots: number
  readonly failingSlots: number
  /** Of records: in total, and for failing and slow webhooks. */
  readonly bytes: number
  readonly failingBytes: number
  readonly isIdle: boolean
  /** Attempts in progress per webhook, by `keyOf`. */
  readonly underWay: Readonly<Record<string, number>>
  /** Webhooks whose last answer was slow, by `keyOf`. */
  readonly slow: readonly string[]
  /** The webhook after this one is first; those up to this one are last. */
  readonly after: WebhookKey
}

export function keyOf({ storeId, webhookId }: WebhookKey): string {
  return `${storeId}/${webhookId}`
}

/**
 * Claims as many due deliveries as there are free slots: failing webhooks first, then the others; the longest-waiting
 * deliveries of each. Counts the attempt at once, so that one that kills the process is not repeated forever.
 *
 * A skip scan of the index of pending deliveries finds the webhooks, so that a backlog for a dead receiver does not
 * slow down the others. OFFSET 0 and ARRAY make PostgreSQL run sub-selects row by row through the key's index, whatever
 * its statistics say.
 */
export async function claimDue(db: Db | Transaction, at: Date, free: FreeSlots): Promise<Claim[]> {
  const { slots, failingSlots, bytes, failingBytes, isIdle, slow } = free
  const leaseEnd = new Date(at.getTime() + LEASE_MS)
  const rows = await db.$queryRaw<Omit<Claim, 'leaseEnd' | 'isIsolated'>[]>`
    WITH RECURSIVE ${waiting(free)}, ${due(at, free)}, "chosen" AS MATERIALIZED (
      SELECT "id", "eventId", "isIsolated", row_number() OVER () AS "position" FROM (
        (${dueDeliveries(at, true)} LIMIT ${failingSlots})
        UNION ALL
        (${dueDeliveries(at, false)})
        LIMIT ${slots}
      ) AS "found"
    ), "sized" AS MATERIALIZED (
      SELECT "chosen"."id", "position", "isIsolated",
        sum("event"."bytes") OVER (PARTITION BY "isIsolated" ORDER BY "position") AS "bytes"
      FROM "chosen" CROSS JOIN LATERAL (
        SELECT octet_length("body") AS "bytes" FROM "Event" WHERE "Event"."id" = "chosen"."eventId" OFFSET 0
      ) AS "event"
    ), "picked" AS MATERIALIZED (
      SELECT "id", "position" FROM "sized"
      WHERE "bytes" <= CASE WHEN "isIsolated" THEN ${failingBytes} ELSE ${bytes} - coalesce(
          (SELECT max("bytes") FROM "sized" WHERE "isIsolated" AND "bytes" <= ${failingBytes}), 0
        ) END OR "position" = 1 AND ${isIdle}
    ), "claimed" AS (
      UPDATE "Delivery" SET "dueAt" = ${leaseEnd}, "attempts" = "attempts" + 1
      WHERE "id" = ANY (ARRAY (SELECT "id" FROM "picked"))
      RETURNING "id", "storeId", "webhookId", "eventId", "attempts", "triesBefore"
    )
    ${claimed}`
  const isSlow = new Set(slow)
  return rows.map((row) => ({ ...row, leaseEnd, isIsolated: row.failingSince !== null || isSlow.has(keyOf(row)) }))
}

/** Each webhook with pending deliveries, and the first due time, starting after the webhook `after`. */
function waiting({ after }: FreeSlots): Sql {
  return sql`"waiting" ("storeId", "webhookId", "dueAt", "lastStoreId", "lastWebhookId") AS (
    SELECT ${after.storeId}::int, ${after.webhookId}::int, 'infinity'::timestamptz, ${INT32_MAX}::int, ${INT32_MAX}::int
    UNION ALL
    SELECT "next".* FROM "waiting" CROSS JOIN LATERAL (
      (
        SELECT "storeId", "webhookId", "dueAt", "waiting"."lastStoreId", "waiting"."lastWebhookId" FROM "Delivery"
        WHERE "state" = 'pending' AND ("storeId", "webhookId") > ("waiting"."storeId", "waiting"."webhookId")
          AND ("storeId", "webhookId") <= ("waiting"."lastStoreId", "waiting"."lastWebhookId")
        ORDER BY "storeId", "webhookId", "dueAt" LIMIT 1
      )
      UNION ALL
      SELECT 0, 0, 'infinity', ${after.storeId}::int, ${after.webhookId}::int
      WHERE "waiting"."lastStoreId" = ${INT32_MAX}::int
      LIMIT 1
    ) AS "next"
  )`
}

/** Webhooks with due deliveries, and the free slots of each. */
function due(at: Date, { underWay, slow }: FreeSlots): Sql {
  const key = sql`"waiting"."storeId" || '/' || "waiting"."webhookId"`
  return sql`"underWay" AS MATERIALIZED (
    SELECT ${JSON.stringify(underWay)}::text::jsonb AS "counts"
  ), "due" AS MATERIALIZED (
    SELECT "waiting"."storeId", "waiting"."webhookId",
      "webhook"."isFailing" OR ${key} = ANY (string_to_array(${slow.join()}, ',')) AS "isIsolated",
      CASE WHEN "webhook"."isFailing" THEN ${SLOTS_OF_FAILING}::int ELSE ${SLOTS_OF_WEBHOOK}::int END - coalesce(
        ((SELECT "counts" FROM "underWay") ->> (${key}))::int, 0
      ) AS "slots"
    FROM "waiting" CROSS JOIN LATERAL (
      SELECT "failingSince" IS NOT NULL AS "isFailing" FROM "Webhook"
      WHERE "Webhook"."storeId" = "waiting"."storeId" AND "Webhook"."id" = "waiting"."webhookId" OFFSET 0
    ) AS "webhook"
    WHERE "waiting"."dueAt" <= ${at}
  )`
}

/** Due deliveries of isolated webhooks, or of the others. */
function dueDeliveries(at: Date, isIsolated: boolean): Sql {
  return sql`SELECT "delivery".*, "due"."isIsolated" FROM "due" CROSS JOIN LATERAL (
      SELECT "id", "eventId" FROM "Delivery"
      WHERE "state" = 'pending' AND "storeId" = "due"."storeId" AND "webhookId" = "due"."webhookId" AND "dueAt" <= ${at}
      ORDER BY "dueAt" LIMIT greatest("due"."slots", 0) FOR UPDATE SKIP LOCKED
    ) AS "delivery"
    WHERE ${isIsolated ? sql`"due"."isIsolated"` : sql`NOT "due"."isIsolated"`}`
}

const claimed = sql`SELECT "claimed"."id"::float8 AS "id", "claimed"."storeId", "claimed"."webhookId", "claimed"."attempts",
    "claimed"."triesBefore", "webhook".*, "event".*, "application"."agreed", "application"."asked"
  FROM "claimed" JOIN "picked" ON "picked"."id" = "claimed"."id" CROSS JOIN LATERAL (
    SELECT "url", "format", "enabled", "failingSince", "secretSeed", "formerSecretSeed", "secretRotatedAt",
      "subscriptionId"
    FROM "Webhook"
    WHERE "Webhook"."storeId" = "claimed"."storeId" AND "Webhook"."id" = "claimed"."webhookId" OFFSET 0
  ) AS "webhook" CROSS JOIN LATERAL (
    SELECT "messageId"::text AS "messageId", "sequence"::float8 AS "sequence", "eventType", "body", "createdAt"
    FROM "Event" WHERE "Event"."id" = "claimed"."eventId" OFFSET 0
  ) AS "event" LEFT JOIN LATERAL (
    SELECT "Subscription"."privileges" AS "agreed", "Application"."privileges" AS "asked"
    FROM "Subscription" JOIN "Application" ON "Application"."id" = "Subscription"."applicationId"
    WHERE "Subscription"."id" = "webhook"."subscriptionId" OFFSET 0
  ) AS "application" ON TRUE
  ORDER BY "picked"."position"`

/** Undoes claims: makes them due at once, uncounts the attempts, and notifies other processes. */
export async function releaseClaims(db: Db, at: Date, claims: readonly Claim[]): Promise<void> {
  const given = JSON.stringify(claims.map(({ id, attempts }) => ({ id, attempts })))
  await db.$queryRaw`
    WITH "given" AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${given}::text::json) AS "given" ("id" bigint, "attempts" int)
    ), "standing" AS MATERIALIZED (
      SELECT "id" FROM "Delivery"
      WHERE "id" = ANY (ARRAY (SELECT "id" FROM "given")) AND "state" = 'pending' FOR UPDATE SKIP LOCKED
    ), "released" AS (
      UPDATE "Delivery" SET "dueAt" = ${at}, "attempts" = "Delivery"."attempts" - 1
      FROM "given"
      WHERE "Delivery"."id" = "given"."id" AND "Delivery"."attempts" = "given"."attempts"
        AND "Delivery"."id" = ANY (ARRAY (SELECT "id" FROM "standing"))
    )
    SELECT pg_notify(${deliveriesChannel}, '')::text`
}
