import type { Caller } from '../../caller.ts'
import { listedIds, thisStore } from '../../engine/listed.ts'

/** What order lines do not keep of their products, and is shown with them. */
export interface LineProduct {
  readonly nonTaxable: boolean
  readonly isDownloadable: boolean
}

/** The products with these ids that are still there. */
export async function readLineProducts(caller: Caller, ids: Iterable<number>): Promise<Map<number, LineProduct>> {
  const listed = [...new Set(ids)].join(',')
  if (listed === '') return new Map()
  const rows = await caller.db.$queryRawUnsafe<({ id: number } & LineProduct)[]>(
    `SELECT p."id", p."nonTaxable", p."details" -> 'EProductList' IS NOT NULL AS "isDownloadable"
     FROM "Product" p WHERE p."storeId" = ${thisStore} AND p."id" = ${listedIds}`,
    caller.store.id,
    listed,
  )
  return new Map(rows.map(({ id, nonTaxable, isDownloadable }) => [id, { nonTaxable, isDownloadable }]))
}
