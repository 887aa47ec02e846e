import type { Caller } from '../../engine/caller.ts'
import { eventKind } from '../../engine/definition/event-kinds.ts'
import { boolean, date, integer, LONG_TEXT, text } from '../../engine/definition/fields.ts'
import { announce, deliveriesChannel } from '../../engine/recording/events.ts'
import { inStoreTransaction, queryRows, readInTurn } from '../../foundation/database/client.ts'
import type { Webhook } from '../../foundation/database/generated/client.ts'
import { constant, type Sql, sql } from '../../foundation/database/sql.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { KEPT_MS } from './deliveries.ts'
import { lastSequence, stopNumbering } from './dispatch/number.ts'
import { isHeard } from './members.ts'
import { noWebhook, ownWebhook, ownWebhooks } from './ownership.ts'
import { shownType } from './shown-type.ts'

/** A webhook in a list. */
export interface WebhookSummary
  extends Pick<Webhook, 'id' | 'name' | 'url' | 'eventType' | 'format' | 'members' | 'enabled' | 'createdAt'>,
    Pick<Webhook, 'updatedAt' | 'failingSince' | 'disabledAt' | 'pauseReason'> {
  readonly eventName: string
  /** The owner; null: the administration. */
  readonly application: string | null
  /** When the last of the latest hundred successful deliveries ended. */
  readonly lastDeliveredAt: Date | null
}

export interface WebhookStatus extends WebhookSummary {
  /** Pending deliveries, counted up to 1,000. */
  readonly pending: number
  /** Deliveries given up in the last 30 days, counted up to 1,000. */
  readonly failed: number
  /** What a resume with catch-up would send, counted up to 1,000. */
  readonly missed: number
}

export const statusType = shownType<WebhookStatus>('WebhookStatus', 'The health of a webhook.', {
  Id: [integer({ description: 'The number of the webhook.' }), 'id'],
  Enabled: [
    boolean({
      description: 'Whether events are sent. False: an application, a person or the platform has disabled the webhook.',
    }),
    'enabled',
  ],
  FailingSince: [
    date({
      description: 'The time since which every attempt has failed; empty: the last one succeeded, or there was none.',
    }),
    'failingSince',
  ],
  DateDisabled: [
    date({ description: 'The time at which the webhook was disabled; empty: it is enabled.' }),
    'disabledAt',
  ],
  PauseReason: [
    text(LONG_TEXT, { description: 'The reason why the platform disabled the webhook; empty: it did not.' }),
    'pauseReason',
  ],
  Pending: [integer({ description: 'The number of deliveries waiting to be sent, counted up to 1,000.' }), 'pending'],
  Failed: [
    integer({ description: 'The number of deliveries that failed for good in the last 30 days, counted up to 1,000.' }),
    'failed',
  ],
  Missed: [
    integer({
      description: 'The number of notifications that a resume with `CatchUp` would send, counted up to 1,000.',
    }),
    'missed',
  ],
  DateLastDelivered: [
    date({ description: 'The time of the last successful delivery among the latest hundred; empty: none.' }),
    'lastDeliveredAt',
  ],
})

/** The limit of counts in a status: a webhook may have millions, and the exact number is of no use. */
export const COUNTED_MAX = 1_000
/** Notifications per catch-up; more would make the transaction too long. */
const CAUGHT_UP_MAX = 200_000

/**
 * Since when failed deliveries count as missed. Two minutes early, because the clocks of machines differ and resending
 * an undelivered notification does no harm.
 */
const missedSince = sql`coalesce(w."failingSince", w."disabledAt") - interval '2 minutes'`

/** Failed deliveries that a catch-up repeats, without tests. */
const missedDeliveries = sql`"Delivery" d JOIN "Event" e ON e."id" = d."eventId"
  WHERE d."storeId" = w."storeId" AND d."webhookId" = w."id" AND d."state" = 'failed' AND d."endedAt" >= ${missedSince}
    AND ${missedSince} IS NOT NULL AND e."sequence" > 0`

/**
 * Events of which it would have heard, numbered while the webhook was disabled. An event has few deliveries and a webhook has many: OFFSET 0 makes
 * PostgreSQL look them up by event alone, whatever its statistics say.
 */
