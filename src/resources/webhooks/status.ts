import type { Caller } from '../../caller.ts'
import { inTransaction, isClient } from '../../database/client.ts'
import { announce, deliveriesChannel } from '../../events/announce.ts'
import { eventKind } from '../../events/kinds.ts'
import { StoreFailure } from '../../failure.ts'
import { stopNumbering } from './numbering.ts'
import { noWebhook, ownSubscriptionId } from './ownership.ts'

export interface WebhookStatus {
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
  /** Deliveries that wait for an attempt, counted to 1,000. */
  readonly pending: number
  /** Deliveries of the last 30 days that were given up, counted to 1,000. */
  readonly failed: number
  /** What a resume with catch-up would send, counted to 1,000. */
  readonly missed: number
  /** Of the last hundred deliveries that arrived, when the last one did. */
  readonly lastDeliveredAt: Date | null
}

const COUNTED_MAX = 1_000
const FAILED_MS = 30 * 24 * 60 * 60 * 1000
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

/** Throws `not-found`. */
export async function webhookStatus(caller: Caller, id: number): Promise<WebhookStatus> {
  const [status] = await readStatuses(caller, 'AND w."id" = $4::int', [id])
  if (!status) throw noWebhook(id)
  return status
}

/** By id; `offset` counts from 0. */
export function listWebhookStatuses(
  caller: Caller,
  { limit, offset }: { limit: number; offset: number },
): Promise<WebhookStatus[]> {
  return readStatuses(caller, 'ORDER BY w."id" LIMIT $4::int OFFSET $5::bigint', [limit, offset])
}

async function readStatuses(caller: Caller, bounds: string, values: readonly number[]): Promise<WebhookStatus[]> {
  const failedSince = new Date(caller.now().getTime() - FAILED_MS)
  const rows = await caller.db.$queryRawUnsafe<Omit<WebhookStatus, 'eventName'>[]>(
    `SELECT w."id", w."name", w."url", w."eventType", w."format", w."enabled", a."name" AS "application", w."createdAt",
       w."updatedAt", w."failingSince", w."disabledAt", w."pauseReason",
       ${counted(ofWebhook('pending'))} AS "pending",
       ${counted(`${ofWebhook('failed')} AND d."endedAt" >= $3::timestamptz`)} AS "failed",
       least(${counted(missedDeliveries)} + ${counted(inOrder(missedEvents))}, ${COUNTED_MAX}) AS "missed",
       (SELECT max(l."endedAt") FROM (
          SELECT d."endedAt" FROM ${ofWebhook('delivered')} ORDER BY d."id" DESC LIMIT 100) l) AS "lastDeliveredAt"
     FROM (SELECT * FROM "Webhook" w WHERE w."storeId" = $1::int AND (w."subscriptionId" = $2::int OR $2::int IS NULL) ${bounds}) w
     LEFT JOIN "Subscription" s ON s."id" = w."subscriptionId"
     LEFT JOIN "Application" a ON a."id" = s."applicationId"
     ORDER BY w."id"`,
    caller.store.id,
    ownSubscriptionId(caller),
    failedSince.toISOString(),
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

/** A webhook may have millions: nobody needs to know how many exactly. */
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
    await lockWebhook(tx, id)
    const sent = catchUp ? await sendMissed(tx, id) : 0
    await enable(tx, id)
    return sent
  })
  if (isClient(caller.db)) announce(caller.db, deliveriesChannel)
  return { caughtUp }
}

async function lockWebhook(caller: Caller, id: number): Promise<void> {
  const found = await caller.db.$queryRaw<unknown[]>`
    SELECT 1 FROM "Webhook"
    WHERE "storeId" = ${caller.store.id}::int AND "id" = ${id}::int
      AND ("subscriptionId" = ${ownSubscriptionId(caller)}::int OR ${ownSubscriptionId(caller)}::int IS NULL)
    FOR NO KEY UPDATE`
  if (found.length === 0) throw noWebhook(id)
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
  const numbered = await lastSequence(tx)
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

async function lastSequence({ db, store }: Caller): Promise<number> {
  const [feed] = await db.$queryRaw<{ last: bigint }[]>`
    SELECT "lastSequence" AS "last" FROM "EventFeed" WHERE "storeId" = ${store.id}::int`
  return Number(feed?.last ?? 0)
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
