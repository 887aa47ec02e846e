import { initialStatuses } from '../../../access/stores/create-store.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { Meanings } from '../../../engine/definition/fields.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import type { Row } from '../../../engine/definition/stored-row.ts'
import { anyOfFew, sql, storeId } from '../../../foundation/database/sql.ts'

/** Built-in statuses that the platform treats specially (order-statuses §1.3). */
export const statusNew = 1
export const statusProcessing = 2
export const statusPartial = 3
export const statusShipped = 4
export const statusCancelled = 5
export const statusNotCompleted = 7
export const statusUnpaid = 11

/** The statuses that a new store has. */
export const orderStatusMeanings: Meanings = Object.fromEntries(initialStatuses.map((name, index) => [index + 1, name]))

/** Whether an order in this status has taken its items off the stock. */
export function holdsStock(statusId: number): boolean {
  return statusId !== statusCancelled && statusId !== statusNotCompleted
}

/** What a change of its status does to the stock of an order's goods. */
export type StatusEffect = 'returned' | 'taken' | 'none'

export function statusEffectOf(from: number, to: number): StatusEffect {
  if (holdsStock(from) === holdsStock(to)) return 'none'
  return holdsStock(from) ? 'returned' : 'taken'
}

/** Whether a shipment has left: its day is known, or its status says so. */
export function hasLeft(shippedDate: string, statusId: number): boolean {
  return shippedDate !== '' || statusId === statusShipped
}

/** The same of a shipment as it is stored. */
export function isShipped({ shippedDate, statusId }: Row): boolean {
  return hasLeft(String(shippedDate), Number(statusId))
}

/** A status that a caller chose, and the wire name of its field. */
export interface ChosenStatus {
  readonly statusId: number
  readonly field: string
}

/** Refuses (400) a status that the store does not have. */
export async function refuseUnknownStatuses(caller: Caller, chosen: readonly ChosenStatus[]): Promise<void> {
  if (chosen.length === 0) return
  const ids = anyOfFew(chosen.map(({ statusId }) => statusId))
  const rows = await caller.db.$queryRaw<{ id: number }[]>(sql`
    SELECT "id" FROM "OrderStatus" WHERE "storeId" = ${storeId(caller.store)} AND "id" = ${ids}`)
  const known = new Set(rows.map(({ id }) => id))
  const unknown = chosen.find(({ statusId }) => !known.has(statusId))
  if (unknown)
    throw wrongField(unknown.field, `${unknown.statusId} is not an order status of this store`, 'unknown-reference')
}
