import type { Caller } from '../../engine/caller.ts'
import { productsById } from './products-by-id.ts'

/** What a product is called, where another one names it. */
export interface ProductName {
  readonly sku: string
  readonly name: string
}

/** The names of these products, by CatalogID; what is not there has none. */
export function readProductNames(caller: Caller, ids: Iterable<number>): Promise<ReadonlyMap<number, ProductName>> {
  return productsById<ProductName>(caller, ids, 'p."sku", p."name"')
}
