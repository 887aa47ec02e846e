import { type Db, inTransaction } from '../../database/client.ts'
import { endDeliveries } from '../numbering.ts'
import { type Claim, keyOf, type WebhookKey } from './claim.ts'
import type { Decision, Outcome, Pause } from './decide.ts'

/** An attempt that ended, and its decision. */
export interface Result {
  readonly claim: Claim
  readonly outcome: Outcome
  readonly decision: Decision
  /** When the decision was made. */
  readonly at: Date
}

/**
 * After this long without an attempt, more than the longest delay between tries, a failure starts anew: two failures
 * half a year apart do not prove continuous failure.
 */
const SILENCE = '49 hours'

/**
 * Writes attempts to the log and updates their deliveries and webhooks, in one statement. Returns those whose rows
 * another transaction holds; they can be retried. Skips deleted deliveries.
 *
 * An attempt does not change a delivery that was claimed again meanwhile; a failed one does not change a delivery that
 * has ended. Never waits for a locked row, so it cannot deadlock.
 */
export async function writeResults(db: Db, results: readonly Result[]): Promise<Result[]> {
  const busy = await db.$queryRaw<{ id: number }[]>`
    WITH "given" AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(results.map(rowOf))}::text::json) AS "given" (
        "id" bigint, "storeId" int, "webhookId" int, "attempts" int, "triesBefore" int, "state" text,
        "dueAt" timestamptz, "endedAt" timestamptz, "reason" text, "status" int, "startedAt" timestamptz, "durationMs" int, "answer" text
      )
    ), "turns" AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(turnsOf(results))}::text::json) AS "turns" (
        "storeId" int, "webhookId" int, "hasSucceeded" boolean, "failedAt" timestamptz, "lastAt" timestamptz
      )
    ), "turning" AS MATERIALIZED (
      SELECT "Webhook"."storeId", "Webhook"."id" FROM "turns"
      JOIN "Webhook" ON "Webhook"."storeId" = "turns"."storeId" AND "Webhook"."id" = "turns"."webhookId"
      WHERE CASE WHEN "hasSucceeded" THEN "failingSince" IS DISTINCT FROM "failedAt"
        ELSE "failingSince" IS NULL OR "lastFailedAt" < "lastAt" - interval '1 hour' END
    ), "turned" AS MATERIALIZED (
      SELECT "Webhook"."storeId", "Webhook"."id", "lastAt",
        CASE WHEN "hasSucceeded" OR "failingSince" IS NULL OR "lastFailedAt" < "failedAt" - ${SILENCE}::interval
          THEN "failedAt" ELSE "failingSince" END AS "failingSince"
      FROM "turns"
      JOIN "Webhook" ON "Webhook"."storeId" = "turns"."storeId" AND "Webhook"."id" = "turns"."webhookId"
      WHERE CASE WHEN "hasSucceeded" THEN "failingSince" IS DISTINCT FROM "failedAt"
        ELSE "failingSince" IS NULL OR "lastFailedAt" < "lastAt" - interval '1 hour' END
      FOR NO KEY UPDATE OF "Webhook" SKIP LOCKED
    ), "standing" AS MATERIALIZED (
      SELECT "id", "state", "attempts", "triesBefore" FROM "Delivery"
      WHERE "id" = ANY (ARRAY (
        SELECT "id" FROM "given" WHERE ("storeId", "webhookId") NOT IN (
          SELECT "storeId", "id" FROM "turning" EXCEPT SELECT "storeId", "id" FROM "turned"
        )
      ))
      FOR NO KEY UPDATE SKIP LOCKED
    ), "webhooks" AS (
      UPDATE "Webhook" SET "failingSince" = "turned"."failingSince", "lastFailedAt" = "turned"."lastAt" FROM "turned"
      WHERE "Webhook"."storeId" = "turned"."storeId" AND "Webhook"."id" = "turned"."id"
    ), "deliveries" AS (
      UPDATE "Delivery" SET "state" = "given"."state", "dueAt" = "given"."dueAt", "endedAt" = "given"."endedAt",
        "reason" = "given"."reason", "status" = "given"."status"
      FROM "given" JOIN "standing" ON "standing"."id" = "given"."id" AND "standing"."attempts" = "given"."attempts"
      WHERE "Delivery"."id" = "given"."id" AND "Delivery"."id" = ANY (ARRAY (SELECT "id" FROM "standing"))
        AND ("given"."state" = 'delivered'
          OR "standing"."state" = 'pending' AND "standing"."triesBefore" = "given"."triesBefore")
    ), "log" AS (
      INSERT INTO "DeliveryAttempt" ("deliveryId", "number", "at", "status", "reason", "durationMs", "answer")
      SELECT "given"."id", "given"."attempts", "startedAt", "status", "reason", "durationMs", "answer"
      FROM "given" JOIN "standing" ON "standing"."id" = "given"."id"
      ORDER BY "startedAt"
    )
    SELECT "Delivery"."id"::float8 AS "id" FROM "Delivery"
    WHERE "id" = ANY (ARRAY (SELECT "id" FROM "given" EXCEPT SELECT "id" FROM "standing"))`
  const ids = new Set(busy.map(({ id }) => id))
  return results.filter(({ claim }) => ids.has(claim.id))
}

