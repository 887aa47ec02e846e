import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { returnAddress, textIn } from '../../html/forms.ts'
import { sessionOf } from '../../html/principals.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import { endSession, type Person, type SessionServices } from '../../people/sessions.ts'
import type { EnteredSession } from '../../people/sign-in.ts'

/** Whose pages: a merchant's in the store administration, or a developer's. */
export interface Area {
  /** Where they begin. */
  readonly path: '/admin' | '/developers'
  readonly kind: 'merchant' | 'developer'
}

export const administration: Area = { path: '/admin', kind: 'merchant' }

export const developerPages: Area = { path: '/developers', kind: 'developer' }

/** The zone that times are shown to somebody in: the store's, or UTC, as developers work for stores of many zones. */
export function zoneOf(person: Person): string {
  return person.kind === 'developer' ? 'UTC' : person.store.timeZone
}

/** Where a page leads on to: the `next` of what was sent, or of a query, where that is a page here, else the first of the area. */
export function nextIn(sent: unknown, { path }: Area): string {
  return returnAddress(textIn(sent, 'next'), path)
}

/** The client that a session is opened for. */
export function clientOf({ ip, headers }: FastifyRequest) {
  return { address: ip, userAgent: headers['user-agent'] }
}

/** Hands the browser its new session; the one that its cookie named before ends. People are led on to `next`; programs are told of the session. */
export async function beginSession(
  app: FastifyInstance,
  services: SessionServices,
  { kind }: Area,
  reply: FastifyReply,
  { opened, email, next }: { opened: EnteredSession; email: string; next: string },
) {
  const { request } = reply
  if (request.session) await endSession(services, request.session.id, request.actor)
  app.sessionCookies.set(reply, kind, opened)
  app.sessionCookies.setDevices(reply, opened.devices)
  if (wantsHtml(request)) return reply.redirect(next, 303)
  return reply.send({ Email: email, ExpiresAt: opened.expiresAt.toISOString() })
}

/** Ends the session on the server, and takes its cookie from the browser. */
export async function signOut(
  app: FastifyInstance,
  services: SessionServices,
  { kind, path }: Area,
  reply: FastifyReply,
) {
  const { request } = reply
  await endSession(services, sessionOf(request).id, request.actor)
  app.sessionCookies.clear(reply, kind)
  if (wantsHtml(request)) return reply.redirect(`${path}/sign-in?notice=signed-out`, 303)
  return reply.code(204).send()
}
