import type { Caller } from '../../../engine/caller.ts'
import type { OrderRecord } from './orders.ts'

type Shipment = Pick<OrderRecord['ShipmentList'][number], 'ShipmentMethodName' | 'ShipmentTrackingCode'>

/**
 * The tracking number of a shipment, and the address at which its carrier tells where it is: of the carrier whose name begins that of the
 * shipping method, the longest such. Empty: there is none.
 */
export async function trackingOf({ db, store }: Pick<Caller, 'db' | 'store'>, shipment: Shipment) {
  const [code, method] = [shipment.ShipmentTrackingCode.trim(), shipment.ShipmentMethodName.trim().toLowerCase()]
  if (code === '' || method === '') return { code, address: '' }
  const carriers = await db.carrier.findMany({ where: { storeId: store.id, trackingUrl: { not: '' } } })
  const named = carriers.filter(({ name }) => name !== '' && method.startsWith(name.toLowerCase()))
  const [carrier] = named.toSorted((one, other) => other.name.length - one.name.length)
  return { code, address: carrier?.trackingUrl.replaceAll('{code}', encodeURIComponent(code)) ?? '' }
}
