import { t } from '../../../../foundation/texts/text.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import { serviceOf } from '../../records/services.ts'
import { orderListing } from './listing.ts'

/** Orders have a page of their own, which leads to that of all their fields, and are placed by a form of their own. */
export const orderService = serviceOf(orders, {
  recordPath: '/:id/fields',
  selection: { template: '/pages/shop/orders/selection', action: '/admin/orders/bulk/slips' },
  listing: orderListing,
  isAddedElsewhere: true,
  emptyTemplate: '/pages/shop/orders/empty',
})

/** The page of a return leads to the one of its order, where it is received. */
export const returnService = serviceOf(rma, {
  ownPage: ({ OrderID, RMAID }) =>
    OrderID
      ? {
          address: `/admin/orders/${OrderID}/returns/${RMAID}`,
          route: 'GET /admin/orders/:id/returns/:rmaId',
          text: t('Receive and restock this return'),
        }
      : null,
})
