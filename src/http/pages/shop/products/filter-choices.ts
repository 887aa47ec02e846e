import { mayRead } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { categories } from '../../../../shop/resources/categories/categories.ts'
import { readTree } from '../../../../shop/resources/categories/tree.ts'
import { manufacturers } from '../../../../shop/resources/manufacturers/manufacturers.ts'
import type { Words } from '../../records/special.ts'
import { allIn } from '../categories/routes.ts'

/** Of a shop with more, a filter takes a number, or what is found while somebody types. */
const OFFERED_MAX = 500

/** The categories as a tree, and the manufacturers by name, for the filters of products. */
export async function offeredChoices(caller: Caller): Promise<Words['choices']> {
  const { db, store, privileges } = caller
  const page = { where: { storeId: store.id }, orderBy: { id: 'asc' }, take: OFFERED_MAX + 1 } as const
  const [tree, found] = await Promise.all([
    mayRead(privileges, categories) ? readTree(caller, null, OFFERED_MAX) : null,
    mayRead(privileges, manufacturers) ? db.manufacturer.findMany({ ...page, select: { id: true, name: true } }) : [],
  ])
  const all = allIn(tree?.nodes ?? [])
  const isWhole = tree !== null && !tree.isCut && !all.some(({ hasMore }) => hasMore)
  const makers = found.toSorted((one, other) => one.name.localeCompare(other.name))
  return {
    // Each below its parent, further to the right.
    ...(isWhole && {
      'CategoryList.CategoryID': all.map(({ id, name, depth }) => [String(id), `${'\u2003'.repeat(depth)}${name}`]),
    }),
    ...(makers.length > 0 &&
      makers.length <= OFFERED_MAX && { ManufacturerID: makers.map(({ id, name }) => [String(id), name]) }),
  }
}
