import { type Sql, sql } from '../database/sql.ts'
import type { Caller } from '../engine/caller.ts'
import { StoreFailure } from '../values/failure.ts'

/** Null: all webhooks of the store, for who works in its administration. */
export function ownSubscriptionId({ application }: Caller): number | null {
  return application?.subscriptionId ?? null
}

/** An application sees and manages the webhooks that it made for the store, and no others. */
export function ownWebhooks(caller: Caller): Sql | null {
  const subscriptionId = ownSubscriptionId(caller)
  return subscriptionId === null ? null : sql`t."subscriptionId" = ${subscriptionId}::int`
}

/** Also for a webhook of another: it does not exist. */
export function noWebhook(id: number): StoreFailure {
  return new StoreFailure('not-found', `There is no Webhook ${id}`, { field: String(id) })
}
