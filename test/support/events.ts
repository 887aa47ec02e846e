import type { Db } from '../../src/foundation/database/client.ts'
import type { Prisma } from '../../src/foundation/database/generated/client.ts'

/** The events of a store in the order of their ids, numbered or not, each with the record that it tells of. */
export async function storedEvents(db: Db, storeId: number, where: Prisma.EventWhereInput = {}) {
  const events = await db.event.findMany({ where: { storeId, ...where }, orderBy: { id: 'asc' } })
  return events.map(({ id, sequence, body, ...event }) => ({
    ...event,
    record: JSON.parse(body) as Record<string, unknown>,
  }))
}
