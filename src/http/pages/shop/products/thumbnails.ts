import type { Caller } from '../../../../engine/caller.ts'
import { rowsInTurn } from '../../../../foundation/database/client.ts'
import { anyOf, storeId } from '../../../../foundation/database/sql.ts'
import { isId } from '../../../../foundation/values/int32.ts'
import { imagesHere } from '../../records/images.ts'

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
  const rows = await rowsInTurn<{ id: number; text: string }>(caller)`
    SELECT "id", coalesce(nullif("details" ->> 'MainImageFile', ''), "details" #>> '{ImageGalleryList,0,ImageGalleryFile}', '') AS "text"
    FROM "Product" WHERE "storeId" = ${storeId(caller.store)} AND "id" = ${anyOf(ids)}`
  const texts = new Map(rows.map(({ id, text }) => [id, text.trim()]))
  const here = await imagesHere([...texts.values()], caller)
  return (productId) => here.get(texts.get(Number(productId)) ?? '') ?? null
}
