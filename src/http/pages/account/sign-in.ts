import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { redeemCustomerToken } from '../../../access/people/customer-tokens.ts'
import { endSession, type SessionServices } from '../../../access/people/sessions.ts'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { sentBy, textIn, wantsHtml } from '../../html/request.ts'
import { clientOf, signOut } from '../people/sign-in.ts'

const area = { path: '/account', kind: 'customer', signUp: null } as const

const loginToken = namedObject({ Token: z.string('must be a text') })

/**
 * Adds the customers' sign-in page. Opening a login link neither uses its token nor reveals anything about it, because
 * programs that scan mail open links. The button uses the token, once.
 */
export function customerSignInPages(app: FastifyInstance, services: SessionServices): void {
  const { get, form } = pagesFor(app, 'anyone', 'customer')
  const pageOf = (token: string): HtmlPage => ({
    template: '/pages/account/sign-in',
    title: t('Your orders'),
    data: { token },
  })
  get('/account/sign-in', async ({ session, query }, reply) => {
    const token = textIn(query, 'token')
    return session && token === '' ? reply.redirect('/account', 303) : sendPage(reply, pageOf(token))
  })

  const signIn = async (request: FastifyRequest, reply: FastifyReply) => {
    const { Token } = readInput(loginToken, sentBy(request))
    const opened = await redeemCustomerToken(services, Token, clientOf(request))
    if (request.session) await endSession(services, request.session.id)
    app.sessionCookies.set(reply, 'customer', opened)
    return wantsHtml(request) ? '/account' : { ExpiresAt: opened.expiresAt.toISOString() }
  }
  form('/account/sign-in', signIn, () => pageOf(''))

  pagesFor(app, 'customer').post('/account/sign-out', (_request, reply) => signOut(services, area, reply))
}
