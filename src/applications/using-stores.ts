import type { Privileges } from '../engine/caller.ts'
import { findOwnApplication, type OwnApplicationReader, type OwnId } from './own-applications.ts'

export type UsingStores = Awaited<ReturnType<typeof listUsingStores>>
/** A store that uses an application, as the application's owner sees it. */
export type UsingStore = UsingStores['stores'][number]

/**
 * The stores that use an application, those that have used it longest first: `limit` of them behind the subscription
 * `after` (0: from the first on). Refuses an id that no application of the developer has (404).
 */
export async function listUsingStores(
  services: OwnApplicationReader,
  own: OwnId,
  { limit, after }: { limit: number; after: number },
) {
  const { db, secrets } = services
  const application = await findOwnApplication(services, own)
  const rows = await db.subscription.findMany({
    where: { applicationId: own.id, id: { gt: after } },
    include: { store: { select: { name: true, secureUrl: true } } },
    orderBy: { id: 'asc' },
    take: limit + 1,
  })
  const stores = rows.slice(0, limit).map(({ id, store, tokenSealed, privileges, lastUsedAt, createdAt }) => ({
    /** Of the subscription. */
    id,
    /** `name` and `secureUrl`. */
    ...store,
    token: secrets.open(tokenSealed),
    /** What the merchant agreed to; the application may do what stands here and in what it asks for. */
    privileges: privileges as Privileges,
    lastUsedAt,
    createdAt,
  }))
  // `next` is the `after` of the next page; null: there is none.
  return { application, stores, next: rows.length > limit ? (stores.at(-1)?.id ?? null) : null }
}
