import type { FastifyInstance } from 'fastify'
import type { Actor } from '../../../../access/audit/audit.ts'
import { type MailConfig, mailsAre, writeMail } from '../../../../access/mail/write.ts'
import { emailInput } from '../../../../access/people/passwords.ts'
import type { AccessServices } from '../../../../access/stores/access-changes.ts'
import { inTransaction } from '../../../../foundation/database/client.ts'
import type { Locale } from '../../../../foundation/texts/language.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../../../foundation/values/input.ts'
import { type ComposingServices, compose } from '../../../../shop/resources/order-mails/compose.ts'
import { type CausedKind, causedKinds, placeholders } from '../../../../shop/resources/order-mails/kinds.ts'
import {
  BODY_LENGTH_MAX,
  proofOf,
  SUBJECT_LENGTH_MAX,
  saveMails,
  saveReplyTo,
  storeTexts,
} from '../../../../shop/resources/order-mails/settings.ts'
import { readTexts, textTags } from '../../../../shop/resources/order-mails/texts.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, localeOf, merchantOf, textIn } from '../../../html/request.ts'
import { storePages } from '../../frame/pages.ts'
import type { PageRequest, Sent } from '../../frame/request.ts'
import { mailKindTitles } from '../../records/order-words.ts'
import { savedPage } from './saved-page.ts'

export type MailSettingsServices = AccessServices & ComposingServices & { readonly config: MailConfig }

const address = '/admin/settings/mails'
/** The texts of a language are tried out in its first locale. */
const languages: Readonly<Record<(typeof textTags)[number], Locale>> = { en: 'en-US', de: 'de-DE' }

const answering = namedObject({ ReplyTo: emailInput })

/** Adds the page of the mails that customers get, with a preview of each, and of the address to which they answer. */
export function mailSettingsPages(app: FastifyInstance, services: MailSettingsServices): void {
  savedPage(app, services, { privilege: 'Settings', path: address, pageOf: mailsPage, save })
  const reading = storePages(adminPages(app, ['Settings', 'read'], ['Orders', 'read'], ['Customers', 'read']), services)
  reading.page(`${address}/preview`, (asked) => previewPage(asked, services))
  const { form } = storePages(adminPages(app, ['Settings', 'write']), services)
  const again = (asked: PageRequest) => mailsPage(asked, services)
  form(`${address}/reply-to`, (asked, { request }) => replyTo(asked, services, request), again)
  const trying = storePages(adminPages(app, ['Settings', 'write'], ['Orders', 'read'], ['Customers', 'read']), services)
  const show = (asked: PageRequest) => previewPage(asked, services)
  trying.form(`${address}/preview`, (asked, { request }) => sendTest(asked, services, request), show)
}

async function mailsPage({ caller, query }: PageRequest, { config }: MailSettingsServices): Promise<HtmlPage> {
  const [store, textOf] = await Promise.all([
    caller.db.store.findUniqueOrThrow({ where: { id: caller.store.id } }),
    readTexts(caller.db, caller.store.id),
  ])
  const isOn = causedKinds.filter((kind) => store.orderMails.includes(kind))
  const texts = storeTexts.flatMap(({ kind, locale, end }) => {
    const { subject, body } = textOf(kind, locale)
    return [
      [`Subject${end}`, subject],
      [`Body${end}`, body],
    ]
  })
  const proof = Object.fromEntries(['address', 'until', 'code'].map((name) => [name, textIn(query, name)]))
  return {
    template: '/pages/shop/settings/mails',
    title: t('Mails to customers'),
    values: {
      ...Object.fromEntries(texts),
      ...Object.fromEntries(isOn.map((kind) => [`On.${kind}`, 'yes'])),
      ReplyTo: store.mailReplyTo,
    },
    data: {
      kinds: causedKinds.map((kind) => ({ kind, title: mailKindTitles[kind], placeholders: placeholders[kind] })),
      languages: [
        ['en', t('English')],
        ['de', t('German')],
      ],
      mailsAre: mailsAre(config),
      sender: config.mailFrom?.address,
      proof,
      lengthMax: { subject: SUBJECT_LENGTH_MAX, body: BODY_LENGTH_MAX },
    },
  }
}

