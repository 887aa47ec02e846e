import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { returnAddress, textIn } from '../../html/forms.ts'
import { sessionOf } from '../../html/principals.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import { endSession, type Person, type SessionServices } from '../../people/sessions.ts'
import type { EnteredSession } from '../../people/sign-in.ts'

/** The pages of merchants (store administration) or of developers. */
export interface Area {
  /** The prefix of their addresses. */
  readonly path: '/admin' | '/developers'
  readonly kind: 'merchant' | 'developer'
}

export const administration: Area = { path: '/admin', kind: 'merchant' }

export const developerPages: Area = { path: '/developers', kind: 'developer' }

/** Returns the zone for a person's pages: the store's, or UTC for developers, who work for stores of many zones. */
export function zoneOf(person: Person): string {
  return person.kind === 'developer' ? 'UTC' : person.store.timeZone
}

/** Returns the page to open next: `next` in a body or query if it is a page of this server, else the area's first. */
export function nextIn(sent: unknown, { path }: Area): string {
  return returnAddress(textIn(sent, 'next'), path)
}

/** The client that a session is opened for. */
export function clientOf({ ip, headers }: FastifyRequest) {
  return { address: ip, userAgent: headers['user-agent'] }
}

/** Sends the browser its new session and ends the former. Redirects browsers to `next`; programs get the session. */
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

/** Ends the session and deletes its cookie. */
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
