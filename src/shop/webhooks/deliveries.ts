import { requireAccess } from '../../access/applications/authenticate.ts'
import type { Caller } from '../../engine/caller.ts'
import { eventKind } from '../../engine/definition/event-kinds.ts'
import { boolean, date, integer, LONG_TEXT, list, long, text } from '../../engine/definition/fields.ts'
import { announce, deliveriesChannel } from '../../engine/recording/events.ts'
import { rowsInTurn } from '../../foundation/database/client.ts'
import type { Delivery, DeliveryAttempt } from '../../foundation/database/generated/client.ts'
import { empty, join, type Sql, sql } from '../../foundation/database/sql.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { type FeedEvent, happened, named } from './feed.ts'
import { eventRecord } from './notified.ts'
import { noWebhook, ownWebhook } from './ownership.ts'
import { sampleOf } from './samples.ts'
import { type Members, shownType } from './shown-type.ts'

export const deliveryStates = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** The retention of attempts, ended deliveries, and events without deliveries. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1_000

/** A delivery and its event; `attempts` includes one in progress. */
interface DeliverySummary
  extends Pick<Delivery, 'state' | 'attempts' | 'status' | 'reason' | 'createdAt' | 'dueAt' | 'endedAt'>,
    Omit<FeedEvent, 'createdAt' | 'body' | 'changed'> {
  readonly id: number
  readonly isTest: boolean
}

interface DeliveryDetails extends DeliverySummary {
  /** The record's JSON text. */
  readonly body: string
  /** Newest first, at most 100. */
  readonly log: readonly Attempt[]
}

type Attempt = Pick<DeliveryAttempt, 'number' | 'at' | 'status' | 'reason' | 'durationMs' | 'answer'>

const summary: Members<DeliverySummary> = {
  DeliveryID: [long({ description: 'The number of the delivery, by which addresses name it.' }), 'id'],
  ...happened,
  IsTest: [boolean({ description: 'True: it was sent by `/Webhooks/{id}/Test`, about a made-up record.' }), 'isTest'],
  State: [
    text(Math.max(...deliveryStates.map(({ length }) => length)), {
      description: 'The state of the delivery: `pending`, `delivered`, or `failed` for good.',
    }),
    'state',
  ],
  Attempts: [integer({ description: 'The number of attempts, including one in progress.' }), 'attempts'],
  Status: [integer({ description: 'The HTTP status of the last answer; 0: there was none.' }), 'status'],
  Reason: [text(LONG_TEXT, { description: 'The reason why the last attempt failed; empty: it did not.' }), 'reason'],
  DateCreated: [
    date({ description: 'The time at which the delivery was created, right after its event.' }),
    'createdAt',
  ],
  DateDue: [date({ description: 'The time at which the next attempt is due; empty: there will be none.' }), 'dueAt'],
  DateEnded: [
    date({ description: 'The time at which the delivery succeeded or failed for good; empty: it is pending.' }),
    'endedAt',
  ],
}

export const deliveryType = shownType<DeliverySummary>(
  'Delivery',
  'One notification of a webhook: an event that is sent to its address, in one attempt or several.',
  summary,
)

const attemptType = shownType<Attempt>('Attempt', 'One attempt to send a notification.', {
  Number: [integer({ description: 'The number of the attempt within its delivery, from 1.' }), 'number'],
  Date: [date({ description: 'The start of the attempt.' }), 'at'],
  Status: [integer({ description: 'The HTTP status of the answer; 0: there was none.' }), 'status'],
  Reason: [text(LONG_TEXT, { description: 'The reason why the attempt failed; empty: it did not.' }), 'reason'],
  DurationMs: [integer({ description: 'The duration of the attempt in milliseconds.' }), 'durationMs'],
  Answer: [text(LONG_TEXT, { description: 'The beginning of the answer’s body.' }), 'answer'],
})

