import type { DataServices } from '../../database/client.ts'
import type { HtmlPage } from '../../html/page.ts'
import type { MailKind } from '../../mail/kinds.ts'
import { mailsAre } from '../../mail/write.ts'
import type { Config } from '../../process/settings.ts'
import { type Text, t } from '../../texts/text.ts'

// What waits to leave the server, or did not: deliveries by receiver, and mails.

const WEBHOOKS_MAX = 5_000
const RECEIVERS_SHOWN = 200
const MAILS_SHOWN = 100
const COUNTED_MAX = 10_000

/** What mails are about. */
const kinds: Readonly<Record<MailKind, Text>> = {
  invitation: t('Invitation'),
  reset: t('Link for a new password'),
  'password-changed': t('Password changed'),
  'new-browser': t('New sign-in'),
  'customer-link': t('Sign-in link of a customer'),
  'address-change': t('Confirmation of a new address'),
  'address-changed': t('E-mail address changed'),
  'factor-changed': t('Second factor changed'),
  'factor-ending': t('Second factors end'),
  alert: t('Alert'),
}

/** Those that are shown. */
const states: Readonly<Record<string, Text>> = {
  waiting: t('waiting'),
  bounced: t('refused by the receiver'),
  failed: t('given up'),
}

interface Receiver {
  readonly host: string
  readonly webhooks: number
  readonly stores: number
  readonly pending: number
  readonly failing: number
  readonly paused: number
  readonly oldest: Date | null
}

/** The receivers that wait or fail, without those of test stores, those with the oldest delivery first; of the host alone, because an address may hold a secret. */
export async function deliveriesPage({ db, now }: DataServices): Promise<HtmlPage> {
  const receivers = await db.$queryRaw<Receiver[]>`
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
      LIMIT ${WEBHOOKS_MAX}
    )
    SELECT substring("url" FROM '^[a-z]+://(?:[^/@]*@)?([^/?#]*)') AS "host", count(*)::int AS "webhooks",
      count(DISTINCT "storeId")::int AS "stores", sum("count")::int AS "pending",
      count(*) FILTER (WHERE "failingSince" IS NOT NULL)::int AS "failing", count(*) FILTER (WHERE "pauseReason" IS NOT NULL)::int AS "paused",
      min("oldest") AS "oldest"
    FROM "troubled" GROUP BY 1 ORDER BY min("oldest") NULLS LAST, 1 LIMIT ${RECEIVERS_SHOWN}`
  return {
    template: '/pages/operator/deliveries',
    title: t('Deliveries'),
    data: { receivers, now: now() },
  }
}

/** The numbers of mails by state, each counted up to 10,000. */
export async function mailCounts({ db }: Pick<DataServices, 'db'>): Promise<Readonly<Record<string, number>>> {
  const states = ['waiting', 'bounced', 'failed'] as const
  const counts = states.map((state) => db.mail.count({ where: { state }, take: COUNTED_MAX }))
  const [waiting = 0, bounced = 0, failed = 0] = await Promise.all(counts)
  return { waiting, bounced, failed }
}

/** The mails that wait, bounced or were given up, the newest first. What they say is shown to nobody: it holds links that open accounts. */
export async function mailsPage({
  db,
  now,
  config,
}: DataServices & { config: Pick<Config, 'smtpUrl' | 'sandbox'> }): Promise<HtmlPage> {
  const mails = await db.mail.findMany({
    where: { state: { in: ['waiting', 'bounced', 'failed'] } },
    select: { id: true, kind: true, recipient: true, state: true, reason: true, attempts: true, createdAt: true },
    orderBy: { id: 'desc' },
    take: MAILS_SHOWN,
  })
  const data = { mails, kinds, states, counts: await mailCounts({ db }), mailsAre: mailsAre(config), now: now() }
  return { template: '/pages/operator/mails', title: t('Mails'), data }
}
