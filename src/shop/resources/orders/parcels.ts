import type { StoreReader } from '../../../foundation/database/client.ts'
import { readDate } from '../../../foundation/values/dates.ts'
import type { OrderRecord } from './orders.ts'
import { hasLeft } from './statuses.ts'

type Shipment = OrderRecord['ShipmentList'][number]

/** What goes or went together. */
export interface Parcel<Line = unknown> {
  /** Null: the order has no shipments, and its goods are one parcel. */
  readonly shipment: Shipment | null
  readonly hasLeft: boolean
  /** From 1, by leaving; those that have not left follow. */
  readonly number: number
  readonly lines: readonly Line[]
}

/** By the id of a shipment: its place among those of its order that have left. */
export type Departures = ReadonlyMap<number, number>

/** The parcels of an order, as `parcelsOf` returns them. */
export async function readParcels<Line>(caller: StoreReader, order: OrderRecord, lines: readonly Line[]) {
  return parcelsOf(order, lines, await readDepartures(caller, [order]))
}

/**
 * The parcels of an order: those that have left by leaving, then those that have not, as they are stored. `lines` has what is to be known
 * of each of its lines, in their order.
 */
export function parcelsOf<Line>(order: OrderRecord, lines: readonly Line[], departures: Departures): Parcel<Line>[] {
  const [shipment = null, ...others] = order.ShipmentList
  if (others.length > 0) return dividedParcels(order, lines, departures)
  return [{ shipment, hasLeft: shipment !== null && isAway(shipment), number: 1, lines }]
}

function dividedParcels<Line>(
  { ShipmentList: shipments, OrderItemList: items }: OrderRecord,
  lines: readonly Line[],
  departures: Departures,
): Parcel<Line>[] {
  // An import may bring lines of a shipment that there is not; they go with the first.
  const known = new Set(shipments.map(({ ShipmentID }) => ShipmentID))
  const isInside = (at: number, id = 0) => id === shipments[at]?.ShipmentID || (at === 0 && !known.has(id))
  const parcels = shipments.map((shipment, at) => ({
    shipment,
    hasLeft: isAway(shipment),
    lines: lines.filter((_, line) => isInside(at, items[line]?.ItemShipmentID)),
  }))
  const [away, waiting] = [true, false].map((left) => parcels.filter((parcel) => parcel.hasLeft === left))
  const placeOf = ({ ShipmentID }: Shipment) => departures.get(ShipmentID) ?? 0
  const byLeaving = (away ?? []).toSorted(({ shipment: one }, { shipment: other }) => {
    return dayOf(one) - dayOf(other) || placeOf(one) - placeOf(other)
  })
  return [...byLeaving, ...(waiting ?? [])].map((parcel, at) => ({ ...parcel, number: at + 1 }))
}

/** The numbers of the parcels by their shipments. */
export type ParcelNumbers = ReadonlyMap<number, number>

export async function readParcelNumbers(caller: StoreReader, order: OrderRecord): Promise<ParcelNumbers> {
  const parcels = await readParcels(caller, order, [])
  return new Map(parcels.flatMap(({ shipment, number }) => (shipment ? [[shipment.ShipmentID, number]] : [])))
}

/** Reads in which order the shipments of these orders left. Those of one day are told apart by it alone. */
export async function readDepartures({ db, store }: StoreReader, orders: readonly OrderRecord[]): Promise<Departures> {
  const several = orders.filter((order) => order.ShipmentList.filter(isAway).length > 1)
  if (several.length === 0) return new Map()
  const rows = await db.orderShipment.findMany({
    where: { storeId: store.id, orderId: { in: several.map(({ OrderID }) => OrderID) } },
    select: { id: true },
    orderBy: [{ departure: { sort: 'asc', nulls: 'first' } }, { updatedAt: 'asc' }, { number: 'asc' }],
  })
  return new Map(rows.map(({ id }, place) => [id, place]))
}

export function isAway({ ShipmentShippedDate, ShipmentOrderStatus }: Shipment): boolean {
  return hasLeft(ShipmentShippedDate, ShipmentOrderStatus)
}

/** Without a day: after those that have one. */
function dayOf({ ShipmentShippedDate }: Shipment): number {
  return readDate(ShipmentShippedDate, 'UTC')?.instant.getTime() ?? Number.MAX_SAFE_INTEGER
}
