import type { FastifyReply } from 'fastify'
import { deleteView, saveView } from '../../../shop/staff/list-views.ts'
import { merchantOf, textIn } from '../../html/request.ts'
import type { PageRequest, Sent } from '../frame/request.ts'
import { askedIn, keptOf } from './list-page.ts'
import { listedOf } from './listing.ts'
import type { Service } from './services.ts'

/** Keeps a view of a service's list: the filters, the order and the columns of the address. */
export async function keepView(
  { caller, query, typed }: Sent<PageRequest>,
  service: Service,
  { request }: FastifyReply,
): Promise<string> {
  const kept = String(new URLSearchParams(keptOf(askedIn(query, listedOf(caller.privileges, service)))))
  const whose = { userId: merchantOf(request).id, service: service.resource.service }
  await saveView(caller, whose, { name: textIn(typed, 'name'), query: kept })
  return `${service.path}?${kept}&notice=view-saved`
}

export async function forgetView(
  { caller, typed }: Sent<PageRequest>,
  { path, resource: { service } }: Service,
  { request }: FastifyReply,
): Promise<string> {
  await deleteView(caller, { userId: merchantOf(request).id, service }, textIn(typed, 'name'))
  return `${path}?notice=view-deleted`
}
