import type { FastifyInstance, FastifyReply } from 'fastify'
import { sessionOf } from '../../html/principals.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import { endSession, type SessionServices } from '../../people/sessions.ts'
import type { Area } from './area.ts'

export function signOutRoutes(app: FastifyInstance, services: SessionServices, area: Area): void {
  app.post(`${area.path}/sign-out`, (_request, reply) => signOut(app, services, area, reply))
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
