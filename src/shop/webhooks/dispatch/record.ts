import { setTimeout as delay } from 'node:timers/promises'
import { type Db, inTransaction, queryRows } from '../../../foundation/database/client.ts'
import { sql } from '../../../foundation/database/sql.ts'
import { createLoop } from '../../../foundation/process/loop.ts'
import type { Claim, WebhookKey } from './claim.ts'
import type { Decision, Outcome, Pause } from './decide.ts'
import type { DispatcherServices } from './dispatcher.ts'
import { endDeliveries } from './number.ts'

/** An attempt that ended, and its decision. */
export interface Result {
  readonly claim: Claim
  readonly outcome: Outcome
  readonly decision: Decision
  /** When the decision was made. */
  readonly at: Date
}

export type Recorder = ReturnType<typeof createRecorder>

const BATCH_MAX = 500
const BEHIND_FROM = 1_000
const RETRY_MS = 100

/**
 * A queue of results, which it writes to the database in batches. Retries a failed write until the lease of the claim
 * ends. Then the attempt counts as interrupted, and the process that claims the delivery next makes another.
 * Calls `onCaughtUp` when it is no longer behind.
 */
export function createRecorder(
  { db, now, log }: Pick<DispatcherServices, 'db' | 'now' | 'log'>,
  onCaughtUp: () => void,
) {
  let waiting: Result[] = []
  const writing = createLoop(write, { log, complaint: 'results of webhook deliveries could not be written yet' })
  const pauses = createPauser({ db, now, log })

  async function write(): Promise<boolean> {
    const at = now()
    const standing = waiting.filter(({ claim }) => claim.leaseEnd > at)
    const dropped = waiting.length - standing.length
    if (dropped > 0) log.warn({ dropped }, 'results of webhook deliveries were given up: their claims are over')
    waiting = standing
    const batch = waiting.slice(0, BATCH_MAX)
    try {
      const heldUp = batch.length === 0 ? [] : await writeResults(db, batch)
      const wasBehind = isBehind()
      // New results are behind the batch.
      waiting = [...waiting.slice(batch.length), ...heldUp]
      for (const result of batch) if (!heldUp.includes(result)) pauses.note(result)
      if (wasBehind && !isBehind()) onCaughtUp()
      if (heldUp.length > 0) await delay(RETRY_MS)
      return waiting.length >= BATCH_MAX
    } catch (error) {
      await delay(RETRY_MS)
      throw error
    } finally {
      if (waiting.length > 0) writing.wake()
    }
  }

  /** Whether no attempt should begin until more results are written. */
  function isBehind(): boolean {
    return waiting.length >= BEHIND_FROM
  }

  return {
    add(result: Result): void {
      waiting.push(result)
      writing.wake()
    },
    isBehind,
    /** Resolves when everything is written or given up. */
    async idle(): Promise<void> {
      await writing.idle()
      await pauses.idle()
    },
  }
}

/** Pauses webhooks. Separate, because it may be slow or wait for a change of the webhook. */
function createPauser({ db, now, log }: Pick<DispatcherServices, 'db' | 'now' | 'log'>) {
  const pauses = new Map<string, { webhook: Claim; pause: Pause }>()
  const pausing = createLoop(pauseAll, { log, complaint: 'a webhook could not be paused yet' })

  /** Drops a pause that cannot be made in time: the next failure requests it again. */
  async function pauseAll(): Promise<void> {
    const at = now()
    for (const [key, { webhook, pause }] of pauses) {
      try {
        if (webhook.leaseEnd > at) await pauseWebhook(db, webhook, pause, at)
      } catch (error) {
        await delay(RETRY_MS)
        pausing.wake()
        throw error
      }
      pauses.delete(key)
    }
  }

  return {
    note({ claim, decision: { pause } }: Result): void {
      if (pause === null) return
      pauses.set(claim.key, { webhook: claim, pause })
      pausing.wake()
    },
    idle: () => pausing.idle(),
  }
}

/**
 * After this long without an attempt, more than the longest delay between tries, a failure starts anew: two failures
 * half a year apart do not prove continuous failure.
 */
const SILENCE = '49 hours'

/** Webhooks whose record of failures the outcomes change; a continuing failure only once an hour. */
const turning = sql`"turns" JOIN "Webhook" ON "Webhook"."storeId" = "turns"."storeId" AND "Webhook"."id" = "turns"."webhookId"
      WHERE CASE WHEN "hasSucceeded" THEN "failingSince" IS DISTINCT FROM "failedAt"
        ELSE "failingSince" IS NULL OR "lastFailedAt" < "lastAt" - interval '1 hour' END`

/**
 * Writes attempts to the log and updates their deliveries and webhooks, in one statement. Returns those whose rows
 * another transaction holds; they can be retried. Skips deleted deliveries.
 *
 * `+ 0` keeps PostgreSQL from looking up each row by itself: it would sort the array of all ids for each of them.
 *
 * An attempt does not change a delivery that was claimed again meanwhile; a failed one does not change a delivery that
 * has ended. Never waits for a locked row, so it cannot deadlock.
 */
async function writeResults(db: Db, results: readonly Result[]): Promise<Result[]> {
  const busy = await queryRows<{ id: number }>(db)`
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
      SELECT "Webhook"."storeId", "Webhook"."id" FROM ${turning}
    ), "turned" AS MATERIALIZED (
      SELECT "Webhook"."storeId", "Webhook"."id", "lastAt",
        CASE WHEN "hasSucceeded" OR "failingSince" IS NULL OR "lastFailedAt" < "failedAt" - ${SILENCE}::interval
          THEN "failedAt" ELSE "failingSince" END AS "failingSince"
      FROM ${turning}
      FOR NO KEY UPDATE OF "Webhook" SKIP LOCKED
    ), "standing" AS MATERIALIZED (
      SELECT "id" FROM "Delivery"
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
      FROM "given"
      WHERE "Delivery"."id" = ANY (ARRAY (SELECT "id" FROM "standing")) AND "Delivery"."id" + 0 = "given"."id"
        AND "Delivery"."attempts" = "given"."attempts" AND ("given"."state" = 'delivered'
          OR "Delivery"."state" = 'pending' AND "Delivery"."triesBefore" = "given"."triesBefore")
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

interface Turn extends WebhookKey {
  readonly hasSucceeded: boolean
  /** The first failure since the last success, and the last one; null: none. */
  readonly failedAt: Date | null
  readonly lastAt: Date | null
}

/** Combines the outcomes of each webhook, in the order in which they arrived. */
function turnsOf(results: readonly Result[]): Turn[] {
  const turns = new Map<string, Turn>()
  for (const { claim, outcome, decision } of results) {
    if (decision.hasSucceeded === null) continue
    const { key, storeId, webhookId } = claim
    const well = { storeId, webhookId, hasSucceeded: true, failedAt: null, lastAt: null }
    const { hasSucceeded, failedAt } = turns.get(key) ?? { ...well, hasSucceeded: false }
    const failing = { ...well, hasSucceeded, failedAt: failedAt ?? outcome.at, lastAt: outcome.at }
    turns.set(key, decision.hasSucceeded ? well : failing)
  }
  return [...turns.values()]
}

/** Recorded as the last editor. */
const ACTOR = 'platform'

/**
 * Disables a webhook and gives up its pending deliveries, in one transaction. Does nothing if it was deleted, already
 * disabled or given another address, or if an attempt has succeeded since the failures that are the reason.
 */
async function pauseWebhook(db: Db, { storeId, webhookId, url }: Claim, { reason, failingSince }: Pause, at: Date) {
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
