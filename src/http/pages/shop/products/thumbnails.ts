import type { Caller } from '../../../../engine/caller.ts'
import { rowsInTurn } from '../../../../foundation/database/client.ts'
import { anyOf, storeId } from '../../../../foundation/database/sql.ts'
import { isId } from '../../../../foundation/values/int32.ts'
import { thumbnailOf } from '../../records/images.ts'

/** The address of the thumbnail of a product; null: it has none on this server, or is gone. */
export type ThumbnailOf = (productId: unknown) => string | null

interface Goods {
  readonly productId?: unknown
  readonly CatalogID?: unknown
}

/** Reads the first picture of the product of each of these goods, for `thumbnail.eta`. */
export async function readThumbnails(caller: Caller, goods: readonly Goods[]): Promise<ThumbnailOf> {
  const ids = [...new Set(goods.map(({ productId, CatalogID = productId }) => Number(CatalogID)))].filter(isId)
  if (ids.length === 0) return () => null
  const rows = await rowsInTurn<{ id: number; text: string | null }>(caller)`
    SELECT "id", coalesce(nullif("details" ->> 'MainImageFile', ''), "details" #>> '{ImageGalleryList,0,ImageGalleryFile}') AS "text"
    FROM "Product" WHERE "storeId" = ${storeId(caller.store)} AND "id" = ${anyOf(ids)}`
  const images = new Map(rows.map(({ id, text }) => [id, thumbnailOf(text ?? '', caller.store)]))
  return (productId) => images.get(Number(productId)) ?? null
}
