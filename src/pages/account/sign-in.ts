import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { sentBy, textIn } from '../../html/forms.ts'
import { type Page, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { sessionOf } from '../../html/principals.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import { redeemCustomerToken } from '../../people/customer-tokens.ts'
import { endSession, type SessionServices } from '../../people/sessions.ts'
import { namedObject, readInput } from '../../values/input.ts'
import { clientOf } from '../people/session.ts'

const loginToken = namedObject({ Token: z.string('must be a text') })

/**
 * Adds the customers' sign-in page. Opening a login link neither uses its token nor reveals anything about it, because
 * programs that scan mail open links. The button uses the token, once.
 */
export function customerSignInPages(app: FastifyInstance, services: SessionServices): void {
  const { get, form } = pagesFor(app, 'anyone', 'customer')
  get('/account/sign-in', async ({ session, query }, reply) => {
    const token = textIn(query, 'token')
    if (session && token === '') return reply.redirect('/account', 303)
    return sendPage(reply, page(token))
  })

  const signIn = async (request: FastifyRequest, reply: FastifyReply) => {
    const { Token } = readInput(loginToken, sentBy(request))
    const opened = await redeemCustomerToken(services, Token, clientOf(request))
    if (request.session) await endSession(services, request.session.id)
    app.sessionCookies.set(reply, 'customer', opened)
    return wantsHtml(request) ? '/account' : { ExpiresAt: opened.expiresAt.toISOString() }
  }
  form('/account/sign-in', signIn, () => page(''))

  pagesFor(app, 'customer').post('/account/sign-out', async (request, reply) => {
    await endSession(services, sessionOf(request).id)
    app.sessionCookies.clear(reply, 'customer')
    if (wantsHtml(request)) return reply.redirect('/account/sign-in?notice=signed-out', 303)
    return reply.code(204).send()
  })
}

function page(token: string): Page {
  return { template: '/pages/account/sign-in', title: 'Your orders', data: { token } }
}
