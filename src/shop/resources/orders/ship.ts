import type { Caller } from '../../../engine/caller.ts'
import { changeRecord } from '../../../engine/changing/change.ts'
import { keep } from '../../../engine/changing/merge.ts'
import { emptyPatch } from '../../../engine/changing/plan-change.ts'
import { readRows } from '../../../engine/changing/write.ts'
import { type Json, type Patch, readPatch } from '../../../engine/definition/input.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import type { Document, Row } from '../../../engine/definition/stored-row.ts'
import { notFound } from '../../../engine/reading/read.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { exact, toNumber } from './amounts.ts'
import { orderItemList, shipmentList } from './lists.ts'
import { refuseFractions } from './order-lines.ts'
import { orders } from './orders.ts'
import { NEW_SHIPMENT } from './rules.ts'
import { isShipped, statusPartial, statusProcessing, statusShipped } from './statuses.ts'

// Shipping: which goods of an order left, how and when. A line belongs to one shipment, so what leaves before the rest gets a
// shipment of its own, and a line that leaves in part becomes two.

/** How goods leave: what is given of a shipment's date, tracking code, method and boxes. */
export type Consignment = Pick<Patch, 'columns' | 'details'>

/** Reads fields of a shipment in their wire names. Throws a 400 with the field. */
export function readConsignment({ store: { timeZone } }: Caller, body: object): Consignment {
  return readPatch(shipmentList.fields, body, { mode: 'update', timeZone })
}

interface Shipping {
  /** The shipment that the goods belong to so far. */
  readonly shipmentId: number
  /** What leaves of its lines, by their ids. What is left out stays. */
  readonly quantities: ReadonlyMap<number, number>
  readonly consignment: Consignment
}

type Precondition = (record: string) => void

/**
 * Ships goods of a shipment, all or some of them, in one change of the order: they are Shipped, and the order is Shipped or, as
 * long as something has not left, Partial. No stock and no amount changes. Throws a 400 where nothing leaves, and with the field
 * `Quantity.ID` of a line for a quantity that cannot leave; `not-found` for a shipment that there is not; and what `precondition` throws.
 */
export async function shipGoods(
  caller: Caller,
  orderId: number,
  { shipmentId, quantities, consignment }: Shipping,
  precondition: Precondition,
): Promise<void> {
  const { shipments, shipment, lines, linesOf } = await readShipment(caller, orderId, shipmentId)
  const own = linesOf(shipment)
  for (const line of own) refuseTooMuch(line, quantities.get(Number(line.id)) ?? 0)
  const parts = own.map((line) => ({ ...line, quantity: quantities.get(Number(line.id)) ?? 0 }))
  await refuseFractions(caller, own, parts, (index) => `Quantity.${own[index]?.id}`)
  const leaves = (line: Row) => (own.includes(line) ? (quantities.get(Number(line.id)) ?? 0) : 0)
  if (own.length > 0 && !own.some((line) => leaves(line) > 0)) {
    throw new StoreFailure('missing-field', 'Nothing is shipped: enter a quantity for at least one line')
  }
  const isWhole = own.every((line) => leaves(line) === Number(line.quantity))
  const othersLeft = shipments.every((one) => one === shipment || isShipped(one))
  const goods = isWhole
    ? { ShipmentList: replaced(shipments, shipment, stamped(consignment, statusShipped)) }
    : {
        ShipmentList: [
          ...replaced(shipments, shipment, { columns: { weight: weightOf(own, (line) => left(line, leaves)) } }),
          copyOf(shipment, { ...stamped(consignment, statusShipped), weight: weightOf(own, leaves) }),
        ],
        OrderItemList: lines.flatMap((line) => divided(line, leaves(line))),
      }
  const statusId = isWhole && othersLeft ? statusShipped : statusPartial
  await change(caller, orderId, { columns: { statusId }, lists: goods }, precondition)
}

