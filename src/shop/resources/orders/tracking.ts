import type { Caller } from '../../../engine/caller.ts'
import { type Carrier, readTable } from './charge-tables.ts'
import type { OrderRecord } from './orders.ts'

type Tracked = Pick<OrderRecord['ShipmentList'][number], 'ShipmentMethodName' | 'ShipmentTrackingCode'>

/**
 * Returns the address at which a shipment is followed, with its tracking number percent-encoded. Its carrier is the one with the longest
 * name that its shipping method begins with, ignoring case. Null: it has no number, or its carrier no address.
 */
function trackingLink(carriers: readonly Carrier[], shipment: Tracked): string | null {
  const code = shipment.ShipmentTrackingCode.trim()
  if (code === '') return null
  const method = shipment.ShipmentMethodName.trim().toLowerCase()
  const [carrier] = carriers
    .filter(({ name }) => method.startsWith(name.toLowerCase()))
    .sort((one, other) => other.name.length - one.name.length)
  if (carrier === undefined || carrier.trackingUrl === '') return null
  return carrier.trackingUrl.replace('{code}', () => encodeURIComponent(code))
}

/** Returns what gives the addresses (`trackingLink`) of the shipments of an order; without a tracking number no carriers are read. */
export async function readTracking(
  caller: Pick<Caller, 'db' | 'store'>,
  { ShipmentList }: Pick<OrderRecord, 'ShipmentList'>,
): Promise<(shipment: Tracked) => string | null> {
  const isTracked = ShipmentList.some(({ ShipmentTrackingCode }) => ShipmentTrackingCode.trim() !== '')
  const carriers = isTracked ? await readTable(caller, 'carriers') : []
  return (shipment) => trackingLink(carriers, shipment)
}
