import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Actor } from '../../../../access/audit/audit.ts'
import { type MailConfig, mailsAre, writeMail } from '../../../../access/mail/write.ts'
import { emailInput } from '../../../../access/people/passwords.ts'
import type { AccessServices } from '../../../../access/stores/access-changes.ts'
import { inTransaction } from '../../../../foundation/database/client.ts'
import { localeTags } from '../../../../foundation/texts/language.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../../../foundation/values/input.ts'
import { type ComposingServices, compose } from '../../../../shop/resources/order-mails/compose.ts'
import { causedKinds, placeholders } from '../../../../shop/resources/order-mails/kinds.ts'
import { lengthMax, proofOf, saveMails, saveReplyTo } from '../../../../shop/resources/order-mails/settings.ts'
import { readTexts, textTags, usualTexts } from '../../../../shop/resources/order-mails/texts.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, localeOf, merchantOf, textIn } from '../../../html/request.ts'
import { type PageRequest, type Sent, storePages } from '../../frame/pages.ts'
import { mailKindTitles } from '../../records/order-words.ts'
import { savedPage, saveRows } from './saved-page.ts'

export type MailSettingsServices = AccessServices & ComposingServices & { readonly config: MailConfig }

const address = '/admin/settings/mails'
const languages = [
  ['en', t('English')],
  ['de', t('German')],
]

const answering = namedObject({ ReplyTo: emailInput })

/** Adds the page of the mails that customers get, with a preview of each, and of the address to which they answer. */
export function mailSettingsPages(app: FastifyInstance, services: MailSettingsServices): void {
  savedPage(app, services, { privilege: 'Settings', path: address, pageOf: mailsPage, save })
  const reading = storePages(adminPages(app, ['Settings', 'read'], ['Orders', 'read'], ['Customers', 'read']), services)
  reading.page(`${address}/preview`, (asked) => previewPage(asked, services))
  const { form } = storePages(adminPages(app, ['Settings', 'write']), services)
  const again = (asked: PageRequest) => mailsPage(asked, services)
  form(`${address}/reply-to`, again, (asked, { request }) => replyTo(asked, services, request))
  const trying = storePages(adminPages(app, ['Settings', 'write'], ['Orders', 'read'], ['Customers', 'read']), services)
  const show = (asked: PageRequest) => previewPage(asked, services)
  trying.form(`${address}/preview`, show, (asked, { request }) => sendTest(asked, services, request))
}

async function mailsPage({ caller, query }: PageRequest, { config }: MailSettingsServices): Promise<HtmlPage> {
  const [store, texts] = await Promise.all([
    caller.db.store.findUniqueOrThrow({ where: { id: caller.store.id } }),
    readTexts(caller.db, caller.store.id),
  ])
  const written = texts.map(({ kind, locale, subject, body }) => ({
    [`Subject.${kind}.${locale}`]: subject,
    [`Body.${kind}.${locale}`]: body,
  }))
  const isOn = store.orderMails.map((kind) => [`On.${kind}`, 'yes'])
  return {
    template: '/pages/shop/settings/mails',
    title: t('Mails to customers'),
    values: Object.assign({ ReplyTo: store.mailReplyTo, ...Object.fromEntries(isOn) }, ...written),
    data: {
      kinds: causedKinds.map((kind) => ({ kind, title: mailKindTitles[kind], placeholders: placeholders[kind] })),
      languages,
      mailsAre: mailsAre(config),
      sender: config.mailFrom?.address,
      proved: { address: textIn(query, 'ReplyTo'), proof: textIn(query, 'proof') },
      lengthMax,
    },
  }
}

function save({ caller, typed }: Sent<PageRequest>, actor: Actor, services: MailSettingsServices) {
  const kinds = causedKinds.filter((kind) => typed[`On.${kind}`] !== undefined)
  const rows = usualTexts.map(({ kind, locale }) => {
    const key = `${kind}.${locale}`
    return { key, Subject: typed[`Subject.${key}`], Body: typed[`Body.${key}`] }
  })
  return saveRows(rows, (texts) => saveMails(services, caller.store.id, kinds, texts, actor))
}

/** Has a link sent to the address, or takes the one that such a link has proved. */
async function replyTo({ caller, typed }: Sent<PageRequest>, services: MailSettingsServices, request: FastifyRequest) {
  const { id: storeId, name: storeName } = caller.store
  const [given, proof] = [textIn(typed, 'ReplyTo').trim(), textIn(typed, 'proof')]
  if (proof !== '' || given === '') {
    await saveReplyTo(services, storeId, { address: given, proof }, actorOf(request))
    return `${address}?notice=settings-saved`
  }
  const { ReplyTo: to } = readInput(answering, { ReplyTo: given })
  const expiresAt = new Date(services.now().getTime() + 86_400_000)
  const proved = new URLSearchParams({ ReplyTo: to, proof: proofOf(services, storeId, to, expiresAt) })
  const data = { storeName, link: `${address}?${proved}`, expiresAt } as const
  const mail = { kind: 'reply-to', data, to, storeId, causedBy: request.ip, locale: localeOf(request) } as const
  const isWritten = await inTransaction(caller.db, (tx) => writeMail(tx, services, mail))
  if (!isWritten) throw new StoreFailure('invalid-state', 'This server cannot send mail')
  return `${address}?notice=reply-to-mailed`
}

/** What is asked for: a kind in a language, of the newest order or of that with a number. */
async function letterOf({ caller, query, typed }: PageRequest, services: MailSettingsServices) {
  const [kind, tag, order = ''] = ['kind', 'language', 'order'].map((name) => textIn(typed ?? query, name).trim())
  const values = {
    kind: causedKinds.find((each) => each === kind) ?? ('order-placed' as const),
    language: textTags.find((each) => each === tag) ?? 'en',
    order,
  }
  const numbered = order && { invoiceNumber: Number(/\d{1,9}$/.exec(order)?.[0] ?? 0) }
  const where = { storeId: caller.store.id, ...numbered }
  const found = await caller.db.order.findFirst({ where, orderBy: { id: 'desc' }, select: { id: true } })
  // The texts of a language are tried out in its first locale.
  const locale = localeTags.find((each) => each.startsWith(values.language))
  const told = found && { kind: values.kind, orderId: found.id, aboutId: null, locale }
  return { values, letter: told && (await compose(services, caller, told)) }
}

async function previewPage(asked: PageRequest, services: MailSettingsServices): Promise<HtmlPage> {
  const { letter, values } = await letterOf(asked, services)
  const kinds = causedKinds.map((kind) => [kind, mailKindTitles[kind]])
  const data = { letter, kinds, languages, canSend: mailsAre(services.config) !== 'none' }
  return { template: '/pages/shop/settings/mail-preview', title: t('Preview of a mail'), values, data }
}

async function sendTest(asked: Sent<PageRequest>, services: MailSettingsServices, request: FastifyRequest) {
  const { letter, values } = await letterOf(asked, services)
  if (letter === null) throw new StoreFailure('not-found', 'There is no such order')
  const { email: to, identityId } = merchantOf(request)
  const about = { to, identityId, storeId: asked.caller.store.id, causedBy: request.ip }
  const mail = { kind: 'order-test', ready: letter, ...about } as const
  await inTransaction(asked.caller.db, (tx) => writeMail(tx, services, mail))
  return `${address}/preview?${new URLSearchParams({ ...values, notice: 'test-mail-written' })}`
}
