import type { FastifyInstance, FastifyReply } from 'fastify'
import { sentBy, textIn } from '../../html/forms.ts'
import { type Page, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { type SignUpServices, signUpDeveloper } from '../../people/accounts.ts'
import { developerPages as area, beginSession, clientOf, nextIn } from './session.ts'

export const signUpAddress = '/developers/sign-up'

/** Adds the sign-up page. Where DEVELOPER_SIGNUP is closed, the page says who creates accounts. */
export function signUpPages(app: FastifyInstance, services: SignUpServices): void {
  const { get, form } = pagesFor(app, 'anyone', area.kind)
  get(signUpAddress, async (request, reply) => {
    const next = nextIn(request.query, area)
    if (request.session) return reply.redirect(next, 303)
    return sendPage(reply, page(services, { next }))
  })

  form(
    signUpAddress,
    (_request, reply) => enter(app, services, reply),
    (request) => {
      const sent = sentBy(request)
      return page(services, { Email: textIn(sent, 'Email'), next: nextIn(sent, area) })
    },
  )
}

async function enter(app: FastifyInstance, services: SignUpServices, reply: FastifyReply) {
  const { request } = reply
  const sent = sentBy(request)
  const client = { ...clientOf(request), devices: app.sessionCookies.readDevices(request) }
  const opened = await signUpDeveloper(services, withoutNext(sent), client)
  return beginSession(app, services, area, reply, {
    opened,
    email: textIn(sent, 'Email').trim(),
    next: nextIn(sent, area),
  })
}

/** Removes `next`, which belongs to the page. */
function withoutNext(sent: unknown): unknown {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return sent
  const { next, ...input } = sent as Record<string, unknown>
  return input
}

function page({ config }: SignUpServices, values: Record<string, string>): Page {
  if (config.developerSignup === 'open') return { template: '/pages/people/sign-up', title: 'Sign up', values }
  return { template: '/pages/people/sign-up-closed', title: 'Sign-up is closed', status: 403 }
}
