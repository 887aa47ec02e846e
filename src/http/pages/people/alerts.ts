import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Person } from '../../../access/people/sessions.ts'
import type { DataServices } from '../../../foundation/database/client.ts'
import type { Text } from '../../../foundation/texts/text.ts'
import { readInput } from '../../../foundation/values/input.ts'
import { type AlertOwner, chooseAlerts, chosenAlerts, readAlerts } from '../../../shop/alerts/choices.ts'
import { operatorAlerts, storeAlertsFor } from '../../../shop/alerts/kinds.ts'
import { privilegesOf } from '../../../shop/staff/roles.ts'
import { leadOn, pagesOf } from '../../html/page-routes.ts'
import { formOf, isForm, sentBy, sessionOf } from '../../html/request.ts'
import type { Area, PageAgain } from './sign-in.ts'

/** Adds what a person wants to be told of by mail. `again` is the account's page. */
export function alertForms(app: FastifyInstance, services: DataServices, area: Area, again: PageAgain): void {
  const choose = async (request: FastifyRequest, reply: FastifyReply) => {
    const sent = isForm(request) ? { Alerts: [formOf(request).Alerts ?? []].flat() } : sentBy(request)
    const { Alerts } = readInput(chosenAlerts, sent)
    const { owner, kinds } = alertsOf(sessionOf(request).person)
    const possible = kinds.map(([kind]) => kind)
    await chooseAlerts(services, owner, possible, Alerts)
    return leadOn(reply, `${area.path}/account?notice=settings-saved`)
  }
  pagesOf(app, area.kind).form(`${area.path}/account/alerts`, choose, again)
}

/** Returns what somebody may be told of, with what is switched on. Developers are told of nothing. */
export async function alertChoices(services: DataServices, person: Person) {
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
