import type { Caller } from '../../engine/caller.ts'
import { listedIds, thisStore } from '../../engine/listed.ts'

/**
 * What `columns` (SQL over `p`) say of these products, by CatalogID; of those that are there. One statement, and none for no
 * product.
 */
export async function productsById<Row>(
  caller: Caller,
  ids: Iterable<number>,
  columns: string,
): Promise<ReadonlyMap<number, Row>> {
  const listed = [...new Set(ids)].join(',')
  if (listed === '') return new Map()
  const rows = await caller.db.$queryRawUnsafe<({ id: number } & Row)[]>(
    `SELECT p."id", ${columns} FROM "Product" p WHERE p."storeId" = ${thisStore} AND p."id" = ${listedIds}`,
    caller.store.id,
    listed,
  )
  return new Map(rows.map((row) => [row.id, row]))
}
