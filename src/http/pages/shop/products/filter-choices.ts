import { mayRead } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { categories } from '../../../../shop/resources/categories/categories.ts'
import { type CategoryNode, readTree } from '../../../../shop/resources/categories/tree.ts'
import { manufacturers } from '../../../../shop/resources/manufacturers/manufacturers.ts'
import type { Words } from '../../records/special.ts'

/** Of a shop with more, a filter takes a number, or what is found while somebody types. */
const OFFERED_MAX = 500

type Choices = readonly (readonly [value: string, text: string])[]

/** The categories as a tree, and the manufacturers by name, for the filters of products. */
export async function offeredChoices(caller: Caller): Promise<Words['choices']> {
  const [tree, makers] = await Promise.all([
    mayRead(caller.privileges, categories) ? readTree(caller, null, OFFERED_MAX) : null,
    mayRead(caller.privileges, manufacturers) ? readManufacturers(caller) : [],
  ])
  const isWhole = tree !== null && !tree.isCut && !tree.nodes.some(isCut)
  return {
    ...(isWhole && { 'CategoryList.CategoryID': inTree(tree.nodes, 0) }),
    ...(makers.length > 0 && makers.length <= OFFERED_MAX && { ManufacturerID: makers }),
  }
}

function isCut({ hasMore, children }: CategoryNode): boolean {
  return hasMore || children.some(isCut)
}

/** Each below its parent, further to the right. */
function inTree(nodes: readonly CategoryNode[], depth: number): Choices {
  return nodes.flatMap(({ id, name, children }) => [
    [String(id), `${'\u2003'.repeat(depth)}${name}`] as const,
    ...inTree(children, depth + 1),
  ])
}

async function readManufacturers({ db, store }: Caller): Promise<Choices> {
  const found = await db.manufacturer.findMany({
    where: { storeId: store.id },
    select: { id: true, name: true },
    orderBy: { id: 'asc' },
    take: OFFERED_MAX + 1,
  })
  return found.toSorted((one, other) => one.name.localeCompare(other.name)).map(({ id, name }) => [String(id), name])
}
