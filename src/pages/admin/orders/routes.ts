import { createHash, randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../../engine/caller.ts'
import { updateRecord } from '../../../engine/change.ts'
import { claimRequest, endAttempt } from '../../../engine/idempotency.ts'
import { getRecord } from '../../../engine/read.ts'
import { type Page, sendPage } from '../../../html/page.ts'
import { inFormFields, pagesFor } from '../../../html/page-routes.ts'
import { type CallerServices, type Form, formOf, merchantCaller, textIn } from '../../../html/request.ts'
import { listStatuses } from '../../../resources/order-statuses/status-texts.ts'
import { ORDER_ITEMS_MAX } from '../../../resources/orders/order-body.ts'
import { orders } from '../../../resources/orders/orders.ts'
import { type PlacedOrder, placeOrder } from '../../../resources/orders/place-order.ts'
import { listPaymentMethods } from '../../../resources/payment-methods/update-methods.ts'
import { readIds } from '../../../server/parameters.ts'
import { StoreFailure } from '../../../values/failure.ts'
import { resultItem } from '../../../values/result-item.ts'
import { orderFigures } from '../../order-figures.ts'
import { bulkPages } from './bulk.ts'
import { lookUpLines } from './form-lines.ts'
import { textsOf } from './listing.ts'
import { formField, formLabels, orderOf } from './order-form.ts'
import { slipPages } from './slips.ts'
import { timelineOf } from './timeline.ts'

/** Adds the pages of the store's orders beside those of its records: one order, several at once, slips, and placing an order manually. */
export function orderPages(app: FastifyInstance, services: CallerServices): void {
  const { post, page, form } = pagesFor(app, 'merchant')

  bulkPages(app, services)
  slipPages(app, services)
  page('/admin/orders/new', (request) => newOrderPage(request, services, {}))
  page('/admin/orders/:id', (request) => orderPage(request, services))

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

async function newOrderPage(request: FastifyRequest, services: CallerServices, form: Form): Promise<Page> {
  const caller = merchantCaller(request, services)
  const methods = (await listPaymentMethods(services.db, caller.store.id)).filter(({ visible }) => visible)
  const paymentMethods = [['', 'Not chosen'], ...methods.map(({ id, name }) => [id, name])]
  const { lines, values } = await lookUpLines(caller, form)
  // A new key each time the form is shown.
  const oneTimeKey = randomUUID()
  const data = { lines, linesMax: ORDER_ITEMS_MAX, labels: formLabels(lines), oneTimeKey, paymentMethods }
  return { template: '/pages/admin/orders/new', title: 'New order', values, data }
}

async function orderPage(request: FastifyRequest, services: CallerServices): Promise<Page> {
  const { id } = readIds(request.params, 'id')
  const caller = merchantCaller(request, services)
  const order = JSON.parse(await getRecord(caller, orders, id))
  const statuses = await listStatuses(services.db, caller.store.id)
  const statusText = textsOf(statuses)
  return {
    template: '/pages/admin/orders/order',
    title: `Order ${order.InvoiceNumberPrefix}${order.InvoiceNumber}`,
    values: { OrderStatusID: String(order.OrderStatusID) },
    data: {
      order,
      figures: orderFigures(order),
      statuses,
      statusText,
      timeline: await timelineOf(caller, id, statusText),
    },
  }
}

/**
 * Places the order of a form and returns its id. For a form resubmitted unchanged with its one-time key, returns the
 * order it placed. Throws `conflict` if the form was changed meanwhile, and `in-progress` while it is being placed.
 */
async function placeOnce(caller: Caller, form: Form, body: unknown): Promise<number> {
  const key = textIn(form, 'OneTimeKey')
  if (key === '') return (await placeOrder(caller, body)).id
  const formHash = hash(JSON.stringify(form))
  // The claim covers only the key, because a rejected form is corrected and resubmitted with the same key.
  const claim = await claimRequest(caller, { scope: hash(`order form ${key}`), bodyHash: '' })
  if (claim.kind === 'answered') {
    const placed = claim.attempt.stored.get(0)
    if (placed?.Message === formHash) return Number(placed.Value)
    const advice = 'If you want to place this one too, press the button again'
    throw new StoreFailure('conflict', `This form has placed an order already. ${advice}`)
  }
  const message = 'This order is being placed. It appears in the list of orders in a moment'
  if (claim.kind !== 'ours') throw new StoreFailure('in-progress', message)
  const { attempt } = claim
  try {
    const itemOf = ({ id }: PlacedOrder) => resultItem('OrderID', id, 201, formHash)
    return (await placeOrder(caller, body, { attempt, place: 0, records: 1, itemOf })).id
  } catch (error) {
    await endAttempt(caller, attempt)
    const isInProgress = error instanceof StoreFailure && error.kind === 'in-progress'
    throw isInProgress ? new StoreFailure('in-progress', message) : error
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
