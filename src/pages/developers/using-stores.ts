import { z } from 'zod'
import type { OwnApplicationReader } from '../../applications/own-applications.ts'
import { samePrivileges } from '../../applications/privileges.ts'
import { listUsingStores, type UsingStore } from '../../applications/using-stores.ts'
import { sendPage } from '../../html/page.ts'
import { wantsHtml } from '../../html/request.ts'
import { developerRoute, id, privileges, time } from '../../html/route-groups.ts'
import { many, record } from '../../server/json-routes.ts'
import { ref } from '../../server/openapi.ts'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, wholeNumber } from '../../server/parameters.ts'
import { namedObject } from '../../values/input.ts'
import { INT32_MAX } from '../../values/int32.ts'
import { ofApplication, ownIn } from './application-page.ts'

const pageQuery = namedObject({
  limit: wholeNumber(1, PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT).describe('The most stores of the page.'),
  cursor: wholeNumber(0, INT32_MAX).default(0).describe('Where the page begins: take it from Link.'),
})

const usingStore = record<UsingStore>('UsingStore')({
  Id: [id, (from) => from.id],
  Name: [z.string(), (from) => from.name],
  SecureURL: [z.string(), (from) => from.secureUrl],
  Token: [z.string(), (from) => from.token],
  Privileges: [privileges.describe('What the merchant agreed to; null: everything.'), (from) => from.privileges],
  DateLastUsed: [time.nullable().describe('Null: not yet.'), (from) => from.lastUsedAt?.toISOString() ?? null],
  DateCreated: [time, (from) => from.createdAt.toISOString()],
})

/** The route of the stores that use an application, in pages. Programs follow the header Link, browsers a link. */
export const usingStoreRoutes = [
  developerRoute('GET /developers/applications/:id/stores', {
    ...ofApplication,
    id: 'listUsingStores',
    summary: 'List the stores that use an application',
    description: 'The header `Link` with `rel="next"` leads on, until there is none.',
    query: pageQuery,
    answers: { 200: many('Those that have used it longest first.', usingStore, { Link: ref('headers', 'Link') }) },
    run: async (call, services: OwnApplicationReader & { config: { readonly publicUrl: string } }) => {
      const { request, reply, ids } = call
      const { limit, cursor } = call.query
      const page = await listUsingStores(services, ownIn(request), { limit, after: cursor })
      const { application, stores, next } = page
      const nextAddress = next && `/developers/applications/${ids.id}/stores?limit=${limit}&cursor=${next}`
      if (!wantsHtml(request)) {
        if (nextAddress) reply.header('link', `<${services.config.publicUrl}${nextAddress}>; rel="next"`)
        return stores
      }
      const differing = stores.filter(({ privileges: agreed }) => !samePrivileges(agreed, application.privileges))
      const title = `Stores that use ${application.name}`
      const data = { application, stores, nextAddress, differing, isFirst: cursor === 0, now: services.now() }
      return sendPage(reply, { template: '/pages/developers/stores', title, data })
    },
  }),
]
