import type { Row } from '../../engine/merge.ts'
import type { OrderChange } from './settle-order.ts'

/** Completes the shipments that a caller sent: new ones get a number and a status, changed ones are stamped. */
export function settleShipments({ caller, before, after }: OrderChange): void {
  const shipments = after.lists.ShipmentList ?? []
  const known = new Map((before.lists.ShipmentList ?? []).map((row) => [row.id, row]))
  for (const row of shipments) {
    const stored = known.get(row.id)
    if (stored === undefined) {
      if (row.number === 0) row.number = Math.max(...shipments.map(({ number }) => Number(number))) + 1
      if (row.statusId === 0) row.statusId = before.row.statusId as number
    } else if (differs(stored, row)) {
      row.updatedAt = caller.now().toISOString()
      row.updatedBy = caller.actor
    }
  }
}

function differs(stored: Row, row: Row): boolean {
  return Object.keys(row).some((column) => JSON.stringify(stored[column]) !== JSON.stringify(row[column]))
}
