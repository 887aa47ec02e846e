import type { FastifyInstance, FastifyReply } from 'fastify'
import { orShowAgain, sentBy, textIn } from '../../html/forms.ts'
import { type Page, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { type SignUpServices, signUpDeveloper } from '../../people/accounts.ts'
import { developerPages as area, beginSession, clientOf, nextPage } from './session.ts'

export const signUpAddress = '/developers/sign-up'

/** Developers open their accounts themselves where the setting DEVELOPER_SIGNUP says so; else the page says who does. */
export function signUpPages(app: FastifyInstance, services: SignUpServices): void {
  const { get, post } = pagesFor(app, 'anyone', area.kind)
  get(signUpAddress, async (request, reply) => {
    const next = nextPage(textIn(request.query, 'next'), area)
    if (request.session) return reply.redirect(next, 303)
    return sendPage(reply, page(services, { next }))
  })

  post(signUpAddress, (request, reply) => {
    const sent = sentBy(request)
    const next = nextPage(textIn(sent, 'next'), area)
    return orShowAgain(
      reply,
      () => enter(app, services, reply, next),
      () => page(services, { Email: textIn(sent, 'Email'), next }),
    )
  })
}

async function enter(app: FastifyInstance, services: SignUpServices, reply: FastifyReply, next: string) {
  const { request } = reply
  const sent = sentBy(request)
  const client = { ...clientOf(request), devices: app.sessionCookies.readDevices(request) }
  const opened = await signUpDeveloper(services, withoutNext(sent), client)
  return beginSession(app, services, area, reply, { opened, email: textIn(sent, 'Email').trim(), next })
}

/** `next` is the page's own. */
function withoutNext(sent: unknown): unknown {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return sent
  const { next, ...input } = sent as Record<string, unknown>
  return input
}

function page({ config }: SignUpServices, values: Record<string, string>): Page {
  if (config.developerSignup === 'open') return { template: '/pages/people/sign-up', title: 'Sign up', values }
  return { template: '/pages/people/sign-up-closed', title: 'Sign-up is closed', status: 403 }
}
