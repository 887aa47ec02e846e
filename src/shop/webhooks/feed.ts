import { requireAccess } from '../../access/applications/authenticate.ts'
import { allows } from '../../access/applications/privileges.ts'
import type { Caller } from '../../engine/caller.ts'
import { type EventKind, eventKind, eventKinds } from '../../engine/definition/event-kinds.ts'
import { date, integer, long, text } from '../../engine/definition/fields.ts'
import { queryRows, readInTurn } from '../../foundation/database/client.ts'
import type { Event } from '../../foundation/database/generated/client.ts'
import { empty, type Sql, sql } from '../../foundation/database/sql.ts'
import { messageIdOf } from '../../foundation/outbound/standard-webhooks.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { MEMBERS_LENGTH_MAX, namingKinds, shownMembers } from './members.ts'
import { eventRecord } from './notified.ts'
import { type Members, shownType } from './shown-type.ts'

export interface FeedEvent extends Pick<Event, 'messageId' | 'eventType' | 'recordId' | 'createdAt' | 'body'> {
  readonly sequence: number
  readonly eventName: string
  /** The members that changed, as many as are shown; null: its kind does not name them. */
  readonly changed: string | null
}

/** The fields that an event in the feed shares with its deliveries. */
export const happened: Members<Omit<FeedEvent, 'createdAt' | 'body' | 'changed'>> = {
  Sequence: [
    long({
      description:
        'The position of the event in the feed of the store: later events have higher numbers. Read on with `after` set to the last one. 0: a test.',
    }),
    'sequence',
  ],
  Id: [
    text(36, {
      description: 'The identifier of the event, which its deliveries have as `webhook-id`. Take an event once by it.',
    }),
    'messageId',
  ],
  EventType: [
    integer({ min: 0, max: 255, description: 'The kind of event, by its number from `GET /Webhooks/Events`.' }),
    'eventType',
  ],
  EventName: [text(100, { description: 'The kind of event in words.' }), 'eventName'],
  RecordID: [
    integer({ description: 'The number of the record that the event is about, such as an OrderID.' }),
    'recordId',
  ],
}

const changedNote = `The members of the record that took other values, separated by commas, such as \`BillingCity,ShipmentList.ShipmentTrackingCode\`. At most 100; \`*\` at the end says that there are more. Only the kinds ${namingKinds}, have it; events from before members were named do not.`

export const feedEventType = shownType<FeedEvent>(
  'FeedEvent',
  'Something that happened in the store, with the record that it happened to.',
  {
    ...happened,
    DateCreated: [date({ description: 'The time of the event.' }), 'createdAt'],
    Changed: [text(MEMBERS_LENGTH_MAX, { isOptional: true, description: changedNote }), 'changed'],
    Record: [eventRecord, ({ body: json }) => ({ json })],
  },
)

type FeedQuery = { after: number | 'newest'; limit: number; eventTypes: readonly number[]; recordId: number | null }

/** The total of the bodies of one page. */
const PAGE_BYTES_MAX = 10 * 1024 * 1024

/**
 * Returns the events after a position in the store's feed, in order: at least one, and at most `limit` events and 10 MB of
 * bodies. Empty if nothing is newer. Position 0 starts at the oldest event; `newest` returns the newest event alone. Returns the kinds
 * in `eventTypes`; if that is empty, all kinds whose records the caller may read. `recordId`: only events of records with this number; null: of any.
 * Throws `unauthorized` for a kind that the caller may not read, and `gone` if events after that position were deleted because of
 * their age, or if there has been no such position: the feed of a reset store, or of a restored backup, began anew.
 */
