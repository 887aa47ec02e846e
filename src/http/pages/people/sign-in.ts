import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type SignUpServices, signUpDeveloper } from '../../../access/people/accounts.ts'
import type { EnteredSession } from '../../../access/people/enter.ts'
import { hasPasskeys } from '../../../access/people/factors/passkeys.ts'
import {
  type AccountKind,
  endSession,
  type Session,
  type SessionKind,
  type SessionServices,
} from '../../../access/people/sessions.ts'
import { type SignInServices, signIn, signInStep } from '../../../access/people/sign-in.ts'
import { findStoreAt } from '../../../access/stores/caller-store.ts'
import { normaliseHost, readSecureUrl } from '../../../access/stores/secure-url.ts'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { pagesFor, pagesOf } from '../../html/page-routes.ts'
import { actorOf, localeOf, nextAddress, sentBy, sessionOf, textIn, wantsHtml } from '../../html/request.ts'
import { factorStepPages } from './factor-step.ts'

/** The pages for one kind of person. */
export interface Area<Kind extends SessionKind = AccountKind> {
  /** The prefix of their addresses. */
  readonly path: '/admin' | '/developers' | '/operator' | '/account'
  readonly kind: Kind
  /** The sign-up page. Null: none. */
  readonly signUp: string | null
}

/** Makes the page of a form anew, for one that is refused. */
export type PageAgain = (request: FastifyRequest) => Promise<HtmlPage>

const signUpAddress = '/developers/sign-up'

export const administration: Area = { path: '/admin', kind: 'merchant', signUp: null }

export const operatorPages: Area = { path: '/operator', kind: 'operator', signUp: null }

export function developerPages({ config }: SignUpServices): Area {
  return { path: '/developers', kind: 'developer', signUp: config.developerSignup === 'open' ? signUpAddress : null }
}

/** `next`: the page to open afterwards. Sent by forms only. `Code`: of a second factor, with the password. Sent by programs. */
const signInBody = namedObject({
  Email: z.string('must be a text'),
  Password: z.string('must be a text'),
  Store: z.string('must be a text').optional(),
  Code: z.string('must be a text').optional(),
  next: z.unknown().optional(),
})

/**
 * Adds the pages for signing in and out. Redirects a signed-in person; a switch to another store's account needs a
 * confirmation.
 */
export function signInPages(app: FastifyInstance, services: SignInServices, area: Area): void {
  const { get, form } = pagesFor(app, 'anyone', area.kind)
  const address = `${area.path}/sign-in`
  const begin = (reply: FastifyReply, opened: EnteredSession) => beginSession(services, area, reply, opened)
  const pageOf = (values: SignInValues) => signInPage(area, hasPasskeys(services.config), values)

  get(address, async (request, reply) => {
    const next = nextAddress(request.query, area.path)
    const store = textIn(request.query, 'store')
    const onward = request.session && (await onwardAddress(services, request.session, store, next))
    if (onward) return reply.redirect(onward, 303)
    return sendPage(reply, pageOf({ next, Store: store }))
  })

  const again = (request: FastifyRequest) => {
    const sent = sentBy(request)
    const next = nextAddress(sent, area.path)
    return pageOf({ Email: textIn(sent, 'Email'), Store: textIn(sent, 'Store'), next })
  }
  form(address, again, async (request, reply) => {
    const { Email, Password, Store, Code } = readInput(signInBody, sentBy(request))
    const input = { kind: area.kind, email: Email, password: Password, store: Store, ...deviceOf(request) }
    if (!wantsHtml(request)) return begin(reply, await signIn(services, { ...input, code: Code }))
    const step = await signInStep(services, input)
    if (!('awaits' in step)) return begin(reply, step)
    app.sessionCookies.keep(reply, `${area.kind}-factor`, step.awaits)
    return `${address}/factor?${new URLSearchParams({ next: nextAddress(sentBy(request), area.path) })}`
  })
  factorStepPages(app, services, { ...area, clientOf: deviceOf, begin, signInPage: again })

  pagesOf(app, area.kind).post(`${area.path}/sign-out`, (_request, reply) => signOut(services, area, reply))
}

