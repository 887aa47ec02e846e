import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../../engine/caller.ts'
import { changeRecord } from '../../../engine/changing/change.ts'
import { getRecords } from '../../../engine/reading/read.ts'
import { type HtmlPage, sendPage } from '../../../html/page.ts'
import { adminPages, refusedFields } from '../../../html/page-routes.ts'
import { type CallerServices, type Form, formOf, merchantCaller, textIn } from '../../../html/request.ts'
import { listStatuses } from '../../../resources/order-statuses/status-texts.ts'
import { orders } from '../../../resources/orders/orders.ts'
import { holdsStock, statusPartial, statusShipped } from '../../../resources/orders/statuses.ts'
import { digest } from '../../../server/compression.ts'
import { StoreFailure } from '../../../values/failure.ts'
import { owedOf } from '../../order-payments.ts'
import { chosenIn } from '../records/chosen.ts'
import { listPage } from '../records/list-page.ts'
import { listedOf } from '../records/listing.ts'
import { targetService } from '../records/services.ts'
import { invoiceOf, textsOf } from './listing.ts'
import { requireForSlips, slipKindIn } from './slips.ts'

/** Adds what can be done with several orders of the list at once. */
export function bulkPages(app: FastifyInstance, services: CallerServices): void {
  const { form } = adminPages(app, ['Orders', 'write'])
  const reading = adminPages(app, ['Orders', 'read'])

  const listAgain = async (request: FastifyRequest): Promise<HtmlPage> => {
    const { privileges } = merchantCaller(request, services)
    const { listed, listing } = listedOf(privileges, targetService(orders))
    const page = await listPage(request, services, listed, listing)
    const labels = { ids: 'Orders', OrderStatusID: 'The status' }
    return { ...page, values: { ...page.values, ...formOf(request) }, data: { ...page.data, labels } }
  }

  form(
    '/admin/orders/bulk/status',
    async (request, reply) => sendPage(reply, await askPage(request, services)),
    listAgain,
  )
  form(
    '/admin/orders/bulk/status/change',
    async (request, reply) => sendPage(reply, await changePage(request, services)),
    listAgain,
  )
  const slips = async (request: FastifyRequest) => {
    const sent = formOf(request)
    requireForSlips(request, slipKindIn(sent))
    return `/admin/orders/slips?${new URLSearchParams({ ids: chosenIn(sent).join(','), kind: slipKindIn(sent) })}`
  }
  reading.form('/admin/orders/bulk/slips', slips, listAgain)
  const file = async (request: FastifyRequest) => {
    const ids = chosenIn(formOf(request)).join(',')
    return `/admin/orders/export?${new URLSearchParams({ ids, format: 'csv' })}`
  }
  reading.form('/admin/orders/bulk/file', file, listAgain)
}

/** What a change of status does to the stock of an order's goods. */
type StockEffect = 'returned' | 'taken' | 'none'

interface Chosen {
  readonly id: number
  readonly invoice: string
  readonly statusId: number
  readonly owed: number
  readonly etag: string
}

/** Statuses of orders whose goods have left. */
const leaving: ReadonlySet<number> = new Set([statusPartial, statusShipped])

/** Asks before the status of several orders is changed: says what becomes of their stock. */
async function askPage(request: FastifyRequest, services: CallerServices): Promise<HtmlPage> {
  const caller = merchantCaller(request, services)
  const form = formOf(request)
  const ids = chosenIn(form)
  const { status, statusText } = await statusIn(caller, form)
  const chosen = (await getRecords(caller, orders, ids)).map(chosenOf)
  const changing = chosen.filter(({ statusId }) => statusId !== status.id)
  const groups = Map.groupBy(changing, ({ statusId }) => stockEffect(statusId, status.id))
  return {
    template: '/pages/admin/orders/bulk-status',
    title: `Change the status to ${status.text}`,
    data: {
      status,
      statusText,
      changing,
      unpaid: leaving.has(status.id) ? changing.filter(({ owed }) => owed > 0) : [],
      unchanged: chosen.filter(({ statusId }) => statusId === status.id),
      groups: (['returned', 'taken', 'none'] as const).flatMap((effect) => {
        const of = groups.get(effect)
        return of === undefined ? [] : [{ effect, orders: of }]
      }),
    },
  }
}

/** Changes the status of each order that is still as it was when the question was asked. */
async function changePage(request: FastifyRequest, services: CallerServices): Promise<HtmlPage> {
  const caller = merchantCaller(request, services)
  const form = formOf(request)
  const ids = chosenIn(form)
  const { status } = await statusIn(caller, form)
  const results: { id: number; invoice: string; problem: string | null }[] = []
  for (const id of ids) {
    const problem = await changeStatus(caller, id, status.id, textIn(form, `etag.${id}`))
    results.push({ id, invoice: textIn(form, `invoice.${id}`) || String(id), problem })
  }
  return {
    template: '/pages/admin/orders/bulk-result',
    title: 'Status of several orders',
    data: {
      status,
      changed: results.filter(({ problem }) => problem === null),
      refused: results.filter(({ problem }) => problem !== null),
    },
  }
}

/** Changes one order, and returns why it could not; null: it is changed. */
async function changeStatus(caller: Caller, id: number, statusId: number, etag: string): Promise<string | null> {
  const precondition = (record: string) => {
    if (digest(record) === etag) return
    const isThere = chosenOf(record).statusId === statusId
    const message = isThere
      ? 'has this status already'
      : 'has been changed since you were asked. Choose it again to see what the change does now'
    throw new StoreFailure('precondition-failed', message)
  }
  const change = { kind: 'update', id, body: { OrderStatusID: statusId } } as const
  try {
    await changeRecord(caller, orders, change, { precondition })
    return null
  } catch (error) {
    if (error instanceof StoreFailure) return error.message
    throw error
  }
}

function chosenOf(text: string): Chosen {
  const order = JSON.parse(text)
  return {
    id: order.OrderID,
    invoice: invoiceOf(order),
    statusId: order.OrderStatusID,
    owed: owedOf(order),
    etag: digest(text),
  }
}

function stockEffect(from: number, to: number): StockEffect {
  if (holdsStock(from) === holdsStock(to)) return 'none'
  return holdsStock(from) ? 'returned' : 'taken'
}

async function statusIn({ db, store }: Caller, form: Form) {
  const statuses = await listStatuses(db, store.id)
  const status = statuses.find(({ id }) => String(id) === textIn(form, 'OrderStatusID'))
  if (status === undefined) throw refusedFields([{ field: 'OrderStatusID', problem: 'has to be one of the list' }])
  return { status, statusText: textsOf(statuses) }
}
