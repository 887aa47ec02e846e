import type { FastifyRequest } from 'fastify'
import { listMailboxMails, type OutboxServices } from '../../../access/mail/outbox.ts'
import { mailsAre } from '../../../access/mail/write.ts'
import type { DataServices } from '../../../foundation/database/client.ts'
import { isOpenStore } from '../../../foundation/database/open-stores.ts'
import { sql } from '../../../foundation/database/sql.ts'
import { t } from '../../../foundation/texts/text.ts'
import type { HtmlPage } from '../../html/page.ts'
import { listedIn } from './lists.ts'

// What waits to leave the server, or did not: deliveries by receiver, and mails.

const WEBHOOKS_MAX = 5_000
const RECEIVERS_SHOWN = 200
const MAILS_SHOWN = 100
const COUNTED_MAX = 10_000

/** Those that are shown. */
const states = { waiting: t('waiting'), bounced: t('refused by the receiver'), failed: t('given up') } as const
const stateNames = Object.keys(states) as (keyof typeof states)[]

/** The receivers that wait or fail, without those of test stores and closed ones, those with the oldest delivery first; of the host alone, because an address may hold a secret. */
export async function deliveriesPage({ db, now }: DataServices): Promise<HtmlPage> {
  const receivers = await db.$queryRaw`
    WITH "troubled" AS (
      SELECT "Webhook".*, "waiting"."count", "waiting"."oldest" FROM "Webhook"
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS "count", min("dueAt") AS "oldest" FROM (
          SELECT "dueAt" FROM "Delivery"
          WHERE "state" = 'pending' AND "Delivery"."storeId" = "Webhook"."storeId" AND "webhookId" = "Webhook"."id"
          LIMIT ${COUNTED_MAX}
        ) AS "some"
      ) AS "waiting"
      WHERE ("waiting"."count" > 0 OR "failingSince" IS NOT NULL OR "pauseReason" IS NOT NULL)
        AND NOT EXISTS (SELECT FROM "TestStore" WHERE "TestStore"."storeId" = "Webhook"."storeId")
        AND ${isOpenStore(sql`"Webhook"."storeId"`)}
      LIMIT ${WEBHOOKS_MAX}
    )
    SELECT substring("url" FROM '^[a-z]+://(?:[^/@]*@)?([^/?#]*)') AS "host", count(*)::int AS "webhooks",
      count(DISTINCT "storeId")::int AS "stores", sum("count")::int AS "pending",
      count(*) FILTER (WHERE "failingSince" IS NOT NULL)::int AS "failing", count(*) FILTER (WHERE "pauseReason" IS NOT NULL)::int AS "paused",
      min("oldest") AS "oldest"
    FROM "troubled" GROUP BY 1 ORDER BY min("oldest") NULLS LAST, 1 LIMIT ${RECEIVERS_SHOWN}`
  return { template: '/pages/operator/deliveries', title: t('Deliveries'), data: { receivers, now: now() } }
}

/** The numbers of mails by state, each counted up to 10,000. */
export async function mailCounts({ db }: Pick<DataServices, 'db'>): Promise<Readonly<Record<string, number>>> {
  const counts = stateNames.map(async (state) => {
    return [state, await db.mail.count({ where: { state }, take: COUNTED_MAX })] as const
  })
  return Object.fromEntries(await Promise.all(counts))
}

/**
 * The mails that wait, bounced or were given up, the newest first. What they say is shown to nobody: it holds links that open accounts.
 * Only in a sandbox that sends none, the page shows those with such links.
 */
export async function mailsPage(request: FastifyRequest, services: DataServices & OutboxServices): Promise<HtmlPage> {
  const { db, now, config } = services
  const { part, shown } = listedIn(request, '/operator/mails')
  const unsent = await listMailboxMails(services, { limit: part.take, offset: part.skip })
  const mails = await db.mail.findMany({
    where: { state: { in: stateNames } },
    select: { id: true, subject: true, recipient: true, state: true, reason: true, attempts: true, createdAt: true },
    orderBy: { id: 'desc' },
    take: MAILS_SHOWN,
  })
  const counts = await mailCounts({ db })
  const data = { ...shown(unsent), states, mailsAre: mailsAre(config), mails, counts, now: now() }
  return { template: '/pages/operator/mails', title: t('Mails'), data }
}
