import { allows } from '../applications/privileges.ts'
import type { Caller } from '../engine/caller.ts'
import { type EventKind, eventKind, eventKinds } from '../engine/event-kinds.ts'
import { messageIdOf } from '../outbound/standard-webhooks.ts'
import { requireAccess } from '../subscriptions/authenticate.ts'
import { StoreFailure } from '../values/failure.ts'

export interface FeedEvent {
  /** Its place in the store's feed, from 1 without gaps. */
  readonly sequence: number
  /** As webhooks get it in the header webhook-id. */
  readonly messageId: string
  readonly eventType: number
  readonly eventName: string
  readonly recordId: number
  readonly createdAt: Date
  /** The record's JSON text. */
  readonly body: string
}

/** Of the bodies of one page together. */
const PAGE_BYTES_MAX = 10 * 1024 * 1024

/**
 * The events of a store after a place in its feed, in order, as many as `limit` and 10 MB of bodies allow, and one at least:
 * of all kinds whose records the caller may read, or of one. None where there is nothing newer. Throws `unauthorized` for what
 * the caller may not read, and `gone` where events after that place were deleted because of their age; 0 is the oldest one
 * that there is.
 */
export async function readFeed(
  caller: Caller,
  { after, limit, eventType }: { after: number; limit: number; eventType: number | null },
): Promise<FeedEvent[]> {
  const kinds = readableKinds(caller, eventType)
  const rows = await caller.db.$queryRawUnsafe<(FeedRow | NoRow)[]>(
    `SELECT f."deletedThrough", p.* FROM (SELECT) one
     CROSS JOIN LATERAL (
       SELECT coalesce(max(c."deletedThrough"), 0) AS "deletedThrough" FROM "EventCut" c
       WHERE c."storeId" = $1::int AND c."eventType" = ANY (string_to_array($2, ',')::smallint[]) OFFSET 0) f
     LEFT JOIN LATERAL (
       SELECT * FROM (
         SELECT e."sequence", e."messageId"::text AS "messageId", e."eventType", e."recordId",
           e."createdAt", e."body", sum(octet_length(e."body")) OVER (ORDER BY e."sequence") AS "bytes",
           row_number() OVER (ORDER BY e."sequence") AS "place"
         FROM (
           SELECT n."id" FROM unnest(string_to_array($2, ',')::smallint[]) k,
             LATERAL (
               SELECT i."id", i."sequence" FROM "Event" i
               WHERE i."storeId" = $1::int AND i."eventType" = k AND i."sequence" > CASE WHEN $3::bigint = 0 THEN f."deletedThrough" ELSE $3::bigint END
               ORDER BY i."sequence" LIMIT $4::int) n
           ORDER BY n."sequence" LIMIT $4::int) chosen
         JOIN "Event" e ON e."id" = chosen."id") sized
       WHERE sized."bytes" <= ${PAGE_BYTES_MAX} OR sized."place" = 1) p ON true
     ORDER BY p."sequence"`,
    caller.store.id,
    kinds.map(({ type }) => type).join(','),
    after,
    limit,
  )
  const deletedThrough = Number(rows[0]?.deletedThrough ?? 0)
  if (after > 0 && after < deletedThrough) throw gone(after, deletedThrough)
  return rows.filter((row) => row.sequence !== null).map(eventOf)
}

interface FeedRow extends Omit<FeedEvent, 'sequence' | 'eventName'> {
  readonly sequence: bigint
  readonly deletedThrough: bigint | null
}

interface NoRow {
  readonly sequence: null
  readonly deletedThrough: bigint | null
}

/** Who may read none of them would else wait for ever. */
function readableKinds(caller: Caller, eventType: number | null): readonly EventKind[] {
  const wanted = eventKinds.filter(({ type }) => eventType === null || type === eventType)
  const readable = wanted.filter(({ service }) => allows(caller.privileges, service, 'read'))
  const [first] = wanted
  if (readable.length === 0 && first !== undefined) requireAccess(caller, first.service, 'read')
  return readable
}

function gone(after: number, deletedThrough: number): StoreFailure {
  const message = `The events up to ${deletedThrough} were deleted because of their age, and those after ${after} among them. Compare the records themselves, and read on with after=${deletedThrough}`
  return new StoreFailure('gone', message, { field: 'after' })
}

function eventOf({ sequence, messageId, eventType, recordId, createdAt, body }: FeedRow): FeedEvent {
  const eventName = eventKind(eventType)?.name ?? ''
  return {
    sequence: Number(sequence),
    messageId: messageIdOf(messageId),
    eventType,
    eventName,
    recordId,
    createdAt,
    body,
  }
}
