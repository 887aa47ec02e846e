import type { Caller } from '../../engine/caller.ts'
import { type DataServices, inStoreTransaction, type Transaction } from '../../foundation/database/client.ts'
import type { Prisma } from '../../foundation/database/generated/client.ts'
import type { Actor } from '../audit/audit.ts'
import { changeStore } from './change-store.ts'

/** The former logo is one that a server of 0.3.0 has set, which is newer than the picture. */
export const logoColumns = { id: true, logo: true, formerLogo: { select: { updatedAt: true } } } as const

/** Returns the path at which everybody reads the logo of a store, another one after each change. Null: it has none. */
export function logoAddress({ id, logo, formerLogo }: Prisma.StoreGetPayload<{ select: typeof logoColumns }>) {
  return formerLogo ? `/logo/${id}/${formerLogo.updatedAt.getTime()}` : logo
}

export async function readLogoAddress(db: Caller['db'], id: number): Promise<string | null> {
  return logoAddress(await db.store.findUniqueOrThrow({ where: { id }, select: logoColumns }))
}

/** Returns the logo of a store as a server of 0.3.0 set it at that time, in Unix milliseconds, or null. */
export async function readFormerLogo({ db }: Pick<DataServices, 'db'>, storeId: number, version: number) {
  const where = { storeId, updatedAt: new Date(version) }
  return db.storeLogo.findFirst({ where, select: { type: true, bytes: true } })
}

/** Makes the picture at this path of the store the logo, or removes the logo (null). */
export async function saveLogo(caller: Caller, logo: string | null, actor: Actor): Promise<void> {
  const work = async (tx: Transaction) => {
    const { count } = await tx.storeLogo.deleteMany({ where: { storeId: caller.store.id } })
    return count > 0 ? { logo: { from: 'image', to: logo } } : null
  }
  await inStoreTransaction(caller, (tx) => changeStore(tx, caller, { actor, data: { logo }, work }))
}
