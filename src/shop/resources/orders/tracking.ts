import type { Caller } from '../../../engine/caller.ts'
import { readTable } from './charge-tables.ts'
import type { OrderRecord } from './orders.ts'

type Tracked = Pick<OrderRecord['ShipmentList'][number], 'ShipmentMethodName' | 'ShipmentTrackingCode'>

/**
 * Returns what gives the address at which a shipment of an order is followed, with its tracking number percent-encoded. Its carrier is the
 * one with the longest name that its shipping method begins with, ignoring case. Null: it has no number, or its carrier no address. Without
 * a tracking number no carriers are read.
 */
export async function readTracking(
  caller: Pick<Caller, 'db' | 'store'>,
  { ShipmentList }: Pick<OrderRecord, 'ShipmentList'>,
): Promise<(shipment: Tracked) => string | null> {
  const isTracked = ShipmentList.some(({ ShipmentTrackingCode }) => ShipmentTrackingCode.trim() !== '')
  const carriers = isTracked ? await readTable(caller, 'carriers') : []
  return ({ ShipmentMethodName, ShipmentTrackingCode }) => {
    const [method, code] = [ShipmentMethodName.trim().toLowerCase(), ShipmentTrackingCode.trim()]
    const named = carriers.filter(({ name }) => method.startsWith(name.toLowerCase()))
    const [carrier] = named.sort((one, other) => other.name.length - one.name.length)
    return (code && carrier?.trackingUrl.replace('{code}', () => encodeURIComponent(code))) || null
  }
}
