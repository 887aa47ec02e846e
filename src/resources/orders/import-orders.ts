import type { Caller } from '../../engine/caller.ts'
import type { Row } from '../../engine/merge.ts'
import { refuseUnknownStatuses } from './statuses.ts'

/** Orders that were imported: their status must be one of the store's, and their invoice numbers are not given out again. */
export async function importOrders(caller: Caller, rows: readonly Row[]): Promise<void> {
  await refuseUnknownStatuses(
    caller,
    rows.map(({ statusId }) => ({ statusId: Number(statusId), field: 'OrderStatusID' })),
  )
  const highest = Math.max(...rows.map(({ invoiceNumber }) => Number(invoiceNumber)))
  await caller.db.$executeRawUnsafe(
    `UPDATE "Store" SET "nextInvoiceNumber" = least($2::bigint + 1, 2147483647)
     WHERE "id" = $1::int AND "nextInvoiceNumber" <= $2::int`,
    caller.store.id,
    highest,
  )
}
