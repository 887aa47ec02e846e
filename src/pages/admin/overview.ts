import type { FastifyInstance } from 'fastify'
import { DateTime } from 'luxon'
import type { CallerStore } from '../../engine/caller.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { type CallerServices, merchantOf } from '../../html/request.ts'
import { statusCancelled, statusNew, statusNotCompleted } from '../../resources/orders/statuses.ts'

/** The limit for counts over a whole store, so that they cost the same for any number of records. */
const COUNTED_MAX = 1_000

export function overviewPage(app: FastifyInstance, services: CallerServices): void {
  pagesFor(app, 'merchant').page('/admin', async (request) => {
    const figures = await overviewFigures(services, merchantOf(request).store)
    const data = { figures, countedMax: COUNTED_MAX, waitingStatusId: statusNew }
    return { template: '/pages/admin/overview', title: 'Overview', data }
  })
}

/**
 * Returns the figures of one store. Those of today and of the week (today and the six days before), in its time zone,
 * exclude cancelled and incomplete orders. Waiting orders, in the status New, and products out of stock are counted up to
 * `COUNTED_MAX` + 1. Paused webhooks were disabled by the platform; of failing ones the last attempt failed.
 *
 * Runs one statement; each of its figures is read from an index. For a LIMIT without an order, PostgreSQL assumes an
 * early end and may read the whole table. In the index's order it reads only the index (BETWEEN, because a single value
 * implies no order).
 */
async function overviewFigures({ db, now }: CallerServices, { id: storeId, timeZone }: CallerStore) {
  const today = DateTime.fromJSDate(now(), { zone: timeZone }).startOf('day')
  const firstDay = today.minus({ days: 6 }).toJSDate()
  const tomorrow = today.plus({ days: 1 }).toJSDate()
  const [figures] = await db.$queryRaw<object[]>`
    SELECT "todayCount", "todayAmount"::text, "weekCount", "weekAmount"::text,
      EXISTS (SELECT FROM "Order" WHERE "storeId" = ${storeId}) AS "hasOrders",
      (SELECT count(*)::int FROM (
        SELECT FROM "Order" WHERE "storeId" = ${storeId} AND "statusId" BETWEEN ${statusNew} AND ${statusNew}
        ORDER BY "statusId", "id" LIMIT ${COUNTED_MAX + 1}
      ) AS "waiting") AS "waitingCount",
      coalesce((
        SELECT "text" FROM "OrderStatus" WHERE "storeId" = ${storeId} AND "id" = ${statusNew}
      ), '') AS "waitingStatus",
      (SELECT count(*)::int FROM (
        SELECT FROM "Product" WHERE "storeId" = ${storeId} AND "stock" <= 0
        ORDER BY "stock", "id" LIMIT ${COUNTED_MAX + 1}
      ) AS "outOfStock") AS "outOfStockCount",
      (SELECT count(*)::int FROM "Subscription" WHERE "storeId" = ${storeId}) AS "applicationCount",
      (SELECT count(*)::int FROM "Webhook"
        WHERE "storeId" = ${storeId} AND NOT "enabled" AND "pauseReason" IS NOT NULL) AS "pausedCount",
      (SELECT count(*)::int FROM "Webhook"
        WHERE "storeId" = ${storeId} AND "enabled" AND "failingSince" IS NOT NULL) AS "failingCount"
    FROM (
      SELECT count(*) FILTER (WHERE "orderDate" >= ${today.toJSDate()})::int AS "todayCount",
        coalesce(sum("orderAmount") FILTER (WHERE "orderDate" >= ${today.toJSDate()}), 0) AS "todayAmount",
        count(*)::int AS "weekCount",
        coalesce(sum("orderAmount"), 0) AS "weekAmount"
      FROM "Order"
      WHERE "storeId" = ${storeId} AND "orderDate" >= ${firstDay} AND "orderDate" < ${tomorrow}
        AND "statusId" NOT IN (${statusCancelled}, ${statusNotCompleted})
    ) AS "week"`
  return figures
}
