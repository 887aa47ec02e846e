import type { FastifyReply } from 'fastify'
import { pageHeaders } from '../html/guard.ts'
import { sendPage } from '../html/page.ts'
import type { SoapModel } from './model.ts'

/** What a person sees who opens cartAPI's address. */
export function sendOperationsPage(
  reply: FastifyReply,
  { operations, namespaces }: SoapModel,
  { publicUrl, soapPath }: { readonly publicUrl: string; readonly soapPath: string },
): FastifyReply {
  return sendPage(reply.headers(pageHeaders), {
    template: '/soap/page',
    title: 'cartAPI',
    data: { operations, namespaces, address: publicUrl + soapPath },
  })
}
