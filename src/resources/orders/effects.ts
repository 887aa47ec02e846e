import { sql } from '../../database/sql.ts'
import type { Change } from '../../engine/change.ts'
import { type EventKind, orderNew, orderStatusChange } from '../../engine/event-kinds.ts'
import { raise } from '../../engine/events.ts'
import type { Stored } from '../../engine/write.ts'
import { refuseUnknownStatuses, statusCancelled, statusNotCompleted } from './statuses.ts'

/** Checks imported orders, keeps shipments and lines consistent, and raises events. */
export async function orderEffects(changes: readonly Change[]): Promise<void> {
  const imported = changes.filter(({ kind }) => kind === 'import')
  if (imported.length > 0) await checkImported(imported)
  for (const change of changes) {
    const { kind, caller, resource, id, before, after } = change
    if (kind !== 'import') {
      await shareWithOnlyShipment(change)
      await keepInShipments(change)
    }
    for (const event of eventsOf(before, after)) raise(caller, event, resource, id)
  }
}

/** Refuses (400) imported orders with an unknown status, and reserves their invoice numbers. */
async function checkImported(changes: readonly Change[]): Promise<void> {
  const [{ caller }] = changes as [Change]
  const rows = changes.map(({ after }) => after.row)
  await refuseUnknownStatuses(
    caller,
    rows.map(({ statusId }) => ({ statusId: Number(statusId), field: 'OrderStatusID' })),
  )
  const highest = Math.max(...rows.map(({ invoiceNumber }) => Number(invoiceNumber)))
  await caller.db.$executeRaw(sql`
    UPDATE "Store" SET "nextInvoiceNumber" = least(${highest}::bigint + 1, 2147483647)
    WHERE "id" = ${caller.store.id}::int AND "nextInvoiceNumber" <= ${highest}::int`)
}

/** Gives a single shipment the order's status, even if it was not sent. */
async function shareWithOnlyShipment({ caller: { db, store }, id, before, after }: Change): Promise<void> {
  const { statusId } = after.row
  if (after.lists.ShipmentList !== undefined || statusId === before?.row.statusId) return
  await db.$executeRaw(sql`
    UPDATE "OrderShipment" SET "statusId" = ${statusId}::int WHERE "storeId" = ${store.id}::int AND "orderId" = ${id}::int
    AND (SELECT count(*) FROM "OrderShipment" o WHERE o."storeId" = ${store.id}::int AND o."orderId" = ${id}::int) = 1`)
}

/** Moves lines that are in no shipment to the first of several, or to 0 with one or none (rest-resources §3.4). */
async function keepInShipments({ caller: { db, store }, id, after: { lists } }: Change): Promise<void> {
  if ((lists.OrderItemList ?? lists.ShipmentList) === undefined) return
  await db.$executeRaw(sql`
    UPDATE "OrderItem" i SET "shipmentId" = h."home"
    FROM (
      SELECT CASE WHEN count(*) > 1 THEN min("id") ELSE 0 END AS "home",
        CASE WHEN count(*) > 1 THEN array_agg("id") ELSE '{0}' END AS "allowed"
      FROM "OrderShipment" WHERE "storeId" = ${store.id}::int AND "orderId" = ${id}::int) h
    WHERE i."storeId" = ${store.id}::int AND i."orderId" = ${id}::int AND i."shipmentId" <> ALL (h."allowed")`)
}

/** An order that leaves Not Completed has raised no event yet, so it is new then, unless it is cancelled. */
function eventsOf(before: Stored | null, after: Stored): EventKind[] {
  const to = Number(after.row.statusId)
  const from = before === null ? statusNotCompleted : Number(before.row.statusId)
  if (from === to) return []
  const isNew = from === statusNotCompleted && to !== statusCancelled
  return [...(isNew ? [orderNew] : []), ...(before === null ? [] : [orderStatusChange])]
}