/** Returns where to redirect a signed-in person. Null: no account in that store. A GET must not change the store. */
async function onwardAddress({ db }: SignInServices, { person }: Session, store: string, next: string) {
  if (person.kind !== 'merchant' || store === '') return next
  const asked = await findStoreAt(db, store)
  if (asked?.id === person.store.id) return next
  if (!person.others.some(({ storeId }) => storeId === asked?.id)) return null
  return `/admin/change-store?${new URLSearchParams({ store, next })}`
}

type SignInValues = Readonly<Record<'Store' | 'next', string> & { Email?: string }>

/** Shows a valid store address as its host only, because a link must not make the page say anything else. */
function signInPage({ path, kind, signUp }: Area, canUsePasskey: boolean, values: SignInValues): HtmlPage {
  const storeHost = kind === 'merchant' && readSecureUrl(values.Store) ? normaliseHost(values.Store) : null
  return {
    template: '/pages/people/sign-in',
    title: t('Sign in'),
    data: {
      action: `${path}/sign-in`,
      reset: `${path}/reset`,
      asksStore: kind === 'merchant',
      storeHost,
      signUp,
      canUsePasskey,
    },
    values,
  }
}

/** Adds the sign-up page for developers. Where DEVELOPER_SIGNUP is closed, the page says who creates accounts. */
export function signUpPages(app: FastifyInstance, services: SignUpServices, area: Area): void {
  const { get, form } = pagesFor(app, 'anyone', area.kind)
  const signUpPage = (values: Record<string, string>): HtmlPage => {
    if (area.signUp !== null) return { template: '/pages/people/sign-up', title: t('Sign up'), values }
    return { template: '/pages/people/sign-up-closed', title: t('Sign-up is closed'), status: 403 }
  }
  get(signUpAddress, async (request, reply) => {
    const next = nextAddress(request.query, area.path)
    return request.session ? reply.redirect(next, 303) : sendPage(reply, signUpPage({ next }))
  })

  const again = (request: FastifyRequest) => {
    const sent = sentBy(request)
    return signUpPage({ Email: textIn(sent, 'Email'), next: nextAddress(sent, area.path) })
  }
  form(signUpAddress, again, async (request, reply) =>
    beginSession(services, area, reply, await signUpDeveloper(services, sentBy(request), deviceOf(request))),
  )
}

/** The client that a session is opened for. */
export function clientOf(request: FastifyRequest) {
  return { address: request.ip, userAgent: request.headers['user-agent'], locale: localeOf(request) }
}

export function deviceOf(request: FastifyRequest) {
  return { ...clientOf(request), devices: request.server.sessionCookies.read(request, 'devices') }
}

/** Who changes the own account, and on what device. */
export function byPerson(request: FastifyRequest) {
  return { actor: actorOf(request), ...deviceOf(request) }
}

/** Sends the browser its new session and ends the former. Redirects browsers to `next`; programs get the session. */
export async function beginSession(
  services: SessionServices,
  { kind, path }: Area,
  reply: FastifyReply,
  opened: EnteredSession,
) {
  const { request } = reply
  if (request.session) await endSession(services, request.session.id, request.actor)
  reply.server.sessionCookies.set(reply, kind, opened)
  reply.server.sessionCookies.keep(reply, 'devices', opened.devices)
  if (wantsHtml(request)) return reply.redirect(nextAddress(sentBy(request), path), 303)
  return reply.send({ Email: opened.email, ExpiresAt: opened.expiresAt.toISOString() })
}

/** Ends the session and deletes its cookie. */
export async function signOut(services: SessionServices, { kind, path }: Area<SessionKind>, reply: FastifyReply) {
  const { request } = reply
  await endSession(services, sessionOf(request).id, request.actor)
  reply.server.sessionCookies.clear(reply, kind)
  if (wantsHtml(request)) return reply.redirect(`${path}/sign-in?notice=signed-out`, 303)
  return reply.code(204).send()
}
