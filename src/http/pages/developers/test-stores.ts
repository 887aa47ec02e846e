import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Subscribing } from '../../../access/applications/subscriptions/subscriptions.ts'
import { endSession, findSession } from '../../../access/people/sessions.ts'
import { type Text, t } from '../../../foundation/texts/text.ts'
import { resultItem } from '../../../foundation/values/failure.ts'
import { areTestStoresAllowed } from '../../../operations/sandbox/allowed.ts'
import { type DueKind, type MadeDue, makeDue, newDue } from '../../../operations/sandbox/due-now.ts'
import {
  admitApplication,
  CHANGES_KEPT,
  change,
  enterTestStore,
  findTestStore,
  listAdmitted,
  listChanges,
  listTestStores,
  makeTestStore,
  newChange,
  newTestStore,
  newTestSubscription,
  type OwnTestStore,
  resetTestStore,
  type Shown,
  TEST_STORES_MAX,
  type TestStoreServices,
  throwAway,
} from '../../../operations/sandbox/test-stores.ts'
import { changeKindNames } from '../../../operations/sandbox/trade.ts'
import { numberIn } from '../../html/numbers.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { orShow, orShowAgain, pagesFor } from '../../html/page-routes.ts'
import { actorOf, formOf, isForm, languageFor, personOf, wantsHtml } from '../../html/request.ts'
import { developerRoute, id, time } from '../../html/route-groups.ts'
import { done, jsonBody, many, one, record } from '../../server/json/json-routes.ts'
import { writingOf } from '../frame/pages.ts'
import { clientOf } from '../people/sign-in.ts'
import { ofDeveloper, ownIn } from './application-page.ts'
import { happened } from './stored-words.ts'

const home = '/developers/test-stores'

const ofStore = { ...ofDeveloper, ids: { id: 'The test store.' } } as const

const testStore = record<OwnTestStore>('TestStore')({
  Id: id.describe('It names the store in these addresses. A reset store has another one.'),
  Name: z.string().describe('What you called it.'),
  SecureURL: z.string().describe('What requests name the store by, in the header SecureURL.'),
  Currency: z.string().describe('The currency of its prices, such as USD.'),
  TimeZone: z.string().describe('The zone of its dates, such as America/New_York.'),
  State: z
    .enum(['filling', 'ready'])
    .describe(
      '`filling`: its records are being made, which takes some seconds. `ready`: it can be used; where its records could not be made, it is ready too, and `Problem` says so.',
    ),
  Problem: z.string().describe('Why its records could not be made. Empty: nothing went wrong.'),
  DateCreated: time.describe('When it was made, or reset.'),
})

const testChange = record<Shown>('TestChange')({
  Id: id.describe('Later changes of a store have higher ones.'),
  Time: [time.describe('When it happened.'), (from) => from.at.toISOString()],
  Kind: z.string().describe(`One of ${changeKindNames.join(', ')}.`),
  Done: [z.boolean().describe('False: it could not happen; `Message` says why.'), (from) => from.isDone],
  Message: [
    z.string().describe('What happened, in words; where `Done` is false, why it could not.'),
    (from) => from.words,
  ],
  Page: z.string().describe('The record in the administration of the store. Empty: there is none.'),
})

const madeDue = record<MadeDue>('MadeDue')({
  What: z.string().describe('What was asked for.'),
  Count: z.int().min(0).describe('How many of them are due now.'),
})

const subscription = record<Awaited<ReturnType<typeof admitApplication>>>('TestSubscription')({
  Id: id.describe('The subscription.'),
  Token: z.string().describe('What the application sends with its requests to the store.'),
  PostBackURL: z.string().nullable().describe('Where the application asks the merchant to go on. Null: nowhere.'),
})

/** ApplicationId of a form as a number. */
function withApplicationId(request: FastifyRequest): unknown {
  if (!isForm(request)) return request.body
  const form = formOf(request)
  return { ...form, ApplicationId: numberIn(form, 'ApplicationId', writingOf(request)) ?? form.ApplicationId ?? '' }
}

function sentTexts(request: FastifyRequest): unknown {
  if (!isForm(request)) return request.body
  return Object.fromEntries(Object.entries(formOf(request)).filter(([, value]) => value !== ''))
}

type Services = TestStoreServices & Subscribing

