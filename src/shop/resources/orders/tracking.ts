import { z } from 'zod'
import { type Actor, recordAudit } from '../../../access/audit/audit.ts'
import type { Caller } from '../../../engine/caller.ts'
import { inStoreTransaction, readInTurn } from '../../../foundation/database/client.ts'
import type { Carrier as CarrierRow } from '../../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, text } from '../../../foundation/values/input.ts'

/** Carriers per store. */
export const CARRIERS_MAX = 50
export const CARRIER_NAME_LENGTH_MAX = 100
export const TRACKING_URL_LENGTH_MAX = 500

/** `trackingUrl`: an https address with `{code}` where the tracking number stands; empty: the carrier has none. */
export type Carrier = Pick<CarrierRow, 'id' | 'name' | 'trackingUrl'>

/** Returns the carriers of a store by name. */
export function readCarriers({ db, store }: Pick<Caller, 'db' | 'store'>): Promise<Carrier[]> {
  return readInTurn({ db, store }, () =>
    db.carrier.findMany({
      where: { storeId: store.id },
      select: { id: true, name: true, trackingUrl: true },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
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

const trackingUrl = 'must be an https address with {code} once, such as https://carrier.example/track?id={code}'

/** Whether only the path or the query of the address depends on the tracking number, so that none leads to another host. */
function isTrackingUrl(given: string): boolean {
  const isPlaced = /^https:\/\/[^\s/?#@\\{}]+[/?][^\s#\\{}]*\{code\}[^\s#\\{}]*(#[^\s\\{}]*)?$/i.test(given)
  return isPlaced && URL.canParse(given)
}

/** The form of the carriers: those that change, and new ones. One without a name is removed. */
export const changedCarriers = z.array(
  namedObject({
    CarrierID: z.int().optional(),
    Name: text(CARRIER_NAME_LENGTH_MAX, 0),
    TrackingUrl: z
      .string(trackingUrl)
      .trim()
      .max(TRACKING_URL_LENGTH_MAX, trackingUrl)
      .refine((given) => given === '' || isTrackingUrl(given), trackingUrl),
  }),
)

/** Changes, adds and removes carriers, all or none. Refuses more than 50 of them (400), and two equal names, ignoring case (409). */
export async function updateCarriers(
  caller: Caller,
  changes: z.output<typeof changedCarriers>,
  actor: Actor,
): Promise<void> {
  await inStoreTransaction(caller, async (tx) => {
    const { store, now } = caller
    const storeId = store.id
    // Concurrent changes run one after the other.
    await tx.$queryRaw`SELECT 1 FROM "Store" WHERE "id" = ${storeId} FOR NO KEY UPDATE`
    const before = await readCarriers({ db: tx, store })
    for (const { CarrierID: id, Name: name, TrackingUrl } of changes) {
      const data = { name, trackingUrl: TrackingUrl }
      if (id === undefined) await tx.carrier.create({ data: { storeId, ...data } })
      else if (name === '') await tx.carrier.deleteMany({ where: { storeId, id } })
      else await tx.carrier.updateMany({ where: { storeId, id }, data })
    }
    const after = await readCarriers({ db: tx, store })
    refuseTooMany(after)
    const [from, to] = [before, after].map((all) => all.map((each) => `${each.name} ${each.trackingUrl}`.trim()))
    const details = { carriers: { from, to } }
    await recordAudit(tx, now, { actor, target: store.name, storeId, action: 'store.changed', details })
  })
}

function refuseTooMany(carriers: readonly Carrier[]): void {
  if (carriers.length > CARRIERS_MAX) {
    const message = `A store has at most ${CARRIERS_MAX} carriers. Empty the name of one to remove it`
    throw new StoreFailure('limit-reached', message, { status: 400 })
  }
  const names = carriers.map(({ name }) => name.toLowerCase())
  const twice = carriers.find((_, index) => names.indexOf(names[index] as string) < index)
  if (twice === undefined) return
  const message = `Two carriers would have the name ${twice.name}; each needs one of its own`
  throw new StoreFailure('not-unique', message, { field: 'Name' })
}
