import { type EventKind, orderNew, orderStatusChange } from '../../engine/event-kinds.ts'
import type { Stored } from '../../engine/write.ts'
import { statusCancelled, statusNotCompleted } from './statuses.ts'

/**
 * What a change of an order raises. One that leaves Not Completed was not told of yet, so it is new then, whatever status
 * it gets, unless it is cancelled.
 */
export function orderEvents(before: Stored | null, after: Stored): EventKind[] {
  const to = Number(after.row.statusId)
  const from = before === null ? statusNotCompleted : Number(before.row.statusId)
  if (from === to) return []
  const isNew = from === statusNotCompleted && to !== statusCancelled
  return [...(isNew ? [orderNew] : []), ...(before === null ? [] : [orderStatusChange])]
}
