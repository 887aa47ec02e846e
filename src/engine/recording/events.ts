import { execute, queryRows } from '../../database/client.ts'
import { anyOfFew, identifier, lines, sql, storeId } from '../../database/sql.ts'
import type { Caller, RaisedEvent } from '../caller.ts'
import type { Resource } from '../definition/define.ts'
import type { EventKind } from '../definition/event-kinds.ts'
import type { Selected } from '../definition/reader.ts'

/** Bodies that one statement reads, because a body can have 10 MB and one text carries them all. */
const READ_MAX = 20
/** Characters of bodies that one statement writes. */
const WRITTEN_MAX = 4 * 1024 * 1024

/**
 * Raises an event in the transaction of a change, once for each kind and record. The body is the record as the change
 * leaves it, unless given (for a record about to be deleted).
 */
export function raise({ raised }: Caller, kind: EventKind, resource: Resource, recordId: number, body?: string): void {
  if (!raised) throw new Error('An event was raised outside a change')
  const key = `${kind.type} ${recordId}`
  if (!raised.has(key)) raised.set(key, { eventType: kind.type, resource, recordId, body: body ?? null })
}

/**
 * Writes events. Each body is the record's JSON text as GET returns it, and never changes afterwards. Returns what writes the
 * last of them, which is on its way as soon as it is called.
 */
export async function recordEvents(tx: Caller, raised: readonly RaisedEvent[]): Promise<() => Promise<void>> {
  let rows: EventRow[] = []
  let length = 0
  for (let first = 0; first < raised.length; first += READ_MAX) {
    const batch = raised.slice(first, first + READ_MAX)
    const bodies = await readBodies(tx, batch)
    for (const { resource, recordId, eventType, body: given } of batch) {
      const name = nameOf(resource, recordId)
      const body = given ?? bodies.get(name)
      if (body === undefined) throw new Error(`There is no record for the event of ${name}`)
      if (length + body.length > WRITTEN_MAX) {
        await insertEvents(tx, rows)
        rows = []
        length = 0
      }
      rows.push({ eventType, recordId, body })
      length += body.length
    }
  }
  return () => insertEvents(tx, rows)
}

interface EventRow {
  readonly eventType: number
  readonly recordId: number
  readonly body: string
}

async function insertEvents({ db, store, now }: Caller, rows: readonly EventRow[]): Promise<void> {
  if (rows.length === 0) return
  await execute(
    db,
    sql`
    INSERT INTO "Event" ("storeId", "eventType", "recordId", "body", "createdAt")
    SELECT ${store.id}::int, n.*, ${now().toISOString()}::timestamptz
    FROM unnest(${lines(rows.map(({ eventType }) => eventType))}::smallint[],
      ${lines(rows.map(({ recordId }) => recordId))}::int[], ${lines(rows.map(({ body }) => body))}) n`,
  )
}

/** The bodies of these records: made from what the change's own statement returned, or read. */
async function readBodies(tx: Caller, raised: readonly RaisedEvent[]): Promise<Map<string, string>> {
  const bodies = new Map<string, string>()
  const wanted = raised.filter(({ body }) => body === null)
  for (const [resource, events] of Map.groupBy(wanted, (event) => event.resource)) {
    const ids = new Set<number>()
    for (const { recordId } of events) {
      const written = tx.written?.get(resource)?.get(recordId)
      if (written) bodies.set(nameOf(resource, recordId), resource.reader.compose(written))
      else ids.add(recordId)
    }
    if (ids.size === 0) continue
    const rows = await queryRows<{ id: number; row: string }>(
      tx.db,
      sql`
      SELECT t."id", ${resource.reader.select}::text AS "row"
      FROM ${identifier(resource.table)} t JOIN "Store" s ON s."id" = t."storeId"
      WHERE t."storeId" = ${storeId(tx.store)} AND t."id" = ${anyOfFew([...ids])}`,
    )
    for (const { id, row } of rows)
      bodies.set(nameOf(resource, id), resource.reader.compose(JSON.parse(row) as Selected))
  }
  return bodies
}

function nameOf({ service }: Resource, recordId: number): string {
  return `${service} ${recordId}`
}