function rowOf({ claim, outcome, decision, at }: Result) {
  const { id, storeId, webhookId, attempts, triesBefore } = claim
  const { status, reason, durationMs, answer } = outcome
  const { state, dueAt } = decision
  const endedAt = state === 'pending' ? null : at
  const attempt = { startedAt: outcome.at, durationMs, answer }
  return { id, storeId, webhookId, attempts, triesBefore, state, dueAt, endedAt, reason, status, ...attempt }
}

interface Turn {
  readonly storeId: number
  readonly webhookId: number
  readonly hasSucceeded: boolean
  /** The first failure since the last success; null: none. */
  readonly failedAt: Date | null
  /** The last failure; null: none. */
  readonly lastAt: Date | null
}

/** Combines the outcomes of each webhook, in the order in which they arrived. */
function turnsOf(results: readonly Result[]): Turn[] {
  const turns = new Map<string, Turn>()
  for (const { claim, outcome, decision } of results) {
    if (decision.hasSucceeded === null) continue
    const key = keyOf(claim)
    const { storeId, webhookId } = claim
    const before = turns.get(key) ?? { storeId, webhookId, hasSucceeded: false, failedAt: null, lastAt: null }
    if (decision.hasSucceeded) turns.set(key, { ...before, hasSucceeded: true, failedAt: null, lastAt: null })
    else turns.set(key, { ...before, failedAt: before.failedAt ?? outcome.at, lastAt: outcome.at })
  }
  return [...turns.values()]
}

/** Recorded as the last editor. */
const ACTOR = 'platform'

/**
 * Disables a webhook and gives up its pending deliveries, in one transaction. Does nothing if it was deleted, already
 * disabled or given another address, or if an attempt has succeeded since the failures that are the reason.
 */
export async function pauseWebhook(
  db: Db,
  webhook: WebhookKey & { readonly url: string },
  { reason, failingSince }: Pause,
  at: Date,
): Promise<void> {
  const { storeId, webhookId, url } = webhook
  await inTransaction(db, async (tx) => {
    const locked = await tx.$queryRaw<unknown[]>`
      SELECT 1 FROM "Webhook"
      WHERE "storeId" = ${storeId} AND "id" = ${webhookId} AND "enabled" AND "url" = ${url}
        AND (${failingSince}::timestamptz IS NULL OR "failingSince" <= ${failingSince}::timestamptz)
      FOR NO KEY UPDATE`
    if (locked.length === 0) return
    const given = `The webhook was paused: ${reason}`
    const disabledAtSequence = await endDeliveries(tx, { storeId, webhookId, reason: given, at })
    await tx.$executeRaw`
      UPDATE "Webhook" SET "enabled" = FALSE, "disabledAt" = ${at}, "pauseReason" = ${reason},
        "updatedAt" = greatest("updatedAt", ${at}), "updatedBy" = ${ACTOR}, "disabledAtSequence" = ${disabledAtSequence}
      WHERE "storeId" = ${storeId} AND "id" = ${webhookId}`
  })
}
