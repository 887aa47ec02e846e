import type { Caller } from '../../../../engine/caller.ts'
import { hashesOf, keyReused } from '../../../../engine/changing/idempotency.ts'
import type { Call } from '../../../../engine/definition/endpoints.ts'
import { execute, queryRows } from '../../../../foundation/database/client.ts'
import { databaseError } from '../../../../foundation/database/outage.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import type { PlacedOrder } from '../place-order.ts'

// The key of an order that an application places stands for it as long as the order is there (docs/decisions/orders.md).

const HOUR_MS = 60 * 60 * 1_000

/** The digests of the key and the body of a call. Throws a 400 for a missing or malformed key. */
export function keyOf({ headers, body }: Call) {
  const { 'idempotency-key': key } = headers
  if (key === undefined) {
    const message = 'Idempotency-Key is required: the same key for each try of one order, and a new one for each order'
    throw new StoreFailure('missing-field', message, { field: 'Idempotency-Key' })
  }
  const { scope: keyHash, bodyHash } = hashesOf(key, ['Checkout'], [body?.format ?? '', body?.text ?? ''])
  return { keyHash, bodyHash }
}

type Key = ReturnType<typeof keyOf>

/**
 * Remembers the order with its key, and counts it against what the store lets the application place in an hour of the clock. The
 * statement fails where that is used up, and where the key has an order. It is the last of the transaction: until that ends, other
 * orders of the application in the store wait here.
 */
export function rememberKey(tx: Caller, orderId: number, { keyHash, bodyHash }: Key): Promise<unknown> {
  const hour = hourOf(tx).toISOString()
  return execute(tx.db)`
    WITH counted AS (
      UPDATE "Subscription" SET "ordersHour" = ${hour}::timestamptz,
        "ordersInHour" = CASE WHEN "ordersHour" = ${hour}::timestamptz THEN "ordersInHour" + 1 ELSE 1 END
      WHERE "id" = ${tx.application?.subscriptionId}::int
      RETURNING "ordersInHour" <= "ordersPerHour" AS "isWithin")
    INSERT INTO "CheckoutOrder" ("storeId", "orderId", "applicationId", "keyHash", "bodyHash")
    SELECT ${tx.store.id}::int, ${orderId}::int, ${tx.application?.id}::int,
      CASE WHEN (SELECT "isWithin" FROM counted) THEN ${keyHash} END, ${bodyHash}`
}

function hourOf({ now }: Pick<Caller, 'now'>): Date {
  return new Date(Math.floor(now().getTime() / HOUR_MS) * HOUR_MS)
}

/** Why (429, or 401) `rememberKey` failed with this error. Null: for another reason. */
export async function boundIn(error: unknown, { db, application, now }: Caller): Promise<StoreFailure | null> {
  const violation = databaseError(error)
  if (violation?.table !== 'CheckoutOrder' || violation.column !== 'keyHash') return null
  const [bound] = await queryRows<{ ordersPerHour: number }>(db)`
    SELECT "ordersPerHour" FROM "Subscription" WHERE "id" = ${application?.subscriptionId}::int`
  if (!bound?.ordersPerHour) {
    const message = 'The store lets the application place no orders'
    return new StoreFailure('forbidden', message, { field: 'Checkout', status: 401 })
  }
  const message = `The store lets the application place ${bound.ordersPerHour} orders an hour, and this hour has had them`
  const leftMs = hourOf({ now }).getTime() + HOUR_MS - now().getTime()
  return new StoreFailure('rate-limited', message, { retryAfterSeconds: Math.ceil(leftMs / 1_000) })
}

/** The order that the key stands for, as it is now. Null: none. Throws (422) where the key came with another body. */
export async function orderWithKey(
  { db, store, application }: Caller,
  { keyHash, bodyHash }: Key,
): Promise<PlacedOrder | null> {
  const [row] = await queryRows<PlacedOrder & { bodyHash: string }>(db)`
    SELECT o."id", o."invoicePrefix", o."invoiceNumber", o."orderAmount"::float8 AS "orderAmount", c."bodyHash"
    FROM "CheckoutOrder" c JOIN "Order" o ON o."storeId" = c."storeId" AND o."id" = c."orderId"
    WHERE c."storeId" = ${store.id}::int AND c."applicationId" = ${application?.id ?? 0}::int AND c."keyHash" = ${keyHash}`
  if (row !== undefined && row.bodyHash !== bodyHash) throw keyReused()
  return row ?? null
}
