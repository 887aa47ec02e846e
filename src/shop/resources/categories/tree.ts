import type { Caller } from '../../../engine/caller.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { anyOf, type Sql, sql, storeId } from '../../../foundation/database/sql.ts'

// Stored categories may form a circle, which early versions did not refuse: every walk visits a category once.

interface Above {
  readonly name: string
  /** Null: the top level. */
  readonly parentId: number | null
}

/** Returns these categories and all their ancestors, by id. */
export async function readAbove(caller: Caller, ids: readonly number[]): Promise<Map<number, Above>> {
  const store = storeId(caller.store)
  const found = await rowsInTurn<{ id: number } & Above>(caller)`
    WITH RECURSIVE above AS (
      SELECT c."id", c."name", c."parentId" FROM "Category" c WHERE c."storeId" = ${store} AND c."id" = ${anyOf(ids)}
      UNION
      SELECT c."id", c."name", c."parentId" FROM above a
      JOIN "Category" c ON c."storeId" = ${store} AND c."id" = a."parentId")
    SELECT "id", "name", "parentId" FROM above`
  return new Map(found.map(({ id, ...above }) => [id, above]))
}

/** A category by its ancestors, from the top level to itself. */
export interface CategoryPath {
  readonly id: number
  readonly steps: readonly { readonly id: number; readonly name: string }[]
}

/** Returns the paths of these categories, in this order, omitting unknown ids. */
export async function readCategoryPaths(caller: Caller, ids: readonly number[]): Promise<CategoryPath[]> {
  if (ids.length === 0) return []
  const above = await readAbove(caller, ids)
  return ids.filter((id) => above.has(id)).map((id) => ({ id, steps: stepsTo(id, above) }))
}

function stepsTo(id: number, above: ReadonlyMap<number, Above>): CategoryPath['steps'] {
  const steps = new Map<number, { id: number; name: string }>()
  for (let at: number | null = id; at !== null && !steps.has(at); ) {
    const category = above.get(at)
    if (category === undefined) break
    steps.set(at, { id: at, name: category.name })
    at = category.parentId
  }
  return [...steps.values()].reverse()
}

export interface CategoryNode {
  readonly id: number
  readonly name: string
  readonly isHidden: boolean
  readonly children: CategoryNode[]
  /** Whether it has children that the tree does not show. */
  hasMore: boolean
}

export interface CategoryTree {
  readonly nodes: readonly CategoryNode[]
  /** The number of categories in it. */
  readonly size: number
  /** Whether the first level has more than the tree shows. */
  readonly isCut: boolean
}

/** Statements that a tree may take. */
const LEVELS_MAX = 12

/**
 * Reads the categories below this one (null: all), at most `max`. Reads whole levels: where the next one no longer fits,
 * `hasMore` marks the categories that have children.
 */
export async function readTree(caller: Caller, below: number | null, max: number): Promise<CategoryTree> {
  const isBelow = below === null ? sql`c."parentId" IS NULL` : sql`c."parentId" = ${below}::int`
  const first = await readLevel(caller, isBelow, max + 1)
  const visited = new Set(below === null ? [] : [below])
  const nodes = fresh(first.slice(0, max), visited).map(nodeOf)
  let level: readonly CategoryNode[] = nodes
  let size = nodes.length
  for (let depth = 1; level.length > 0 && depth < LEVELS_MAX; depth++) {
    const children = await readLevel(caller, sql`c."parentId" = ${anyOf(level.map(({ id }) => id))}`, max - size + 1)
    if (children.length > max - size) break
    level = attach(level, fresh(children, visited))
    size += level.length
  }
  if (level.length > 0) await markParents(caller, level)
  return { nodes, size, isCut: first.length > max }
}

interface LevelRow {
  readonly id: number
  readonly name: string
  readonly parentId: number | null
  readonly isHidden: boolean
  readonly sorting: number
}

function readLevel(caller: Caller, condition: Sql, limit: number): Promise<LevelRow[]> {
  return rowsInTurn<LevelRow>(caller)`
    SELECT c."id", c."name", c."parentId", coalesce((c."details" ->> 'Hide')::boolean, false) AS "isHidden",
      coalesce((c."details" ->> 'Sorting')::int, 0) AS "sorting"
    FROM "Category" c WHERE c."storeId" = ${storeId(caller.store)} AND ${condition} ORDER BY c."id" LIMIT ${limit}::int`
}

/** The rows that no level has had, in the order of the shop. */
function fresh(rows: readonly LevelRow[], visited: Set<number>): LevelRow[] {
  const unseen = rows.filter(({ id }) => !visited.has(id))
  for (const { id } of unseen) visited.add(id)
  return unseen.toSorted(
    (one, other) => one.sorting - other.sorting || one.name.localeCompare(other.name, 'en') || one.id - other.id,
  )
}

function nodeOf({ id, name, isHidden }: LevelRow): CategoryNode {
  return { id, name, isHidden, children: [], hasMore: false }
}

/** Puts the rows below their parents and returns them as the next level. */
function attach(parents: readonly CategoryNode[], rows: readonly LevelRow[]): CategoryNode[] {
  const byId = new Map(parents.map((parent) => [parent.id, parent]))
  return rows.map((row) => {
    const node = nodeOf(row)
    byId.get(Number(row.parentId))?.children.push(node)
    return node
  })
}

async function markParents(caller: Caller, nodes: readonly CategoryNode[]): Promise<void> {
  const found = await rowsInTurn<{ id: number }>(caller)`
    SELECT p."id" FROM unnest(string_to_array(${nodes.map(({ id }) => id).join(',')}, ',')::int[]) AS p ("id")
    WHERE EXISTS (SELECT FROM "Category" c WHERE c."storeId" = ${storeId(caller.store)} AND c."parentId" = p."id")`
  const parents = new Set(found.map(({ id }) => id))
  for (const node of nodes) node.hasMore = parents.has(node.id)
}

/** Counts the products of each of these categories and of those below it, up to `max` + 1. */
export async function countProducts(
  caller: Caller,
  ids: readonly number[],
  max: number,
): Promise<ReadonlyMap<number, number>> {
  if (ids.length === 0) return new Map()
  const store = storeId(caller.store)
  const found = await rowsInTurn<{ id: number; count: number }>(caller)`
    WITH RECURSIVE below AS (
      SELECT "id" AS "top", "id" FROM unnest(string_to_array(${ids.join(',')}, ',')::int[]) AS c ("id")
      UNION
      SELECT b."top", c."id" FROM below b JOIN "Category" c ON c."storeId" = ${store} AND c."parentId" = b."id")
    SELECT "top" AS "id", least(count(*), ${max + 1}::int)::int AS "count"
    FROM (
      SELECT DISTINCT b."top", p."productId" FROM below b
      CROSS JOIN LATERAL (
        SELECT "productId" FROM "ProductCategory" WHERE "storeId" = ${store} AND "categoryId" = b."id" LIMIT ${max + 1}::int
      ) p) each
    GROUP BY 1`
  return new Map(found.map(({ id, count }) => [id, count]))
}
