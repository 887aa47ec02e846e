import { anyOf, type Sql, sql, storeId } from '../../database/sql.ts'
import type { Caller } from '../../engine/caller.ts'

/** What a product is called, where another one names it. */
export interface ProductName {
  readonly sku: string
  readonly name: string
}

/** The names of these products, by CatalogID; what is not there has none. */
export function readProductNames(caller: Caller, ids: Iterable<number>): Promise<ReadonlyMap<number, ProductName>> {
  return productsById<ProductName>(caller, ids, sql`p."sku", p."name"`)
}

/** What order lines do not keep of their products, and is shown with them. */
export interface LineProduct {
  readonly nonTaxable: boolean
  readonly isDownloadable: boolean
}

/** The products with these ids that are still there. */
export function readLineProducts(caller: Caller, ids: Iterable<number>): Promise<ReadonlyMap<number, LineProduct>> {
  const isDownloadable = sql`p."details" -> 'EProductList' IS NOT NULL`
  return productsById<LineProduct>(caller, ids, sql`p."nonTaxable", ${isDownloadable} AS "isDownloadable"`)
}

/**
 * What `columns` (SQL over `p`) say of these products, by CatalogID; of those that are there. One statement, and none for no
 * product.
 */
async function productsById<Row>(
  caller: Caller,
  ids: Iterable<number>,
  columns: Sql,
): Promise<ReadonlyMap<number, Row>> {
  const listed = [...new Set(ids)]
  if (listed.length === 0) return new Map()
  const rows = await caller.db.$queryRaw<({ id: number } & Row)[]>(sql`
    SELECT p."id", ${columns} FROM "Product" p WHERE p."storeId" = ${storeId(caller.store)} AND p."id" = ${anyOf(listed)}`)
  return new Map(rows.map((row) => [row.id, row]))
}