function save({ caller, typed }: Sent<PageRequest>, actor: Actor, services: MailSettingsServices) {
  // Browsers do not send unticked boxes.
  const kinds = causedKinds.filter((kind) => typed[`On.${kind}`] !== undefined)
  return saveMails(services, caller.store.id, kinds, typed, actor)
}

type Request = Parameters<typeof actorOf>[0]

/** Has a link sent to the address, or takes the one that such a link has proved. */
async function replyTo(
  { caller, typed }: Sent<PageRequest>,
  services: MailSettingsServices,
  request: Request,
): Promise<string> {
  const { id: storeId, name: storeName } = caller.store
  const [code, until, given] = [textIn(typed, 'code'), textIn(typed, 'until'), textIn(typed, 'ReplyTo').trim()]
  if (code !== '' || given === '') {
    await saveReplyTo(services, storeId, { address: given, until, code }, actorOf(request))
    return `${address}?notice=settings-saved`
  }
  const { ReplyTo: to } = readInput(answering, { ReplyTo: given })
  const proof = proofOf(services, storeId, to)
  const data = {
    storeName,
    link: `${address}?${new URLSearchParams({ ...proof })}`,
    expiresAt: new Date(Number(proof.until)),
  } as const
  const about = { to, storeId, causedBy: request.ip, locale: localeOf(request) }
  const isWritten = await inTransaction(caller.db, (tx) =>
    writeMail(tx, services, { kind: 'reply-to', data, ...about }),
  )
  if (!isWritten) throw new StoreFailure('invalid-state', 'This server cannot send mail')
  return `${address}?notice=reply-to-mailed`
}

/** What is asked for: a kind in a language, of the newest order or of that with a number. */
async function letterOf(caller: Sent<PageRequest>['caller'], services: MailSettingsServices, asked: unknown) {
  const kind = causedKinds.find((each) => each === textIn(asked, 'kind')) ?? ('order-placed' satisfies CausedKind)
  const tag = textTags.find((each) => each === textIn(asked, 'language')) ?? 'en'
  const number = textIn(asked, 'order').trim()
  const numbered = number === '' ? {} : { invoiceNumber: Number(/\d{1,9}$/.exec(number)?.[0] ?? 0) }
  const where = { storeId: caller.store.id, ...numbered }
  const order = await caller.db.order.findFirst({ where, orderBy: { id: 'desc' }, select: { id: true } })
  const about = order && { kind, orderId: order.id, aboutId: null, locale: languages[tag] }
  return { kind, language: tag, order: number, letter: about && (await compose(services, caller, about)) }
}

async function previewPage({ caller, query, typed }: PageRequest, services: MailSettingsServices): Promise<HtmlPage> {
  const { letter, ...values } = await letterOf(caller, services, typed ?? query)
  const kinds = causedKinds.map((kind) => [kind, mailKindTitles[kind]])
  const data = {
    letter,
    kinds,
    languages: [
      ['en', t('English')],
      ['de', t('German')],
    ],
    canSend: mailsAre(services.config) !== 'none',
  }
  return { template: '/pages/shop/settings/mail-preview', title: t('Preview of a mail'), values, data }
}

async function sendTest(
  { caller, typed }: Sent<PageRequest>,
  services: MailSettingsServices,
  request: Request,
): Promise<string> {
  const { letter, ...values } = await letterOf(caller, services, typed)
  if (letter === null) throw new StoreFailure('not-found', 'There is no such order')
  const { email: to, identityId } = merchantOf(request)
  const mail = {
    kind: 'order-test',
    ready: letter,
    to,
    identityId,
    storeId: caller.store.id,
    causedBy: request.ip,
  } as const
  await inTransaction(caller.db, (tx) => writeMail(tx, services, mail))
  return `${address}/preview?${new URLSearchParams({ ...values, notice: 'test-mail-written' })}`
}