export const deliveryDetailType = shownType<DeliveryDetails>(
  'DeliveryDetail',
  'A notification whole, with what is sent and how its attempts went.',
  {
    ...summary,
    Record: [eventRecord, ({ body: json }) => ({ json })],
    AttemptList: [
      list(attemptType.typeName, attemptType.members, {
        description: 'The last attempts, the newest first; at most 100.',
      }),
      ({ log }, timeZone) => ({ json: `[${log.map((attempt) => attemptType.text(attempt, timeZone)).join(',')}]` }),
    ],
  },
)

const LOG_SHOWN_MAX = 100

const summaryColumns = sql`d."id"::float8 AS "id", e."messageId"::text AS "messageId", e."sequence"::float8 AS "sequence", e."eventType", e."recordId", d."state",
  d."attempts", d."status", d."reason", d."createdAt", d."endedAt",
  CASE WHEN d."dueAt" IS NOT NULL THEN greatest(d."dueAt", d."createdAt") END AS "dueAt"`

/** The due time of a delivery that a person waits for: before all others of the webhook, which may be thousands. */
const atOnce = sql`'epoch'::timestamptz`

/** Literals, because a partial index does not match a parameter. */
const inState: Readonly<Record<DeliveryState, Sql>> = {
  pending: sql`d."state" = 'pending'`,
  delivered: sql`d."state" = 'delivered'`,
  failed: sql`d."state" = 'failed'`,
}

/** A condition over `d`: the deliveries of a webhook. */
function ofWebhook({ store }: Caller, webhookId: number): Sql {
  return sql`d."storeId" = ${store.id}::int AND d."webhookId" = ${webhookId}::int`
}

type SummaryRow = Omit<DeliverySummary, 'eventName' | 'isTest'>

/**
 * Lists the deliveries of a webhook, newest first: those before the id `before`, and only those in one of `states`; none: in any.
 * `next` is the `before` of the next page; null: no more. Throws `not-found` for an unknown webhook.
 */
export async function listDeliveries(
  caller: Caller,
  webhookId: number,
  { states, limit, before }: { states: readonly DeliveryState[]; limit: number; before: number | null },
): Promise<{ deliveries: DeliverySummary[]; next: number | null }> {
  const wanted = states.map((state) => inState[state])
  const isWanted = join(wanted, ' OR ')
  const rows = await rowsInTurn<SummaryRow | { id: null }>(caller)`
    SELECT p.* FROM (SELECT * FROM ${ownWebhook(caller, webhookId)}) w
    LEFT JOIN LATERAL (
      SELECT ${summaryColumns} FROM "Delivery" d JOIN "Event" e ON e."id" = d."eventId"
      WHERE ${ofWebhook(caller, webhookId)} ${before === null ? empty : sql`AND d."id" < ${before}::bigint`}
        ${states.length === 0 ? empty : sql`AND (${isWanted})`}
      ORDER BY d."id" DESC LIMIT ${limit}::int + 1) p ON true
    ORDER BY p."id" DESC`
  if (rows.length === 0) throw noWebhook(webhookId)
  const found = rows.filter((row) => row.id !== null)
  const deliveries = found.slice(0, limit).map(summaryOf)
  return { deliveries, next: found.length > limit ? (deliveries.at(-1)?.id ?? null) : null }
}

/** Returns a delivery with its log. Throws `not-found`, and `unauthorized` if its record may no longer be read. */
export async function getDelivery(caller: Caller, webhookId: number, deliveryId: number): Promise<DeliveryDetails> {
  const [found] = await rowsInTurn<SummaryRow & Pick<DeliveryDetails, 'body' | 'log'>>(caller)`
    SELECT ${summaryColumns}, e."body",
      (SELECT coalesce(json_agg(a ORDER BY a."id" DESC), '[]') FROM (
        SELECT "id", "number", "at", "status", "reason", "durationMs", "answer" FROM "DeliveryAttempt"
        WHERE "deliveryId" = d."id" ORDER BY "id" DESC LIMIT ${LOG_SHOWN_MAX}) a) AS "log"
    FROM "Delivery" d JOIN "Event" e ON e."id" = d."eventId"
    WHERE ${ofWebhook(caller, webhookId)} AND d."id" = ${deliveryId}::bigint
      AND EXISTS (SELECT 1 FROM ${ownWebhook(caller, webhookId)})`
  if (!found) throw noDelivery(deliveryId)
  const kind = eventKind(found.eventType)
  if (kind) requireAccess(caller, kind.service, 'read')
  const { body, log, ...summary } = found
  // JSON has times as text.
  return { ...summaryOf(summary), body, log: log.map((one) => ({ ...one, at: new Date(one.at) })) }
}

