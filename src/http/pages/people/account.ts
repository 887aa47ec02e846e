import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { mailsAre } from '../../../access/mail/write.ts'
import { changePassword } from '../../../access/people/accounts.ts'
import type { AddressServices } from '../../../access/people/address.ts'
import { browserName } from '../../../access/people/browser-name.ts'
import { choose, chosenLocale, chosenName, readChoices } from '../../../access/people/choices.ts'
import { listFactors } from '../../../access/people/factors/changes.ts'
import { listPersonTokens } from '../../../access/people/person-tokens.ts'
import { identityOf } from '../../../access/people/proof.ts'
import type { ResetServices } from '../../../access/people/reset.ts'
import { endOtherSessions, endSession, type ListedSession, listSessions } from '../../../access/people/sessions.ts'
import type { SignInServices } from '../../../access/people/sign-in.ts'
import { locales } from '../../../foundation/texts/language.ts'
import { t } from '../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { leadOn, pagesOf } from '../../html/page-routes.ts'
import { actorOf, formId, sentBy, sessionOf, wantsHtml } from '../../html/request.ts'
import { addressPages } from './address.ts'
import { alertChoices, alertForms } from './alerts.ts'
import { factorPages } from './factors.ts'
import { provePages } from './prove.ts'
import { resetPages } from './reset.ts'
import { type Area, byPerson, signInPages, signOut } from './sign-in.ts'
import { tokenForms } from './tokens.ts'

const which = 'must be the id of a session, or others'
const endedSession = namedObject({ Session: z.union([z.literal('others'), formId(which)], which) })

/** Adds the pages on which people of an area sign in, choose a new password and look after their accounts. */
export function areaPages(app: FastifyInstance, services: SignInServices & ResetServices, area: Area): void {
  signInPages(app, services, area)
  resetPages(app, services, area)
  accountPages(app, services, area)
}

/** Adds the pages of the signed-in person's account: its password, address, second factors, language, tokens and sessions. */
function accountPages(app: FastifyInstance, services: AddressServices, area: Area): void {
  const { get, form } = pagesOf(app, area.kind)
  const account = `${area.path}/account`
  const again = (request: FastifyRequest) => accountPage(services, area, request)
  get(account, async (request, reply) => {
    if (wantsHtml(request)) return sendPage(reply, await again(request))
    const session = sessionOf(request)
    const sessions = await listSessions(services, session)
    const { email, locale } = identityOf(session)
    return { Email: email, Locale: locale ?? '', Sessions: sessions.map(sessionRecord) }
  })

  const setPassword = async (request: FastifyRequest, reply: FastifyReply) => {
    await changePassword(services, sessionOf(request), sentBy(request), byPerson(request))
    return leadOn(reply, `${account}?notice=password-changed`)
  }
  form(`${account}/password`, setPassword, again)
  addressPages(app, services, area, again)
  factorPages(app, services, area)
  provePages(app, services, area)
  if (area.kind !== 'developer') alertForms(app, services, area, again)
  if (area.kind !== 'operator') tokenForms(app, services, area, again)

  const setLocale = async (request: FastifyRequest, reply: FastifyReply) => {
    const { Locale } = readInput(chosenLocale, sentBy(request))
    await choose(services, sessionOf(request), 'locale', Locale === '' ? null : Locale, actorOf(request))
    return leadOn(reply, `${account}?notice=language-chosen`)
  }
  form(`${account}/language`, setLocale, again)

  const setName = async (request: FastifyRequest, reply: FastifyReply) => {
    const { Name } = readInput(chosenName, sentBy(request))
    await choose(services, sessionOf(request), 'name', Name, actorOf(request))
    return leadOn(reply, `${account}?notice=settings-saved`)
  }
  form(`${account}/name`, setName, again)

  const endSessions = async (request: FastifyRequest, reply: FastifyReply) => {
    const { Session: ended } = readInput(endedSession, sentBy(request))
    if (ended === sessionOf(request).id) return signOut(services, area, reply)
    await endOthers(services, request, ended)
    return leadOn(reply, `${account}?notice=sessions-ended`)
  }
  form(`${account}/sessions`, endSessions, again)
}

async function accountPage(services: AddressServices, area: Area, request: FastifyRequest): Promise<HtmlPage> {
  const session = sessionOf(request)
  const account = `${area.path}/account`
  return {
    template: '/pages/people/account',
    title: t('Your account'),
    data: {
      account,
      own: await readChoices(services.db, session),
      sessions: await listSessions(services, session),
      mails: mailsAre(services.config),
      factors: await listFactors(services, session),
      alerts: await alertChoices(services, session.person),
      tokens: area.kind === 'operator' ? null : await listPersonTokens(services, session.person),
      locales,
      // Both forms have a field CurrentPassword.
      isOfAddress: request.url.startsWith(`${account}/address`),
      browserName,
      now: services.now(),
    },
  }
}

/** Ends all other sessions of the person, or one of them. */
async function endOthers(services: AddressServices, request: FastifyRequest, ended: number | 'others'): Promise<void> {
  const session = sessionOf(request)
  if (ended === 'others') {
    await endOtherSessions(services, session, actorOf(request))
    return
  }
  const sessions = await listSessions(services, session)
  if (!sessions.some(({ id }) => id === ended)) {
    throw new StoreFailure('not-found', 'You are no longer signed in there', { field: 'Session' })
  }
  await endSession(services, ended, actorOf(request))
}

function sessionRecord({ id, createdAt, seenAt, address, userAgent, isThis }: ListedSession) {
  return { Id: id, DateCreated: createdAt, LastSeen: seenAt, Address: address, UserAgent: userAgent, IsThis: isThis }
}
