import type { Caller } from '../../engine/caller.ts'
import { listedIds, thisStore } from '../../engine/listed.ts'
import type { Row } from '../../engine/merge.ts'
import { refused } from '../../engine/refused.ts'
import type { Change } from '../../engine/write.ts'

// The categories of a store are trees. Two moves at once could make a circle that neither of them sees, so that whoever
// moves a category waits for other moves in the store to be over, and looks then.

/** The first of the two numbers of an advisory lock; the other is the store's. */
const TREE_LOCK = 7_301_402

const field = 'CategoryParent'

/** Refuses (400) a parent that is the category itself or lies below it. A new category has nothing below it. */
export async function refuseCircle({ caller, id, before, after }: Change): Promise<void> {
  const { parentId } = after.row
  if (before === null || parentId === null || parentId === before.row.parentId) return
  if (parentId === id) throw refused(field, `${field} ${id} is the category itself`)
  await lockTree(caller)
  const parents = await parentsAbove(caller, [Number(parentId)])
  if (parents.has(id)) {
    throw refused(field, `${field} ${parentId} lies below category ${id}, which would then lie in itself`)
  }
}

/** Refuses (400) imported categories of which one comes to lie in itself. */
export async function refuseCircles(caller: Caller, rows: readonly Row[]): Promise<void> {
  const moved = rows.filter(({ parentId }) => parentId !== null).map(({ id }) => Number(id))
  if (moved.length === 0) return
  await lockTree(caller)
  const circling = firstInCircle(await parentsAbove(caller, moved))
  if (circling !== null) throw refused(field, `${field} leads from category ${circling} back to itself`)
}

async function lockTree(caller: Caller): Promise<void> {
  await caller.db.$executeRawUnsafe('SELECT pg_advisory_xact_lock($1::int, $2::int)', TREE_LOCK, caller.store.id)
}

/** The parents of these categories and of all that lie above them, by id; null at the top. */
async function parentsAbove(caller: Caller, ids: readonly number[]): Promise<Map<number, number | null>> {
  const found = await caller.db.$queryRawUnsafe<{ id: number; parentId: number | null }[]>(
    `WITH RECURSIVE above AS (
       SELECT c."id", c."parentId" FROM "Category" c WHERE c."storeId" = ${thisStore} AND c."id" = ${listedIds}
       UNION
       SELECT c."id", c."parentId" FROM above a
       JOIN "Category" c ON c."storeId" = ${thisStore} AND c."id" = a."parentId")
     SELECT "id", "parentId" FROM above`,
    caller.store.id,
    ids.join(','),
  )
  return new Map(found.map(({ id, parentId }) => [id, parentId]))
}

/** Each category is passed once: a way up ends at the top, where another way was, or in a circle. */
function firstInCircle(parents: ReadonlyMap<number, number | null>): number | null {
  const passed = new Set<number>()
  for (const start of parents.keys()) {
    const way = new Set<number>()
    for (let id: number | null | undefined = start; id != null && !passed.has(id); id = parents.get(id)) {
      if (way.has(id)) return id
      way.add(id)
    }
    for (const id of way) passed.add(id)
  }
  return null
}
