import { allows, bothOf } from '../../access/applications/privileges.ts'
import { callbackText, newMessageId } from '../../access/applications/subscriptions/callback.ts'
import type { Privileges } from '../../engine/caller.ts'
import { type DataServices, queryRows, type Transaction } from '../../foundation/database/client.ts'

/** The most orders that one callback names. */
const ORDERS_MAX = 1_000

/** JSON schemas of the members of a REDACT behind those of every callback. */
export const redactionMembers = {
  CustomerID: { type: 'integer', minimum: 0, description: 'The customer. 0: a guest, known by the orders alone.' },
  OrderIDs: {
    type: 'array',
    items: { type: 'integer', minimum: 1 },
    maxItems: ORDERS_MAX,
    description: 'The orders of the person. More come in further callbacks.',
  },
}

type Listener = Readonly<
  Record<'publicKey' | 'url' | 'tokenSealed' | 'secureUrl', string> &
    Record<'asked' | 'agreed', Privileges> & { applicationId: number }
>

/**
 * Stores a REDACT (contract §6) for each application that the store uses, if it asks for them and may read customers or orders
 * there, in the transaction of an erasure; several where there are more than 1,000 orders. From the commit on the worker of
 * removal-notices.ts sends it, until the application answers 200 or the last attempt fails. `customerId` null: a guest.
 */
export async function addRedactions(
  tx: Transaction,
  { secrets, now }: Pick<DataServices, 'secrets' | 'now'>,
  { storeId, customerId, orderIds }: { storeId: number; customerId: number | null; orderIds: readonly number[] },
): Promise<void> {
  // The lock keeps the applications from being deleted before the commit. The address of a closed one is not called.
  const listeners = await queryRows<Listener>(tx)`
    SELECT a."id" AS "applicationId", a."publicKey", a."callbackUrl" AS "url", a."privileges" AS "asked",
      s."privileges" AS "agreed", s."tokenSealed", t."secureUrl"
    FROM "Subscription" s JOIN "Application" a ON a."id" = s."applicationId" JOIN "Store" t ON t."id" = s."storeId"
    WHERE s."storeId" = ${storeId}::int AND a."wantsErasures" AND a."openToMerchants" AND a."callbackUrl" IS NOT NULL
    ORDER BY a."id" FOR KEY SHARE OF a`
  const parts = [orderIds.slice(0, ORDERS_MAX)]
  for (let from = ORDERS_MAX; from < orderIds.length; from += ORDERS_MAX)
    parts.push(orderIds.slice(from, from + ORDERS_MAX))
  const data = listeners
    .filter(({ asked, agreed }) => ['Customers', 'Orders'].some((each) => allows(bothOf(asked, agreed), each, 'read')))
    .flatMap(({ applicationId, url, tokenSealed, ...names }) =>
      parts.map((OrderIDs) => {
        const callback = { ...names, token: secrets.open(tokenSealed), action: 'REDACT' }
        const body = callbackText(now, callback, { CustomerID: customerId ?? 0, OrderIDs })
        const notice = { storeId, applicationId, action: 'REDACT', url, messageId: newMessageId(), reason: '' }
        return { ...notice, bodySealed: secrets.seal(body), attempts: 0, nextAttemptAt: now(), createdAt: now() }
      }),
    )
  await tx.removalNotice.createMany({ data })
}
