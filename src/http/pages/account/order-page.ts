import type { FastifyInstance, FastifyRequest } from 'fastify'
import { openStoreById } from '../../../access/stores/closing.ts'
import { shippingAddress } from '../../../foundation/texts/format.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { type OrderPageServices, orderOfPage, orderPagesSince } from '../../../shop/resources/orders/order-page.ts'
import { pageHeaders } from '../../html/guard.ts'
import { sendPage } from '../../html/page.ts'
import { type CallerServices, textIn, wantsHtml } from '../../html/request.ts'
import { plainHttpOfPages } from '../../server/requests/plain-http.ts'
import { detailsRecord, findOrder, orderPage } from './orders.ts'

export type OrderPageDoorServices = CallerServices &
  OrderPageServices & { readonly config: { readonly trustProxy: readonly string[] } }

const headers = {
  ...pageHeaders,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

/**
 * Adds the page of one order, for whoever has its address (`orderPageAddress`). It is outside the guard of pages: no session or cookie
 * is read or set, and nothing on it leads to an account. An address that is wrong, has ended or is of no order gets one answer (404), and one of a closed store another (403).
 */
export function orderPageDoor(app: FastifyInstance, services: OrderPageDoorServices): void {
  const { config, db, now } = services
  const plainHttpOf = plainHttpOfPages(config)
  app.addHook('onRequest', async (request, reply) => {
    const plainHttp = plainHttpOf(request)
    if (plainHttp?.canLeadOn) return reply.redirect(config.publicUrl + request.url)
    if (plainHttp) throw new StoreFailure('insecure-transport', plainHttp.fault)
  })
  // Of each answer, also where a refusal has headers of its own.
  app.addHook('onSend', async (_request, reply) => void reply.headers(headers))

  async function read(request: FastifyRequest) {
    const named = orderOfPage(services, textIn(request.params, 'token'))
    if (named === null) return null
    const store = await openStoreById(db, named.storeId)
    const orderDate = { gte: orderPagesSince(services, now()) }
    const order = await findOrder(services, store, { id: named.id, orderDate }, { shippingAddress: nameAndTown })
    return { ...order, comments: '' }
  }

  app.get('/order/:token', { config: { roles: ['anyone'] } }, async (request, reply) => {
    const order = await read(request).catch((error) => {
      if (error instanceof StoreFailure && error.code === 'not-found') return null
      throw error
    })
    if (order === null) {
      const message = 'There is no order at this address, or its page has ended. Ask the shop about your order'
      throw new StoreFailure('not-found', message)
    }
    if (!wantsHtml(request)) return detailsRecord(order)
    return sendPage(reply, await orderPage(order))
  })
}

/** Where the goods go, but not the whole address, because who has this page's address need not be who ordered. */
function nameAndTown(order: object, shipment: object | null): string[] {
  const part = (record: object) =>
    Object.fromEntries(
      Object.entries(record).filter(([name]) => /^(Billing|Shipment)(FirstName|LastName|City)$/.test(name)),
    )
  return shippingAddress(part(order), shipment && part(shipment))
}
