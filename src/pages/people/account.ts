import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { formId, sentBy } from '../../html/forms.ts'
import { type Page, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { actorOf, sessionOf } from '../../html/principals.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import { changePassword } from '../../people/accounts.ts'
import {
  endOtherSessions,
  endSession,
  type ListedSession,
  listSessions,
  type SessionServices,
} from '../../people/sessions.ts'
import { StoreFailure } from '../../values/failure.ts'
import { namedObject, readInput } from '../../values/input.ts'
import { type Area, signOut, zoneOf } from './session.ts'

const which = 'must be the id of a session, or others'
const endedSession = namedObject({
  Session: z.union([z.literal('others'), formId(which)], which),
})

/** Adds the pages of the signed-in person's account: its password and its sessions. */
export function accountPages(app: FastifyInstance, services: SessionServices, area: Area): void {
  const { get, form } = pagesFor(app, area.kind)
  const again = (request: FastifyRequest) => page(services, area, request)
  const address = `${area.path}/account`

  get(address, async (request, reply) => {
    if (wantsHtml(request)) return sendPage(reply, await again(request))
    const session = sessionOf(request)
    const sessions = await listSessions(services, session)
    return { Email: session.person.email, Sessions: sessions.map(sessionRecord) }
  })

  const setPassword = async (request: FastifyRequest, reply: FastifyReply) => {
    const devices = app.sessionCookies.readDevices(request)
    await changePassword(services, sessionOf(request), sentBy(request), { actor: actorOf(request), devices })
    return done(reply, `${address}?notice=password-changed`)
  }
  form(`${address}/password`, setPassword, again)

  const endSessions = async (request: FastifyRequest, reply: FastifyReply) => {
    const { Session: ended } = readInput(endedSession, sentBy(request))
    if (ended === 'others') await endOtherSessions(services, sessionOf(request), actorOf(request))
    else if (ended === sessionOf(request).id) return signOut(app, services, area, reply)
    else await endOne(services, reply, ended)
    return done(reply, `${address}?notice=sessions-ended`)
  }
  form(`${address}/sessions`, endSessions, again)
}

async function endOne(services: SessionServices, { request }: FastifyReply, id: number): Promise<void> {
  const sessions = await listSessions(services, sessionOf(request))
  if (!sessions.some((each) => each.id === id)) {
    throw new StoreFailure('not-found', 'You are not signed in there any more', { field: 'Session' })
  }
  await endSession(services, id, actorOf(request))
}

function done(reply: FastifyReply, next: string) {
  return wantsHtml(reply.request) ? next : reply.code(204).send()
}

async function page(services: SessionServices, { path }: Area, request: FastifyRequest): Promise<Page> {
  const session = sessionOf(request)
  const { person } = session
  return {
    template: '/pages/people/account',
    title: 'Your account',
    data: {
      account: `${path}/account`,
      sessions: await listSessions(services, session),
      zone: zoneOf(person),
      now: services.now(),
      others: person.kind === 'merchant' ? person.others : [],
    },
  }
}

function sessionRecord({ id, createdAt, seenAt, address, userAgent, isThis }: ListedSession) {
  return {
    Id: id,
    DateCreated: createdAt.toISOString(),
    LastSeen: seenAt.toISOString(),
    Address: address,
    UserAgent: userAgent,
    IsThis: isThis,
  }
}