/** The routes of a developer's test stores, as pages and JSON. */
export const testStoreRoutes = [
  developerRoute('GET /developers/test-stores', {
    ...ofDeveloper,
    id: 'listTestStores',
    summary: 'List your test stores',
    description: 'Without those that were thrown away and are still being deleted.',
    answers: { 200: many(`Your test stores, the oldest first; there are ${TEST_STORES_MAX} at most.`, testStore) },
    run: async ({ request, reply }, services: Services) =>
      wantsHtml(request)
        ? sendPage(reply, await listPage(services, request))
        : listTestStores(services, personOf(request, 'developer').id),
  }),
  developerRoute('POST /developers/test-stores', {
    ...ofDeveloper,
    id: 'createTestStore',
    summary: 'Make a test store',
    description:
      'A store of your own with the records of the sandbox, to try things out in. You are its owner, and sign in to its administration as you do here. Its records are made within seconds: until then its `State` is `filling`. Ten in a burst, then one every ten minutes, resets included.',
    body: jsonBody(newTestStore, { Name: 'Returns and refunds', Currency: 'EUR' }, { sent: sentTexts }),
    answers: { 201: one('The test store.', testStore) },
    refusals: [409],
    run: ({ request, reply, body }, services: Services) => {
      const make = async () => makeTestStore(services, personOf(request, 'developer'), body(), actorOf(request))
      const next = ({ id }: OwnTestStore) => `${home}/${id}?notice=test-store-made`
      return orShow(reply, make, next, () => listPage(services, request))
    },
  }),
  developerRoute('GET /developers/test-stores/:id', {
    ...ofStore,
    id: 'getTestStore',
    summary: 'Read a test store',
    description:
      'After you made or reset it, repeat until its `State` is `ready`; then `Problem` is empty, or says why it has no records.',
    answers: { 200: one('The test store.', testStore) },
    run: async ({ request, reply }, services: Services) =>
      wantsHtml(request)
        ? sendPage(reply, await storePage(services, request))
        : findTestStore(services, ownIn(request)),
  }),
  developerRoute('DELETE /developers/test-stores/:id', {
    ...ofStore,
    id: 'deleteTestStore',
    summary: 'Throw a test store away',
    description: 'At once nobody gets in any more, and its tokens end. Its records are deleted in the background.',
    answers: { 200: done('It is thrown away.') },
    refusals: [409],
    run: async ({ request, ids }, services: Services) => {
      await throwAway(services, ownIn(request), actorOf(request))
      return resultItem('Id', ids.id, 200, 'Deleted successfully')
    },
  }),
  developerRoute('POST /developers/test-stores/:id/reset', {
    ...ofStore,
    id: 'resetTestStore',
    summary: 'Reset a test store',
    description:
      'Throws the store away and makes another one in its place, with another `Id`: with the same name, address and key for cartAPI, and with the applications that it had let in, whose tokens go on working. Webhooks are gone with the records.',
    answers: { 200: one('The test store.', testStore) },
    refusals: [409],
    run: ({ request, reply, ids }, services: Services) => {
      const reset = () => resetTestStore(services, personOf(request, 'developer'), ids.id, actorOf(request))
      const next = ({ id }: OwnTestStore) => `${home}/${id}?notice=test-store-reset`
      return orShow(reply, reset, next, () => storePage(services, request))
    },
  }),
  developerRoute('POST /developers/test-stores/:id/subscriptions', {
    ...ofStore,
    proof: true,
    id: 'subscribeTestStore',
    summary: 'Let one of your applications into a test store',
    description:
      'As the owner of a store does: the CallBackURL is asked first, and a store that uses the application already agrees to what it asks for now.',
    body: jsonBody(newTestSubscription, { ApplicationId: 1 }, { sent: withApplicationId }),
    answers: { 200: one('The subscription.', subscription) },
    refusals: [409, 502],
    run: ({ request, reply, ids, body }, services: Services) => {
      const work = async () => admitApplication(services, ownIn(request), body().ApplicationId, actorOf(request))
      const next = () => `${home}/${ids.id}?notice=subscribed`
      return orShow(reply, work, next, () => storePage(services, request))
    },
  }),
  developerRoute('GET /developers/test-stores/:id/changes', {
    ...ofStore,
    id: 'listTestChanges',
    summary: 'List what was made to happen in a test store',
    description:
      'At the press of a button or by a program; not what was changed in its administration or by applications.',
    answers: { 200: many(`What happened, the newest first; ${CHANGES_KEPT} at most.`, testChange) },
    run: ({ request }, services: Services) => listChanges(services, ownIn(request)),
  }),
  developerRoute('POST /developers/test-stores/:id/changes', {
    ...ofStore,
    id: 'makeTestChange',
    summary: 'Make something happen in a test store',
    description:
      '`order`: a customer buys something. `payment`: an order is paid. `shipment`: one is shipped. `stock`: a stock is counted. `return`: a return is agreed to, and the next time its goods come back. What it needs happens before. Events, webhooks and the feed follow as in every store.',
    body: jsonBody(newChange, { Kind: 'order' }, { sent: sentTexts }),
    answers: { 201: one('What happened.', testChange) },
    refusals: [409],
    run: ({ request, reply, ids, body }, services: Services) => {
      const work = async () => change(services, personOf(request, 'developer'), ids.id, body().Kind)
      const next = () => `${home}/${ids.id}#happened`
      return orShow(reply, work, next, () => storePage(services, request))
    },
  }),
  developerRoute('POST /developers/test-stores/:id/due-now', {
    ...ofStore,
    id: 'makeDueNow',
    summary: 'Make what waits in a test store due now',
    description:
      '`deliveries`: those that wait for another attempt have it at once. `pauses`: for webhooks that fail, the five days are over after which the next failure pauses them. `tokens`: authorization codes, access tokens that expire, sign-in links of customers, and secrets of webhooks that were replaced end at once.',
    body: jsonBody(newDue, { What: 'deliveries' }, { sent: sentTexts }),
    answers: { 200: one('What is due now.', madeDue) },
    run: async ({ request, reply, body }, services: Services) => {
      const work = async () => {
        const due = await makeDue(services, ownIn(request), body().What)
        if (!wantsHtml(request)) return due
        return sendPage(reply, await storePage(services, request, due))
      }
      return orShowAgain(reply, work, () => storePage(services, request))
    },
  }),
]

