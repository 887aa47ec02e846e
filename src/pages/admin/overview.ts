import type { FastifyInstance } from 'fastify'
import { pagesFor } from '../../html/page-routes.ts'
import { type CallerServices, merchantOf } from '../../html/principals.ts'
import { statusNew } from '../../resources/orders/statuses.ts'
import { COUNTED_MAX, overviewFigures } from './overview-figures.ts'

/** Adds the merchant's start page: the store's figures and open tasks. */
export async function overviewRoutes(app: FastifyInstance, services: CallerServices) {
  pagesFor(app, 'merchant').page('/admin', async (request) => {
    const { store } = merchantOf(request)
    const figures = await overviewFigures(services, store)
    return {
      template: '/pages/admin/overview',
      title: 'Overview',
      data: { store, figures, countedMax: COUNTED_MAX, waitingStatusId: statusNew },
    }
  })
}
