import type { FastifyInstance, FastifyRequest } from 'fastify'
import { t } from '../../../foundation/texts/text.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { canBePutBack } from '../../../shop/csv/undo/back.ts'
import { customers } from '../../../shop/resources/customers/customers.ts'
import { orders } from '../../../shop/resources/orders/orders.ts'
import type { Privilege } from '../../../shop/staff/roles.ts'
import { sendPage } from '../../html/page.ts'
import { adminPages } from '../../html/page-routes.ts'
import { type CallerServices, formOf, merchantCaller } from '../../html/request.ts'
import { create, deletePage, editPage, newPage, remove, save } from './edit-page.ts'
import { kindsOf } from './events.ts'
import { eventsPage } from './events-page.ts'
import { sendFile } from './export.ts'
import { historyPage, putChangeBack, storeHistoryPage } from './history.ts'
import { htmlFrame, htmlValues } from './html-frame.ts'
import { listPage } from './list-page.ts'
import { listedOf } from './listing.ts'
import { idIn, recordPage } from './record-page.ts'
import { suggestions } from './search.ts'
import { mayRead, seenBy } from './seen.ts'
import { services as allServices, canCreate, type Service } from './services.ts'
import { viewForms } from './views.ts'

type RecordServices = CallerServices & { readonly secrets: Secrets }

/** Adds the pages of every service's records: the list, one record, and the forms that its methods allow. */
export function recordPages(app: FastifyInstance, services: RecordServices): void {
  adminPages(app).page('/admin/records', (request) => {
    const { privileges } = merchantCaller(request, services)
    const data = { services: allServices.filter(({ resource }) => mayRead(privileges, resource)) }
    return { template: '/pages/records/index', title: t('More records'), data }
  })
  adminPages(app, ['Settings', 'read']).page('/admin/history', (request) => storeHistoryPage(request, services))
  for (const service of allServices) recordPagesOf(app, services, service)
}

/** Adds the pages of one service's records. */
export function recordPagesOf(app: FastifyInstance, services: RecordServices, service: Service): void {
  const { path, resource } = service
  const reading = adminPages(app, [resource.privilege as Privilege, 'read'])
  const { get, page } = reading
  const { page: formPage, form, post } = adminPages(app, [resource.privilege as Privilege, 'write'])
  // Orders have a page of their own (src/http/pages/shop/orders), which leads to this one.
  const isOwn = service.resource === orders
  const privilegesOf = (request: FastifyRequest) => merchantCaller(request, services).privileges
  const seen = (request: FastifyRequest) => seenBy(privilegesOf(request), service)
  page(path, (request) => {
    const { listed, listing } = listedOf(privilegesOf(request), service)
    return listPage(request, services, listed, listing)
  })
  viewForms(app, services, service)
  if (resource.referrers.length > 0) get(`${path}/search`, (request) => suggestions(request, services, seen(request)))
  // A file of all customers is what a thief would take along.
  const { get: getFile } = resource === customers ? reading.proved : reading
  getFile(`${path}/export`, (request, reply) => {
    return sendFile(request, reply, services, listedOf(privilegesOf(request), service).listed)
  })
  page(isOwn ? `${path}/:id/fields` : `${path}/:id`, (request, reply) =>
    recordPage(request, reply, services, seen(request)),
  )
  if (htmlValues(service).length > 0) {
    get(`${path}/:id/shown`, (request, reply) => htmlFrame(request, reply, services, seen(request), idIn(request)))
  }
  page(`${path}/:id/history`, (request) => historyPage(request, services, service, idIn(request)))
  if (canBePutBack(resource)) {
    form(
      `${path}/:id/history/:entry/back`,
      (request) => putChangeBack(request, services, service),
      (request) => historyPage(request, services, service, idIn(request)),
    )
  }
  if (kindsOf(service).length > 0) {
    page(`${path}/:id/events`, (request) => eventsPage(request, services, seen(request)))
  }
  if (canCreate(service)) {
    const again = (request: FastifyRequest) => newPage(request, services, seen(request), formOf(request))
    formPage(`${path}/new`, (request) => newPage(request, services, seen(request), {}))
    form(path, (request) => create(request, services, seen(request)), again)
    // Shows the form again with the records that its words fit, or with the source of what a plain editor holds.
    if (service.values.some(({ refersTo, field }) => refersTo !== null || field.isHtml)) {
      post(`${path}/new`, async (request, reply) => sendPage(reply, await again(request)))
    }
  }
  if (resource.methods.includes('PUT')) {
    const edit = `${path}/:id/edit`
    formPage(edit, (request) => editPage(request, services, seen(request)))
    form(
      edit,
      (request) => save(request, services, seen(request)),
      (request, _reply, { kind }) =>
        editPage(request, services, seen(request), {
          typed: formOf(request),
          isOutdated: kind === 'precondition-failed',
        }),
    )
    // Shows the form again with one more row, with the records that its words fit, or with the source of what a plain editor holds.
    post(`${edit}/rows`, async (request, reply) =>
      sendPage(reply, await editPage(request, services, seen(request), { typed: formOf(request) })),
    )
  }
  if (resource.methods.includes('DELETE')) {
    formPage(`${path}/:id/delete`, (request) => deletePage(request, services, seen(request)))
    form(
      `${path}/:id/delete`,
      (request) => remove(request, services, seen(request)),
      (request) => deletePage(request, services, seen(request)),
    )
  }
}
