import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../../engine/caller.ts'
import type { Remember } from '../../../engine/changing/idempotency.ts'
import { type HtmlPage, sendPage } from '../../../html/page.ts'
import { adminPages, inFormFields } from '../../../html/page-routes.ts'
import { type CallerServices, type Form, formOf, merchantCaller } from '../../../html/request.ts'
import { ORDER_ITEMS_MAX } from '../../../resources/orders/order-body.ts'
import { type PlacedOrder, placeOrder } from '../../../resources/orders/place-order.ts'
import { listPaymentMethods } from '../../../resources/payment-methods/update-methods.ts'
import type { Secrets } from '../../../values/secrets.ts'
import { bulkPages } from './bulk.ts'
import { addressPages } from './change-addresses.ts'
import { goodsPages } from './change-goods.ts'
import { lookUpLines } from './form-lines.ts'
import { sendLines } from './lines-file.ts'
import { addOnce } from './once.ts'
import { formField, formLabels, orderOf } from './order-form.ts'
import { orderPage } from './order-page.ts'
import { paymentPages } from './record-payment.ts'
import { returnPages } from './return-routes.ts'
import { shippingPages } from './shipping.ts'
import { slipPages } from './slips.ts'

/** Adds the pages of the store's orders beside those of its records: one order, several at once, slips, and placing an order manually. */
export function orderPages(app: FastifyInstance, services: CallerServices & { readonly secrets: Secrets }): void {
  // Whoever places an order says for whom, or takes over the address of a customer.
  const { post, page, form } = adminPages(app, ['Orders', 'write'], ['Customers', 'read'])

  orderPage(app, services)
  shippingPages(app, services)
  goodsPages(app, services)
  addressPages(app, services)
  paymentPages(app, services)
  returnPages(app, services)
  bulkPages(app, services)
  slipPages(app, services)
  adminPages(app, ['Orders', 'read']).get('/admin/orders/lines.csv', (request, reply) =>
    sendLines(request, reply, services),
  )
  page('/admin/orders/new', (request) => newOrderPage(request, services, {}))

  // Shows the form again with its values, after looking up its products or adding a line.
  post('/admin/orders/new', async (request, reply) => {
    return sendPage(reply, await newOrderPage(request, services, formOf(request)))
  })

  const place = async (request: FastifyRequest) => {
    const caller = merchantCaller(request, services)
    const sent = formOf(request)
    const lookedUp = await lookUpLines(caller, sent)
    const id = await placeOnce(caller, sent, orderOf(lookedUp)).catch(
      inFormFields((field) => formField(field, lookedUp.lines)),
    )
    return `/admin/orders/${id}?notice=order-placed`
  }
  form('/admin/orders', place, (request) => newOrderPage(request, services, formOf(request)))
}

async function newOrderPage(request: FastifyRequest, services: CallerServices, form: Form): Promise<HtmlPage> {
  const caller = merchantCaller(request, services)
  const methods = (await listPaymentMethods(services.db, caller.store.id)).filter(({ visible }) => visible)
  const paymentMethods = [['', 'Not chosen'], ...methods.map(({ id, name }) => [id, name])]
  const { lines, values } = await lookUpLines(caller, form)
  // A new key each time the form is shown.
  const oneTimeKey = randomUUID()
  const data = { lines, linesMax: ORDER_ITEMS_MAX, labels: formLabels(lines), oneTimeKey, paymentMethods }
  return { template: '/pages/admin/orders/new', title: 'New order', values, data }
}

/** Places the order of a form once, and returns its id. */
function placeOnce(caller: Caller, form: Form, body: unknown): Promise<number> {
  return addOnce(caller, form, {
    scope: 'order',
    resultKey: 'OrderID',
    add: (remember: Remember<PlacedOrder> | undefined) => placeOrder(caller, body, remember),
    idOf: ({ id }) => id,
    messages: {
      isDone: 'This form has placed an order already. If you want to place this one too, press the button again',
      isPending: 'This order is being placed. It appears in the list of orders in a moment',
    },
  })
}
