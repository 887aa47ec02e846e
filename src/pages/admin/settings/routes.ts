import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { contractRateLimit } from '../../../applications/throttle.ts'
import { formOf, orShowAgain, textIn } from '../../../html/forms.ts'
import { type Page, sendPage } from '../../../html/page.ts'
import { actorOf, merchantCaller, merchantOf } from '../../../html/principals.ts'
import { listStatuses } from '../../../resources/order-statuses/status-texts.ts'
import { updateOrderStatuses } from '../../../resources/order-statuses/update-statuses.ts'
import { METHODS_MAX, NAME_LENGTH_MAX } from '../../../resources/payment-methods/payment-methods.ts'
import { listPaymentMethods, updatePaymentMethods } from '../../../resources/payment-methods/update-methods.ts'
import { type ChangeStore, storeWithKey, updateStore } from '../../../stores/stores.ts'
import { StoreFailure } from '../../../values/failure.ts'

const zones = Intl.supportedValuesOf('timeZone')

/** What a merchant sets for the store: name, address, currency, time zone, texts of order statuses, and payment methods. */
export async function settingsRoutes(app: FastifyInstance, services: ChangeStore): Promise<void> {
  app.get('/admin/settings', async (request, reply) => sendPage(reply, await settingsPage(request, services)))

  app.post('/admin/settings', async (request, reply) => {
    const { Name, SecureURL, Currency, TimeZone } = formOf(request)
    const input = { Name, SecureURL, Currency, TimeZone }
    return orShowAgain(
      reply,
      async () => {
        await updateStore(services, merchantOf(request).store.id, input, actorOf(request))
        return saved(reply, '/admin/settings')
      },
      async () => ({ ...(await settingsPage(request, services)), values: input }),
    )
  })

  app.get('/admin/settings/order-statuses', async (request, reply) => {
    return sendPage(reply, await statusesPage(request, services))
  })

  app.post('/admin/settings/order-statuses', async (request, reply) => {
    const form = formOf(request)
    return orShowAgain(
      reply,
      async () => {
        const input = statusesOf(form)
        await updateOrderStatuses(merchantCaller(request, services), input, actorOf(request)).catch((error) => {
          const keys = input.map(({ OrderStatusID }) => String(OrderStatusID))
          throw error instanceof StoreFailure ? byFields(error, keys) : error
        })
        return saved(reply, '/admin/settings/order-statuses')
      },
      async () => ({ ...(await statusesPage(request, services)), values: form }),
    )
  })

  app.get('/admin/settings/payment-methods', async (request, reply) => {
    return sendPage(reply, await methodsPage(request, services))
  })

  app.post('/admin/settings/payment-methods', async (request, reply) => {
    const form = formOf(request)
    return orShowAgain(
      reply,
      async () => {
        const keys = methodKeysOf(form)
        const input = keys.map((key) => methodOf(form, key))
        await updatePaymentMethods(merchantCaller(request, services), input, actorOf(request)).catch((error) => {
          throw error instanceof StoreFailure ? byFields(error, keys) : error
        })
        return saved(reply, '/admin/settings/payment-methods')
      },
      async () => ({ ...(await methodsPage(request, services)), values: form }),
    )
  })
}

function saved(reply: FastifyReply, address: string) {
  return reply.redirect(`${address}?notice=settings-saved`, 303)
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

async function statusesPage(request: FastifyRequest, { db }: ChangeStore): Promise<Page> {
  const { store } = merchantOf(request)
  const statuses = await listStatuses(db, store.id)
  const values = Object.fromEntries(
    statuses.flatMap(({ id, text, visible, sorting }) => [
      [`StatusText.${id}`, text],
      [`Sorting.${id}`, String(sorting)],
      [`Visible.${id}`, visible ? 'yes' : ''],
    ]),
  )
  return { template: '/pages/admin/settings/order-statuses', title: 'Order statuses', values, data: { statuses } }
}

/** A row of the form for each status that it names; a box that is not ticked is not sent. */
function statusesOf(form: Readonly<Record<string, string | string[]>>) {
  const ids = Object.keys(form).flatMap((name) => /^StatusText\.(\d{1,9})$/.exec(name)?.[1] ?? [])
  return ids.map((id) => ({
    OrderStatusID: Number(id),
    StatusText: textIn(form, `StatusText.${id}`),
    Sorting: Number(textIn(form, `Sorting.${id}`)),
    Visible: form[`Visible.${id}`] !== undefined,
  }))
}

/** Rows for new payment methods. */
const newMethods = ['new1', 'new2', 'new3']

async function methodsPage(request: FastifyRequest, { db }: ChangeStore): Promise<Page> {
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
}

/** The ids of the methods that the form names, and the new rows that have a name. */
function methodKeysOf(form: Readonly<Record<string, string | string[]>>): string[] {
  const keys = Object.keys(form).flatMap((name) => /^Name\.(\d{1,10}|new\d)$/.exec(name)?.[1] ?? [])
  return keys.filter((key) => !key.startsWith('new') || textIn(form, `Name.${key}`).trim() !== '')
}

function methodOf(form: Readonly<Record<string, string | string[]>>, key: string) {
  const id = key.startsWith('new') ? textIn(form, `PaymentMethodID.${key}`).trim() : key
  return {
    ...(id !== '' && { PaymentMethodID: Number(id) }),
    Name: textIn(form, `Name.${key}`),
    Visible: form[`Visible.${key}`] !== undefined,
  }
}

/** The list says `3.StatusText` for its fourth entry; the form's field has the row's key. */
function byFields(failure: StoreFailure, keys: readonly string[]): StoreFailure {
  const faults = failure.faults.map(({ field, problem }) => {
    const [index = '', name = ''] = field.split('.')
    return { field: `${name}.${keys[Number(index)]}`, problem }
  })
  return new StoreFailure(failure.kind, failure.message, { field: failure.field, faults })
}