/**
 * Sends a delivery again, in any state: before all others of the webhook, with a new schedule of retries. Leaves one
 * that is being sent alone. Throws `not-found`, and a 409 while the webhook is disabled.
 */
export async function redeliver(caller: Caller, webhookId: number, deliveryId: number): Promise<void> {
  const { db, now } = caller
  // The lock blocks disabling the webhook until the delivery is pending, because disabling gives up pending ones.
  const isThis = sql`${ofWebhook(caller, webhookId)} AND d."id" = ${deliveryId}::bigint`
  // Begun, but not in the log yet.
  const isUnderWay = sql`d."state" = 'pending' AND d."dueAt" > ${now()}::timestamptz AND d."attempts" > coalesce(
    (SELECT max(a."number") FROM "DeliveryAttempt" a WHERE a."deliveryId" = d."id"), 0)`
  const [found] = await db.$queryRaw<{ enabled: boolean; isThere: boolean }[]>`
    WITH w AS (SELECT t."enabled" FROM ${ownWebhook(caller, webhookId)} FOR SHARE),
    sent AS (
      UPDATE "Delivery" d SET "state" = 'pending', "dueAt" = ${atOnce}, "endedAt" = NULL, "triesBefore" = d."attempts",
        "status" = NULL, "reason" = ''
      FROM w WHERE w."enabled" AND ${isThis} AND NOT (${isUnderWay}))
    SELECT w."enabled", EXISTS (SELECT 1 FROM "Delivery" d WHERE ${isThis}) AS "isThere" FROM w`
  if (!found?.isThere) throw noDelivery(deliveryId)
  if (!found.enabled) {
    const message = 'The webhook is not enabled; enable or resume it, and then send again'
    throw new StoreFailure('invalid-state', message, { field: 'Enabled' })
  }
  announce(db, deliveriesChannel)
}

/**
 * Sends a made-up record of the webhook's kind, even while it is disabled, and returns the delivery's id. The event is
 * in no feed (its sequence is 0). Throws `not-found`.
 */
export async function sendTest(caller: Caller, webhookId: number): Promise<number> {
  const { db, now } = caller
  const own = ownWebhook(caller, webhookId)
  const [webhook] = await db.$queryRaw<{ eventType: number }[]>`SELECT t."eventType" FROM ${own}`
  const kind = webhook && eventKind(webhook.eventType)
  if (!kind) throw noWebhook(webhookId)
  const { recordId, body, changed } = sampleOf(kind)
  const at = sql`${now()}::timestamptz`
  const [delivery] = await db.$queryRaw<{ id: number }[]>`
    WITH w AS (SELECT t."storeId", t."id", t."eventType" FROM ${own} FOR KEY SHARE),
    e AS (
      INSERT INTO "Event" ("storeId", "sequence", "eventType", "recordId", "body", "changed", "createdAt")
      SELECT w."storeId", 0, w."eventType", ${recordId}::int, ${body}, ${changed}, ${at} FROM w RETURNING "id")
    INSERT INTO "Delivery" ("storeId", "webhookId", "eventId", "state", "dueAt", "createdAt")
    SELECT w."storeId", w."id", e."id", 'pending', ${atOnce}, ${at} FROM w, e RETURNING "id"::float8 AS "id"`
  if (!delivery) throw noWebhook(webhookId)
  announce(db, deliveriesChannel)
  return delivery.id
}

function noDelivery(id: number): StoreFailure {
  return new StoreFailure('not-found', `There is no Delivery ${id}`, { field: String(id) })
}

function summaryOf(row: SummaryRow): DeliverySummary {
  return { ...named(row), isTest: row.sequence === 0 }
}
