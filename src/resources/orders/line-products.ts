import type { Caller } from '../../engine/caller.ts'
import { productsById } from '../products/products-by-id.ts'

/** What order lines do not keep of their products, and is shown with them. */
export interface LineProduct {
  readonly nonTaxable: boolean
  readonly isDownloadable: boolean
}

/** The products with these ids that are still there. */
export function readLineProducts(caller: Caller, ids: Iterable<number>): Promise<ReadonlyMap<number, LineProduct>> {
  const isDownloadable = `p."details" -> 'EProductList' IS NOT NULL`
  return productsById<LineProduct>(caller, ids, `p."nonTaxable", ${isDownloadable} AS "isDownloadable"`)
}