const missedEvents = sql`"Event" e WHERE e."storeId" = w."storeId" AND e."eventType" = w."eventType"
  AND e."sequence" > w."disabledAtSequence" AND ${isHeard(sql`w."members"`, sql`e."changed"`)} AND NOT EXISTS (
    SELECT 1 FROM (SELECT d."webhookId" FROM "Delivery" d WHERE d."eventId" = e."id" OFFSET 0) sent
    WHERE sent."webhookId" = w."id")`

/** Ordered, so that PostgreSQL reads the index of the feed instead of all events when it counts up to a bound. */
const missedEventsInOrder = sql`${missedEvents} ORDER BY e."sequence"`

const ofWebhook = sql`"Delivery" d WHERE d."storeId" = w."storeId" AND d."webhookId" = w."id"`

function counted(rows: Sql, max = COUNTED_MAX): Sql {
  return sql`(SELECT count(*)::int FROM (SELECT 1 FROM ${rows} LIMIT ${constant(max)}) c)`
}

const summaryColumns = sql`w."id", w."name", w."url", w."eventType", w."format", w."members", w."enabled", a."name" AS "application",
  w."createdAt", w."updatedAt", w."failingSince", w."disabledAt", w."pauseReason",
  (SELECT max(l."endedAt") FROM (
     SELECT d."endedAt" FROM ${ofWebhook} AND d."state" = 'delivered' ORDER BY d."id" DESC LIMIT 100) l) AS "lastDeliveredAt"`

/** Throws `not-found`. */
export async function webhookStatus(caller: Caller, id: number): Promise<WebhookStatus> {
  const failedSince = new Date(caller.now().getTime() - KEPT_MS)
  const columns = sql`${summaryColumns},
    ${counted(sql`${ofWebhook} AND d."state" = 'pending'`)} AS "pending",
    ${counted(sql`${ofWebhook} AND d."state" = 'failed' AND d."endedAt" >= ${failedSince}::timestamptz`)} AS "failed",
    least(${counted(missedDeliveries)} + ${counted(missedEventsInOrder)}, ${constant(COUNTED_MAX)}) AS "missed"`
  const [status] = await readWebhooks<WebhookStatus>(caller, columns, ownWebhook(caller, id))
  if (!status) throw noWebhook(id)
  return status
}

/** Lists webhooks by id; `offset` counts from 0. */
export function listWebhooks(caller: Caller, { limit, offset }: { limit: number; offset: number }) {
  const page = sql`"Webhook" t WHERE t."storeId" = ${caller.store.id}::int AND ${ownWebhooks(caller) ?? sql`true`}
    ORDER BY t."id" LIMIT ${limit}::int OFFSET ${offset}::bigint`
  return readWebhooks<WebhookSummary>(caller, summaryColumns, page)
}

const BROKEN_SHOWN = 10

type BrokenWebhook = Pick<Webhook, 'id' | 'name'> & { isPaused: boolean; since: Date; reason: string }

/**
 * Returns a store's webhooks that the platform paused, and those whose last attempt failed: their numbers and the first ten, paused ones
 * first. `since`: when it was paused, or its attempts began to fail; `reason`: why it was paused, or what went wrong last (empty: unknown).
 */
export async function brokenWebhooks({ db }: Pick<Caller, 'db'>, storeId: number) {
  const rows = await queryRows<BrokenWebhook & { paused: number; failing: number }>(db)`
    SELECT w."id", w."name", w."isPaused", w."paused", w."failing",
        coalesce(CASE WHEN w."isPaused" THEN w."disabledAt" ELSE w."failingSince" END, w."updatedAt") AS "since",
        coalesce(w."pauseReason", (
          SELECT l."reason" FROM (SELECT d."id", d."reason" FROM ${ofWebhook} ORDER BY d."id" DESC LIMIT 100) l
          WHERE l."reason" <> '' ORDER BY l."id" DESC LIMIT 1
        ), '') AS "reason"
      FROM (
        SELECT *, NOT "enabled" AS "isPaused", (count(*) FILTER (WHERE NOT "enabled") OVER ())::int AS "paused",
          (count(*) FILTER (WHERE "enabled") OVER ())::int AS "failing"
        FROM "Webhook"
        WHERE "storeId" = ${storeId}::int
          AND CASE WHEN "enabled" THEN "failingSince" IS NOT NULL ELSE "pauseReason" IS NOT NULL END
        ORDER BY "enabled", "id" LIMIT ${constant(BROKEN_SHOWN)}
      ) w
      ORDER BY w."isPaused" DESC, w."id"`
  const { paused = 0, failing = 0 } = rows[0] ?? {}
  return { paused, failing, webhooks: rows }
}

