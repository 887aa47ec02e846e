import type { FastifyInstance, FastifyRequest } from 'fastify'
import { inviteOperator, listOperators, newOperator, removeOperator } from '../../../access/people/operators.ts'
import type { ResetServices } from '../../../access/people/reset.ts'
import { t } from '../../../foundation/texts/text.ts'
import { readInput } from '../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { actorOf, formOf, sessionOf } from '../../html/request.ts'
import { idIn } from '../frame/pages.ts'
import { linkPage } from '../people/hand-over.ts'

const home = '/operator/operators'

/** Adds the page of the operators: who they are, adding one by a link to hand over, removing one. */
export function operatorsPages(app: FastifyInstance, services: ResetServices): void {
  const { page, form } = pagesFor(app, 'operator').proved
  // Only the form of a new one has fields.
  const listPage = async (request: FastifyRequest): Promise<HtmlPage> => ({
    template: '/pages/operator/operators',
    title: t('Operators'),
    values: formOf(request),
    data: { operators: await listOperators(services), ownId: sessionOf(request).person.id },
  })

  page(home, listPage)
  form(home, listPage, async (request, reply) => {
    const { Email } = readInput(newOperator, formOf(request))
    return sendPage(reply, linkPage(await inviteOperator(services, Email, actorOf(request)), home))
  })
  form(`${home}/:id/remove`, listPage, async (request) => {
    await removeOperator(services, idIn(request), actorOf(request))
    return `${home}?notice=operator-removed`
  })
}
