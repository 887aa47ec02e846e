import { inTransaction } from '../database/client.ts'
import { announce, eventsChannel } from './announce.ts'
import type { Caller, RaisedEvent, RaisedEvents } from './caller.ts'
import { resourceOf } from './define.ts'
import type { EventKind } from './event-kinds.ts'
import { fewListedIds, thisStore } from './listed.ts'
import type { Selected } from './reader.ts'

/** Bodies that are read, and events that are written, in one statement: each may be of 10 MB, and all go through one text. */
const BATCH_MAX = 20

/**
 * Notes that something happened to a record, in the transaction that makes it happen; told twice of the same, it happened
 * once. The body is the record as the change leaves it, unless it is given (of a record that is about to be deleted).
 */
export function raise(
  caller: Caller,
  { type, service }: EventKind,
  recordId: number,
  body: string | null = null,
): void {
  if (!caller.raised) throw new Error('An event was raised outside a change')
  const key = `${type} ${recordId}`
  if (!caller.raised.has(key)) caller.raised.set(key, { eventType: type, service, recordId, body })
}

/**
 * Runs a change in one transaction, and records as its last step what it raised: an event is there exactly if the change is.
 * Each body is the record's JSON text as GET gives it, and stays as it is from then on. Inside another change, it is a part of that one.
 */
export async function inChange<T>(caller: Caller, work: (tx: Caller) => Promise<T>): Promise<T> {
  if (caller.raised) return work(caller)
  const { result, isTold } = await inTransaction(caller.db, async (db) => {
    // A transaction that is run again begins with none.
    const raised: RaisedEvents = new Map()
    const tx = { ...caller, db, raised }
    const result = await work(tx)
    await recordEvents(tx, [...raised.values()])
    return { result, isTold: raised.size > 0 }
  })
  if (isTold) announce(caller.db, eventsChannel)
  return result
}

async function recordEvents(tx: Caller, raised: readonly RaisedEvent[]): Promise<void> {
  for (let first = 0; first < raised.length; first += BATCH_MAX) {
    await insertEvents(tx, raised.slice(first, first + BATCH_MAX))
  }
}

async function insertEvents(tx: Caller, raised: readonly RaisedEvent[]): Promise<void> {
  const bodies = await readBodies(tx, raised)
  const rows = raised.map((event) => ({ ...event, body: event.body ?? bodies.get(nameOf(event)) }))
  const missing = rows.find(({ body }) => body === undefined)
  if (missing) throw new Error(`An event tells of ${nameOf(missing)}, which is not there`)
  await tx.db.$executeRawUnsafe(
    `INSERT INTO "Event" ("storeId", "eventType", "recordId", "body", "createdAt")
     SELECT $1::int, n."eventType", n."recordId", n."body", $3::timestamptz
     FROM json_to_recordset($2::text::json) AS n ("eventType" smallint, "recordId" int, "body" text)`,
    tx.store.id,
    JSON.stringify(rows),
    tx.now().toISOString(),
  )
}

async function readBodies(tx: Caller, raised: readonly RaisedEvent[]): Promise<Map<string, string>> {
  const bodies = new Map<string, string>()
  const wanted = Map.groupBy(
    raised.filter(({ body }) => body === null),
    ({ service }) => service,
  )
  for (const [service, events] of wanted) {
    const { reader, table } = resourceOf(service)
    const ids = new Set(events.map(({ recordId }) => recordId))
    const rows = await tx.db.$queryRawUnsafe<{ id: number; row: string }[]>(
      `SELECT t."id", ${reader.select.text}::text AS "row" FROM "${table}" t JOIN "Store" s ON s."id" = t."storeId"
       WHERE t."storeId" = ${thisStore} AND t."id" = ${fewListedIds}`,
      tx.store.id,
      [...ids].join(','),
    )
    for (const { id, row } of rows) {
      bodies.set(nameOf({ service, recordId: id }), reader.compose(JSON.parse(row) as Selected))
    }
  }
  return bodies
}

function nameOf({ service, recordId }: Pick<RaisedEvent, 'service' | 'recordId'>): string {
  return `${service} ${recordId}`
}
