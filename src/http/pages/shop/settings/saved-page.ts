import type { FastifyInstance } from 'fastify'
import type { Actor } from '../../../../access/audit/audit.ts'
import type { Privilege } from '../../../../shop/staff/roles.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices, type Form } from '../../../html/request.ts'
import { storePages } from '../../frame/pages.ts'
import type { PageRequest, Sent } from '../../frame/request.ts'

interface SavedPage<Services> {
  /** What reading the page and saving need. */
  readonly privilege: Privilege
  readonly path: string
  pageOf(asked: PageRequest, services: Services): Promise<HtmlPage>
  save(asked: Sent<PageRequest>, actor: Actor, services: Services): Promise<unknown>
  /** Returns the submitted values, to show the form again. */
  valuesOf?(form: Form): Form
}

/** Adds a merchant's page and its form, which `save` saves. */
export function savedPage<Services extends CallerServices>(
  app: FastifyInstance,
  services: Services,
  { privilege, path, pageOf, save, valuesOf = (form) => form }: SavedPage<Services>,
): void {
  storePages(adminPages(app, [privilege, 'read']), services).page(path, (asked) => pageOf(asked, services))
  storePages(adminPages(app, [privilege, 'write']), services).form(
    path,
    async (asked, { request }) => {
      await save(asked, actorOf(request), services)
      return `${path}?notice=settings-saved`
    },
    async (asked) => ({ ...(await pageOf(asked, services)), values: valuesOf(asked.typed ?? {}) }),
  )
}
