import { inTransaction } from '../database/client.ts'
import { announce, deliveriesChannel } from '../engine/announce.ts'
import type { Caller } from '../engine/caller.ts'
import { eventKind } from '../engine/event-kinds.ts'
import { lockRecord } from '../engine/write.ts'
import { StoreFailure } from '../values/failure.ts'
import { KEPT_MS } from './deliveries.ts'
import { lastSequence, stopNumbering } from './numbering.ts'
import { noWebhook, ownSubscriptionId } from './ownership.ts'
import { webhooks } from './webhooks.ts'

/** What a list tells of a webhook. */
export interface WebhookSummary {
  readonly id: number
  readonly name: string
  readonly url: string
  readonly eventType: number
  readonly eventName: string
  readonly format: string
  readonly enabled: boolean
  /** Whose webhook it is; null: it was made in the administration. */
  readonly application: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
  /** When the first of the attempts was that all failed since; null: the last one succeeded, or there was none. */
  readonly failingSince: Date | null
  /** Null: it is enabled. */
  readonly disabledAt: Date | null
  /** Why the platform disabled it; null: somebody did, or it is enabled. */
  readonly pauseReason: string | null
  /** Of the last hundred deliveries that arrived, when the last one did. */
  readonly lastDeliveredAt: Date | null
}

export interface WebhookStatus extends WebhookSummary {
  /** Deliveries that wait for an attempt, counted to 1,000. */
  readonly pending: number
  /** Deliveries of the last 30 days that were given up, counted to 1,000. */
  readonly failed: number
  /** What a resume with catch-up would send, counted to 1,000. */
  readonly missed: number
}

/** What a status counts, it counts to here: a webhook may have millions, and nobody needs to know how many exactly. */
export const COUNTED_MAX = 1_000
/** Notifications of one catch-up; more would take a transaction too long. */
const CAUGHT_UP_MAX = 200_000

/**
 * Since when a webhook's failed deliveries count as missed. The clocks of several machines differ, and to send one more that
 * never arrived does no harm.
 */
const missedSince = `coalesce(w."failingSince", w."disabledAt") - interval '2 minutes'`

/** Those that a catch-up sends again; tests are left. */
const missedDeliveries = `"Delivery" d JOIN "Event" e ON e."id" = d."eventId"
  WHERE d."storeId" = w."storeId" AND d."webhookId" = w."id" AND d."state" = 'failed' AND d."endedAt" >= ${missedSince}
    AND ${missedSince} IS NOT NULL AND e."sequence" > 0`

/**
 * Those that were numbered while the webhook was not enabled. An event has few deliveries and a webhook has many: OFFSET 0
 * lets PostgreSQL look for them by the event alone, whatever it believes of their numbers.
 */
const missedEvents = `"Event" e WHERE e."storeId" = w."storeId" AND e."eventType" = w."eventType"
  AND e."sequence" > w."disabledAtSequence" AND NOT EXISTS (
    SELECT 1 FROM (SELECT d."webhookId" FROM "Delivery" d WHERE d."eventId" = e."id" OFFSET 0) told
    WHERE told."webhookId" = w."id")`

const summaryColumns = `w."id", w."name", w."url", w."eventType", w."format", w."enabled", a."name" AS "application",
  w."createdAt", w."updatedAt", w."failingSince", w."disabledAt", w."pauseReason",
  (SELECT max(l."endedAt") FROM (
     SELECT d."endedAt" FROM ${ofWebhook('delivered')} ORDER BY d."id" DESC LIMIT 100) l) AS "lastDeliveredAt"`

/** Of those that failed, the ones since `$4`. */
const statusColumns = `${summaryColumns},
  ${counted(ofWebhook('pending'))} AS "pending",
  ${counted(`${ofWebhook('failed')} AND d."endedAt" >= $4::timestamptz`)} AS "failed",
  least(${counted(missedDeliveries)} + ${counted(inOrder(missedEvents))}, ${COUNTED_MAX}) AS "missed"`

/** Throws `not-found`. */
export async function webhookStatus(caller: Caller, id: number): Promise<WebhookStatus> {
  const failedSince = new Date(caller.now().getTime() - KEPT_MS).toISOString()
  const values = [id, failedSince]
  const [status] = await readWebhooks<WebhookStatus>(caller, statusColumns, 'AND w."id" = $3::int', values)
  if (!status) throw noWebhook(id)
  return status
}

/** By id; `offset` counts from 0. */
export function listWebhooks(
  caller: Caller,
  { limit, offset }: { limit: number; offset: number },
): Promise<WebhookSummary[]> {
  const bounds = 'ORDER BY w."id" LIMIT $3::int OFFSET $4::bigint'
  return readWebhooks<WebhookSummary>(caller, summaryColumns, bounds, [limit, offset])
}

