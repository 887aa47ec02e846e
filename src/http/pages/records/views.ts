import type { FastifyInstance, FastifyRequest } from 'fastify'
import { deleteView, saveView } from '../../../shop/staff/list-views.ts'
import type { Privilege } from '../../../shop/staff/roles.ts'
import { adminPages } from '../../html/page-routes.ts'
import { type CallerServices, formOf, merchantCaller, merchantOf, textIn } from '../../html/request.ts'
import { askedIn, keptOf, listPage } from './list-page.ts'
import { listedOf } from './listing.ts'
import type { Service } from './services.ts'

/** Adds the forms by which people keep views of a service's list, and delete them. */
export function viewForms(app: FastifyInstance, services: CallerServices, service: Service): void {
  const { path, resource } = service
  const { form } = adminPages(app, [resource.privilege as Privilege, 'read'])
  const listed = (request: FastifyRequest) => listedOf(merchantCaller(request, services).privileges, service)
  const whose = (request: FastifyRequest) => ({ userId: merchantOf(request).id, service: resource.service })
  const again = (request: FastifyRequest) => {
    const { listed: seen, listing } = listed(request)
    return listPage(request, services, seen, listing)
  }
  form(
    `${path}/views`,
    async (request) => {
      const query = String(new URLSearchParams(keptOf(askedIn(request.query, listed(request).listed))))
      await saveView(services, whose(request), { name: textIn(formOf(request), 'name'), query })
      return `${path}?${query}&notice=view-saved`
    },
    again,
  )
  form(
    `${path}/views/delete`,
    async (request) => {
      await deleteView(services, whose(request), textIn(formOf(request), 'name'))
      return `${path}?notice=view-deleted`
    },
    again,
  )
}
