import type { FastifyInstance } from 'fastify'
import type { Secrets } from '../../../../foundation/values/secrets.ts'
import { adminPages } from '../../../html/page-routes.ts'
import type { CallerServices } from '../../../html/request.ts'
import { bulkPages } from './bulk.ts'
import { addressPages } from './change-addresses.ts'
import { goodsPages } from './change-goods.ts'
import { sendLines } from './lines-file.ts'
import { newOrderPages } from './new-order.ts'
import { newReturnPages } from './new-return.ts'
import { orderPage } from './order-page.ts'
import { receivePages } from './receive-return.ts'
import { paymentPages } from './record-payment.ts'
import { shippingPages } from './shipping.ts'
import { slipPages } from './slips.ts'
import { voidPages } from './void-transaction.ts'

/** Adds the pages of the store's orders beside those of its records: one order, several at once, slips, and placing an order manually. */
export function orderPages(app: FastifyInstance, services: CallerServices & { readonly secrets: Secrets }): void {
  orderPage(app, services)
  shippingPages(app, services)
  goodsPages(app, services)
  addressPages(app, services)
  paymentPages(app, services)
  voidPages(app, services)
  newReturnPages(app, services)
  receivePages(app, services)
  bulkPages(app, services)
  slipPages(app, services)
  adminPages(app, ['Orders', 'read']).get('/admin/orders/lines.csv', (request, reply) =>
    sendLines(request, reply, services),
  )
  newOrderPages(app, services)
}
