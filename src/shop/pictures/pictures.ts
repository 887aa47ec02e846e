import { createHash } from 'node:crypto'
import type { Caller } from '../../engine/caller.ts'
import { wrongField } from '../../engine/definition/refused.ts'
import { type DataServices, type Db, inTransaction, queryRows } from '../../foundation/database/client.ts'
import type { Files } from '../../foundation/files/files.ts'
import { refusals, THUMBNAIL_WIDTH, WIDTHS } from '../../foundation/pictures/bounds.ts'
import type { PictureFile } from '../../foundation/pictures/decode.ts'
import type { Decoder } from '../../foundation/pictures/decoder.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'

export interface PictureServices extends DataServices {
  readonly files: Files
  readonly decoder: Pick<Decoder, 'decode'>
  readonly config: { readonly publicUrl: string }
}

const PICTURES_MAX = 100_000
const STORE_BYTES_MAX = 20 * 1024 ** 3

export const NAME = /\/files\/(\d+)\/([\w-]{22})\//

/**
 * Stores a picture and returns its path, which begins with `/files/`: the same for the same content. What no text says within a day goes
 * again. An import gives the name that the picture had. Throws (400) for a file that is no picture, named `field`, and `limit-reached` where the store has too many.
 */
export async function storePicture(
  { db, now, files, decoder }: PictureServices,
  storeId: number,
  sent: Uint8Array,
  field: string,
  name = createHash('sha256').update(sent).digest().toString('base64url', 0, 16),
): Promise<string> {
  const key = { storeId_name: { storeId, name } }
  const at = now()
  // The daily look leaves it for a day, also where it is about to delete it.
  const data = { seenAt: at, unusedSince: at }
  const stored = await db.picture.updateMany({ where: { storeId, name, isWhole: true }, data })
  if (stored.count > 0) return pathOf(storeId, name)
  const decoded = await decoder.decode(sent, String(storeId))
  if ('refusal' in decoded) throw wrongField(field, refusals[decoded.refusal])
  const { width, height } = decoded
  const bytes = decoded.files.reduce((sum, file) => sum + file.bytes.length, 0)
  await inTransaction(db, async (tx) => {
    await tx.$executeRaw`SELECT FROM "Store" WHERE "id" = ${storeId}::int FOR NO KEY UPDATE`
    // In all more than an integer holds.
    const [held] = await queryRows<{ count: number; bytes: number }>(tx)`
      SELECT count(*)::int AS "count", coalesce(sum("bytes"), 0)::float8 AS "bytes" FROM "Picture" WHERE "storeId" = ${storeId}::int`
    if (held && (held.count >= PICTURES_MAX || held.bytes + bytes > STORE_BYTES_MAX)) {
      const message = `The store has ${PICTURES_MAX} pictures or ${STORE_BYTES_MAX / 1024 ** 3} GB of them; delete some first, which takes a day`
      throw new StoreFailure('limit-reached', message, { field })
    }
    // From here on the daily look finds it, whatever becomes of this process.
    await tx.picture.upsert({ where: key, create: { storeId, name, width, height, bytes, ...data }, update: data })
  })
  for (const file of decoded.files) await files.put(fileOf(storeId, name, file), file.bytes)
  await db.picture.update({ where: key, data: { isWhole: true } })
  return pathOf(storeId, name)
}

/** Notes which picture a text of a former shop means. */
export async function storePath(db: Db, storeId: number, { path, stored }: { path: string; stored: string }) {
  const name = NAME.exec(stored)?.[2] ?? ''
  await db.picturePath.createMany({ data: [{ storeId, path, name }], skipDuplicates: true })
}

/** The thumbnails of the pictures that texts of a former shop mean, by these texts. */
export async function thumbnailsAt({ db, store }: Pick<Caller, 'db' | 'store'>, texts: readonly string[]) {
  const where = { storeId: store.id, path: { in: [...texts] } }
  const found = texts.length === 0 ? [] : await db.picturePath.findMany({ where })
  return new Map(found.map(({ path, name }) => [path, pathOf(store.id, name, THUMBNAIL_WIDTH)]))
}

export function pathOf(storeId: number, name: string, width: number = WIDTHS[0]): string {
  return `/files/${storeId}/${name}/${width}`
}

function fileOf(storeId: number, name: string, { width, extension }: Omit<PictureFile, 'bytes'>): string {
  return `${storeId}/${name}-${width}.${extension}`
}

/** The files that a picture may have at a width: WebP, which comes first, and one for programs that do not read it. */
const extensions = ['webp', 'jpg', 'png'] as const

const mediaTypes = { webp: 'image/webp', jpg: 'image/jpeg', png: 'image/png' } as const

/** Opens the file of a picture of this width, as WebP or as every program reads it. Null: there is none. */
export async function openPicture(files: Files, storeId: number, name: string, width: number, isWebp: boolean) {
  for (const extension of isWebp ? extensions : (['jpg', 'png'] as const)) {
    const file = await files.open(fileOf(storeId, name, { width, extension }))
    if (file !== null) return { ...file, type: mediaTypes[extension] }
  }
  return null
}

/** The paths of all files that a picture may have. */
export function filesOfPicture(storeId: number, name: string): string[] {
  return WIDTHS.flatMap((width) => extensions.map((extension) => fileOf(storeId, name, { width, extension })))
}

/** The path of the thumbnail of a picture of this store that a text says, whatever the host; null: of none. */
export function thumbnailIn(text: string, storeId: number): string | null {
  const [, store, name = ''] = NAME.exec(text) ?? []
  return store === String(storeId) ? pathOf(storeId, name, THUMBNAIL_WIDTH) : null
}
