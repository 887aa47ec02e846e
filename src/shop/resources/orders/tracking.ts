import { z } from 'zod'
import { type Actor, recordAudit } from '../../../access/audit/audit.ts'
import type { Caller } from '../../../engine/caller.ts'
import { inTransaction, readInTurn } from '../../../foundation/database/client.ts'
import type { Carrier as CarrierRow } from '../../../foundation/database/generated/client.ts'
import { namedObject, text } from '../../../foundation/values/input.ts'
import type { OrderRecord } from './orders.ts'

/** Carriers per store, and the lengths of what is said of them. */
export const carrierBounds = { count: 50, name: 100, trackingUrl: 500 } as const

/** `trackingUrl`: an https address with `{code}` where the tracking number stands; empty: the carrier has none. */
export type Carrier = Pick<CarrierRow, 'name' | 'trackingUrl'>

/** Returns the carriers of a store by name. */
export function readCarriers({ db, store }: Pick<Caller, 'db' | 'store'>): Promise<Carrier[]> {
  return readInTurn({ db, store }, () =>
    db.carrier.findMany({
      where: { storeId: store.id },
      select: { name: true, trackingUrl: true },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
    }),
  )
}

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
  const carriers = isTracked ? await readCarriers(caller) : []
  return (shipment) => trackingLink(carriers, shipment)
}

const trackingUrl = 'must be an https address with {code} once, such as https://carrier.example/track?id={code}'

/** Only the path or the query depends on the tracking number, so that none leads to another host. Empty: there is no address. */
const placed = /^(https:\/\/[^\s/?#@\\{}]+[/?][^\s#\\{}]*\{code\}[^\s#\\{}]*(#[^\s\\{}]*)?)?$/i

const atMost = `must be a list of at most ${carrierBounds.count} carriers`

/** The form of the carriers: all of them. */
export const changedCarriers = z
  .array(
    namedObject({
      Name: text(carrierBounds.name),
      TrackingUrl: z
        .string(trackingUrl)
        .trim()
        .max(carrierBounds.trackingUrl, trackingUrl)
        .refine((given) => placed.test(given) && (given === '' || URL.canParse(given)), trackingUrl),
    }),
  )
  .max(carrierBounds.count, atMost)

/** Replaces the carriers of a store. */
export async function updateCarriers(
  { db, store, now }: Caller,
  carriers: z.output<typeof changedCarriers>,
  actor: Actor,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const storeId = store.id
    // Concurrent changes run one after the other.
    await tx.$queryRaw`SELECT 1 FROM "Store" WHERE "id" = ${storeId} FOR NO KEY UPDATE`
    const before = await readCarriers({ db: tx, store })
    await tx.carrier.deleteMany({ where: { storeId } })
    const data = carriers.map(({ Name: name, TrackingUrl }) => ({ storeId, name, trackingUrl: TrackingUrl }))
    await tx.carrier.createMany({ data })
    const [from, to] = [before, data].map((all) => all.map((each) => `${each.name} ${each.trackingUrl}`.trim()))
    const details = { carriers: { from, to } }
    await recordAudit(tx, now, { actor, target: store.name, storeId, action: 'store.changed', details })
  })
}
