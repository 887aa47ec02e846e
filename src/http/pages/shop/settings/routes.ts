import type { FastifyInstance } from 'fastify'
import { contractRateLimit } from '../../../../access/applications/limits/throttle.ts'
import type { Actor } from '../../../../access/audit/audit.ts'
import type { AccessServices } from '../../../../access/stores/access-changes.ts'
import { changedStore } from '../../../../access/stores/store-input.ts'
import { storeWithKey, updateStore } from '../../../../access/stores/stores.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import type { PictureServices } from '../../../../shop/pictures/pictures.ts'
import { listStatuses } from '../../../../shop/resources/order-statuses/status-texts.ts'
import {
  addedStatus,
  addOrderStatus,
  changedStatuses,
  updateOrderStatuses,
} from '../../../../shop/resources/order-statuses/update-statuses.ts'
import { chargeTableNames } from '../../../../shop/resources/orders/charge-tables.ts'
import { numberIn } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, textIn } from '../../../html/request.ts'
import { type PageRequest, type Sent, storePages } from '../../frame/pages.ts'
import { builtInName } from '../../records/order-words.ts'
import { chargesPage, saveCharges } from './charges.ts'
import { closingPages } from './close.ts'
import { documentsPage, logoForm, saveDocuments } from './documents.ts'
import { type MailSettingsServices, mailSettingsPages } from './mails.ts'
import { nameListPages } from './name-lists.ts'
import { keysIn, savedPage, saveRows } from './saved-page.ts'

const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC']
const currencies = Intl.supportedValuesOf('currency')

/** Adds the pages of a store's settings: name, address, currency, time zone, order statuses, payment methods, carriers, names for returns, documents, taxes, shipping and mails, and the page that closes it. */
export function settingsPages(app: FastifyInstance, services: MailSettingsServices & PictureServices): void {
  const saved = [
    { path: '/admin/settings', pageOf: settingsPage, save: saveSettings },
    { path: '/admin/settings/order-statuses', pageOf: statusesPage, save: saveStatuses },
    { path: '/admin/settings/documents', pageOf: documentsPage, save: saveDocuments },
    ...chargeTableNames.map((name) => ({
      path: `/admin/settings/${name}`,
      pageOf: (asked: PageRequest) => chargesPage(asked, name),
      save: (asked: Sent<PageRequest>, actor: Actor) => saveCharges(asked, actor, name),
    })),
  ]
  for (const each of saved) savedPage(app, services, { privilege: 'Settings', ...each })
  const { form } = storePages(adminPages(app, ['Settings', 'write']), services)
  form('/admin/settings/order-statuses/new', statusesAgain, async ({ caller, typed, writing }, { request }) => {
    const OrderStatusID = numberIn(typed, 'OrderStatusID', writing) ?? undefined
    const given = readInput(addedStatus, { StatusText: textIn(typed, 'StatusText'), OrderStatusID })
    await addOrderStatus(caller, given, actorOf(request))
    return '/admin/settings/order-statuses?notice=status-added'
  })
  nameListPages(app, services)
  logoForm(app, services)
  mailSettingsPages(app, services)
  closingPages(app, services)
}

async function settingsPage({ caller }: PageRequest): Promise<HtmlPage> {
  const store = await storeWithKey(caller, caller.store.id)
  const values = {
    Name: store.name,
    SecureURL: store.secureUrl,
    Currency: store.currency,
    TimeZone: store.timeZone,
    Country: store.country,
  }
  const data = { zones, currencies, throttle: store.throttle ?? contractRateLimit, isTest: store.isTest }
  return { template: '/pages/shop/settings/settings', title: t('Settings'), values, data }
}

async function saveSettings({ caller, typed }: Sent<PageRequest>, actor: Actor, services: AccessServices) {
  const { Name, SecureURL, Currency, TimeZone, Country } = typed
  const changes = readInput(changedStore, { Name, SecureURL, Currency, TimeZone, Country })
  await updateStore(services, caller.store.id, changes, actor)
}

async function statusesPage({ caller }: PageRequest): Promise<HtmlPage> {
  const statuses = await listStatuses(caller.db, caller.store.id)
  const fields = statuses.flatMap(({ id, text, visible, sorting }) => [
    [`StatusText.${id}`, text],
    [`Sorting.${id}`, String(sorting)],
    [`Visible.${id}`, visible ? 'yes' : ''],
  ])
  const values = Object.fromEntries(fields)
  const labels = { StatusText: t('Text'), OrderStatusID: t('Number') }
  const data = { statuses: statuses.map((status) => ({ id: status.id, name: builtInName(status) })), labels }
  return { template: '/pages/shop/settings/order-statuses', title: t('Order statuses'), values, data }
}

/** With the one that was to be added. */
async function statusesAgain(asked: PageRequest): Promise<HtmlPage> {
  const page = await statusesPage(asked)
  return { ...page, values: { ...page.values, ...asked.typed } }
}

function saveStatuses({ caller, typed, writing }: Sent<PageRequest>, actor: Actor) {
  const records = keysIn(typed, /^StatusText\.(\d{1,9})$/).map((id) => ({
    key: id,
    OrderStatusID: Number(id),
    StatusText: textIn(typed, `StatusText.${id}`),
    Sorting: numberIn(typed, `Sorting.${id}`, writing) ?? undefined,
    Visible: typed[`Visible.${id}`] !== undefined,
  }))
  return saveRows(records, (sent) => updateOrderStatuses(caller, readInput(changedStatuses, sent), actor))
}
