import { billingNames } from '../../../../shop/resources/orders/buyer.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import type { RecordRequest } from '../../frame/request.ts'
import { pickValues, serviceOf } from '../../records/services.ts'
import { orderListing } from './listing.ts'

/** A request to a page of one order. */
export type OrderRequest = RecordRequest<OrderRecord>

/** Orders have a page of their own, which leads to that of all their fields, and are placed by a form of their own. */
export const orderService = serviceOf(orders, {
  recordPath: '/:id/fields',
  selection: { template: '/pages/shop/orders/selection', action: '/admin/orders/bulk/slips' },
  ...orderListing,
  isAddedElsewhere: true,
  emptyTemplate: '/pages/shop/orders/empty',
})

/** What an order's forms have of the billing address, in the order of its pages. */
export const billingValues = pickValues(
  { values: orderService.sections.flatMap(({ values }) => values) },
  ...billingNames,
)

/** The page of a return leads to the one of its order, where it is received. */
export const returnService = serviceOf(rma, { ownPage: '/pages/shop/orders/return-link' })