async function readWebhooks<Row extends WebhookSummary>(caller: Caller, columns: Sql, chosen: Sql): Promise<Row[]> {
  const rows = await readInTurn(
    caller,
    () => caller.db.$queryRaw<Row[]>`
    SELECT ${columns} FROM (SELECT * FROM ${chosen}) w
    LEFT JOIN "Subscription" s ON s."id" = w."subscriptionId"
    LEFT JOIN "Application" a ON a."id" = s."applicationId"
    ORDER BY w."id"`,
  )
  return rows.map((row) => ({ ...row, eventName: eventKind(row.eventType)?.name ?? '' }))
}

/**
 * Enables a webhook and, with `catchUp`, sends what it missed: deliveries given up since it began to fail or was
 * disabled, and events without a delivery. Returns their number. An enabled webhook can catch up too. Throws
 * `not-found`, and a 409 when more was missed than one catch-up sends.
 */
export async function resumeWebhook(caller: Caller, id: number, { catchUp }: { catchUp: boolean }) {
  const caughtUp = await inStoreTransaction(caller, async (db) => {
    const tx = { ...caller, db }
    const locked = await db.$queryRaw<unknown[]>`SELECT 1 FROM ${ownWebhook(caller, id)} FOR NO KEY UPDATE`
    if (locked.length === 0) throw noWebhook(id)
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
  const repeated = await sendFailed(tx, id)
  const added = await sendEvents(tx, id, 0)
  await stopNumbering(tx.db, tx.store.id, id)
  return repeated + added + (await sendEvents(tx, id, numbered))
}

async function refuseTooMany({ db, store }: Caller, id: number): Promise<void> {
  const most = CAUGHT_UP_MAX + 1
  const [missed] = await db.$queryRaw<{ count: number }[]>`
    SELECT ${counted(missedDeliveries, most)} + ${counted(missedEventsInOrder, most)} AS "count" FROM "Webhook" w
    WHERE w."storeId" = ${store.id}::int AND w."id" = ${id}::int`
  if (!missed || missed.count <= CAUGHT_UP_MAX) return
  const way = 'Resume without CatchUp, and read them from the feed of events'
  const message = `The webhook missed more than ${CAUGHT_UP_MAX} notifications. ${way}`
  throw new StoreFailure('invalid-state', message, { field: 'CatchUp' })
}

function sendFailed({ db, store, now }: Caller, id: number): Promise<number> {
  return db.$executeRaw`
    UPDATE "Delivery" f SET "state" = 'pending', "dueAt" = ${now()}::timestamptz, "endedAt" = NULL,
      "triesBefore" = f."attempts", "status" = NULL, "reason" = ''
    FROM "Webhook" w, LATERAL (SELECT d."id" FROM ${missedDeliveries}) m
    WHERE w."storeId" = ${store.id}::int AND w."id" = ${id}::int AND f."id" = m."id" AND f."state" = 'failed'`
}

/** Adds deliveries of missed events numbered after `after`. */
function sendEvents({ db, store, now }: Caller, id: number, after: number): Promise<number> {
  const at = sql`${now()}::timestamptz`
  return db.$executeRaw`
    INSERT INTO "Delivery" ("storeId", "webhookId", "eventId", "state", "dueAt", "createdAt")
    SELECT w."storeId", w."id", m."id", 'pending', ${at}, ${at}
    FROM "Webhook" w, LATERAL (
      SELECT e."id" FROM ${missedEvents} AND e."sequence" > ${after}::bigint ORDER BY e."sequence") m
    WHERE w."storeId" = ${store.id}::int AND w."id" = ${id}::int`
}
