import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { customerOf } from '../../html/principals.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import type { SessionServices } from '../../people/sessions.ts'
import { readIds, wholeNumber } from '../../server/parameters.ts'
import { writeDate } from '../../values/dates.ts'
import { namedObject, readInput } from '../../values/input.ts'
import { INT32_MAX } from '../../values/int32.ts'
import {
  type Customer,
  type CustomerOrder,
  type CustomerOrderDetails,
  customerOrderDetails,
  listCustomerOrders,
} from './orders.ts'
import { customerSignInPages } from './sign-in.ts'

export type AccountServices = SessionServices

const PAGE_LENGTH = 20

const query = namedObject({ before: wholeNumber(1, INT32_MAX).optional(), notice: z.unknown().optional() })

/** Adds the pages and JSON routes for a store's customers: their orders, after sign-in with a link from the store. */
export async function accountRoutes(app: FastifyInstance, services: AccountServices): Promise<void> {
  customerSignInPages(app, services)
  const { get } = pagesFor(app, 'customer')
  get('/account', async (request, reply) => {
    const customer = customerOf(request)
    const { before } = readInput(query, request.query, 'The query')
    // Reads one more than it shows, to detect older orders.
    const found = await listCustomerOrders(services, customer, { limit: PAGE_LENGTH + 1, before })
    const orders = found.slice(0, PAGE_LENGTH)
    const last = found.length > PAGE_LENGTH ? orders.at(-1) : undefined
    const older = last ? `/account?before=${last.id}` : null
    if (!wantsHtml(request)) {
      if (older !== null) reply.header('link', `<${older}>; rel="next"`)
      return orders.map((order) => orderRecord(order, customer))
    }
    return sendPage(reply, {
      template: '/pages/account/orders',
      title: `Your orders · ${customer.store.name}`,
      data: { orders, older, isFirst: before === undefined, store: customer.store },
    })
  })

  get('/account/orders/:id', async (request, reply) => {
    const customer = customerOf(request)
    const { id } = readIds(request.params, 'id')
    const order = await customerOrderDetails(services, customer, id)
    if (!wantsHtml(request)) return detailsRecord(order, customer)
    return sendPage(reply, {
      template: '/pages/account/order',
      title: `Order ${order.invoice} · ${customer.store.name}`,
      data: { order, store: customer.store },
    })
  })
}

function orderRecord({ id, invoice, date, status, total }: CustomerOrder, { store }: Customer) {
  return {
    OrderID: id,
    InvoiceNumber: invoice,
    OrderDate: writeDate(date, store.timeZone),
    OrderStatus: status,
    OrderAmount: total,
    Currency: store.currency,
  }
}

function detailsRecord(order: CustomerOrderDetails, customer: Customer) {
  return {
    ...orderRecord(order, customer),
    Subtotal: order.subtotal,
    ShippingCost: order.shipping,
    OrderDiscount: order.discount,
    SalesTax: order.tax,
    CustomerComments: order.comments,
    OrderItemList: order.lines.map(({ sku, name, choices, quantity, unitPrice, amount }) => ({
      ItemID: sku,
      ItemDescription: [name, ...choices].join('\n'),
      ItemQuantity: quantity,
      ItemUnitPrice: unitPrice,
      ItemAmount: amount,
    })),
    ShipmentList: order.shipments.map(({ method, status, shippedDate, trackingCode, address }) => ({
      ShipmentMethodName: method,
      ShipmentStatus: status,
      ShipmentShippedDate: shippedDate,
      ShipmentTrackingCode: trackingCode,
      ShipmentAddress: address.join('\n'),
    })),
  }
}
