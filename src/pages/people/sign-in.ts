import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { sentBy, textIn } from '../../html/forms.ts'
import { type Page, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import type { Session, SessionServices } from '../../people/sessions.ts'
import { signIn } from '../../people/sign-in.ts'
import { normaliseHost, readSecureUrl } from '../../stores/secure-url.ts'
import { namedObject, readInput } from '../../values/input.ts'
import { type Area, beginSession, clientOf, nextIn } from './session.ts'

export interface SignInPages extends Area {
  /** The sign-up page. Null: none. */
  readonly signUp: string | null
}

/** `next`: the page to open afterwards. Sent by forms only. */
const signInBody = namedObject({
  Email: z.string('must be a text'),
  Password: z.string('must be a text'),
  Store: z.string('must be a text').optional(),
  next: z.unknown().optional(),
})

/** Adds the sign-in pages. Redirects a signed-in person; a switch to another store's account needs a confirmation. */
export function signInPages(app: FastifyInstance, services: SessionServices, area: SignInPages): void {
  const { get, form } = pagesFor(app, 'anyone', area.kind)
  const address = `${area.path}/sign-in`

  get(address, async (request, reply) => {
    const next = nextIn(request.query, area)
    const store = textIn(request.query, 'store')
    const onward = request.session && onwardAddress(request.session, store, next)
    if (onward) return reply.redirect(onward, 303)
    return sendPage(reply, page(area, { next, Store: store }))
  })

  form(
    address,
    (_request, reply) => enter(app, services, area, reply),
    (request) => {
      const sent = sentBy(request)
      return page(area, { Email: textIn(sent, 'Email'), Store: textIn(sent, 'Store'), next: nextIn(sent, area) })
    },
  )
}

async function enter(app: FastifyInstance, services: SessionServices, area: Area, reply: FastifyReply) {
  const { request } = reply
  const { Email, Password, Store } = readInput(signInBody, sentBy(request))
  const { kind } = area
  const devices = app.sessionCookies.readDevices(request)
  const input = { kind, email: Email, password: Password, store: Store, devices }
  const opened = await signIn(services, { ...input, ...clientOf(request) })
  return beginSession(app, services, area, reply, { opened, email: Email.trim(), next: nextIn(sentBy(request), area) })
}

/** Returns where to redirect a signed-in person. Null: no account in that store. A GET must not change the store. */
function onwardAddress({ person }: Session, store: string, next: string): string | null {
  if (person.kind !== 'merchant' || store === '') return next
  const isAsked = ({ secureUrl }: { secureUrl: string }) => normaliseHost(secureUrl) === normaliseHost(store)
  if (isAsked(person.store)) return next
  if (!person.others.some(isAsked)) return null
  return `/admin/change-store?${new URLSearchParams({ store, next })}`
}

/** Shows a valid store address as its host only, because a link must not make the page say anything else. */
function page({ path, kind, signUp }: SignInPages, values: { Email?: string; Store: string; next: string }): Page {
  const storeHost = kind === 'merchant' && readSecureUrl(values.Store) ? normaliseHost(values.Store) : null
  return {
    template: '/pages/people/sign-in',
    title: 'Sign in',
    data: { action: `${path}/sign-in`, asksStore: kind === 'merchant', storeHost, signUp },
    values,
  }
}
