import type { Caller } from '../../engine/caller.ts'
import { wrongField } from '../../engine/definition/refused.ts'
import { type DataServices, inStoreTransaction, type Transaction } from '../../foundation/database/client.ts'
import type { Actor } from '../audit/audit.ts'
import { changeStore } from './change-store.ts'

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
export async function saveLogo(caller: Caller, picture: Buffer | null, actor: Actor): Promise<void> {
  const head = picture && headOf(picture)
  if (picture !== null && head === null) throw wrongField('file', 'must be a PNG or JPEG picture')
  if (head?.sides.some((side) => side < 1 || side > SIDE_MAX)) {
    throw wrongField('file', `must have a width and a height of 1 to ${SIDE_MAX} pixels`)
  }
  const { store, now } = caller
  const storeId = store.id
  const work = async (tx: Transaction) => {
    const before = await tx.storeLogo.findUnique({ where: { storeId }, select: { type: true, updatedAt: true } })
    if (picture === null && before === null) return null
    await tx.storeLogo.deleteMany({ where: { storeId } })
    if (picture !== null && head !== null) {
      // Browsers keep what was at an address: two logos of a moment need two.
      const updatedAt = new Date(Math.max(now().getTime(), (before?.updatedAt.getTime() ?? 0) + 1))
      await tx.storeLogo.create({ data: { storeId, type: head.type, bytes: Uint8Array.from(picture), updatedAt } })
    }
    return { logo: { from: before?.type ?? null, to: head?.type ?? null } }
  }
  await inStoreTransaction(caller, (tx) => changeStore(tx, caller, { actor, work }))
}

/** Returns the media type and the sides of a picture by its first bytes, or null for none of PNG or JPEG. Nothing is decoded. */
function headOf(picture: Buffer) {
  const isPng = picture.length >= 24 && picture.toString('latin1', 0, 16) === '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'
  if (isPng) return { type: 'image/png', sides: [picture.readUInt32BE(16), picture.readUInt32BE(20)] }
  if (picture.toString('latin1', 0, 3) !== '\xff\xd8\xff') return null
  // Segments of known lengths precede the frame of a JPEG picture.
  for (let at = 2; at + 9 <= picture.length && picture[at] === 0xff; at += 2 + picture.readUInt16BE(at + 2)) {
    const isFrame = /^[\xc0-\xc3\xc5-\xc7\xc9-\xcb\xcd-\xcf]$/.test(picture.toString('latin1', at + 1, at + 2))
    if (isFrame) return { type: 'image/jpeg', sides: [picture.readUInt16BE(at + 7), picture.readUInt16BE(at + 5)] }
  }
  return null
}