/**
 * Replaces how a shipment left. Without a date it has not left, and the order is Partial or, if nothing has left, Processing.
 */
export async function changeConsignment(
  caller: Caller,
  orderId: number,
  { shipmentId, consignment }: Omit<Shipping, 'quantities'>,
  precondition: Precondition,
): Promise<void> {
  const { shipments, shipment } = await readShipment(caller, orderId, shipmentId)
  const leaves = consignment.columns.shippedDate !== ''
  const given = stamped(consignment, leaves ? statusShipped : statusProcessing)
  const left = shipments.filter((one) => (one === shipment ? leaves : isShipped(one)))
  const partly = left.length > 0 ? statusPartial : statusProcessing
  const statusId = left.length === shipments.length ? statusShipped : partly
  const lists = { ShipmentList: replaced(shipments, shipment, given) }
  await change(caller, orderId, { columns: { statusId }, lists }, precondition)
}

async function readShipment(caller: Caller, orderId: number, shipmentId: number) {
  const [shipments, lines] = await Promise.all([
    readRows(caller, shipmentList, orderId),
    readRows(caller, orderItemList, orderId),
  ])
  // The wire shows 0 for the id of an only shipment.
  const shipment = shipments.find(({ id }) => id === shipmentId || (shipmentId === 0 && shipments.length === 1))
  if (shipment === undefined) throw notFound(orders, orderId)
  const linesOf = ({ id }: Row) => (shipments.length === 1 ? lines : lines.filter((line) => line.shipmentId === id))
  return { shipments, shipment, lines, linesOf }
}

function change(caller: Caller, id: number, changed: Pick<Patch, 'columns' | 'lists'>, precondition: Precondition) {
  const patch = { ...emptyPatch, ...changed }
  return changeRecord(caller, orders, { kind: 'patch', id, patch }, { precondition })
}

function refuseTooMuch({ id, quantity }: Row, leaves: number): void {
  const field = `Quantity.${id}`
  if (leaves < 0) throw wrongField(field, 'must not be below 0', 'out-of-range')
  if (leaves > Number(quantity))
    throw wrongField(field, `must be at most ${quantity}: this parcel has no more of it`, 'out-of-range')
}

function stamped({ columns, details }: Consignment, statusId: number): Consignment {
  return { columns: { ...columns, statusId }, details }
}

type Given = Partial<Consignment>

function replaced(shipments: readonly Row[], shipment: Row, given: Given): Patch[] {
  return shipments.map((one) => ({ ...keep(Number(one.id)), ...(one === shipment && given) }))
}

/** A new shipment to the same address. The first one keeps what shipping costs. */
function copyOf(shipment: Row, { weight, columns, details }: Given & { weight: number }): Patch {
  const shown = { ...(shipment.details as Document), ...details, ShipmentTax: 0 }
  return { ...emptyPatch, columns: { ...columns, weight, cost: 0, number: 0 }, details: shown }
}

/** A line of which this quantity moves into the new shipment, with all that it says. */
function divided(line: Row, leaves: number): Patch[] {
  const kept = keep(Number(line.id))
  if (leaves === 0) return [kept]
  if (leaves === Number(line.quantity)) return [{ ...kept, columns: { shipmentId: NEW_SHIPMENT } }]
  const { id, storeId, orderId, details, ...columns } = line
  const moved = { ...columns, quantity: leaves, shipmentId: NEW_SHIPMENT } as Patch['columns']
  const staying = toNumber(exact(Number(line.quantity)) - exact(leaves))
  return [
    { ...kept, columns: { quantity: staying } },
    { ...emptyPatch, columns: moved, details: details as Record<string, Json> },
  ]
}

function left(line: Row, leaves: (line: Row) => number): number {
  return Number(line.quantity) - leaves(line)
}

function weightOf(lines: readonly Row[], quantityOf: (line: Row) => number): number {
  return Number(lines.reduce((sum, line) => sum + Number(line.weight) * quantityOf(line), 0).toFixed(4))
}
