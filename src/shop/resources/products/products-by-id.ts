import type { Caller } from '../../../engine/caller.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { anyOf, type Sql, sql, storeId } from '../../../foundation/database/sql.ts'

/** The SKU and name of a product that is referred to. */
export interface ProductName {
  readonly sku: string
  readonly name: string
}

/** Returns the names of these products by CatalogID, omitting unknown ids. */
export function readProductNames(caller: Caller, ids: Iterable<number>): Promise<ReadonlyMap<number, ProductName>> {
  return productsById<ProductName>(caller, ids, sql`p."sku", p."name"`)
}

/** Fields of a product that are shown with order lines but not stored in them. */
export interface LineProduct {
  readonly nonTaxable: boolean
  readonly freeShipping: boolean
  readonly isDownloadable: boolean
}

/** Returns the existing products with these ids. */
export function readLineProducts(caller: Caller, ids: Iterable<number>): Promise<ReadonlyMap<number, LineProduct>> {
  const isDownloadable = sql`p."details" -> 'EProductList' IS NOT NULL`
  const columns = sql`p."nonTaxable", p."freeShipping", ${isDownloadable} AS "isDownloadable"`
  return productsById<LineProduct>(caller, ids, columns)
}

/**
 * Returns `columns` (SQL over `p`) of these products by CatalogID, omitting unknown ids. One statement; none without
 * ids.
 */
async function productsById<Row>(
  caller: Caller,
  ids: Iterable<number>,
  columns: Sql,
): Promise<ReadonlyMap<number, Row>> {
  const listed = [...new Set(ids)]
  if (listed.length === 0) return new Map()
  const rows = await rowsInTurn<{ id: number } & Row>(caller)`
    SELECT p."id", ${columns} FROM "Product" p WHERE p."storeId" = ${storeId(caller.store)} AND p."id" = ${anyOf(listed)}`
  return new Map(rows.map((row) => [row.id, row]))
}
