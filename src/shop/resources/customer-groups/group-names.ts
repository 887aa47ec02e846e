import type { Caller } from '../../../engine/caller.ts'
import { readInTurn } from '../../../foundation/database/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'

/** Returns the names of customer groups by CustomerGroupID, omitting unknown ids. */
export async function readGroupNames(caller: Caller, ids: Iterable<number>): Promise<Map<number, string>> {
  const where = { storeId: caller.store.id, id: { in: [...new Set(ids)] } }
  if (where.id.in.length === 0) return new Map()
  const groups = await readInTurn(caller, () =>
    caller.db.customerGroup.findMany({ where, select: { id: true, name: true } }),
  )
  return new Map(groups.map(({ id, name }) => [id, name]))
}

/**
 * Returns the id of the customer group with this id, or else with this name, or null. Ignores blanks around a group's
 * name, and case unless it distinguishes groups. Throws a 400 for a name that several groups have.
 */
export async function findGroup({ db, store }: Caller, given: string): Promise<number | null> {
  const id = /^\d{1,15}$/.test(given) ? Number(given) : null
  const groups = await db.$queryRaw<{ id: number; name: string }[]>`
    SELECT "id", btrim("name") AS "name" FROM "CustomerGroup"
    WHERE "storeId" = ${store.id} AND ("id" = ${id}::bigint OR lower(btrim("name")) = lower(${given}))`
  if (groups.some((group) => group.id === id)) return id
  const exact = groups.filter(({ name }) => name === given)
  const [group, other] = exact.length > 0 ? exact : groups
  if (other !== undefined)
    throw new StoreFailure('unknown-reference', 'Several customer groups have this name; send the id')
  return group?.id ?? null
}
