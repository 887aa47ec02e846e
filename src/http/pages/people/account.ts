import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { mailsAre } from '../../../access/mail/write.ts'
import { changePassword } from '../../../access/people/accounts.ts'
import { type AddressServices, confirmAddress, requestAddress } from '../../../access/people/address.ts'
import { browserName } from '../../../access/people/browser-name.ts'
import { choose, chosenLocale, chosenName, readChoices } from '../../../access/people/choices.ts'
import { listFactors } from '../../../access/people/factors/changes.ts'
import { joinAccounts } from '../../../access/people/join.ts'
import { listPersonTokens } from '../../../access/people/person-tokens.ts'
import { identityOf } from '../../../access/people/proof.ts'
import type { ResetServices } from '../../../access/people/reset.ts'
import {
  endOtherSessions,
  endSession,
  type ListedSession,
  listSessions,
  type Person,
} from '../../../access/people/sessions.ts'
import type { SignInServices } from '../../../access/people/sign-in.ts'
import type { DataServices } from '../../../foundation/database/client.ts'
import { locales } from '../../../foundation/texts/language.ts'
import { type Text, t } from '../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { type AlertOwner, chooseAlerts, chosenAlerts, readAlerts } from '../../../shop/alerts/choices.ts'
import { operatorAlerts, storeAlertsFor } from '../../../shop/alerts/kinds.ts'
import { privilegesOf } from '../../../shop/staff/roles.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { leadOn, pagesOf } from '../../html/page-routes.ts'
import { actorOf, formId, formOf, isForm, sentBy, sessionOf, textIn, wantsHtml } from '../../html/request.ts'
import { factorPages } from './factors.ts'
import { provePages } from './prove.ts'
import { resetPages } from './reset.ts'
import { type Area, byPerson, type PageAgain, signInPages, signOut } from './sign-in.ts'
import { tokenForms } from './tokens.ts'

const link = namedObject({ Token: z.string('must be a text') })
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

  form(`${account}/password`, again, async (request, reply) => {
    await changePassword(services, sessionOf(request), sentBy(request), byPerson(request))
    return leadOn(reply, `${account}?notice=password-changed`)
  })
  addressPages(app, services, area, again)
  factorPages(app, services, area)
  provePages(app, services, area)
  if (area.kind !== 'developer') alertForms(app, services, area, again)
  if (area.kind !== 'operator') tokenForms(app, services, area, again)

  form(`${account}/language`, again, async (request, reply) => {
    const { Locale } = readInput(chosenLocale, sentBy(request))
    await choose(services, sessionOf(request), 'locale', Locale === '' ? null : Locale, actorOf(request))
    return leadOn(reply, `${account}?notice=language-chosen`)
  })

  form(`${account}/name`, again, async (request, reply) => {
    const { Name } = readInput(chosenName, sentBy(request))
    await choose(services, sessionOf(request), 'name', Name, actorOf(request))
    return leadOn(reply, `${account}?notice=settings-saved`)
  })

  form(`${account}/sessions`, again, async (request, reply) => {
    const { Session: ended } = readInput(endedSession, sentBy(request))
    if (ended === sessionOf(request).id) return signOut(services, area, reply)
    await endOthers(services, request, ended)
    return leadOn(reply, `${account}?notice=sessions-ended`)
  })
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

/**
 * Adds what a person changes of the own address: asking for another one, confirming it by the link that went there, and, for merchants,
 * joining other accounts of the address. `again` is the account's page.
 */
function addressPages(app: FastifyInstance, services: AddressServices, area: Area, again: PageAgain): void {
  const { page, form } = pagesOf(app, area.kind)
  const account = `${area.path}/account`

  const askAgain = async (request: FastifyRequest): Promise<HtmlPage> => {
    return { ...(await again(request)), values: { Email: textIn(sentBy(request), 'Email') } }
  }
  form(`${account}/address/change`, askAgain, async (request, reply) => {
    const what = await requestAddress(services, sessionOf(request), sentBy(request), byPerson(request))
    return leadOn(reply, `${account}?notice=address-${what}`)
  })

  const confirmPage = (token: string): HtmlPage => ({
    template: '/pages/people/confirm-address',
    title: t('Confirm your address'),
    data: { action: `${account}/address`, token },
  })
  page(`${account}/address`, (request) => confirmPage(textIn(request.query, 'token')))
  const confirmAgain = (request: FastifyRequest) => confirmPage(textIn(sentBy(request), 'Token'))
  form(`${account}/address`, confirmAgain, async (request, reply) => {
    const { Token } = readInput(link, sentBy(request))
    await confirmAddress(services, sessionOf(request), Token, actorOf(request))
    return leadOn(reply, `${account}?notice=address-changed`)
  })

  if (area.kind !== 'merchant') return
  form(`${account}/join`, again, async (request, reply) => {
    await joinAccounts(services, sessionOf(request), sentBy(request), byPerson(request))
    return leadOn(reply, `${account}?notice=accounts-joined`)
  })
}

/** Adds what a person wants to be told of by mail. `again` is the account's page. */
function alertForms(app: FastifyInstance, services: DataServices, area: Area, again: PageAgain): void {
  pagesOf(app, area.kind).form(`${area.path}/account/alerts`, again, async (request, reply) => {
    const sent = isForm(request) ? { Alerts: [formOf(request).Alerts ?? []].flat() } : sentBy(request)
    const { Alerts } = readInput(chosenAlerts, sent)
    const { owner, kinds } = alertsOf(sessionOf(request).person)
    const possible = kinds.map(([kind]) => kind)
    await chooseAlerts(services, owner, possible, Alerts)
    return leadOn(reply, `${area.path}/account?notice=settings-saved`)
  })
}

/** Returns what somebody may be told of, with what is switched on. Developers are told of nothing. */
async function alertChoices(services: DataServices, person: Person) {
  if (person.kind !== 'merchant' && person.kind !== 'operator') return []
  const { owner, kinds } = alertsOf(person)
  const chosen = await readAlerts(services, owner)
  return kinds.map(([kind, words]) => ({ kind, words, isChosen: chosen.includes(kind) }))
}

function alertsOf(person: Person): { owner: AlertOwner; kinds: readonly (readonly [kind: string, words: Text])[] } {
  if (person.kind === 'merchant') {
    return { owner: { storeUserId: person.id }, kinds: storeAlertsFor(privilegesOf(person)) }
  }
  const kinds = Object.entries(operatorAlerts).map(([kind, { words }]) => [kind, words] as const)
  return { owner: { operatorId: person.id }, kinds }
}
