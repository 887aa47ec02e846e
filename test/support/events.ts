import type { Db } from '../../src/database/client.ts'
import type { Event, Prisma } from '../../src/database/generated/client.ts'
import { wholeBodies } from '../../src/engine/recording/event-bodies.ts'

/** The events of a store in the order of their ids, numbered or not, each with the record that it tells of. */
export async function storedEvents(db: Db, storeId: number, where: Prisma.EventWhereInput = {}) {
  const rows = await db.event.findMany({ where: { storeId, ...where }, orderBy: { id: 'asc' } })
  const stored = rows.map((row: Event) => ({
    ...row,
    templateId: row.templateId === null ? null : String(row.templateId),
  }))
  const events = await wholeBodies(db, stored)
  return events.map(({ id, sequence, bodyBytes, templateId, body, ...event }) => ({
    ...event,
    record: JSON.parse(body) as Record<string, unknown>,
  }))
}
