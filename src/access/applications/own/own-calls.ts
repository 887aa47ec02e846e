import type { Privileges } from '../../../engine/caller.ts'
import { type DataServices, queryRows } from '../../../foundation/database/client.ts'
import type { ApiCall, Store, Subscription } from '../../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { type LoggedCall, newestCalls, refusalIn } from '../calls/call-log.ts'
import { findOwnApplication, type OwnId } from './own-applications.ts'

// The stores that use a developer's application, and what its calls to them were answered.

type PageAfter = { readonly limit: number; readonly after: number }

/** A store that uses an application, as the application's owner sees it. Its `id` is the subscription's. */
export type UsingStore = Awaited<ReturnType<typeof usingStores>>[number]

/**
 * Lists the stores that use an application, with the last refusal of each: `limit` stores after the subscription `after` (0: from
 * the first). `next` is the `after` of the next page; null: this is the last page. Throws for an application of others (404).
 */
export async function listUsingStores(services: DataServices, own: OwnId, { limit, after }: PageAfter) {
  const application = await findOwnApplication(services, own)
  const stores = await usingStores(services, own, { limit: limit + 1, after })
  const next = stores.length > limit ? (stores[limit - 1]?.id ?? null) : null
  return { application, stores: stores.slice(0, limit), next }
}

/**
 * Returns a store that uses an application, and the newest calls to it, or refusals alone; at most 200. Throws for an application of
 * others, and for an id that is not one of its subscriptions (404).
 */
export async function listOwnCalls(
  services: DataServices,
  own: OwnId,
  { subscriptionId, ...wanted }: { subscriptionId: number; limit: number; onlyRefused: boolean },
): Promise<{ readonly name: string; readonly store: UsingStore; readonly calls: readonly LoggedCall[] }> {
  const { name } = await findOwnApplication(services, own)
  const [store] = await usingStores(services, own, { limit: 1, after: subscriptionId - 1 })
  if (store?.id !== subscriptionId) {
    const message = `The application has no subscription with the id ${subscriptionId}`
    throw new StoreFailure('not-found', message, { field: String(subscriptionId) })
  }
  return { name, store, calls: await newestCalls(services, { subscriptionId, ...wanted }) }
}

type Row = Pick<Subscription, 'id' | 'tokenSealed' | 'keepsBodies' | 'lastUsedAt' | 'createdAt'> &
  Pick<Store, 'name' | 'secureUrl'> & {
    /** Those that the merchant agreed to. The application has those of them that it also requests. */
    readonly privileges: Privileges
    /** Null: none is kept. */
    readonly lastRefusal: (Pick<ApiCall, 'method' | 'path' | 'status' | 'message'> & { readonly at: string }) | null
  }

async function usingStores({ db, secrets }: DataServices, { id }: OwnId, { limit, after }: PageAfter) {
  const rows = await queryRows<Row>(db)`
    SELECT s."id", t."name", t."secureUrl", s."tokenSealed", s."privileges", s."keepsBodies", s."lastUsedAt", s."createdAt",
        c."lastRefusal"
      FROM "Subscription" s
      JOIN "Store" t ON t."id" = s."storeId"
      LEFT JOIN LATERAL (
        SELECT json_build_object('at', k."at", 'method', k."method", 'path', k."path", 'status', k."status",
          'message', k."message") AS "lastRefusal"
        FROM "ApiCall" k WHERE k."subscriptionId" = s."id" AND ${refusalIn('k')}
        ORDER BY k."at" DESC, k."id" DESC LIMIT 1
      ) c ON true
      WHERE s."applicationId" = ${id}::int AND s."id" > ${after}::int
      ORDER BY s."id" LIMIT ${limit}::int`
  return rows.map(({ lastRefusal: last, tokenSealed, ...store }) => {
    const lastRefusal = last && { ...last, at: new Date(last.at) }
    return { ...store, token: secrets.open(tokenSealed), lastRefusal }
  })
}