/** Adds the forms of the pages that programs have other methods for, and the one that leads into a store's administration. */
export function testStoreForms(app: FastifyInstance, services: Services): void {
  const { form } = pagesFor(app, 'developer')
  const again = (request: FastifyRequest) => storePage(services, request)
  form(`${home}/:id/delete`, again, async (request) => {
    await throwAway(services, ownIn(request), actorOf(request))
    return `${home}?notice=test-store-deleted`
  })

  // A new session of the administration has shown a password lately.
  pagesFor(app, 'developer').proved.form(`${home}/:id/sign-in`, again, async (request, reply) => {
    const { id: storeId } = ownIn(request)
    const maker = personOf(request, 'developer')
    const opened = await enterTestStore(services, maker, storeId, clientOf(request), actorOf(request))
    // The browser has one session of a merchant.
    const former = app.sessionCookies.read(request, 'merchant')
    const session = former ? await findSession(services, 'merchant', former) : null
    if (session)
      await endSession(services, session.id, { ...actorOf(request), kind: 'merchant', name: session.person.email })
    app.sessionCookies.set(reply, 'merchant', opened)
    return '/admin'
  })
}

async function listPage(services: Services, request: FastifyRequest): Promise<HtmlPage> {
  const { id: developerId } = personOf(request, 'developer')
  const [stores, isAllowed] = await Promise.all([listTestStores(services, developerId), areTestStoresAllowed(services)])
  const typed = isForm(request) ? formOf(request) : {}
  return {
    template: '/pages/developers/test-stores',
    title: t('Test stores'),
    values: { Name: '', Currency: 'USD', TimeZone: services.defaultTimeZone, ...typed },
    data: {
      stores,
      isAllowed,
      isFull: stores.length >= TEST_STORES_MAX,
      most: TEST_STORES_MAX,
      zones: Intl.supportedValuesOf('timeZone'),
    },
  }
}

const kindsInWords: readonly (readonly [kind: (typeof changeKindNames)[number], words: Text])[] = [
  ['order', t('An order')],
  ['payment', t('A payment')],
  ['shipment', t('A shipment')],
  ['stock', t('A change of stock')],
  ['return', t('A return')],
]

const dueInWords: readonly (readonly [what: DueKind, words: Text, hint: Text])[] = [
  ['deliveries', t('Next attempts'), t('Deliveries that wait for another attempt have it at once.')],
  ['pauses', t('Pauses'), t('Of webhooks that fail, the five days are over: the next failure pauses them.')],
  [
    'tokens',
    t('Ends of tokens'),
    t(
      'Authorization codes, access tokens that expire, sign-in links of customers and replaced secrets of webhooks end.',
    ),
  ],
]

async function storePage(services: Services, request: FastifyRequest, due: MadeDue | null = null): Promise<HtmlPage> {
  const own = ownIn(request)
  const [store, { admitted: applications, others }, changes, isAllowed] = await Promise.all([
    findTestStore(services, own),
    listAdmitted(services, own),
    listChanges(services, own),
    areTestStoresAllowed(services),
  ])
  const language = languageFor(request)
  const signIn = (page: string) => `/admin/sign-in?${new URLSearchParams({ store: store.secureUrl, next: page })}`
  return {
    template: '/pages/developers/test-store',
    title: store.name,
    values: isForm(request) ? formOf(request) : {},
    data: {
      store,
      applications,
      others,
      changes: changes.map((each) => ({
        ...each,
        words: each.isDone ? happened(each.words) : language.sayProblem(each.words),
        address: each.page && signIn(each.page),
      })),
      kinds: kindsInWords,
      dues: dueInWords,
      due,
      isAllowed,
      now: services.now(),
    },
  }
}
