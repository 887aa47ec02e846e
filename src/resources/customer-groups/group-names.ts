import type { Caller } from '../../engine/caller.ts'
import { StoreFailure } from '../../values/failure.ts'

/** The names of customer groups, by CustomerGroupID. Ids that no group has are left out. */
export async function readGroupNames(
  { db, store }: Caller,
  ids: Iterable<number>,
): Promise<ReadonlyMap<number, string>> {
  const listed = [...new Set(ids)]
  if (listed.length === 0) return new Map()
  const groups = await db.customerGroup.findMany({
    where: { storeId: store.id, id: { in: listed } },
    select: { id: true, name: true },
  })
  return new Map(groups.map(({ id, name }) => [id, name]))
}

/**
 * The id of the customer group that `given` means: by its id, else by its name, without regard to blanks around it, and to case
 * unless that tells groups apart. Null: there is none. Throws `bad-request` for a name that several groups have.
 */
export async function findGroup({ db, store }: Caller, given: string): Promise<number | null> {
  const id = /^\d{1,15}$/.test(given) ? Number(given) : null
  const groups = await db.$queryRaw<{ id: number; name: string }[]>`
    SELECT "id", btrim("name") AS "name" FROM "CustomerGroup"
    WHERE "storeId" = ${store.id} AND ("id" = ${id}::bigint OR lower(btrim("name")) = lower(${given}))`
  if (groups.some((group) => group.id === id)) return id
  const exact = groups.filter(({ name }) => name === given)
  const [group, other] = exact.length > 0 ? exact : groups
  if (other !== undefined) throw new StoreFailure('bad-request', 'Several customer groups have this name; send the id')
  return group?.id ?? null
}
