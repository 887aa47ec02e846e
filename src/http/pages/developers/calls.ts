import { z } from 'zod'
import { LISTED_MAX, type LoggedCall } from '../../../access/applications/calls/call-log.ts'
import { listOwnCalls, listUsingStores, type UsingStore } from '../../../access/applications/own/own-calls.ts'
import type { DataServices } from '../../../foundation/database/client.ts'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject } from '../../../foundation/values/input.ts'
import { callsShown } from '../../html/calls.ts'
import { sendPage } from '../../html/page.ts'
import { wantsHtml } from '../../html/request.ts'
import { developerRoute, id, time } from '../../html/route-groups.ts'
import { many, record } from '../../server/json/json-routes.ts'
import { ref } from '../../server/json/openapi.ts'
import { wholeNumber } from '../../server/json/parameters.ts'
import { ofApplicationByToken, ownIn, type StoresServices, storesQuery } from './application-page.ts'

const date = time.describe('The time at which the request was answered.')
const answered = {
  Method: z.string().describe('The HTTP method of the request, such as PUT.'),
  Path: z
    .string()
    .describe('The address without its query; what is no number stands as in the route, such as /Products/:id.'),
  Status: z.int().describe('The HTTP status of the answer, such as 404.'),
  Message: z.string().describe('What was wrong; empty where nothing was. Of a 401 it has the reason.'),
}

const calledStore = record<UsingStore>('CalledStore')({
  Id: id.describe('As in the list of stores that use the application.'),
  Name: z.string().describe('The name of the store as its customers read it.'),
  SecureURL: z.string().describe('The address of the shop, which requests send in the header SecureURL.'),
  KeepsBodies: z.boolean().describe('Whether the merchant lets the bodies of refused requests be kept.'),
  DateLastUsed: time.nullable().describe('Null: not yet.'),
  LastRefusal: [
    z
      .strictObject({ Date: date, ...answered })
      .nullable()
      .describe('The newest refusal of the application in the store. Null: none is kept.'),
    ({ lastRefusal: last }) =>
      last && {
        Date: last.at.toISOString(),
        Method: last.method,
        Path: last.path,
        Status: last.status,
        Message: last.message,
      },
  ],
})

const callsQuery = namedObject({
  refused: z
    .stringbool({ truthy: ['1'], falsy: ['0'], error: 'must be 1 or 0' })
    .default(false)
    .describe('1: only refusals.'),
  limit: wholeNumber(1, LISTED_MAX).default(50).describe('The maximum number of calls on the page.'),
})

const ownCall = record<LoggedCall>('OwnCall')({
  Id: z.int().min(1).describe('The place of the call in the log.'),
  Date: [date, (from) => from.at.toISOString()],
  ...answered,
  RequestID: [z.string().describe('The X-Request-Id of the answer.'), (from) => from.requestId],
  Ignored: [
    z.array(z.string()).describe('Names of members and parameters that were passed over.'),
    (from) => [...from.ignored],
  ],
  Body: z
    .string()
    .nullable()
    .describe(
      'What a refused request sent, as JSON that may be cut at 16 kB; for 7 days, where the merchant allows it.',
    ),
})

/** The log of calls of a developer's application, as pages and JSON. */
export const callRoutes = [
  developerRoute('GET /developers/applications/:id/calls', {
    ...ofApplicationByToken,
    id: 'listCalledStores',
    summary: 'List the stores that an application calls',
    description:
      'Each with the last refusal. Follow the header `Link` with `rel="next"` until it is absent. The calls of a store: `/developers/applications/{id}/calls/{subscriptionId}`.',
    query: storesQuery,
    answers: { 200: many('The stores, longest subscribed first.', calledStore, { Link: ref('headers', 'Link') }) },
    run: async ({ request, reply, ids, query: { limit, cursor } }, services: StoresServices) => {
      const { application, stores, next } = await listUsingStores(services, ownIn(request), { limit, after: cursor })
      const nextAddress = next && `/developers/applications/${ids.id}/calls?limit=${limit}&cursor=${next}`
      if (!wantsHtml(request)) {
        if (nextAddress) reply.header('link', `<${services.config.publicUrl}${nextAddress}>; rel="next"`)
        return stores
      }
      const title = t('Calls of {name}', { name: application.name })
      const data = { application, stores, nextAddress, isFirst: cursor === 0, now: services.now() }
      return sendPage(reply, { template: '/pages/developers/called-stores', title, data })
    },
  }),
  developerRoute('GET /developers/applications/:id/calls/:subscriptionId', {
    ...ofApplicationByToken,
    ids: { id: 'The application.', subscriptionId: 'The `Id` of the store in the list of stores.' },
    id: 'listOwnCalls',
    summary: 'List the calls of an application to a store',
    description:
      'The newest first: at most 100 that were answered and 100 that were refused (a status from 400 on, except 404 to a read). A call appears within a few seconds. The application itself reads the same at `Calls` of the store.',
    query: callsQuery,
    answers: { 200: many('The calls.', ownCall) },
    run: async ({ request, reply, ids, query: { refused: onlyRefused, limit } }, services: DataServices) => {
      const wanted = { subscriptionId: ids.subscriptionId, limit, onlyRefused }
      const { name, store, calls } = await listOwnCalls(services, ownIn(request), wanted)
      if (!wantsHtml(request)) return calls
      const data = { application: { id: ids.id, name }, calledStore: store, calls: callsShown(calls), onlyRefused }
      const limitOfAll = calls.length === limit && limit < LISTED_MAX ? LISTED_MAX : null
      const title = t('Calls of {name} to {store}', { name, store: store.name })
      return sendPage(reply, { template: '/pages/developers/calls', title, data: { ...data, limitOfAll } })
    },
  }),
]
