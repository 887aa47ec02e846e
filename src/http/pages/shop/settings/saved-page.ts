import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Privilege } from '../../../../shop/staff/roles.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { type Form, formOf } from '../../../html/request.ts'

interface SavedPage<Services> {
  /** What reading the page and saving need. */
  readonly privilege: Privilege
  readonly path: string
  pageOf(request: FastifyRequest, services: Services): Promise<HtmlPage>
  save(request: FastifyRequest, services: Services): Promise<unknown>
  /** Returns the submitted values, to show the form again. */
  valuesOf?(form: Form): Form
}

/** Adds a merchant's page and its form, which `save` saves. */
export function savedPage<Services>(
  app: FastifyInstance,
  services: Services,
  { privilege, path, pageOf, save, valuesOf = (form) => form }: SavedPage<Services>,
): void {
  const { page } = adminPages(app, [privilege, 'read'])
  const { form } = adminPages(app, [privilege, 'write'])
  page(path, (request) => pageOf(request, services))
  const carryOut = async (request: FastifyRequest) => {
    await save(request, services)
    return `${path}?notice=settings-saved`
  }
  form(path, carryOut, async (request) => {
    return { ...(await pageOf(request, services)), values: valuesOf(formOf(request)) }
  })
}
