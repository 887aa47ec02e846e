import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { DataServices } from '../../../foundation/database/client.ts'
import type { Inbox } from '../../../foundation/database/generated/client.ts'
import { type Text, t } from '../../../foundation/texts/text.ts'
import { resultItem, type StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { type AllowedServices, areTestStoresAllowed } from '../../../operations/sandbox/allowed.ts'
import {
  type AnswerKind,
  answerKinds,
  answers,
  changedInbox,
  changeInbox,
  deleteInbox,
  emptyInbox,
  findInbox,
  findInboxNamed,
  findMessage,
  INBOXES_MAX,
  listInboxes,
  listMessages,
  MESSAGES_KEPT,
  makeInbox,
  newInbox,
  type ShownMessage,
} from '../../../operations/sandbox/inbox.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { orShow, pagesFor } from '../../html/page-routes.ts'
import { actorOf, formOf, isForm, personOf, sentBy, textIn, wantsHtml } from '../../html/request.ts'
import { developerRoute, id, time } from '../../html/route-groups.ts'
import { done, jsonBody, many, one, record } from '../../server/json/json-routes.ts'
import { wholeNumber } from '../../server/json/parameters.ts'
import { ofDeveloper, ownIn } from './application-page.ts'
import { signedBy } from './stored-words.ts'

const home = '/developers/inboxes'
/** Messages have up to 64 kB each. */
const PAGE_MAX = 20
const ID_MAX = 999_999_999_999

type Services = DataServices & AllowedServices & { readonly config: { readonly publicUrl: string } }

/** What senders are answered, on the pages. */
const answerTexts: Readonly<Record<AnswerKind, Text>> = {
  ok: t('At once, with 200'),
  error: t('At once, with 500'),
  slow: t('After 12 seconds, with 200'),
  none: t('Not at all: the connection is cut after 20 seconds'),
}

const ofInbox = { ...ofDeveloper, ids: { id: 'The inbox.' } } as const

const ownInbox = record<Inbox & { readonly publicUrl: string }>('Inbox')({
  Id: id.describe('It names the inbox in these addresses.'),
  Name: [z.string().describe('What you called it.'), (from) => from.title],
  Address: [
    z
      .string()
      .describe(
        'Where to send: as the Url of a webhook, or as a CallBackURL. Whoever knows it can send, and read nothing.',
      ),
    (from) => from.publicUrl + addressOf(from),
  ],
  Answer: z.string().describe(answerKinds.map((kind) => `\`${kind}\`: ${answers[kind]}.`).join(' ')),
  PostBackURL: z
    .string()
    .describe('What callbacks are answered as PostBackURL, where they are answered 200. Empty: nothing.'),
  DateCreated: time.describe('When it was made.'),
})

const inboxMessage = record<ShownMessage>('InboxMessage')({
  Id: z.int().min(1).describe('Later messages have higher ones.'),
  Time: [time.describe('When it arrived.'), (from) => from.at.toISOString()],
  Method: z.string().describe('The method of the request, such as POST.'),
  Query: z.string().describe('What followed the question mark of the address. Empty: nothing.'),
  Headers: [
    z
      .array(
        z.strictObject({
          Name: z.string().describe('In lower case.'),
          Value: z.string().describe('As the sender wrote it.'),
        }),
      )
      .describe('In their order, the first 16 kB of them.'),
    (from) => from.headers.map(([Name, Value]) => ({ Name, Value })),
  ],
  Body: z.string().describe('As it was sent; in base64 if it is no UTF-8.'),
  IsBase64: z.boolean().describe('Whether `Body` is in base64.'),
  Bytes: z.int().min(0).describe('The length of the body as it was sent.'),
  Signature: z
    .enum(['none', 'verified', 'wrong', 'unknown'])
    .describe(
      'What the Standard Webhooks signature is. `none`: there is none. `unknown`: no webhook or application of yours sends to this inbox.',
    ),
  Signer: z
    .string()
    .describe('By whose secret it is signed, or what is wrong with the signature. Empty: there is none.'),
  Status: z.int().min(0).describe('The status that it was answered. 0: it was not answered.'),
})

function addressOf({ name }: Pick<Inbox, 'name'>): string {
  return `/developers/inbox/${name}`
}

const messagesQuery = namedObject({
  limit: wholeNumber(1, PAGE_MAX).default(PAGE_MAX).describe('The maximum number of messages in the answer.'),
  before: wholeNumber(1, ID_MAX).optional().describe('The `Id` of the last message of the page before.'),
})

const shown = (services: Services, inbox: Inbox) => ({ ...inbox, publicUrl: services.config.publicUrl })

/** The routes of a developer's inboxes as JSON; the list and the forms are pages too. */
export const inboxRoutes = [
  developerRoute('GET /developers/inboxes', {
    ...ofDeveloper,
    id: 'listInboxes',
    summary: 'List your inboxes',
    description: 'Their messages are read one inbox at a time.',
    answers: { 200: many(`Your inboxes, the oldest first; there are ${INBOXES_MAX} at most.`, ownInbox) },
    run: async ({ request, reply }, services: Services) => {
      if (wantsHtml(request)) return sendPage(reply, await listPage(services, request))
      const inboxes = await listInboxes(services, personOf(request, 'developer').id)
      return inboxes.map((inbox) => shown(services, inbox))
    },
  }),
  developerRoute('POST /developers/inboxes', {
    ...ofDeveloper,
    id: 'createInbox',
    summary: 'Make an inbox',
    description: `An address that nobody can guess, which receives POST requests of webhooks and callbacks with bodies of up to 64 kB. It keeps the newest ${MESSAGES_KEPT} for a day.`,
    body: jsonBody(newInbox, { Name: 'Order webhooks' }, { sent: sentBy }),
    answers: { 201: one('The inbox.', ownInbox) },
    refusals: [409],
    run: ({ request, reply, body }, services: Services) => {
      const work = async () =>
        shown(services, await makeInbox(services, personOf(request, 'developer').id, body(), actorOf(request)))
      return orShow(reply, work, addressOf, () => listPage(services, request))
    },
  }),
  developerRoute('GET /developers/inboxes/:id', {
    ...ofInbox,
    id: 'getInbox',
    summary: 'Read an inbox',
    description: 'Where to send, and what senders are answered.',
    answers: { 200: one('The inbox.', ownInbox) },
    run: async ({ request }, services: Services) => shown(services, await findInbox(services, ownIn(request))),
  }),
  developerRoute('PUT /developers/inboxes/:id', {
    ...ofInbox,
    id: 'updateInbox',
    summary: 'Say what an inbox answers',
    description: 'Omitted fields stay unchanged. It applies from the next message on.',
    body: jsonBody(changedInbox, { Answer: 'error' }),
    answers: { 200: one('The inbox.', ownInbox) },
    run: async ({ request, body }, services: Services) => {
      // One of others does not exist, whatever the body says.
      await findInbox(services, ownIn(request))
      return shown(services, await changeInbox(services, ownIn(request), body()))
    },
  }),
  developerRoute('DELETE /developers/inboxes/:id', {
    ...ofInbox,
    id: 'deleteInbox',
    summary: 'Delete an inbox',
    description: 'With its messages. Nobody can send to its address any more.',
    answers: { 200: done('It is deleted.') },
    run: async ({ request, ids }, services: Services) => {
      await deleteInbox(services, ownIn(request), actorOf(request))
      return resultItem('Id', ids.id, 200, 'Deleted successfully')
    },
  }),
  developerRoute('GET /developers/inboxes/:id/messages', {
    ...ofInbox,
    id: 'listInboxMessages',
    summary: 'Read the messages of an inbox',
    description: 'For older ones send the `Id` of the last message as `before`, until the answer is empty.',
    query: messagesQuery,
    answers: { 200: many('Messages of the last day, the newest first.', inboxMessage) },
    run: async ({ request, query }, services: Services) =>
      listMessages(services, await findInbox(services, ownIn(request)), query),
  }),
  developerRoute('DELETE /developers/inboxes/:id/messages', {
    ...ofInbox,
    id: 'deleteInboxMessages',
    summary: 'Delete the messages of an inbox',
    description: 'The inbox and its address stay.',
    answers: { 200: done('They are deleted.') },
    run: async ({ request, ids }, services: Services) => {
      await emptyInbox(services, ownIn(request))
      return resultItem('Id', ids.id, 200, 'Deleted successfully')
    },
  }),
]

const messageInput = namedObject({ messageId: wholeNumber(1, ID_MAX) })

/** Adds the page of an inbox, that of one message, and the forms. Senders have their own door (inbox-door.ts). */
export function inboxPages(app: FastifyInstance, services: Services): void {
  const { page, form } = pagesFor(app, 'developer')
  const named = (request: FastifyRequest) =>
    findInboxNamed(services, personOf(request, 'developer').id, textIn(request.params, 'name'))

  page('/developers/inbox/:name', async (request) => inboxPage(services, request, await named(request)))
  page('/developers/inbox/:name/:messageId', async (request) => {
    const inbox = await named(request)
    const { messageId } = readInput(messageInput, { messageId: textIn(request.params, 'messageId') })
    const message = await findMessage(services, inbox, messageId)
    const title = t('Message in {inbox}', { inbox: inbox.title })
    const data = { inbox, message, address: addressOf(inbox), signedBy }
    return { template: '/pages/developers/inbox-message-page', title, data }
  })

  const again = async (request: FastifyRequest, _reply: FastifyReply, failure: StoreFailure) => {
    const inbox = await findInbox(services, ownIn(request)).catch(() => {
      throw failure
    })
    return inboxPage(services, request, inbox)
  }
  form(`${home}/:id`, again, async (request) => {
    await findInbox(services, ownIn(request))
    const inbox = await changeInbox(services, ownIn(request), readInput(changedInbox, formOf(request)))
    return `${addressOf(inbox)}?notice=settings-saved`
  })
  form(`${home}/:id/empty`, again, async (request) => {
    const inbox = await emptyInbox(services, ownIn(request))
    return `${addressOf(inbox)}?notice=inbox-emptied`
  })
  form(`${home}/:id/delete`, again, async (request) => {
    await deleteInbox(services, ownIn(request), actorOf(request))
    return `${home}?notice=inbox-deleted`
  })
}

async function listPage(services: Services, request: FastifyRequest): Promise<HtmlPage> {
  const inboxes = await listInboxes(services, personOf(request, 'developer').id)
  return {
    template: '/pages/developers/inboxes',
    title: t('Inboxes'),
    values: { Name: '', ...(isForm(request) && formOf(request)) },
    data: {
      inboxes: inboxes.map((inbox) => {
        return { ...inbox, address: addressOf(inbox), answers: answerTexts[inbox.answer as AnswerKind] }
      }),
      isFull: inboxes.length >= INBOXES_MAX,
      most: INBOXES_MAX,
      isAllowed: await areTestStoresAllowed(services),
    },
  }
}

async function inboxPage(services: Services, request: FastifyRequest, inbox: Inbox): Promise<HtmlPage> {
  const before = /^\d{1,12}$/.exec(textIn(request.query, 'before'))?.[0]
  const found = await listMessages(services, inbox, {
    limit: PAGE_MAX + 1,
    before: before === undefined ? undefined : Number(before),
  })
  const messages = found.slice(0, PAGE_MAX)
  const last = found.length > PAGE_MAX ? messages.at(-1) : undefined
  const { title, answer, postBackUrl } = inbox
  return {
    template: '/pages/developers/inbox',
    title,
    values: { Name: title, Answer: answer, PostBackURL: postBackUrl, ...(isForm(request) && formOf(request)) },
    data: {
      inbox,
      address: addressOf(inbox),
      sendTo: services.config.publicUrl + addressOf(inbox),
      messages,
      older: last ? `${addressOf(inbox)}?before=${last.id}` : null,
      isFirst: before === undefined,
      answers: Object.entries(answerTexts),
      signedBy,
      isAllowed: await areTestStoresAllowed(services),
    },
  }
}
