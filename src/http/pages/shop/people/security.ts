import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { fieldFault } from '../../../../access/people/passwords.ts'
import type { DataServices } from '../../../../foundation/database/client.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { readDate, writeDate } from '../../../../foundation/values/dates.ts'
import { namedObject, readInput } from '../../../../foundation/values/input.ts'
import { requiredFactor, requireFactor } from '../../../../shop/staff/required-factor.ts'
import { type HtmlPage, sendPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { merchantOf, sentBy, textIn, wantsHtml } from '../../../html/request.ts'
import { changingBy } from './role-pages.ts'

const address = '/admin/people/security'
const allowed = 'must be a day such as 2026-12-31, or empty'
const requirement = namedObject({ From: z.string(allowed).trim() })

/** Adds the page on which a store requires a second factor of its people, and sees who has one. */
export function securityPages(app: FastifyInstance, services: DataServices): void {
  const { get, form } = adminPages(app, ['People', 'write'])
  const pageOf = async (request: FastifyRequest, typed?: string): Promise<HtmlPage> => {
    const { store, id } = merchantOf(request)
    const { requiredFrom, members } = await requiredFactor(services, store.id)
    const day = requiredFrom === null ? '' : writeDate(requiredFrom, store.timeZone).slice(0, 10)
    const hasOwn = members.some((member) => member.id === id && member.hasFactor)
    const data = { address, requiredFrom, members, ownId: id, hasOwn }
    const title = t('Second factor of everybody')
    return { template: '/pages/shop/people/security', title, data, values: { From: typed ?? day } }
  }

  get(address, async (request, reply) => {
    if (wantsHtml(request)) return sendPage(reply, await pageOf(request))
    const { requiredFrom, members } = await requiredFactor(services, merchantOf(request).store.id)
    const people = members.map(({ id, email, hasFactor }) => ({ Id: id, Email: email, HasFactor: hasFactor }))
    return { From: requiredFrom?.toISOString() ?? null, People: people }
  })

  const again = (request: FastifyRequest) => pageOf(request, textIn(sentBy(request), 'From'))
  form(address, again, async (request, reply) => {
    const { From } = readInput(requirement, sentBy(request))
    const { store } = merchantOf(request)
    const from = From === '' ? null : readDay(From, store.timeZone)
    await requireFactor(services, store.id, from, changingBy(request))
    if (!wantsHtml(request)) return reply.code(204).send()
    return `${address}?notice=${from === null ? 'factor-optional' : 'factor-required'}`
  })
}

/** The first moment of a day in the store's zone. */
function readDay(typed: string, timeZone: string): Date {
  const read = /^\d{4}-\d{2}-\d{2}$/.test(typed) ? readDate(typed, timeZone) : null
  if (read === null) throw fieldFault('From', allowed)
  return read.instant
}
