import { z } from 'zod'
import type { Actor } from '../../../access/audit/audit.ts'
import { changeStore } from '../../../access/stores/change-store.ts'
import type { Caller } from '../../../engine/caller.ts'
import { inStoreTransaction, type Transaction } from '../../../foundation/database/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, text } from '../../../foundation/values/input.ts'
import { lowestFree } from '../lowest-free.ts'
import { refuseEqualTexts, SORTING_MAX, STATUSES_MAX, sortingInput } from './update-statuses.ts'

/** The first id of a merchant's own status (order-statuses §1.1). */
const OWN_STATUS_MIN = 13
const OWN_STATUS_MAX = 999_999_999
const id = `must be a whole number from ${OWN_STATUS_MIN} to ${OWN_STATUS_MAX}`

/** The body of `POST /admin/stores/{id}/order-statuses`. */
export const addedStatus = namedObject({
  StatusText: text(50).describe(
    'The merchant’s name for the status. No other status of the store may have the same text, ignoring case.',
  ),
  OrderStatusID: z
    .int(id)
    .min(OWN_STATUS_MIN, id)
    .max(OWN_STATUS_MAX, id)
    .optional()
    .describe('The number by which orders will name the status. Left out: the lowest free one from 13 on.'),
  Visible: z.boolean('must be true or false').optional().describe('Whether forms offer the status. Left out: they do.'),
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
    const statuses = await tx.orderStatus.findMany({
      where: { storeId },
      select: { id: true, sorting: true },
      take: STATUSES_MAX,
    })
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
