import type { Caller } from '../../caller.ts'
import { listedIds, thisStore } from '../../engine/listed.ts'

/** What a product is called, where another one names it. */
export interface ProductName {
  readonly sku: string
  readonly name: string
}

/** The names of these products, by CatalogID; what is not there has none. */
export async function readProductNames(
  caller: Caller,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ProductName>> {
  const wanted = new Set(ids)
  if (wanted.size === 0) return new Map()
  const found = await caller.db.$queryRawUnsafe<(ProductName & { id: number })[]>(
    `SELECT p."id", p."sku", p."name" FROM "Product" p WHERE p."storeId" = ${thisStore} AND p."id" = ${listedIds}`,
    caller.store.id,
    [...wanted].join(','),
  )
  return new Map(found.map(({ id, sku, name }) => [id, { sku, name }]))
}
