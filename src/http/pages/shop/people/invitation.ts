import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { personName } from '../../../../access/people/names.ts'
import { newPasswordInput } from '../../../../access/people/passwords.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../../foundation/values/input.ts'
import {
  acceptAsNew,
  acceptAsPerson,
  findInvitation,
  type InvitationServices,
  isForPerson,
  OPERATOR,
} from '../../../../shop/staff/invitations.ts'
import { type HtmlPage, sendPage } from '../../../html/page.ts'
import { orShowAgain, pagesFor, pagesOf } from '../../../html/page-routes.ts'
import { actorOf, sentBy, sessionOf, textIn, wantsHtml } from '../../../html/request.ts'
import { administration, beginSession, deviceOf } from '../../people/sign-in.ts'

const address = '/admin/invitations'

const asPerson = namedObject({ Token: z.string('must be a text') })
const asNew = namedObject({
  Token: z.string('must be a text'),
  Password: newPasswordInput,
  Name: personName.default(''),
})

/** Adds the page that the link of an invitation opens. Opening it changes nothing; its buttons use the link, once. */
export function invitationPages(app: FastifyInstance, services: InvitationServices): void {
  const { get, form } = pagesFor(app, 'anyone', 'merchant')
  const pageOf = async (request: FastifyRequest, token: string): Promise<HtmlPage> => {
    const invitation = await findInvitation(services, token)
    const { session } = request
    const isOwn = session !== null && (await isForPerson(services, invitation, session))
    const signIn = `/admin/sign-in?next=${encodeURIComponent(`${address}?token=${token}`)}`
    const data = { invitation, token, isOwn, signIn, isByOperator: invitation.invitedBy === OPERATOR }
    const title = t('Join {store}', { store: invitation.storeName })
    return { template: '/pages/shop/people/invitation', title, data }
  }
  const unusable = (): HtmlPage => ({ template: '/pages/shop/people/invitation-used', title: t('Invitation') })

  get(address, (request, reply) => {
    const show = async () => sendPage(reply, await pageOf(request, textIn(request.query, 'token')))
    return orShowAgain(reply, show, unusable)
  })

  const again = (request: FastifyRequest, _reply: FastifyReply, { field }: { field: string }) =>
    field === 'Token' ? unusable() : pageOf(request, textIn(sentBy(request), 'Token'))

  form(address, again, async (request, reply) => {
    const { Token, Password, Name } = readInput(asNew, sentBy(request))
    const opened = await acceptAsNew(services, { token: Token, password: Password, name: Name }, deviceOf(request))
    return beginSession(services, administration, reply, opened)
  })

  pagesOf(app, 'merchant').form(`${address}/accept`, again, async (request, reply) => {
    const { Token } = readInput(asPerson, sentBy(request))
    await acceptAsPerson(services, sessionOf(request), Token, actorOf(request))
    return wantsHtml(request) ? '/admin?notice=joined' : reply.code(204).send()
  })
}
