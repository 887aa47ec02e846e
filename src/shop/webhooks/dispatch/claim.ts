import type { Privileges } from '../../../engine/caller.ts'
import { eventKinds } from '../../../engine/definition/event-kinds.ts'
import { deliveriesChannel } from '../../../engine/recording/events.ts'
import { type Db, queryRows, type Transaction } from '../../../foundation/database/client.ts'
import type { Delivery, Event, Webhook } from '../../../foundation/database/generated/client.ts'
import { leases } from '../../../foundation/database/leases.ts'
import { isOpenStore } from '../../../foundation/database/open-stores.ts'
import { sql } from '../../../foundation/database/sql.ts'
import { INT32_MAX } from '../../../foundation/values/int32.ts'
import type { SealedSecrets } from '../secret.ts'
import { type Allotment, keyOf, SLOT_BYTES, slotsOf } from './slots.ts'

export type WebhookKey = Pick<Delivery, 'storeId' | 'webhookId'>

/** A webhook with due deliveries. Without a subscription it was made in the administration, and gets all records. */
export interface DueWebhook
  extends WebhookKey,
    SealedSecrets,
    Pick<Webhook, 'url' | 'format' | 'enabled' | 'failingSince' | 'subscriptionId'> {
  readonly applicationId: number | null
  /** What the merchant granted, and what the application requests. */
  readonly agreed: Privileges
  readonly asked: Privileges
  /** The size of the record that has waited longest. */
  readonly bytes: number
}

/** A delivery leased for one attempt, with everything that the attempt needs. */
export interface Claim
  extends Allotment,
    // `attempts` includes this one, and identifies the claim.
    Pick<Delivery, 'attempts' | 'triesBefore'>,
    Pick<Event, 'messageId' | 'eventType' | 'body' | 'changed' | 'createdAt'> {
  readonly id: number
  /** 0: a test. */
  readonly sequence: number
  /** When another process may claim it. */
  readonly leaseEnd: Date
}

interface ClaimRow extends Omit<Claim, Exclude<keyof Allotment, keyof WebhookKey | 'bytes'> | 'leaseEnd' | 'body'> {
  /** Null: an earlier row has it. */
  readonly body: string | null
}

/** Of others, a server of a later version notifies, which may run beside this one. */
const knownKinds = eventKinds.map(({ type }) => type)

/** Webhooks that one statement finds. */
export const DUE_MAX = 1_000

/**
 * Returns webhooks with due deliveries, at most DUE_MAX: first those after the webhook `after`. Those of closed stores wait.
 *
 * A skip scan of the index of pending deliveries finds them, so that a backlog for a dead receiver does not slow down
 * the others. OFFSET 0 and ARRAY make PostgreSQL run sub-selects row by row through the key's index, whatever its
 * statistics say.
 */
export function findDue(db: Db, at: Date, after: WebhookKey): Promise<DueWebhook[]> {
  return queryRows<DueWebhook>(db)`
    WITH RECURSIVE "waiting" ("storeId", "webhookId", "dueAt", "eventId", "lastStoreId", "lastWebhookId") AS (
      SELECT ${after.storeId}::int, ${after.webhookId}::int, 'infinity'::timestamptz, 0::bigint, ${INT32_MAX}::int, ${INT32_MAX}::int
      UNION ALL
      SELECT "next".* FROM "waiting" CROSS JOIN LATERAL (
        (
          SELECT "storeId", "webhookId", "dueAt", "eventId", "waiting"."lastStoreId", "waiting"."lastWebhookId"
          FROM "Delivery"
          WHERE "state" = 'pending' AND ("storeId", "webhookId") > ("waiting"."storeId", "waiting"."webhookId")
            AND ("storeId", "webhookId") <= ("waiting"."lastStoreId", "waiting"."lastWebhookId")
          ORDER BY "storeId", "webhookId", "dueAt" LIMIT 1
        )
        UNION ALL
        SELECT 0, 0, 'infinity', 0, ${after.storeId}::int, ${after.webhookId}::int
        WHERE "waiting"."lastStoreId" = ${INT32_MAX}::int
        LIMIT 1
      ) AS "next"
    )
    SELECT "waiting"."storeId", "waiting"."webhookId", "webhook".*, "application".*, (
        SELECT octet_length("body") FROM "Event" WHERE "Event"."id" = "waiting"."eventId"
      ) AS "bytes"
    FROM "waiting" CROSS JOIN LATERAL (
      SELECT "url", "format", "enabled", "failingSince", "secretSealed", "formerSecretSealed", "secretRotatedAt", "subscriptionId"
      FROM "Webhook" WHERE "Webhook"."storeId" = "waiting"."storeId" AND "Webhook"."id" = "waiting"."webhookId"
        AND "eventType" = ANY (${knownKinds}::smallint[]) AND ${isOpenStore(sql`"waiting"."storeId"`)} OFFSET 0
    ) AS "webhook" LEFT JOIN LATERAL (
      SELECT "applicationId", "Subscription"."privileges" AS "agreed", "Application"."privileges" AS "asked"
      FROM "Subscription" JOIN "Application" ON "Application"."id" = "Subscription"."applicationId"
      WHERE "Subscription"."id" = "webhook"."subscriptionId" OFFSET 0
    ) AS "application" ON TRUE
    WHERE "waiting"."dueAt" <= ${at} LIMIT ${DUE_MAX}`
}

