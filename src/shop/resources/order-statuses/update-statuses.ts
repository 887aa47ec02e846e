import { z } from 'zod'
import type { Actor } from '../../../access/audit/audit.ts'
import { changeStore } from '../../../access/stores/change-store.ts'
import type { Caller } from '../../../engine/caller.ts'
import { inStoreTransaction, type Transaction } from '../../../foundation/database/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, text } from '../../../foundation/values/input.ts'
import { INT32_MAX } from '../../../foundation/values/int32.ts'

/** Statuses of a store, and of one change. An import may bring more. */
export const STATUSES_MAX = 500
export const SORTING_MAX = 10_000
const list = `must be a list of 1 to ${STATUSES_MAX} statuses`
const id = `must be a whole number from 1 to ${INT32_MAX}`
const sorting = `must be a whole number from 0 to ${SORTING_MAX}`
const flag = 'must be true or false'
export const sortingInput = z.int(sorting).min(0, sorting).max(SORTING_MAX, sorting)

/** The body of `PUT /admin/stores/{id}/order-statuses`: the id and the changes of each status. */
export const changedStatuses = z
  .array(
    namedObject({
      OrderStatusID: z.int(id).min(1, id).max(INT32_MAX, id).describe('The number of the status to change.'),
      StatusText: text(50)
        .optional()
        .describe(
          'The merchant’s name for the status. No other status of the store may have the same text, ignoring case.',
        ),
      Visible: z.boolean(flag).optional().describe('Whether forms offer the status.'),
      Sorting: sortingInput.optional().describe('The place in the merchant’s list: lower numbers come first.'),
    }),
    list,
  )
  .min(1, list)
  .max(STATUSES_MAX, list)

/**
 * Changes the merchant's texts, visibility and order of statuses (order-statuses §1.2), all or none. The ids and their
 * meaning stay. Refuses an unknown status (404), and two equal texts, ignoring case (409), because cartAPI names
 * statuses by text.
 */
export async function updateOrderStatuses(caller: Caller, changes: z.output<typeof changedStatuses>, actor: Actor) {
  const storeId = caller.store.id
  const work = async (tx: Transaction) => {
    for (const { OrderStatusID, StatusText, Visible, Sorting } of changes) {
      const count = await tx.$executeRaw`
        UPDATE "OrderStatus" t SET "text" = n."text", "visible" = n."visible", "sorting" = n."sorting",
          "updatedAt" = CASE WHEN (t."text", t."visible", t."sorting") = (n."text", n."visible", n."sorting") THEN t."updatedAt"
            ELSE greatest(t."updatedAt", ${caller.now()}) END
        FROM (
          SELECT "id", coalesce(${StatusText ?? null}, "text") AS "text", coalesce(${Visible ?? null}::bool, "visible") AS "visible",
            coalesce(${Sorting ?? null}::int, "sorting") AS "sorting"
          FROM "OrderStatus" WHERE "storeId" = ${storeId} AND "id" = ${OrderStatusID}) n
        WHERE t."storeId" = ${storeId} AND t."id" = n."id"`
      if (count === 0) {
        const field = String(OrderStatusID)
        throw new StoreFailure('not-found', `The store has no order status with the id ${field}`, { field })
      }
    }
    await refuseEqualTexts(tx, storeId)
    return { statuses: changes.map((change) => change.OrderStatusID) }
  }
  const change = { actor, action: 'order-statuses.changed', work } as const
  await inStoreTransaction(caller, (tx) => changeStore(tx, caller, change))
}

/** Refuses (409) two statuses of one text, ignoring case, because cartAPI names statuses by text. */
export async function refuseEqualTexts(tx: Transaction, storeId: number): Promise<void> {
  const [twice] = await tx.$queryRaw<{ text: string }[]>`
    SELECT min("text") AS "text" FROM "OrderStatus" WHERE "storeId" = ${storeId}
    GROUP BY lower("text") HAVING count(*) > 1 LIMIT 1`
  if (!twice) return
  throw new StoreFailure('not-unique', `Two statuses would have the text ${twice.text}; each needs one of its own`, {
    field: 'StatusText',
  })
}