/** Those that the caller may know of, within bounds, whose values are `$3` and so on. */
async function readWebhooks<Row extends WebhookSummary>(
  caller: Caller,
  columns: string,
  bounds: string,
  values: readonly (number | string)[],
): Promise<Row[]> {
  const rows = await caller.db.$queryRawUnsafe<Row[]>(
    `SELECT ${columns}
     FROM (SELECT * FROM "Webhook" w WHERE w."storeId" = $1::int AND (w."subscriptionId" = $2::int OR $2::int IS NULL) ${bounds}) w
     LEFT JOIN "Subscription" s ON s."id" = w."subscriptionId"
     LEFT JOIN "Application" a ON a."id" = s."applicationId"
     ORDER BY w."id"`,
    caller.store.id,
    ownSubscriptionId(caller),
    ...values,
  )
  return rows.map((row) => ({ ...row, eventName: eventKind(row.eventType)?.name ?? '' }))
}

function ofWebhook(state: string): string {
  return `"Delivery" d WHERE d."storeId" = w."storeId" AND d."webhookId" = w."id" AND d."state" = '${state}'`
}

/** So that PostgreSQL goes through the index of the feed, and not through all events, when it counts to a bound. */
function inOrder(events: string): string {
  return `${events} ORDER BY e."sequence"`
}

function counted(rows: string, max = COUNTED_MAX): string {
  return `(SELECT count(*)::int FROM (SELECT 1 FROM ${rows} LIMIT ${max}) c)`
}

/**
 * Enables a webhook again, and with `catchUp` sends what it missed: deliveries that were given up since it began to fail or
 * was disabled, and the events that nobody told it of. Returns how many those are. An enabled one may catch up too.
 * Throws `not-found`, and `conflict` when more was missed than one catch-up sends.
 */
export async function resumeWebhook(
  caller: Caller,
  id: number,
  { catchUp }: { catchUp: boolean },
): Promise<{ caughtUp: number }> {
  const caughtUp = await inTransaction(caller.db, async (db) => {
    const tx = { ...caller, db }
    await lockRecord(tx, webhooks, id, [])
    const sent = catchUp ? await sendMissed(tx, id) : 0
    await enable(tx, id)
    return sent
  })
  announce(caller.db, deliveriesChannel)
  return { caughtUp }
}

async function enable({ db, store, now, actor }: Caller, id: number): Promise<void> {
  await db.$executeRaw`
    UPDATE "Webhook"
    SET "enabled" = true, "failingSince" = NULL, "lastFailedAt" = NULL, "disabledAt" = NULL, "disabledAtSequence" = NULL, "pauseReason" = NULL,
      "updatedAt" = CASE WHEN "enabled" THEN "updatedAt" ELSE greatest("updatedAt", ${now()}) END,
      "updatedBy" = CASE WHEN "enabled" THEN "updatedBy" ELSE ${actor} END
    WHERE "storeId" = ${store.id}::int AND "id" = ${id}::int`
}

async function sendMissed(tx: Caller, id: number): Promise<number> {
  await refuseTooMany(tx, id)
  const numbered = await lastSequence(tx.db, tx.store.id)
  const again = await sendFailed(tx, id)
  const untold = await sendEvents(tx, id, 0)
  await stopNumbering(tx.db, tx.store.id, id)
  return again + untold + (await sendEvents(tx, id, numbered))
}

async function refuseTooMany({ db, store }: Caller, id: number): Promise<void> {
  const most = CAUGHT_UP_MAX + 1
  const [missed] = await db.$queryRawUnsafe<{ count: number }[]>(
    `SELECT ${counted(missedDeliveries, most)} + ${counted(inOrder(missedEvents), most)} AS "count" FROM "Webhook" w
     WHERE w."storeId" = $1::int AND w."id" = $2::int`,
    store.id,
    id,
  )
  if (!missed || missed.count <= CAUGHT_UP_MAX) return
  const way = 'Resume without CatchUp, and read them from the feed of events'
  throw new StoreFailure('conflict', `The webhook missed more than ${CAUGHT_UP_MAX} notifications. ${way}`, {
    field: 'CatchUp',
  })
}

function sendFailed({ db, store, now }: Caller, id: number): Promise<number> {
  return db.$executeRawUnsafe(
    `UPDATE "Delivery" f SET "state" = 'pending', "dueAt" = $3::timestamptz, "endedAt" = NULL,
       "triesBefore" = f."attempts", "status" = NULL, "reason" = ''
     FROM "Webhook" w, LATERAL (SELECT d."id" FROM ${missedDeliveries}) m
     WHERE w."storeId" = $1::int AND w."id" = $2::int AND f."id" = m."id" AND f."state" = 'failed'`,
    store.id,
    id,
    now().toISOString(),
  )
}

/** Those numbered after `after`. */
function sendEvents({ db, store, now }: Caller, id: number, after: number): Promise<number> {
  return db.$executeRawUnsafe(
    `INSERT INTO "Delivery" ("storeId", "webhookId", "eventId", "state", "dueAt", "createdAt")
     SELECT w."storeId", w."id", m."id", 'pending', $4::timestamptz, $4::timestamptz
     FROM "Webhook" w, LATERAL (
       SELECT e."id" FROM ${missedEvents} AND e."sequence" > $3::bigint ORDER BY e."sequence") m
     WHERE w."storeId" = $1::int AND w."id" = $2::int`,
    store.id,
    id,
    after,
    now().toISOString(),
  )
}
