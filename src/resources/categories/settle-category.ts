import type { Caller } from '../../engine/caller.ts'
import type { Document, Row } from '../../engine/merge.ts'
import type { Change } from '../../engine/write.ts'
import { keepNamedProducts, refuseUnknownProducts } from '../products/linked-products.ts'
import { refuseCircle, refuseCircles } from './circles.ts'

/**
 * What a change of a category means besides its fields: it does not come to lie in itself, the products that it names are
 * there, and its external ids name it.
 */
export async function settleCategory(change: Change): Promise<void> {
  const details = change.after.row.details as Document
  for (const externalId of (details.CategoryExternalIdsList ?? []) as Document[]) externalId.CategoryID = change.id
  await refuseCircle(change)
  await refuseUnknownProducts(change)
}

/** The same of categories that are imported. */
export async function importCategories(caller: Caller, rows: readonly Row[]): Promise<void> {
  await refuseCircles(caller, rows)
  await keepNamedProducts(caller, rows)
}