/**
 * Claims the longest-waiting due deliveries of webhooks, as many as their allotments have room for. Counts the attempt at
 * once, so that one that kills the process is not repeated forever. Skips what other processes are claiming. PostgreSQL
 * returns the body of an event once, however many of its deliveries are claimed.
 */
export async function claimDue(db: Db | Transaction, at: Date, allotments: readonly Allotment[]): Promise<Claim[]> {
  const leaseEnd = new Date(at.getTime() + leases.delivery.ms)
  const given = JSON.stringify(allotments, ['storeId', 'webhookId', 'deliveries', 'slots'])
  const rows = await queryRows<ClaimRow>(db)`
    WITH "found" AS MATERIALIZED (
      SELECT "delivery"."id", "allotted".*, row_number() OVER () AS "position",
        (
          SELECT octet_length("body") FROM "Event" WHERE "Event"."id" = "delivery"."eventId"
        ) AS "bytes"
      FROM json_to_recordset(${given}::text::json) AS "allotted" (
        "storeId" int, "webhookId" int, "deliveries" int, "slots" int
      ) CROSS JOIN LATERAL (
        SELECT "id", "eventId" FROM "Delivery"
        WHERE "state" = 'pending' AND "storeId" = "allotted"."storeId" AND "webhookId" = "allotted"."webhookId"
          AND "dueAt" <= ${at}
        ORDER BY "dueAt" LIMIT "allotted"."deliveries" FOR UPDATE SKIP LOCKED
      ) AS "delivery"
    ), "sized" AS MATERIALIZED (
      SELECT "id", "position", "bytes",
        sum("bytes") OVER (PARTITION BY "storeId", "webhookId" ORDER BY "position") <= "slots"::bigint * ${SLOT_BYTES} AS "isPicked"
      FROM "found"
    ), "claimed" AS (
      UPDATE "Delivery" SET "dueAt" = ${leaseEnd}, "attempts" = "attempts" + 1
      WHERE "id" = ANY (ARRAY (SELECT "id" FROM "sized" WHERE "isPicked"))
      RETURNING "id", "storeId", "webhookId", "eventId", "attempts", "triesBefore"
    )
    SELECT "claimed"."id"::float8 AS "id", "claimed"."storeId", "claimed"."webhookId", "claimed"."attempts",
      "claimed"."triesBefore", "bytes", "event"."messageId", "sequence", "eventType", "changed", "createdAt",
      CASE WHEN row_number() OVER (PARTITION BY "claimed"."eventId" ORDER BY "position") = 1 THEN "body" END AS "body"
    FROM "claimed" JOIN "sized" ON "sized"."id" = "claimed"."id" CROSS JOIN LATERAL (
      SELECT "messageId"::text AS "messageId", "sequence"::float8 AS "sequence", "eventType", "body", "changed", "createdAt"
      FROM "Event" WHERE "Event"."id" = "claimed"."eventId" OFFSET 0
    ) AS "event"
    ORDER BY "position"`
  const byKey = new Map(allotments.map((allotment) => [allotment.key, allotment]))
  const bodies = new Map(rows.flatMap(({ messageId, body }) => (body === null ? [] : [[messageId, body]])))
  return rows.map((row) => {
    const allotment = byKey.get(keyOf(row)) as Allotment
    const body = bodies.get(row.messageId) as string
    return { ...allotment, ...row, body, leaseEnd, slots: slotsOf(row.bytes) }
  })
}

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
