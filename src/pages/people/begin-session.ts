import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { returnAddress } from '../../html/return-address.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import { endSession, type SessionServices } from '../../people/sessions.ts'
import type { EnteredSession } from '../../people/sign-in.ts'
import type { Area } from './area.ts'

/** Where the page that asks to be entered leads on to: `given` where that is a page here, else the first of the area. */
export function nextPage(given: unknown, { path }: Area): string {
  return returnAddress(given, path)
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
