import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sendPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { type CallerServices, formOf } from '../../../html/request.ts'
import { addNew, newReturnPage, stockOfNew } from './new-return.ts'
import { returnPage, saveReturn, stockOfReturn } from './receive-return.ts'

const newAddress = '/admin/orders/:id/returns/new'
const address = '/admin/orders/:id/returns/:rmaId'

/** Adds the pages that add a return of an order, and that receive and restock what it returns. */
export function returnPages(app: FastifyInstance, services: CallerServices): void {
  const { page, form } = adminPages(app, ['Orders', 'read'], ['RMA', 'write'])
  const isOutdated = (kind: string) => kind === 'precondition-failed' || kind === 'conflict'

  page(newAddress, (request) => newReturnPage(request, services))
  const newAgain = (request: FastifyRequest, _reply: unknown, { kind }: { kind: string }) =>
    newReturnPage(request, services, { typed: formOf(request), isOutdated: isOutdated(kind) })
  form(`${newAddress}/stock`, async (request, reply) => sendPage(reply, await stockOfNew(request, services)), newAgain)
  form(newAddress, (request) => addNew(request, services), newAgain)

  page(address, (request) => returnPage(request, services))
  const again = (request: FastifyRequest, _reply: unknown, { kind }: { kind: string }) =>
    returnPage(request, services, { typed: formOf(request), isOutdated: isOutdated(kind) })
  form(`${address}/stock`, async (request, reply) => sendPage(reply, await stockOfReturn(request, services)), again)
  form(address, (request) => saveReturn(request, services), again)
}
