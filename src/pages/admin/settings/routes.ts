import type { FastifyInstance, FastifyRequest } from 'fastify'
import { contractRateLimit } from '../../../applications/throttle.ts'
import type { Actor } from '../../../audit/audit.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { Page } from '../../../html/page.ts'
import { pagesFor } from '../../../html/page-routes.ts'
import { actorOf, formOf, merchantCaller, merchantOf, textIn } from '../../../html/request.ts'
import { listStatuses } from '../../../resources/order-statuses/status-texts.ts'
import { changedStatuses, updateOrderStatuses } from '../../../resources/order-statuses/update-statuses.ts'
import { METHODS_MAX, NAME_LENGTH_MAX } from '../../../resources/payment-methods/payment-methods.ts'
import {
  changedMethods,
  listPaymentMethods,
  updatePaymentMethods,
} from '../../../resources/payment-methods/update-methods.ts'
import { type ChangeStore, changedStore, storeWithKey, updateStore } from '../../../stores/stores.ts'
import { StoreFailure } from '../../../values/failure.ts'
import { readInput } from '../../../values/input.ts'

const zones = Intl.supportedValuesOf('timeZone')

/** Adds the pages of a store's settings: name, address, currency, time zone, order statuses and payment methods. */
export function settingsPages(app: FastifyInstance, services: ChangeStore): void {
  const { page, form } = pagesFor(app, 'merchant')
  page('/admin/settings', (request) => settingsPage(request, services))

  const save = async (request: FastifyRequest) => {
    const changes = readInput(changedStore, settingsIn(request))
    await updateStore(services, merchantOf(request).store.id, changes, actorOf(request))
    return '/admin/settings?notice=settings-saved'
  }
  form('/admin/settings', save, async (request) => {
    return { ...(await settingsPage(request, services)), values: settingsIn(request) }
  })

  listForm(app, services, orderStatusForm)
  listForm(app, services, paymentMethodForm)
}

function settingsIn(request: FastifyRequest) {
  const { Name, SecureURL, Currency, TimeZone } = formOf(request)
  return { Name, SecureURL, Currency, TimeZone }
}

type Form = Readonly<Record<string, string | string[]>>

/** A page whose form edits several records. The name of each field ends with the key of its record. */
interface ListForm {
  readonly path: string
  pageOf(request: FastifyRequest, services: ChangeStore): Promise<Page>
  /** The keys of the records in the form. */
  keysIn(form: Form): readonly string[]
  /** The record as a program sends it. */
  recordOf(form: Form, key: string): object
  save(caller: Caller, records: unknown, actor: Actor): Promise<void>
}

function listForm(
  app: FastifyInstance,
  services: ChangeStore,
  { path, pageOf, keysIn, recordOf, save }: ListForm,
): void {
  const { page, form } = pagesFor(app, 'merchant')
  page(path, (request) => pageOf(request, services))

  const carryOut = async (request: FastifyRequest) => {
    const sent = formOf(request)
    const keys = keysIn(sent)
    const records = keys.map((key) => recordOf(sent, key))
    await save(merchantCaller(request, services), records, actorOf(request)).catch((error) => {
      throw error instanceof StoreFailure ? byFields(error, keys) : error
    })
    return `${path}?notice=settings-saved`
  }
  form(path, carryOut, async (request) => ({ ...(await pageOf(request, services)), values: formOf(request) }))
}

async function settingsPage(request: FastifyRequest, services: ChangeStore): Promise<Page> {
  const store = await storeWithKey(services, merchantOf(request).store.id)
  const { name, secureUrl, currency, timeZone, throttle } = store
  return {
    template: '/pages/admin/settings/settings',
    title: 'Settings',
    values: { Name: name, SecureURL: secureUrl, Currency: currency, TimeZone: timeZone },
    data: { zones, throttle: throttle ?? contractRateLimit },
  }
}

const orderStatusForm: ListForm = {
  path: '/admin/settings/order-statuses',
  pageOf: async (request, { db }) => {
    const statuses = await listStatuses(db, merchantOf(request).store.id)
    const values = Object.fromEntries(
      statuses.flatMap(({ id, text, visible, sorting }) => [
        [`StatusText.${id}`, text],
        [`Sorting.${id}`, String(sorting)],
        [`Visible.${id}`, visible ? 'yes' : ''],
      ]),
    )
    return { template: '/pages/admin/settings/order-statuses', title: 'Order statuses', values, data: { statuses } }
  },
  keysIn: (form) => Object.keys(form).flatMap((name) => /^StatusText\.(\d{1,9})$/.exec(name)?.[1] ?? []),
  // Browsers do not send unticked boxes.
  recordOf: (form, id) => ({
    OrderStatusID: Number(id),
    StatusText: textIn(form, `StatusText.${id}`),
    Sorting: Number(textIn(form, `Sorting.${id}`)),
    Visible: form[`Visible.${id}`] !== undefined,
  }),
  save: async (caller, records, actor) => updateOrderStatuses(caller, readInput(changedStatuses, records), actor),
}

/** The keys of the rows for new payment methods. */
const newMethods = ['new1', 'new2', 'new3']

const paymentMethodForm: ListForm = {
  path: '/admin/settings/payment-methods',
  pageOf: async (request, { db }) => {
    const methods = await listPaymentMethods(db, merchantOf(request).store.id)
    const values = Object.fromEntries([
      ...methods.flatMap(({ id, name, visible }) => [
        [`Name.${id}`, name],
        [`Visible.${id}`, visible ? 'yes' : ''],
      ]),
      ...newMethods.map((key) => [`Visible.${key}`, 'yes']),
    ])
    const added = newMethods.slice(0, METHODS_MAX - methods.length)
    const data = { methods, added, nameLengthMax: NAME_LENGTH_MAX }
    return { template: '/pages/admin/settings/payment-methods', title: 'Payment methods', values, data }
  },
  // Ignores new rows without a name.
  keysIn: (form) =>
    Object.keys(form)
      .flatMap((name) => /^Name\.(\d{1,10}|new\d)$/.exec(name)?.[1] ?? [])
      .filter((key) => !key.startsWith('new') || textIn(form, `Name.${key}`).trim() !== ''),
  recordOf: (form, key) => {
    const id = key.startsWith('new') ? textIn(form, `PaymentMethodID.${key}`).trim() : key
    return {
      ...(id !== '' && { PaymentMethodID: Number(id) }),
      Name: textIn(form, `Name.${key}`),
      Visible: form[`Visible.${key}`] !== undefined,
    }
  },
  save: async (caller, records, actor) => updatePaymentMethods(caller, readInput(changedMethods, records), actor),
}

/** Replaces the list index in field names, such as `3.StatusText` for the fourth entry, with the row's key. */
function byFields(failure: StoreFailure, keys: readonly string[]): StoreFailure {
  const faults = failure.faults.map(({ field, problem }) => {
    const [index = '', name = ''] = field.split('.')
    return { field: `${name}.${keys[Number(index)]}`, problem }
  })
  return new StoreFailure(failure.kind, failure.message, { field: failure.field, faults })
}
