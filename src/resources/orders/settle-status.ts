import { StoreFailure } from '../../values/failure.ts'
import type { OrderChange } from './settle-order.ts'
import { type ChosenStatus, refuseUnknownStatuses, statusCancelled } from './statuses.ts'

/**
 * Settles which status the order gets. Refuses (400) a status that the store does not have, and any other for a cancelled
 * order, whose items went back to stock: only the administration may reopen it (order-statuses 1.4).
 */
export async function settleStatus(change: OrderChange): Promise<void> {
  const { caller, before, after } = change
  const from = Number(before.row.statusId)
  const wanted = wantedStatus(change, from)
  if (wanted.statusId !== from && from === statusCancelled && caller.channel !== 'administration') {
    // Clients compare this text.
    throw new StoreFailure('bad-request', 'Not updated. Requested Change Status not allowed', { field: wanted.field })
  }
  await refuseUnknownStatuses(caller, [...(wanted.statusId === from ? [] : [wanted]), ...shipmentStatuses(change)])
  after.row.statusId = wanted.statusId
  shareWithOnlyShipment(change, wanted.statusId === from)
}

/**
 * An order with one shipment shares its status with it, and clients change either (rest-resources 3.8, 3.10). They send
 * the other along as they read it: what differs from the stored status is meant, and the order's own where both do.
 */
function wantedStatus({ patch, after }: OrderChange, from: number): ChosenStatus {
  const own = Number(after.row.statusId)
  const [only, ...others] = patch.lists.ShipmentList ?? []
  const ofShipment = others.length === 0 ? Number(only?.columns.statusId ?? 0) : 0
  if (own !== from || ofShipment === 0) return { statusId: own, field: 'OrderStatusID' }
  return { statusId: ofShipment, field: 'ShipmentOrderStatus' }
}

/** Several shipments have statuses of their own; of these, what was changed to another than the order's. */
function shipmentStatuses({ before, after }: OrderChange): ChosenStatus[] {
  const shipments = after.lists.ShipmentList ?? []
  if (shipments.length === 1) return []
  const stored = new Map((before.lists.ShipmentList ?? []).map(({ id, statusId }) => [id, statusId]))
  return shipments
    .filter(({ id, statusId }) => statusId !== stored.get(id) && statusId !== before.row.statusId)
    .map(({ statusId }) => ({ statusId: Number(statusId), field: 'ShipmentOrderStatus' }))
}

function shareWithOnlyShipment({ caller, id, after, afterwards }: OrderChange, isSame: boolean): void {
  const { statusId } = after.row
  const shipments = after.lists.ShipmentList
  if (shipments?.length === 1) for (const row of shipments) row.statusId = statusId as number
  if (shipments !== undefined || isSame) return
  afterwards.push(async () => {
    await caller.db.$executeRawUnsafe(
      `UPDATE "OrderShipment" SET "statusId" = $3::int WHERE "storeId" = $1::int AND "orderId" = $2::int
       AND (SELECT count(*) FROM "OrderShipment" o WHERE o."storeId" = $1::int AND o."orderId" = $2::int) = 1`,
      caller.store.id,
      id,
      statusId,
    )
  })
}
