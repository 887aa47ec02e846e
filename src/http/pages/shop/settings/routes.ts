import type { FastifyInstance } from 'fastify'
import { contractRateLimit } from '../../../../access/applications/limits/throttle.ts'
import type { Actor } from '../../../../access/audit/audit.ts'
import type { AccessServices } from '../../../../access/stores/access-changes.ts'
import { changedStore } from '../../../../access/stores/store-input.ts'
import { storeWithKey, updateStore } from '../../../../access/stores/stores.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import { addedStatus, addOrderStatus } from '../../../../shop/resources/order-statuses/add-status.ts'
import { listStatuses } from '../../../../shop/resources/order-statuses/status-texts.ts'
import { changedStatuses, updateOrderStatuses } from '../../../../shop/resources/order-statuses/update-statuses.ts'
import {
  carrierBounds,
  changedCarriers,
  readCarriers,
  updateCarriers,
} from '../../../../shop/resources/orders/tracking.ts'
import { METHODS_MAX, NAME_LENGTH_MAX } from '../../../../shop/resources/payment-methods/payment-methods.ts'
import {
  changedMethods,
  listPaymentMethods,
  updatePaymentMethods,
} from '../../../../shop/resources/payment-methods/update-methods.ts'
import { numberIn } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, textIn } from '../../../html/request.ts'
import { storePages } from '../../frame/pages.ts'
import type { PageRequest, Sent } from '../../frame/request.ts'
import { builtInName } from '../../records/order-words.ts'
import { chargesPage, saveCharges } from './charges.ts'
import { documentsPage, logoForm, saveDocuments } from './documents.ts'
import { type MailSettingsServices, mailSettingsPages } from './mails.ts'
import { returnListPages } from './return-lists.ts'
import { keysIn, savedPage, saveRows } from './saved-page.ts'

const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC']
const currencies = Intl.supportedValuesOf('currency')

/** Adds the pages of a store's settings: name, address, currency, time zone, order statuses, payment methods, carriers, names for returns, documents, taxes, shipping and mails. */
export function settingsPages(app: FastifyInstance, services: MailSettingsServices): void {
  const saved = [
    { path: '/admin/settings', pageOf: settingsPage, save: saveSettings },
    { path: '/admin/settings/order-statuses', pageOf: statusesPage, save: saveStatuses },
    { path: '/admin/settings/payment-methods', pageOf: methodsPage, save: saveMethods },
    { path: '/admin/settings/carriers', pageOf: carriersPage, save: saveCarriers },
    { path: '/admin/settings/documents', pageOf: documentsPage, save: saveDocuments },
    ...(['taxes', 'shipping'] as const).map((name) => ({
      path: `/admin/settings/${name}`,
      pageOf: (asked: PageRequest) => chargesPage(asked, name),
      save: (asked: Sent<PageRequest>, actor: Actor) => saveCharges(asked, actor, name),
    })),
  ]
  for (const each of saved) savedPage(app, services, { privilege: 'Settings', ...each })
  addedStatusPage(app, services)
  returnListPages(app, services)
  logoForm(app, services)
  mailSettingsPages(app, services)
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
  const data = { zones, currencies, throttle: store.throttle ?? contractRateLimit }
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
  return {
    template: '/pages/shop/settings/order-statuses',
    title: t('Order statuses'),
    values,
    data: { statuses: statuses.map((status) => ({ id: status.id, name: builtInName(status) })), labels },
  }
}

/** Adds the form that adds an order status, on the page of all of them. */
function addedStatusPage(app: FastifyInstance, services: AccessServices): void {
  const { form } = storePages(adminPages(app, ['Settings', 'write']), services)
  form(
    '/admin/settings/order-statuses/new',
    async ({ caller, typed, writing }, { request }) => {
      const OrderStatusID = numberIn(typed, 'OrderStatusID', writing) ?? undefined
      const given = readInput(addedStatus, { StatusText: textIn(typed, 'StatusText'), OrderStatusID })
      await addOrderStatus(caller, given, actorOf(request))
      return '/admin/settings/order-statuses?notice=status-added'
    },
    async (asked) => {
      const page = await statusesPage(asked)
      return { ...page, values: { ...page.values, ...asked.typed } }
    },
  )
}

function saveStatuses({ caller, typed, writing }: Sent<PageRequest>, actor: Actor) {
  const records = keysIn(typed, /^StatusText\.(\d{1,9})$/).map((id) => ({
    key: id,
    OrderStatusID: Number(id),
    StatusText: textIn(typed, `StatusText.${id}`),
    Sorting: numberIn(typed, `Sorting.${id}`, writing) ?? undefined,
    // Browsers do not send unticked boxes.
    Visible: typed[`Visible.${id}`] !== undefined,
  }))
  return saveRows(records, (sent) => updateOrderStatuses(caller, readInput(changedStatuses, sent), actor))
}

/** The keys of the rows for new payment methods. */
const newMethods = ['new1', 'new2', 'new3']

async function methodsPage({ caller }: PageRequest): Promise<HtmlPage> {
  const methods = await listPaymentMethods(caller.db, caller.store.id)
  const fields = methods.flatMap(({ id, name, visible }) => [
    [`Name.${id}`, name],
    [`Visible.${id}`, visible ? 'yes' : ''],
  ])
  const values = Object.fromEntries([...fields, ...newMethods.map((key) => [`Visible.${key}`, 'yes'])])
  const added = newMethods.slice(0, METHODS_MAX - methods.length)
  const data = { methods, added, nameLengthMax: NAME_LENGTH_MAX }
  return { template: '/pages/shop/settings/payment-methods', title: t('Payment methods'), values, data }
}

function saveMethods({ caller, typed, writing }: Sent<PageRequest>, actor: Actor) {
  const records = keysIn(typed, /^Name\.(\d{1,10}|new\d)$/).flatMap((key) => {
    const isNew = key.startsWith('new')
    const Name = textIn(typed, `Name.${key}`)
    // New rows without a name are ignored.
    if (isNew && Name.trim() === '') return []
    const id = isNew ? numberIn(typed, `PaymentMethodID.${key}`, writing) : Number(key)
    const Visible = typed[`Visible.${key}`] !== undefined
    return [{ key, ...(id !== null && { PaymentMethodID: id }), Name, Visible }]
  })
  return saveRows(records, (sent) => updatePaymentMethods(caller, readInput(changedMethods, sent), actor))
}

/** Who carries the parcels of the store, and where they are followed. */
async function carriersPage({ caller }: PageRequest): Promise<HtmlPage> {
  const carriers = await readCarriers(caller)
  const fields = carriers.flatMap(({ name, trackingUrl }, at) => [
    [`Name.${at}`, name],
    [`TrackingUrl.${at}`, trackingUrl],
  ])
  return {
    template: '/pages/shop/settings/carriers',
    title: t('Carriers'),
    values: Object.fromEntries(fields),
    data: { count: Math.min(carriers.length + newMethods.length, carrierBounds.count), lengthMax: carrierBounds },
  }
}

function saveCarriers({ caller, typed }: Sent<PageRequest>, actor: Actor) {
  const rows = keysIn(typed, /^Name\.(\d{1,2})$/).flatMap((key) => {
    const [Name, TrackingUrl] = [textIn(typed, `Name.${key}`), textIn(typed, `TrackingUrl.${key}`)]
    // Rows without a name are removed, or were never filled in.
    return Name.trim() === '' ? [] : [{ key, Name, TrackingUrl }]
  })
  return saveRows(rows, (sent) => updateCarriers(caller, readInput(changedCarriers, sent), actor))
}