export async function readFeed(
  caller: Caller,
  { after, limit, eventTypes, recordId }: FeedQuery,
): Promise<FeedEvent[]> {
  const kinds = readableKinds(caller, eventTypes)
  const storeId = sql`${caller.store.id}::int`
  const types = sql`string_to_array(${kinds.map(({ type }) => type).join(',')}, ',')::smallint[]`
  const ofRecord = recordId === null ? empty : sql`AND i."recordId" = ${recordId}::int`
  if (after === 'newest') {
    const sequence = await newestSequence(caller, types, ofRecord)
    return sequence === null ? [] : readFeed(caller, { after: sequence - 1, limit: 1, eventTypes, recordId })
  }
  const rows = await readInTurn(
    caller,
    () => caller.db.$queryRaw<(FeedRow | NoRow)[]>`
    SELECT f."deletedThrough"::float8 AS "deletedThrough", f."lastSequence"::float8 AS "lastSequence", p.* FROM (SELECT) one
    CROSS JOIN LATERAL (
      SELECT coalesce(max(c."deletedThrough"), 0) AS "deletedThrough",
        coalesce((SELECT "lastSequence" FROM "EventFeed" WHERE "storeId" = ${storeId}), 0) AS "lastSequence"
      FROM "EventCut" c
      WHERE c."storeId" = ${storeId} AND c."eventType" = ANY (${types}) OFFSET 0) f
    LEFT JOIN LATERAL (
      SELECT * FROM (
        SELECT e."sequence"::float8 AS "sequence", e."messageId"::text AS "messageId", e."eventType", e."recordId",
          e."createdAt", e."body", e."changed",
          sum(octet_length(e."body")) OVER (ORDER BY e."sequence") AS "bytes",
          row_number() OVER (ORDER BY e."sequence") AS "place"
        FROM (
          SELECT n."id" FROM unnest(${types}) k,
            LATERAL (
              SELECT i."id", i."sequence" FROM "Event" i
              WHERE i."storeId" = ${storeId} AND i."eventType" = k
                AND i."sequence" > CASE WHEN ${after}::bigint = 0 THEN f."deletedThrough" ELSE ${after}::bigint END
                ${ofRecord}
              ORDER BY i."sequence" LIMIT ${limit}::int) n
          ORDER BY n."sequence" LIMIT ${limit}::int) chosen
        JOIN "Event" e ON e."id" = chosen."id") sized
      WHERE sized."bytes" <= ${PAGE_BYTES_MAX} OR sized."place" = 1) p ON true
    ORDER BY p."sequence"`,
  )
  if (rows[0]) requireKept(after, rows[0])
  return rows
    .filter((row) => row.sequence !== null)
    .map((row) => named({ ...row, changed: row.changed === null ? null : shownMembers(row.changed) }))
}

type FeedRow = Omit<FeedEvent, 'eventName'> & { readonly deletedThrough: number; readonly lastSequence: number }

type Bounds = Pick<FeedRow, 'deletedThrough' | 'lastSequence'>

type NoRow = Bounds & { readonly sequence: null }

/** Null: the store has no such event. */
async function newestSequence({ db, store }: Caller, types: Sql, ofRecord: Sql): Promise<number | null> {
  const [newest] = await queryRows<{ sequence: number | null }>(db)`
    SELECT max(n."sequence")::float8 AS "sequence" FROM unnest(${types}) k, LATERAL (
      SELECT i."sequence" FROM "Event" i
      WHERE i."storeId" = ${store.id}::int AND i."eventType" = k AND i."sequence" > 0 ${ofRecord}
      ORDER BY i."sequence" DESC LIMIT 1) n`
  return newest?.sequence ?? null
}

/** Throws `gone` if the feed does not go on from this position. */
function requireKept(after: number, { deletedThrough, lastSequence }: Bounds): void {
  if (after > lastSequence) {
    const message = `The newest event is ${lastSequence}, so the feed began anew: the store was reset, or a backup was restored. Compare the records themselves, and read on with after=${lastSequence}`
    throw new StoreFailure('gone', message, { field: 'after' })
  }
  if (after > 0 && after < deletedThrough) {
    const message = `The events up to ${deletedThrough} were deleted because of their age, and those after ${after} among them. Compare the records themselves, and read on with after=${deletedThrough}`
    throw new StoreFailure('gone', message, { field: 'after' })
  }
}

/** Gives an event's row its name, and its id as clients know it. */
export function named<Row extends { readonly eventType: number; readonly messageId: string }>(row: Row) {
  return { ...row, messageId: messageIdOf(row.messageId), eventName: eventKind(row.eventType)?.name ?? '' }
}

/** Throws if one that is named is not readable, or none of all, because the caller would wait forever. */
function readableKinds(caller: Caller, eventTypes: readonly number[]): readonly EventKind[] {
  const wanted = eventKinds.filter(({ type }) => eventTypes.length === 0 || eventTypes.includes(type))
  const readable = wanted.filter(({ service }) => allows(caller.privileges, service, 'read'))
  const refused = wanted.find((kind) => !readable.includes(kind))
  const isIncomplete = eventTypes.length > 0 || readable.length === 0
  if (refused !== undefined && isIncomplete) requireAccess(caller, refused.service, 'read')
  return readable
}
