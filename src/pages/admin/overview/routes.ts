import type { FastifyInstance } from 'fastify'
import { refusedSubscriptions } from '../../../applications/call-log.ts'
import type { DataServices } from '../../../database/client.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { merchantOf } from '../../../html/request.ts'
import { brokenWebhooks } from '../../../webhooks/status.ts'
import { readSales } from './sales.ts'
import { chartOf } from './sales-chart.ts'
import { COUNTED_MAX, readBeginnings, readLowStock, readWaiting } from './work.ts'

/**
 * Adds the page that a merchant opens first: sales, waiting orders, low stock and what fails. Each statement is served
 * by an index and reads a bounded number of rows, so that the page takes as long with a million orders as with a few.
 */
export function overviewPage(app: FastifyInstance, services: Pick<DataServices, 'db' | 'now'>): void {
  adminPages(app).page('/admin', async (request) => {
    const { store } = merchantOf(request)
    const [sales, waiting, lowStock, applications, webhooks, beginnings] = await Promise.all([
      readSales(services, store),
      readWaiting(services, store),
      readLowStock(services, store),
      refusedSubscriptions(services, store.id),
      brokenWebhooks(services, store.id),
      readBeginnings(services, store),
    ])
    const data = { sales, chart: chartOf(sales.days), waiting, lowStock, applications, webhooks, beginnings }
    return {
      template: '/pages/admin/overview/overview',
      title: 'Overview',
      data: { ...data, countedMax: COUNTED_MAX, now: services.now() },
    }
  })
}
