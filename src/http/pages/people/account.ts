import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { mailsAre } from '../../../access/mail/write.ts'
import { changePassword } from '../../../access/people/accounts.ts'
import type { AddressServices } from '../../../access/people/address.ts'
import { browserName } from '../../../access/people/browser-name.ts'
import { listFactors } from '../../../access/people/factors/changes.ts'
import { chooseLocale, chosenLocale } from '../../../access/people/locale.ts'
import { identityOf } from '../../../access/people/proof.ts'
import { endOtherSessions, endSession, type ListedSession, listSessions } from '../../../access/people/sessions.ts'
import { locales } from '../../../foundation/texts/language.ts'
import { t } from '../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { pagesOf } from '../../html/page-routes.ts'
import { actorOf, formId, sentBy, sessionOf, wantsHtml } from '../../html/request.ts'
import { addressPages } from './address.ts'
import { alertChoices, alertForms } from './alerts.ts'
import { factorPages } from './factors.ts'
import { provePages } from './prove.ts'
import { type Area, clientOf, signOut } from './sign-in.ts'

const which = 'must be the id of a session, or others'
const endedSession = namedObject({
  Session: z.union([z.literal('others'), formId(which)], which),
})

/** Adds the pages of the signed-in person's account: its password, address, second factors, language and sessions. */
export function accountPages(app: FastifyInstance, services: AddressServices, area: Area): void {
  const { get, form } = pagesOf(app, area.kind)
  const account = `${area.path}/account`
  const done = (reply: FastifyReply, notice: string) =>
    wantsHtml(reply.request) ? `${account}?notice=${notice}` : reply.code(204).send()
  const again = async (request: FastifyRequest): Promise<HtmlPage> => {
    const session = sessionOf(request)
    const sessions = await listSessions(services, session)
    const mails = mailsAre(services.config)
    const factors = await listFactors(services, session)
    const alerts = await alertChoices(services, session.person)
    const locale = identityOf(session).locale ?? ''
    // Both forms have a field CurrentPassword.
    const isOfAddress = request.url.startsWith(`${account}/address`)
    const data = {
      account,
      sessions,
      mails,
      factors,
      alerts,
      locales,
      locale,
      isOfAddress,
      browserName,
      now: services.now(),
    }
    return { template: '/pages/people/account', title: t('Your account'), data }
  }

  get(account, async (request, reply) => {
    if (wantsHtml(request)) return sendPage(reply, await again(request))
    const session = sessionOf(request)
    const sessions = await listSessions(services, session)
    const { email, locale } = identityOf(session)
    return { Email: email, Locale: locale ?? '', Sessions: sessions.map(sessionRecord) }
  })

  const setPassword = async (request: FastifyRequest, reply: FastifyReply) => {
    const by = { actor: actorOf(request), devices: app.sessionCookies.readDevices(request), ...clientOf(request) }
    await changePassword(services, sessionOf(request), sentBy(request), by)
    return done(reply, 'password-changed')
  }
  form(`${account}/password`, setPassword, again)
  addressPages(app, services, area, again)
  factorPages(app, services, area)
  provePages(app, services, area)
  if (area.kind !== 'developer') alertForms(app, services, area, again)

  const setLocale = async (request: FastifyRequest, reply: FastifyReply) => {
    const { Locale } = readInput(chosenLocale, sentBy(request))
    await chooseLocale(services, sessionOf(request), Locale === '' ? null : Locale, actorOf(request))
    return done(reply, 'language-chosen')
  }
  form(`${account}/language`, setLocale, again)

  const endSessions = async (request: FastifyRequest, reply: FastifyReply) => {
    const { Session: ended } = readInput(endedSession, sentBy(request))
    const session = sessionOf(request)
    if (ended === session.id) return signOut(services, area, reply)
    if (ended === 'others') await endOtherSessions(services, session, actorOf(request))
    else {
      const sessions = await listSessions(services, session)
      if (!sessions.some(({ id }) => id === ended)) {
        throw new StoreFailure('not-found', 'You are no longer signed in there', { field: 'Session' })
      }
      await endSession(services, ended, actorOf(request))
    }
    return done(reply, 'sessions-ended')
  }
  form(`${account}/sessions`, endSessions, again)
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
