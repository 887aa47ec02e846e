import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type AddressServices, confirmAddress, requestAddress } from '../../../access/people/address.ts'
import { joinAccounts } from '../../../access/people/join.ts'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import type { HtmlPage } from '../../html/page.ts'
import { leadOn, pagesOf } from '../../html/page-routes.ts'
import { actorOf, sentBy, sessionOf, textIn } from '../../html/request.ts'
import { type Area, byPerson, type PageAgain } from './sign-in.ts'

const link = namedObject({ Token: z.string('must be a text') })

/**
 * Adds what a person changes of the own address: asking for another one, confirming it by the link that went there, and, for merchants,
 * joining other accounts of the address. `again` is the account's page.
 */
export function addressPages(app: FastifyInstance, services: AddressServices, area: Area, again: PageAgain): void {
  const { page, form } = pagesOf(app, area.kind)
  const account = `${area.path}/account`

  const ask = async (request: FastifyRequest, reply: FastifyReply) => {
    const what = await requestAddress(services, sessionOf(request), sentBy(request), byPerson(request))
    return leadOn(reply, `${account}?notice=address-${what}`)
  }
  form(`${account}/address/change`, ask, async (request) => {
    return { ...(await again(request)), values: { Email: textIn(sentBy(request), 'Email') } }
  })

  const confirmPage = (token: string): HtmlPage => ({
    template: '/pages/people/confirm-address',
    title: t('Confirm your address'),
    data: { action: `${account}/address`, token },
  })
  page(`${account}/address`, (request) => confirmPage(textIn(request.query, 'token')))
  const confirm = async (request: FastifyRequest, reply: FastifyReply) => {
    const { Token } = readInput(link, sentBy(request))
    await confirmAddress(services, sessionOf(request), Token, actorOf(request))
    return leadOn(reply, `${account}?notice=address-changed`)
  }
  form(`${account}/address`, confirm, (request) => confirmPage(textIn(sentBy(request), 'Token')))

  if (area.kind !== 'merchant') return
  const join = async (request: FastifyRequest, reply: FastifyReply) => {
    await joinAccounts(services, sessionOf(request), sentBy(request), byPerson(request))
    return leadOn(reply, `${account}?notice=accounts-joined`)
  }
  form(`${account}/join`, join, again)
}
