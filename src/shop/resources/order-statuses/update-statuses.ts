import { z } from 'zod'
import type { Actor } from '../../../access/audit/audit.ts'
import { changeStore } from '../../../access/stores/change-store.ts'
import type { Caller } from '../../../engine/caller.ts'
import { inStoreTransaction, type Transaction } from '../../../foundation/database/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, text } from '../../../foundation/values/input.ts'
import { INT32_MAX } from '../../../foundation/values/int32.ts'
import { lowestFree } from '../lowest-free.ts'

/** Statuses of a store, and of one change. An import may bring more. */
const STATUSES_MAX = 500
const SORTING_MAX = 10_000
const list = `must be a list of 1 to ${STATUSES_MAX} statuses`
const id = `must be a whole number from 1 to ${INT32_MAX}`
const sorting = `must be a whole number from 0 to ${SORTING_MAX}`
const flag = 'must be true or false'
const sortingInput = z.int(sorting).min(0, sorting).max(SORTING_MAX, sorting)

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

/** The first id of a merchant's own status (order-statuses §1.1). */
const OWN_STATUS_MIN = 13
const OWN_STATUS_MAX = 999_999_999
const ownId = `must be a whole number from ${OWN_STATUS_MIN} to ${OWN_STATUS_MAX}`

/** The body of `POST /admin/stores/{id}/order-statuses`. */
export const addedStatus = namedObject({
  StatusText: text(50).describe(
    'The merchant’s name for the status. No other status of the store may have the same text, ignoring case.',
  ),
  OrderStatusID: z
    .int(ownId)
    .min(OWN_STATUS_MIN, ownId)
    .max(OWN_STATUS_MAX, ownId)
    .optional()
    .describe('The number by which orders will name the status. Left out: the lowest free one from 13 on.'),
  Visible: z.boolean(flag).optional().describe('Whether forms offer the status. Left out: they do.'),
  Sorting: sortingInput
    .optional()
    .describe('The place in the merchant’s list: lower numbers come first. Left out: the last.'),
})

/**
 * Adds a status of the merchant's own (order-statuses §1.1), and returns its id: the given one, or the lowest free one from
 * 13 on. It is visible and the last one unless the input says otherwise, and its orders hold stock. Refuses (409) more
 * than 500 statuses, an id in use, and the text of another status, ignoring case.
 */
export async function addOrderStatus(caller: Caller, given: z.output<typeof addedStatus>, actor: Actor) {
  const storeId = caller.store.id
  const { StatusText, Visible = true } = given
  let added = 0
  const work = async (tx: Transaction) => {
    const select = { id: true, sorting: true } as const
    const statuses = await tx.orderStatus.findMany({ where: { storeId }, select, take: STATUSES_MAX })
    if (statuses.length >= STATUSES_MAX) {
      const message = `The store has ${STATUSES_MAX} order statuses, which is the most that it can have`
      throw new StoreFailure('limit-reached', message)
    }
    const ids = new Set(statuses.map((status) => status.id))
    added = given.OrderStatusID ?? lowestFree((id) => ids.has(id), OWN_STATUS_MIN)
    const last = Math.max(0, ...statuses.map(({ sorting }) => sorting))
    const sorting = given.Sorting ?? Math.min(last + 1, SORTING_MAX)
    const texts = { definition: StatusText, text: StatusText }
    const row = { storeId, id: added, ...texts, visible: Visible, sorting, updatedAt: caller.now() }
    const { count } = await tx.orderStatus.createMany({ data: [row], skipDuplicates: true })
    if (count === 0) {
      const field = 'OrderStatusID'
      throw new StoreFailure('not-unique', `${field} ${added} is a status that the store has already`, { field })
    }
    await refuseEqualTexts(tx, storeId)
    return { status: added, text: StatusText }
  }
  const change = { actor, action: 'order-status.added', work } as const
  await inStoreTransaction(caller, (tx) => changeStore(tx, caller, change))
  return added
}

/** Refuses (409) two statuses of one text, ignoring case, because cartAPI names statuses by text. */
async function refuseEqualTexts(tx: Transaction, storeId: number): Promise<void> {
  const [twice] = await tx.$queryRaw<{ text: string }[]>`
    SELECT min("text") AS "text" FROM "OrderStatus" WHERE "storeId" = ${storeId}
    GROUP BY lower("text") HAVING count(*) > 1 LIMIT 1`
  if (!twice) return
  const message = `Two statuses would have the text ${twice.text}; each needs one of its own`
  throw new StoreFailure('not-unique', message, { field: 'StatusText' })
}
