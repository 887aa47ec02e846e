import type { Caller } from '../../engine/caller.ts'
import { type Sql, sql } from '../../foundation/database/sql.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'

/** Null: all webhooks of the store, in the administration. */
export function ownSubscriptionId({ application }: Caller): number | null {
  return application?.subscriptionId ?? null
}

/** A condition over `t`: an application sees and manages only the webhooks that it made for the store. Null: all. */
export function ownWebhooks(caller: Caller): Sql | null {
  const subscriptionId = ownSubscriptionId(caller)
  return subscriptionId === null ? null : sql`t."subscriptionId" = ${subscriptionId}::int`
}

/** The FROM item `t`: the webhook, if the caller may see it. */
export function ownWebhook(caller: Caller, id: number): Sql {
  return sql`"Webhook" t WHERE t."storeId" = ${caller.store.id}::int AND t."id" = ${id}::int AND ${ownWebhooks(caller) ?? sql`true`}`
}

/** Also for a webhook of another owner, to hide that it exists. */
export function noWebhook(id: number): StoreFailure {
  return new StoreFailure('not-found', `There is no Webhook ${id}`, { field: String(id) })
}
