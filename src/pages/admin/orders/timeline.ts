import type { Caller } from '../../../engine/caller.ts'
import { orders } from '../../../resources/orders/orders.ts'
import { rma } from '../../../resources/rma/rma.ts'
import { type History, newestHistory } from '../records/history.ts'

const RETURNS_MAX = 50
const ENTRIES_MAX = 25

/** Returns what became of an order and its returns, newest first, with statuses by their texts. */
export async function timelineOf(
  caller: Caller,
  orderId: number,
  statusText: (id: number) => string,
): Promise<History> {
  const { db, store } = caller
  const returns = await db.rma.findMany({
    where: { storeId: store.id, orderId },
    select: { id: true },
    orderBy: { id: 'desc' },
    take: RETURNS_MAX,
  })
  const records = [
    { recordType: orders.table, recordId: orderId },
    ...returns.map(({ id }) => ({ recordType: rma.table, recordId: id })),
  ]
  const isStatus = (path: string) => path === 'OrderStatusID' || path === 'ShipmentList.ShipmentOrderStatus'
  const nameOf = (path: string, value: unknown) => (isStatus(path) ? statusText(Number(value)) : null)
  return newestHistory(caller, records, { limit: ENTRIES_MAX, nameOf })
}
