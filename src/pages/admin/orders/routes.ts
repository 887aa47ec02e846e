import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../../engine/caller.ts'
import { updateRecord } from '../../../engine/change.ts'
import { getRecord } from '../../../engine/read.ts'
import { type Page, sendPage } from '../../../html/page.ts'
import { pagesFor } from '../../../html/page-routes.ts'
import { type CallerServices, formOf, merchantCaller, merchantOf, textIn } from '../../../html/request.ts'
import { listStatuses } from '../../../resources/order-statuses/status-texts.ts'
import { ITEMS_MAX } from '../../../resources/orders/order-body.ts'
import { orders } from '../../../resources/orders/orders.ts'
import { listPaymentMethods } from '../../../resources/payment-methods/update-methods.ts'
import { readIds } from '../../../server/parameters.ts'
import { StoreFailure } from '../../../values/failure.ts'
import { orderFigures } from '../../order-figures.ts'
import { type Form, lookUpLines } from './form-lines.ts'
import { listOrders } from './list.ts'
import { formLabels, inFormFields, orderOf } from './order-form.ts'
import { placeOnce } from './place-once.ts'

/** Adds the pages of the store's orders: the list, one order, and placing an order manually. */
export function orderPages(app: FastifyInstance, services: CallerServices): void {
  const { post, page, form } = pagesFor(app, 'merchant')

  page('/admin/orders', (request) => listPage(request, services))
  page('/admin/orders/new', (request) => newOrderPage(request, services, {}))
  page('/admin/orders/:id', (request) => orderPage(request, services))

  // Shows the form again with its values, after looking up its products or adding a line.
  post('/admin/orders/new', async (request, reply) => {
    return sendPage(reply, await newOrderPage(request, services, formOf(request)))
  })

  const place = async (request: FastifyRequest) => {
    const id = await placeFrom(merchantCaller(request, services), formOf(request))
    return `/admin/orders/${id}?notice=order-placed`
  }
  form('/admin/orders', place, (request) => newOrderPage(request, services, formOf(request)))

  const changeStatus = async (request: FastifyRequest) => {
    const { id } = readIds(request.params, 'id')
    const OrderStatusID = Number(textIn(formOf(request), 'OrderStatusID'))
    await updateRecord(merchantCaller(request, services), orders, id, { OrderStatusID })
    return `/admin/orders/${id}?notice=status-changed`
  }
  form('/admin/orders/:id/status', changeStatus, async (request) => {
    return { ...(await orderPage(request, services)), values: formOf(request) }
  })
}

async function listPage(request: FastifyRequest, { db }: CallerServices): Promise<Page> {
  const { store } = merchantOf(request)
  const statuses = await listStatuses(db, store.id)
  const list = await listOrders(db, store.id, request.query)
  return {
    template: '/pages/admin/orders/list',
    title: 'Orders',
    values: list.asked,
    data: { ...list, store, statuses, statusText: textsOf(statuses) },
  }
}

async function placeFrom(caller: Caller, form: Form): Promise<number> {
  const lookedUp = await lookUpLines(caller, form)
  const body = orderOf(lookedUp)
  try {
    return await placeOnce(caller, form, body)
  } catch (error) {
    throw error instanceof StoreFailure ? inFormFields(error, lookedUp.lines) : error
  }
}

async function newOrderPage(request: FastifyRequest, services: CallerServices, form: Form): Promise<Page> {
  const caller = merchantCaller(request, services)
  const { store } = caller
  const methods = await listPaymentMethods(services.db, store.id)
  const offered = methods.filter(({ visible }) => visible).map(({ id, name }) => [id, name] as const)
  const paymentMethods = [['', 'Not chosen'], ...offered]
  const { lines, values } = await lookUpLines(caller, form)
  return {
    template: '/pages/admin/orders/new',
    title: 'New order',
    values,
    // A new key each time the form is shown.
    data: { lines, linesMax: ITEMS_MAX, labels: formLabels(lines), oneTimeKey: randomUUID(), store, paymentMethods },
  }
}

async function orderPage(request: FastifyRequest, services: CallerServices): Promise<Page> {
  const { id } = readIds(request.params, 'id')
  const caller = merchantCaller(request, services)
  const order = JSON.parse(await getRecord(caller, orders, id))
  const statuses = await listStatuses(services.db, caller.store.id)
  return {
    template: '/pages/admin/orders/order',
    title: `Order ${order.InvoiceNumberPrefix}${order.InvoiceNumber}`,
    values: { OrderStatusID: String(order.OrderStatusID) },
    data: { order, figures: orderFigures(order), store: caller.store, statuses, statusText: textsOf(statuses) },
  }
}

function textsOf(statuses: readonly { id: number; text: string }[]) {
  const texts = new Map(statuses.map(({ id, text }) => [id, text]))
  return (id: number) => texts.get(id) ?? String(id)
}
