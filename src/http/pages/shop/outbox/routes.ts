import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findMail, listMails, type OutboxReader, type OutboxServices } from '../../../../access/mail/outbox.ts'
import { mailsAre } from '../../../../access/mail/write.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { INT32_MAX } from '../../../../foundation/values/int32.ts'
import { privilegesOf } from '../../../../shop/staff/roles.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { merchantOf, textIn } from '../../../html/request.ts'

const MAILS_SHOWN = 50

/** Adds the pages of the mails of a person, and of those to the store's customers. */
export function outboxPages(app: FastifyInstance, services: OutboxServices): void {
  const { page } = adminPages(app)
  page('/admin/outbox', (request) => outboxPage(request, services))
  page('/admin/outbox/:id', (request) => mailPage(request, services))
}

async function outboxPage(request: FastifyRequest, { db, config }: OutboxServices): Promise<HtmlPage> {
  const before = numberIn(textIn(request.query, 'before'))
  const found = await listMails(db, readerOf(request), { limit: MAILS_SHOWN + 1, before })
  const mails = found.slice(0, MAILS_SHOWN)
  const older = found.length > MAILS_SHOWN ? `/admin/outbox?before=${mails.at(-1)?.id}` : null
  const data = { mails, older, isFirst: before === undefined, mailsAre: mailsAre(config) }
  return { template: '/pages/shop/outbox/outbox', title: t('Outbox'), data }
}

async function mailPage(request: FastifyRequest, services: OutboxServices): Promise<HtmlPage> {
  const id = numberIn(textIn(request.params, 'id'))
  const mail = id === undefined ? null : await findMail(services, readerOf(request), id)
  if (mail === null) throw new StoreFailure('not-found', 'There is no such mail', { field: 'id' })
  return { template: '/pages/shop/outbox/mail', title: mail.subject, data: { mail } }
}

function readerOf(request: FastifyRequest): OutboxReader {
  const merchant = merchantOf(request)
  return { identityId: merchant.identityId, storeId: privilegesOf(merchant) === null ? merchant.store.id : null }
}

function numberIn(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) && Number(text) <= INT32_MAX ? Number(text) : undefined
}
