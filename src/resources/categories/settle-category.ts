import type { Caller } from '../../caller.ts'
import type { Row } from '../../engine/merge.ts'
import type { Change } from '../../engine/write.ts'
import { keepNamedProducts, refuseUnknownProducts } from '../products/linked-products.ts'
import { refuseCircle, refuseCircles } from './circles.ts'

/** What a change of a category means besides its fields: it does not come to lie in itself, and the products that it names are there. */
export async function settleCategory(change: Change): Promise<void> {
  await refuseCircle(change)
  await refuseUnknownProducts(change)
}

/** The same of categories that are imported. */
export async function importCategories(caller: Caller, rows: readonly Row[]): Promise<void> {
  await refuseCircles(caller, rows)
  await keepNamedProducts(caller, rows)
}
