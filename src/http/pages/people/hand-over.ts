import type { FastifyReply, FastifyRequest } from 'fastify'
import { t } from '../../../foundation/texts/text.ts'
import { readInput } from '../../../foundation/values/input.ts'
import { type InvitationServices, invite, newInvitation } from '../../../shop/staff/invitations.ts'
import type { Changing } from '../../../shop/staff/store-roles.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { formOf } from '../../html/request.ts'

// Links that are handed over instead of being mailed.

interface Link {
  readonly email: string
  readonly link: string | null
  readonly expiresAt: Date
}

/** The page that shows a link once. `back`: the address that leads on. */
export function linkPage({ email, link, expiresAt }: Link, back: string): HtmlPage {
  const data = { email, link, expiresAt, back }
  return { template: '/pages/people/hand-over', title: t('Hand this link over'), data }
}

/** Leads back once an invitation is mailed, or shows its link. */
export function answerInvitation(reply: FastifyReply, invitation: Link, back: string) {
  return invitation.link === null ? `${back}?notice=invited` : sendPage(reply, linkPage(invitation, back))
}

/** Carries out a form that invites somebody to a store. `back`: the page that it stands on. */
export async function inviteByForm(
  services: InvitationServices,
  [request, reply]: [FastifyRequest, FastifyReply],
  { storeId, by, back }: { storeId: number; by: Changing; back: string },
) {
  const { Email, Role, HandOver } = formOf(request)
  const given = readInput(newInvitation, { Email, Role, HandOver: HandOver === 'true' })
  return answerInvitation(reply, await invite(services, storeId, given, by), back)
}
