import { mayRead } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { countUpTo } from '../../../../engine/reading/read.ts'
import { manufacturers } from '../../../../shop/resources/manufacturers/manufacturers.ts'
import { products } from '../../../../shop/resources/products/products.ts'
import { serviceOf } from '../../records/services.ts'

const COUNTED_MAX = 1_000

/** For `products-of.eta`: the products that a filter finds for one record, counted up to 1,001; null for who may not read them. */
export async function productsOf(caller: Caller, name: 'categoryid' | 'manufacturerid', id: number) {
  if (!mayRead(caller.privileges, products)) return { products: null }
  const count = await countUpTo(caller, products, new Map([[name, String(id)]]), COUNTED_MAX)
  return { products: { count, countedMax: COUNTED_MAX, name, filter: `${name}=${id}` } }
}

/** The page of a manufacturer leads to its products. */
export const manufacturerService = serviceOf(manufacturers, {
  template: '/pages/shop/products/products-of',
  read: (caller, { ManufacturerID }) => productsOf(caller, 'manufacturerid', Number(ManufacturerID)),
})
