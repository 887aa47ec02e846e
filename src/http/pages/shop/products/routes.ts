import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Secrets } from '../../../../foundation/values/secrets.ts'
import { type HtmlPage, sendPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { type CallerServices, type Form, formOf } from '../../../html/request.ts'
import { productBulkPages } from './bulk-page.ts'
import { categoriesPage, saveCategories } from './categories-page.ts'
import { optionsPage, saveOptions } from './options-page.ts'
import { pricesPage, savePrices } from './prices-page.ts'
import { correct, stockPage } from './stock-page.ts'

type PageOf = (
  request: FastifyRequest,
  services: CallerServices,
  shown?: { typed?: Form | null; isOutdated?: boolean },
) => Promise<HtmlPage>
type CarryOut = (request: FastifyRequest, services: CallerServices) => Promise<string>

/** Adds the forms of a product's parts that deserve more than their fields. */
export function productPages(app: FastifyInstance, services: CallerServices & { readonly secrets: Secrets }): void {
  productBulkPages(app, services)
  const forms = adminPages(app, ['Products', 'write'])
  // The form shows the categories of the store.
  const withCategories = adminPages(app, ['Products', 'write'], ['Category', 'read'])
  const addPart = (part: string, pageOf: PageOf, carryOut: CarryOut, { page, form } = forms) => {
    const path = `/admin/products/:id/${part}`
    page(path, (request) => pageOf(request, services))
    form(
      path,
      (request) => carryOut(request, services),
      (request, _reply, { kind }) =>
        pageOf(request, services, { typed: formOf(request), isOutdated: kind === 'precondition-failed' }),
    )
  }
  /** Shows a form again with what was typed, and more to fill in. */
  const showAgain = (address: string, pageOf: PageOf, { post } = forms) =>
    post(`/admin/products/:id/${address}`, async (request, reply) =>
      sendPage(reply, await pageOf(request, services, { typed: formOf(request) })),
    )
  addPart('stock', stockPage, correct)
  addPart('options', optionsPage, saveOptions)
  addPart('categories', categoriesPage, saveCategories, withCategories)
  showAgain('categories/find', categoriesPage, withCategories)
  addPart('prices', pricesPage, savePrices)
  showAgain('prices/rows', pricesPage)
}
