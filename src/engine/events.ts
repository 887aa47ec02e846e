import { execute, queryRows } from '../database/client.ts'
import { anyOfFew, identifier, sql, storeId } from '../database/sql.ts'
import type { Caller, RaisedEvent } from './caller.ts'
import type { Resource } from './define.ts'
import type { EventKind } from './event-kinds.ts'
import type { Selected } from './reader.ts'

/** Maximum bodies or events per statement, because a body can have 10 MB and one text carries them all. */
const BATCH_MAX = 20

/**
 * Raises an event in the transaction of a change, once for each kind and record. The body is the record as the change
 * leaves it, unless given (for a record about to be deleted).
 */
export function raise({ raised }: Caller, kind: EventKind, resource: Resource, recordId: number, body?: string): void {
  if (!raised) throw new Error('An event was raised outside a change')
  const key = `${kind.type} ${recordId}`
  if (!raised.has(key)) raised.set(key, { eventType: kind.type, resource, recordId, body: body ?? null })
}

/** Writes events. Each body is the record's JSON text as GET returns it, and never changes afterwards. */
export async function recordEvents(tx: Caller, raised: readonly RaisedEvent[]): Promise<void> {
  for (let first = 0; first < raised.length; first += BATCH_MAX) {
    const batch = raised.slice(first, first + BATCH_MAX)
    const bodies = await readBodies(tx, batch)
    const rows = batch.map(({ resource, ...event }) => {
      const name = nameOf(resource, event.recordId)
      const body = event.body ?? bodies.get(name)
      if (body === undefined) throw new Error(`There is no record for the event of ${name}`)
      return { ...event, body }
    })
    await execute(
      tx.db,
      sql`
      INSERT INTO "Event" ("storeId", "eventType", "recordId", "body", "createdAt")
      SELECT ${tx.store.id}::int, n."eventType", n."recordId", n."body", ${tx.now().toISOString()}::timestamptz
      FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS n ("eventType" smallint, "recordId" int, "body" text)`,
    )
  }
}

async function readBodies(tx: Caller, raised: readonly RaisedEvent[]): Promise<Map<string, string>> {
  const bodies = new Map<string, string>()
  const wanted = raised.filter(({ body }) => body === null)
  for (const [resource, events] of Map.groupBy(wanted, (event) => event.resource)) {
    const ids = new Set(events.map(({ recordId }) => recordId))
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
