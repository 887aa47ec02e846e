import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Db } from '../../../database/client.ts'
import type { Caller } from '../../../engine/caller.ts'
import { updateRecord } from '../../../engine/change.ts'
import { getRecord } from '../../../engine/read.ts'
import { formOf, orShowAgain, textIn } from '../../../html/forms.ts'
import { type Page, sendPage } from '../../../html/page.ts'
import { merchantCaller, merchantOf } from '../../../html/principals.ts'
import { listStatuses } from '../../../resources/order-statuses/status-texts.ts'
import { ITEMS_MAX } from '../../../resources/orders/order-body.ts'
import { orders } from '../../../resources/orders/orders.ts'
import { listPaymentMethods } from '../../../resources/payment-methods/update-methods.ts'
import { readIds } from '../../../server/parameters.ts'
import { StoreFailure } from '../../../values/failure.ts'
import { orderFigures } from '../../order-figures.ts'
import { type Form, type LookedUp, lookUpLines } from './form-lines.ts'
import { listOrders } from './list.ts'
import { formLabels, inFormFields, orderOf } from './order-form.ts'
import { placeOnce } from './place-once.ts'

export interface OrderPagesServices {
  db: Db
  now: () => Date
}

/** Orders of the store: the list, one, and placing one by hand. */
export async function orderPages(app: FastifyInstance, services: OrderPagesServices): Promise<void> {
  app.get('/admin/orders', async (request, reply) => {
    const { store } = merchantOf(request)
    const statuses = await listStatuses(services.db, store.id)
    const list = await listOrders(services.db, store.id, request.query)
    return sendPage(reply, {
      template: '/pages/admin/orders/list',
      title: 'Orders',
      values: list.asked,
      data: { ...list, store, statuses, statusText: textsOf(statuses) },
    })
  })

  app.get('/admin/orders/new', async (request, reply) => sendPage(reply, await newOrder(request, {})))

  // Shows the form once more with what was typed: the products that it names are looked up, or it has one more line.
  app.post('/admin/orders/new', async (request, reply) => sendPage(reply, await newOrder(request, formOf(request))))

  app.post('/admin/orders', async (request, reply) => {
    const form = formOf(request)
    return orShowAgain(
      reply,
      async () => {
        const caller = merchantCaller(request, services)
        const id = await placeFrom(caller, form)
        return reply.redirect(`/admin/orders/${id}?notice=order-placed`, 303)
      },
      () => newOrder(request, form),
    )
  })

  app.get('/admin/orders/:id', async (request, reply) => sendPage(reply, await orderPage(request, services)))

  app.post('/admin/orders/:id/status', async (request, reply) => {
    const { id } = readIds(request.params, 'id')
    const form = formOf(request)
    return orShowAgain(
      reply,
      async () => {
        const caller = merchantCaller(request, services)
        await updateRecord(caller, orders, id, { OrderStatusID: Number(textIn(form, 'OrderStatusID')) })
        return reply.redirect(`/admin/orders/${id}?notice=status-changed`, 303)
      },
      async () => ({ ...(await orderPage(request, services)), values: form }),
    )
  })

  async function newOrder(request: FastifyRequest, form: Form): Promise<Page> {
    const caller = merchantCaller(request, services)
    const methods = await listPaymentMethods(services.db, caller.store.id)
    const paymentMethods = methods.filter(({ visible }) => visible).map(({ id, name }) => [id, name] as const)
    return newOrderPage(await lookUpLines(caller, form), caller, [['', 'Not chosen'], ...paymentMethods])
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

function newOrderPage(
  { lines, values }: LookedUp,
  { store }: Caller,
  paymentMethods: readonly (readonly [id: number | '', name: string])[],
): Page {
  return {
    template: '/pages/admin/orders/new',
    title: 'New order',
    values,
    // Another one for each time that the form is shown.
    data: { lines, linesMax: ITEMS_MAX, labels: formLabels(lines), oneTimeKey: randomUUID(), store, paymentMethods },
  }
}

async function orderPage(request: FastifyRequest, services: OrderPagesServices): Promise<Page> {
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
