import type { FastifyInstance } from 'fastify'
import { refusedSubscriptions } from '../../../../access/applications/calls/call-log.ts'
import { allows, mayRead } from '../../../../access/applications/privileges.ts'
import { t } from '../../../../foundation/texts/text.ts'
import type { Privilege } from '../../../../shop/staff/roles.ts'
import { brokenWebhooks } from '../../../../shop/webhooks/status.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { type CallerServices, merchantCaller, merchantOf } from '../../../html/request.ts'
import { services as allServices } from '../../records/services.ts'
import { TO_BE_PAID } from '../orders/special.ts'
import { readThumbnails } from '../products/thumbnails.ts'
import { readSales } from './sales.ts'
import { chartOf, sparkOf } from './sales-chart.ts'
import { COUNTED_MAX, countToBePaid, readBeginnings, readLowStock, readWaiting, SOLD_ORDERS_MAX } from './work.ts'

/**
 * Adds the page that a merchant opens first: sales, waiting orders, low stock and what fails. Each statement is served
 * by an index and reads a bounded number of rows, so that the page takes as long with a million orders as with a few. Of each
 * part, only those learn something who may read what it is made of.
 */
export function overviewPage(app: FastifyInstance, services: CallerServices): void {
  adminPages(app).page('/admin', async (request) => {
    const caller = merchantCaller(request, services)
    const { store, privileges } = caller
    const may = (privilege: Privilege) => allows(privileges, privilege, 'read')
    const [sales, waiting, toBePaid, lowStock, applications, webhooks, beginnings] = await Promise.all([
      may('Orders') ? readSales(caller) : null,
      may('Orders') ? readWaiting(caller) : null,
      may('Orders') ? countToBePaid(caller) : 0,
      may('Products') ? readLowStock(caller) : null,
      may('Keys') ? refusedSubscriptions(services, store.id) : [],
      may('Webhooks') ? brokenWebhooks(services, store.id) : { paused: 0, failing: 0, webhooks: [] },
      readBeginnings(caller, merchantOf(request).identityId),
    ])
    const data = {
      now: services.now(),
      countedMax: COUNTED_MAX,
      soldOrdersMax: SOLD_ORDERS_MAX,
      sales,
      chart: sales && chartOf(sales.days),
      sparkOf,
      waiting,
      toBePaid,
      toBePaidPath: `/admin/orders?payment=${TO_BE_PAID}`,
      lowStock,
      thumbnailOf: await readThumbnails(caller, lowStock?.products ?? []),
      applications,
      webhooks,
      beginnings,
      lists: allServices.filter(({ resource }) => mayRead(privileges, resource)),
    }
    return { template: '/pages/shop/overview/overview', title: t('Overview'), data }
  })
}
