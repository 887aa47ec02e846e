import type { Caller } from '../../../engine/caller.ts'
import { orders } from '../../../resources/orders/orders.ts'
import { rma } from '../../../resources/rma/rma.ts'
import type { Language } from '../../../texts/language.ts'
import type { Phrase } from '../../../texts/text.ts'
import { typeName } from '../../order-payments.ts'
import { type History, newestHistory } from '../records/history.ts'

const ENTRIES_MAX = 25

/** Returns what became of an order and its returns, newest first, with statuses and types of payments by their names. */
export async function timelineOf(
  caller: Caller,
  orderId: number,
  returnIds: readonly number[],
  { statusText, say }: { statusText: (id: number) => Phrase; say: Language['say'] },
): Promise<History> {
  const records = [
    { recordType: orders.table, recordId: orderId },
    ...returnIds.map((id) => ({ recordType: rma.table, recordId: id })),
  ]
  const isStatus = (path: string) => path === 'OrderStatusID' || path === 'ShipmentList.ShipmentOrderStatus'
  const nameOf = (path: string, value: unknown) => {
    if (path === 'TransactionList.TransactionType') return say(typeName(String(value)))
    return isStatus(path) ? say(statusText(Number(value))) : null
  }
  return newestHistory(caller, records, { limit: ENTRIES_MAX, nameOf })
}
