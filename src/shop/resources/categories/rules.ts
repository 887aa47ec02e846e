import type { Caller } from '../../../engine/caller.ts'
import { forEachChange } from '../../../engine/changing/change.ts'
import { refused } from '../../../engine/definition/refused.ts'
import type { Change } from '../../../engine/definition/resource.ts'
import type { Document } from '../../../engine/definition/stored-row.ts'
import { lockInStore, locks } from '../../../foundation/database/advisory-locks.ts'
import { queueFetches } from '../../pictures/fetches.ts'
import { keepNamedProducts, refuseUnknownProducts } from '../products/linked-products.ts'
import { readAbove } from './tree.ts'

/** Writes the category's id into its external ids, and queues pictures to be fetched. Refuses (400) a category below itself, and unknown products. */
export async function categoryRules(changes: readonly Change[]): Promise<void> {
  await forEachChange(changes, async (change) => {
    const details = change.after.row.details as Document
    for (const externalId of (details.CategoryExternalIdsList ?? []) as Document[]) externalId.CategoryID = change.id
    await refuseCircle(change)
    await refuseUnknownProducts(change)
    await queueFetches(change)
  })
}

/** Refuses (400) cycles that several changes form together, and reserves the ids of named products. */
export async function categoryEffects(changes: readonly Change[]): Promise<void> {
  const [first] = changes
  if (first?.kind === 'import' || changes.length > 1) await refuseCircles((first as Change).caller, changes)
  await keepNamedProducts(changes)
}

// Two concurrent moves could form a cycle that neither of them sees, so a move waits for other moves in the store, and
// then checks.

const field = 'CategoryParent'

/** Refuses (400) a parent that is the category itself or a descendant. A new category has no descendants. */
async function refuseCircle({ caller, id, before, after }: Change): Promise<void> {
  const { parentId } = after.row
  if (before === null || parentId === null || parentId === before.row.parentId) return
  if (parentId === id) throw refused(field, `${field} ${id} is the category itself`)
  await lockInStore(caller, locks.categoryTree)
  const above = await readAbove(caller, [Number(parentId)])
  if (above.has(id)) {
    throw refused(field, `${field} ${parentId} lies below category ${id}, which would then lie in itself`)
  }
}

/** Refuses (400) imported categories that form a cycle. */
async function refuseCircles(caller: Caller, changes: readonly Change[]): Promise<void> {
  const isMoved = ({ kind, before, after: { row } }: Change) =>
    row.parentId !== null && (kind === 'import' || (before !== null && before.row.parentId !== row.parentId))
  const moved = changes.filter(isMoved).map(({ id }) => id)
  if (moved.length === 0) return
  await lockInStore(caller, locks.categoryTree)
  const circling = firstInCircle(await readAbove(caller, moved))
  if (circling !== null) throw refused(field, `${field} leads from category ${circling} back to itself`)
}

/** Visits each category once: a path ends at a root, at a visited category, or in a cycle. */
function firstInCircle(above: Awaited<ReturnType<typeof readAbove>>): number | null {
  const passed = new Set<number>()
  for (const start of above.keys()) {
    const way = new Set<number>()
    for (let id: number | null | undefined = start; id != null && !passed.has(id); id = above.get(id)?.parentId) {
      if (way.has(id)) return id
      way.add(id)
    }
    for (const id of way) passed.add(id)
  }
  return null
}
