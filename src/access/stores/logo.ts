import type { Caller } from '../../engine/caller.ts'
import { wrongField } from '../../engine/definition/refused.ts'
import { type DataServices, inTransaction } from '../../foundation/database/client.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'

export const LOGO_BYTES_MAX = 1024 * 1024
/** Pixels of a side; browsers need 4 bytes of memory for each. */
const SIDE_MAX = 5_000

export const withLogo = { logo: { select: { updatedAt: true } } } as const

interface WithLogo {
  readonly logo: { readonly updatedAt: Date } | null
}

/** Returns the path at which everybody reads the logo of a store, another one after each change. Null: it has none. */
export function logoAddress(storeId: number, { logo }: WithLogo): string | null {
  return logo && `/logo/${storeId}/${logo.updatedAt.getTime()}`
}

export async function readLogoAddress(db: Caller['db'], storeId: number): Promise<string | null> {
  return logoAddress(storeId, await db.store.findUniqueOrThrow({ where: { id: storeId }, select: withLogo }))
}

/** Returns the logo of a store as it was changed at that time, in Unix milliseconds, or null. */
export async function readLogo({ db }: Pick<DataServices, 'db'>, storeId: number, version: number) {
  const where = { storeId, updatedAt: new Date(version) }
  return db.storeLogo.findFirst({ where, select: { type: true, bytes: true } })
}

/** Sets the logo of a store, or removes it (null). Throws (400) for content that is no PNG or JPEG picture. */
export async function saveLogo(
  { db, now }: DataServices,
  { id: storeId, name }: Pick<Caller['store'], 'id' | 'name'>,
  picture: Uint8Array | null,
  actor: Actor,
): Promise<void> {
  const type = picture && typeOf(Buffer.from(picture.buffer, picture.byteOffset, picture.byteLength))
  await inTransaction(db, async (tx) => {
    await tx.$executeRaw`SELECT FROM "Store" WHERE "id" = ${storeId}::int FOR NO KEY UPDATE`
    const before = await tx.storeLogo.findUnique({ where: { storeId }, select: { type: true, updatedAt: true } })
    await tx.storeLogo.deleteMany({ where: { storeId } })
    if (picture !== null && type !== null) {
      // Browsers keep what was at an address: two logos of a moment need two.
      const updatedAt = new Date(Math.max(now().getTime(), (before?.updatedAt.getTime() ?? 0) + 1))
      await tx.storeLogo.create({ data: { storeId, type, bytes: Uint8Array.from(picture), updatedAt } })
    }
    const details = { logo: { from: before?.type ?? null, to: type } }
    await recordAudit(tx, now, { actor, target: name, storeId, action: 'store.changed', details })
  })
}

/** Returns the media type of a picture by what its first bytes say. The picture itself is not decoded. */
function typeOf(picture: Buffer): 'image/png' | 'image/jpeg' {
  const ofPng = pngSides(picture)
  const sides = ofPng ?? jpegSides(picture)
  if (sides === null) throw wrongField('file', 'must be a PNG or JPEG picture')
  if (sides.some((side) => side < 1 || side > SIDE_MAX)) {
    throw wrongField('file', `must have a width and a height of 1 to ${SIDE_MAX} pixels`)
  }
  return ofPng === null ? 'image/jpeg' : 'image/png'
}

type Sides = readonly [width: number, height: number]

/** From the chunk with which a PNG picture begins. */
function pngSides(picture: Buffer): Sides | null {
  const isPng = picture.length >= 24 && picture.toString('latin1', 0, 16) === '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'
  return isPng ? [picture.readUInt32BE(16), picture.readUInt32BE(20)] : null
}

/** Codes in the range of frames that begin none: tables, and a reserved one. */
const noFrames = [0xc4, 0xc8, 0xcc]

/** From the first frame of a JPEG picture, which segments of known lengths precede. */
function jpegSides(picture: Buffer): Sides | null {
  if (picture.toString('latin1', 0, 3) !== '\xff\xd8\xff') return null
  for (let at = 2; at + 9 <= picture.length && picture[at] === 0xff; ) {
    const code = picture.readUInt8(at + 1)
    if (code >= 0xc0 && code <= 0xcf && !noFrames.includes(code)) {
      return [picture.readUInt16BE(at + 7), picture.readUInt16BE(at + 5)]
    }
    // Segments may be filled up by further bytes of 0xff.
    at += code === 0xff ? 1 : 2 + picture.readUInt16BE(at + 2)
  }
  return null
}
