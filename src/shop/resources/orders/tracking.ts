import type { Caller } from '../../../engine/caller.ts'
import { readInTurn } from '../../../foundation/database/client.ts'
import type { Carrier as CarrierRow } from '../../../foundation/database/generated/client.ts'

/** Carriers per store. */
export const CARRIERS_MAX = 50

/** `trackingUrl`: an https address with `{code}` where the tracking number stands; empty: the carrier has none. */
export type Carrier = Pick<CarrierRow, 'id' | 'name' | 'trackingUrl'>

/** Returns the carriers of a store by name. */
export function readCarriers({ db, store }: Pick<Caller, 'db' | 'store'>): Promise<Carrier[]> {
  return readInTurn({ db, store }, () =>
    db.carrier.findMany({
      where: { storeId: store.id },
      select: { id: true, name: true, trackingUrl: true },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
      take: CARRIERS_MAX,
    }),
  )
}

/** The members of a shipment that say where it is followed. */
interface Tracked {
  readonly ShipmentMethodName: string
  readonly ShipmentTrackingCode: string
}

/**
 * Returns the address at which a shipment is followed, with its tracking number percent-encoded. Its carrier is the one with the longest
 * name that its shipping method begins with, ignoring case. Null: it has no number, or its carrier no address.
 */
export function trackingLink(carriers: readonly Carrier[], shipment: Tracked): string | null {
  const code = shipment.ShipmentTrackingCode.trim()
  if (code === '') return null
  const method = shipment.ShipmentMethodName.trim().toLowerCase()
  const [carrier] = carriers
    .filter(({ name }) => method.startsWith(name.toLowerCase()))
    .sort((one, other) => other.name.length - one.name.length)
  if (carrier === undefined || carrier.trackingUrl === '') return null
  return carrier.trackingUrl.replace('{code}', () => encodeURIComponent(code))
}
