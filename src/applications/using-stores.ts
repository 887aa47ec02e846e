import type { Privileges } from '../engine/caller.ts'
import { findOwnApplication, type OwnApplicationReader, type OwnId } from './own-applications.ts'

export type UsingStores = Awaited<ReturnType<typeof listUsingStores>>
/** A store that uses an application, as the application's owner sees it. */
export type UsingStore = UsingStores['stores'][number]

/**
 * Lists the stores that use an application, oldest subscription first: `limit` stores after the subscription `after`
 * (0: from the first). Throws for an id that is not one of the developer's applications (404).
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
    /** The id of the subscription. */
    id,
    /** `name` and `secureUrl`. */
    ...store,
    token: secrets.open(tokenSealed),
    /** The privileges the merchant agreed to. The application has those of them that it also requests. */
    privileges: privileges as Privileges,
    lastUsedAt,
    createdAt,
  }))
  // `next` is the `after` of the next page. Null: this is the last page.
  return { application, stores, next: rows.length > limit ? (stores.at(-1)?.id ?? null) : null }
}
