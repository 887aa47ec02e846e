import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ChangeStore, storeWithKey, updateStore } from '../../../access/stores.ts'
import { StoreFailure } from '../../../failure.ts'
import { formOf, orShowAgain, textIn } from '../../../html/forms.ts'
import { type Page, sendPage } from '../../../html/page.ts'
import { actorOf, merchantCaller, merchantOf } from '../../../html/people.ts'
import { updateOrderStatuses } from '../../../resources/order-statuses/update-statuses.ts'
import { contractFigures } from '../../../throttle.ts'
import { listStatuses } from '../list-statuses.ts'

const zones = Intl.supportedValuesOf('timeZone')

/** What a merchant sets for the store: name, address, currency, time zone, and what the statuses of orders are called. */
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
          throw error instanceof StoreFailure ? byFields(error, input) : error
        })
        return saved(reply, '/admin/settings/order-statuses')
      },
      async () => ({ ...(await statusesPage(request, services)), values: form }),
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
    data: { zones, throttle: throttle ?? contractFigures },
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

/** The list says `3.StatusText` for its fourth entry; the form's field has the status's id. */
function byFields(failure: StoreFailure, input: readonly { OrderStatusID: number }[]): StoreFailure {
  const faults = failure.faults.map(({ field, problem }) => {
    const [index = '', name = ''] = field.split('.')
    return { field: `${name}.${input[Number(index)]?.OrderStatusID}`, problem }
  })
  return new StoreFailure(failure.kind, failure.message, { field: failure.field, faults })
}
