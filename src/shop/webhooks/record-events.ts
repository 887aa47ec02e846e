import type { Caller } from '../../engine/caller.ts'
import { type EventKind, eventKind } from '../../engine/definition/event-kinds.ts'
import type { Delivery, Event } from '../../foundation/database/generated/client.ts'
import { empty, sql } from '../../foundation/database/sql.ts'

export interface RecordEvent extends Pick<Event, 'eventType' | 'createdAt'> {
  readonly id: number
  readonly eventName: string
  /** Its place in the store's feed; null: not numbered yet. */
  readonly sequence: number | null
  /** In the order in which they were made; at most `DELIVERIES_SHOWN` + 1. */
  readonly deliveries: readonly EventDelivery[]
}

/** `webhook`: its name; null: it is deleted. */
type EventDelivery = Pick<Delivery, 'webhookId' | 'state' | 'attempts' | 'status' | 'reason'> & {
  readonly id: number
  readonly webhook: string | null
}

/** Deliveries of an event that are shown. */
export const DELIVERIES_SHOWN = 10

/**
 * Lists the events of these kinds that told of a record, newest first, without tests: those before the id `before`. `next` is
 * the `before` of the next page; null: no more.
 */
export async function listRecordEvents(
  { db, store }: Caller,
  kinds: readonly EventKind[],
  recordId: number,
  { limit, before }: { limit: number; before: number | null },
): Promise<{ events: RecordEvent[]; next: number | null }> {
  const types = sql`string_to_array(${kinds.map(({ type }) => type).join(',')}, ',')::smallint[]`
  // Each kind by itself, in the order of the index: of another record with this id there may be any number of events.
  const rows = await db.$queryRaw<Omit<RecordEvent, 'eventName'>[]>`
    SELECT e."id"::float8 AS "id", e."eventType", e."createdAt", e."sequence"::float8 AS "sequence",
      (SELECT coalesce(json_agg(d ORDER BY d."id"), '[]') FROM (
        SELECT d."id", d."webhookId", w."name" AS "webhook", d."state", d."attempts", d."status", d."reason"
        FROM "Delivery" d LEFT JOIN "Webhook" w ON w."storeId" = d."storeId" AND w."id" = d."webhookId"
        WHERE d."eventId" = e."id" AND d."storeId" = e."storeId" ORDER BY d."id" LIMIT ${DELIVERIES_SHOWN + 1}::int) d
      ) AS "deliveries"
    FROM (
      SELECT n."id" FROM unnest(${types}) k,
        LATERAL (
          SELECT i."id" FROM "Event" i
          WHERE i."storeId" = ${store.id}::int AND i."recordId" = ${recordId}::int AND i."eventType" = k
            AND i."sequence" IS DISTINCT FROM 0 ${before === null ? empty : sql`AND i."id" < ${before}::bigint`}
          ORDER BY i."id" DESC LIMIT ${limit}::int + 1) n
      ORDER BY n."id" DESC LIMIT ${limit}::int + 1) chosen
    JOIN "Event" e ON e."id" = chosen."id"
    ORDER BY e."id" DESC`
  const events = rows.slice(0, limit).map((row) => ({ ...row, eventName: eventKind(row.eventType)?.name ?? '' }))
  return { events, next: rows.length > limit ? (events.at(-1)?.id ?? null) : null }
}
