import type { FastifyInstance } from 'fastify'
import type { OwnApplicationReader } from '../../applications/own-applications.ts'
import { samePrivileges } from '../../applications/privileges.ts'
import { listUsingStores } from '../../applications/using-stores.ts'
import { sendPage } from '../../html/page.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, wholeNumber } from '../../server/parameters.ts'
import { namedObject, readInput } from '../../values/input.ts'
import { INT32_MAX } from '../../values/int32.ts'
import { ownOf } from './application-page.ts'
import { usingStoreRecord } from './records.ts'

const pageQuery = namedObject({
  limit: wholeNumber(1, PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  cursor: wholeNumber(0, INT32_MAX).default(0),
})

/** The stores that use an application, a page at a time: the header Link leads programs on, a link people. */
export async function storeRoutes(
  app: FastifyInstance,
  services: OwnApplicationReader & { config: { readonly publicUrl: string } },
): Promise<void> {
  app.get('/developers/applications/:id/stores', async (request, reply) => {
    const own = ownOf(request)
    const { limit, cursor } = readInput(pageQuery, request.query, 'The query')
    const { application, stores, next } = await listUsingStores(services, own, { limit, after: cursor })
    const nextAddress = next && `/developers/applications/${own.id}/stores?limit=${limit}&cursor=${next}`
    if (!wantsHtml(request)) {
      if (nextAddress) reply.header('link', `<${services.config.publicUrl}${nextAddress}>; rel="next"`)
      return stores.map(usingStoreRecord)
    }
    const differing = stores.filter(({ privileges }) => !samePrivileges(privileges, application.privileges))
    return sendPage(reply, {
      template: '/pages/developers/stores',
      title: `Stores that use ${application.name}`,
      data: { application, stores, nextAddress, differing, isFirst: cursor === 0, now: services.now() },
    })
  })
}
