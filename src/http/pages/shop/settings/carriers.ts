import type { Actor } from '../../../../access/audit/audit.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import {
  CARRIER_NAME_LENGTH_MAX,
  CARRIERS_MAX,
  changedCarriers,
  readCarriers,
  TRACKING_URL_LENGTH_MAX,
  updateCarriers,
} from '../../../../shop/resources/orders/tracking.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { textIn } from '../../../html/request.ts'
import type { PageRequest, Sent } from '../../frame/request.ts'
import { keysIn, saveRows } from './saved-page.ts'

/** The keys of the rows for new carriers. */
const added = ['new1', 'new2', 'new3']

/** Who carries the parcels of the store, and where they are followed. */
export async function carriersPage({ caller }: PageRequest): Promise<HtmlPage> {
  const carriers = await readCarriers(caller)
  const fields = carriers.flatMap(({ id, name, trackingUrl }) => [
    [`Name.${id}`, name],
    [`TrackingUrl.${id}`, trackingUrl],
  ])
  const keys = [...carriers.map(({ id }) => String(id)), ...added.slice(0, CARRIERS_MAX - carriers.length)]
  return {
    template: '/pages/shop/settings/carriers',
    title: t('Carriers'),
    values: Object.fromEntries(fields),
    data: { keys, lengthMax: { name: CARRIER_NAME_LENGTH_MAX, trackingUrl: TRACKING_URL_LENGTH_MAX } },
  }
}

export function saveCarriers({ caller, typed }: Sent<PageRequest>, actor: Actor): Promise<void> {
  const rows = keysIn(typed, /^Name\.(\d{1,9}|new\d)$/).flatMap((key) => {
    const [Name, TrackingUrl] = [textIn(typed, `Name.${key}`), textIn(typed, `TrackingUrl.${key}`)]
    if (!key.startsWith('new')) return [{ key, CarrierID: Number(key), Name, TrackingUrl }]
    // New rows without a name are ignored.
    return Name.trim() === '' ? [] : [{ key, Name, TrackingUrl }]
  })
  return saveRows(rows, (sent) => updateCarriers(caller, readInput(changedCarriers, sent), actor))
}
