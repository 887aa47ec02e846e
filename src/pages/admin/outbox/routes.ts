import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { DataServices } from '../../../database/client.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { merchantOf, textIn } from '../../../html/request.ts'
import { findMail, listMails, type OutboxReader } from '../../../mail/outbox.ts'
import { type MailConfig, mailsAre } from '../../../mail/write.ts'
import { privilegesOf } from '../../../staff/roles.ts'
import { t } from '../../../texts/text.ts'
import { StoreFailure } from '../../../values/failure.ts'
import { INT32_MAX } from '../../../values/int32.ts'

export type OutboxServices = DataServices & { readonly config: MailConfig }

const MAILS_SHOWN = 50

/** Adds the pages of the mails that the store has caused, as far as a person may read them. */
export function outboxPages(app: FastifyInstance, services: OutboxServices): void {
  const { page } = adminPages(app)
  page('/admin/outbox', (request) => outboxPage(request, services))
  page('/admin/outbox/:id', (request) => mailPage(request, services))
}

async function outboxPage(request: FastifyRequest, { db, config }: OutboxServices): Promise<HtmlPage> {
  const before = numberIn(textIn(request.query, 'before'))
  // Reads one more than is shown, to detect older mails.
  const found = await listMails(db, readerOf(request), { limit: MAILS_SHOWN + 1, before })
  const mails = found.slice(0, MAILS_SHOWN)
  const older = found.length > MAILS_SHOWN ? `/admin/outbox?before=${mails.at(-1)?.id}` : null
  const data = { mails, older, isFirst: before === undefined, mailsAre: mailsAre(config) }
  return { template: '/pages/admin/outbox/outbox', title: t('Outbox'), data }
}

async function mailPage(request: FastifyRequest, services: OutboxServices): Promise<HtmlPage> {
  const { publicUrl } = services.config
  const id = numberIn(textIn(request.params, 'id'))
  const mail = id === undefined ? null : await findMail(services, readerOf(request), id)
  if (mail === null) throw new StoreFailure('not-found', 'There is no such mail', { field: 'id' })
  const lines = mail.text?.trimEnd().split('\n') ?? []
  const text = lines.map((line) => ({ line, isLink: line.startsWith(`${publicUrl}/`) && !line.includes(' ') }))
  return { template: '/pages/admin/outbox/mail', title: mail.subject, data: { mail, text } }
}

function readerOf(request: FastifyRequest): OutboxReader {
  const merchant = merchantOf(request)
  return { email: merchant.email, storeId: privilegesOf(merchant) === null ? merchant.store.id : null }
}

function numberIn(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) && Number(text) <= INT32_MAX ? Number(text) : undefined
}
