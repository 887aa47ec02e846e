import { queryRows, type Transaction } from '../../../foundation/database/client.ts'
import type { DatabaseFigures } from '../../../foundation/database/figures.ts'
import { isOpenStore } from '../../../foundation/database/open-stores.ts'
import { constant, sql } from '../../../foundation/database/sql.ts'

/** Further rows are not counted. */
const COUNTED_MAX = 10_000
/** Webhooks with waiting deliveries that are looked at, a step through the index each. */
const WEBHOOKS_MAX = 5_000

/** How far notifications are behind, and what keeps them. */
export const dispatchFigures: DatabaseFigures = {
  gauges: {
    webhook_numbering_lag_seconds: {
      help: 'Age of the oldest event that has no place in its feed yet, so that nobody is notified of it; 0: there is none',
    },
    webhook_unnumbered_events: { help: `Events without a place in their feed, counted up to ${COUNTED_MAX}` },
    webhook_delivery_lag_seconds: {
      help: 'How long the longest waiting delivery has been due, without those of test stores and closed ones, by what its receiver did last: answering, failing. 0: none is due',
      labelNames: ['receiver'],
    },
    webhook_pending_deliveries: { help: `Deliveries that are not over, counted up to ${COUNTED_MAX}` },
    webhook_endpoints: {
      help: 'Webhooks by state, without those of test stores: enabled; failing (enabled, and its last attempt failed); paused (by the platform, after failures); disabled (by somebody)',
      labelNames: ['state'],
    },
  },
  ask: async (tx, show, at) => {
    const lag = (since: Date | null | undefined) => (since ? Math.max(0, at.getTime() - since.getTime()) / 1_000 : 0)
    const events = await unnumbered(tx)
    show('webhook_numbering_lag_seconds', lag(events?.oldest))
    show('webhook_unnumbered_events', events?.count ?? 0)
    const due = await longestDue(tx)
    show('webhook_delivery_lag_seconds', lag(due?.answering), { receiver: 'answering' })
    show('webhook_delivery_lag_seconds', lag(due?.failing), { receiver: 'failing' })
    show('webhook_pending_deliveries', due?.pending ?? 0)
    for (const [state, count] of Object.entries(await webhooksByState(tx))) show('webhook_endpoints', count, { state })
  },
}

async function unnumbered(tx: Transaction) {
  const [found] = await queryRows<{ oldest: Date | null; count: number }>(tx)`
    SELECT (SELECT "createdAt" FROM "Event" WHERE "sequence" IS NULL ORDER BY "id" LIMIT 1) AS "oldest",
      (SELECT count(*)::int FROM (
        SELECT FROM "Event" WHERE "sequence" IS NULL LIMIT ${constant(COUNTED_MAX)}
      ) AS "some") AS "count"`
  return found
}

/** A skip scan from webhook to webhook, so that a queue behind a dead receiver costs one step (`findDue`). */
async function longestDue(tx: Transaction) {
  const [found] = await queryRows<{ answering: Date | null; failing: Date | null; pending: number }>(tx)`
    WITH RECURSIVE "waiting" ("storeId", "webhookId", "dueAt") AS (
      (
        SELECT "storeId", "webhookId", "dueAt" FROM "Delivery" WHERE "state" = 'pending'
        ORDER BY "storeId", "webhookId", "dueAt" LIMIT 1
      )
      UNION ALL
      SELECT "next".* FROM "waiting" CROSS JOIN LATERAL (
        SELECT "storeId", "webhookId", "dueAt" FROM "Delivery"
        WHERE "state" = 'pending' AND ("storeId", "webhookId") > ("waiting"."storeId", "waiting"."webhookId")
        ORDER BY "storeId", "webhookId", "dueAt" LIMIT 1
      ) AS "next"
    )
    SELECT min("dueAt") FILTER (WHERE NOT "isFailing") AS "answering", min("dueAt") FILTER (WHERE "isFailing") AS "failing",
      (SELECT count(*)::int FROM (
        SELECT FROM "Delivery" WHERE "state" = 'pending' LIMIT ${constant(COUNTED_MAX)}
      ) AS "some") AS "pending"
    FROM (SELECT * FROM "waiting" LIMIT ${constant(WEBHOOKS_MAX)}) AS "some" CROSS JOIN LATERAL (
      SELECT "failingSince" IS NOT NULL AS "isFailing" FROM "Webhook"
      WHERE "Webhook"."storeId" = "some"."storeId" AND "Webhook"."id" = "some"."webhookId" OFFSET 0
    ) AS "webhook"
    WHERE NOT EXISTS (SELECT FROM "TestStore" WHERE "TestStore"."storeId" = "some"."storeId")
      AND ${isOpenStore(sql`"some"."storeId"`)}`
  return found
}

type States = Record<'enabled' | 'failing' | 'paused' | 'disabled', number>

/** Reads the whole table, which has a row for each webhook that somebody has set up. */
async function webhooksByState(tx: Transaction): Promise<States> {
  const [found] = await queryRows<States>(tx)`
    SELECT count(*) FILTER (WHERE "enabled" AND "failingSince" IS NULL)::int AS "enabled",
      count(*) FILTER (WHERE "enabled" AND "failingSince" IS NOT NULL)::int AS "failing",
      count(*) FILTER (WHERE NOT "enabled" AND "pauseReason" IS NOT NULL)::int AS "paused",
      count(*) FILTER (WHERE NOT "enabled" AND "pauseReason" IS NULL)::int AS "disabled"
    FROM "Webhook" WHERE NOT EXISTS (SELECT FROM "TestStore" WHERE "TestStore"."storeId" = "Webhook"."storeId")`
  return found ?? { enabled: 0, failing: 0, paused: 0, disabled: 0 }
}
