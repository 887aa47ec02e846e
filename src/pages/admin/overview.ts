import type { FastifyInstance } from 'fastify'
import { sendPage } from '../../html/page.ts'
import { merchantOf } from '../../html/principals.ts'
import { statusNew } from '../../resources/orders/statuses.ts'
import { routesFor } from '../../server/roles.ts'
import { COUNTED_MAX, type FigureServices, overviewFigures } from './overview-figures.ts'

/** What a merchant sees first: how the store does, and what waits. */
export async function overviewRoutes(app: FastifyInstance, services: FigureServices) {
  const { get } = routesFor(app, 'merchant')
  get('/admin', async (request, reply) => {
    const { store } = merchantOf(request)
    const figures = await overviewFigures(services, store)
    return sendPage(reply, {
      template: '/pages/admin/overview',
      title: 'Overview',
      data: { store, figures, countedMax: COUNTED_MAX, waitingStatusId: statusNew },
    })
  })
}
