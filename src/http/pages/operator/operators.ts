import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { inviteOperator, listOperators, newOperator, removeOperator } from '../../../access/people/operators.ts'
import type { ResetServices } from '../../../access/people/reset.ts'
import { t } from '../../../foundation/texts/text.ts'
import { readInput } from '../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { actorOf, type Form, formOf, sessionOf } from '../../html/request.ts'
import { idIn } from '../frame/pages.ts'
import { linkPage } from '../people/hand-over.ts'

const home = '/operator/operators'

/** Adds the page of the operators: who they are, adding one by a link to hand over, removing one. */
export function operatorsPages(app: FastifyInstance, services: ResetServices): void {
  const { page, form } = pagesFor(app, 'operator').proved
  const listPage = async (request: FastifyRequest, values: Form = {}): Promise<HtmlPage> => ({
    template: '/pages/operator/operators',
    title: t('Operators'),
    values,
    data: { operators: await listOperators(services), ownId: sessionOf(request).person.id },
  })

  page(home, (request) => listPage(request))
  const add = async (request: FastifyRequest, reply: FastifyReply) => {
    const { Email } = readInput(newOperator, formOf(request))
    return sendPage(reply, linkPage(await inviteOperator(services, Email, actorOf(request)), home))
  }
  form(home, add, (request) => listPage(request, formOf(request)))
  const remove = async (request: FastifyRequest) => {
    await removeOperator(services, idIn(request), actorOf(request))
    return `${home}?notice=operator-removed`
  }
  form(`${home}/:id/remove`, remove, (request) => listPage(request))
}
