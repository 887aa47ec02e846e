import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { changeStore, type OtherAccount, type SessionServices } from '../../../access/people/sessions.ts'
import { findStoreAt } from '../../../access/stores/caller-store.ts'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { leadOn, pagesOf } from '../../html/page-routes.ts'
import { formId, merchantOf, nextAddress, sentBy, sessionOf, textIn, wantsHtml } from '../../html/request.ts'

/** `next`: the page to open afterwards. Sent by forms only. */
const chosenAccount = namedObject({ UserId: formId('must be the id of an account'), next: z.unknown().optional() })

/** Adds the page on which a merchant switches to another account of the sign-in. `store` in the address selects one. */
export function changeStorePages(app: FastifyInstance, services: SessionServices): void {
  const { get, form } = pagesOf(app, 'merchant')
  const pageOf = (others: readonly OtherAccount[], sent: unknown): HtmlPage => ({
    template: '/pages/people/change-store',
    title: t('Change store'),
    data: { others },
    values: { next: nextAddress(sent, '/admin') },
  })

  get('/admin/change-store', async (request, reply) => {
    const { others } = merchantOf(request)
    if (!wantsHtml(request)) return others.map(accountRecord)
    const store = await findStoreAt(services.db, textIn(request.query, 'store'))
    const asked = others.filter(({ storeId }) => storeId === store?.id)
    return sendPage(reply, pageOf(asked.length > 0 ? asked : others, request.query))
  })

  const again = (request: FastifyRequest) => pageOf(merchantOf(request).others, sentBy(request))
  form('/admin/change-store', again, async (request, reply) => {
    const { UserId } = readInput(chosenAccount, sentBy(request))
    await changeStore(services, sessionOf(request), UserId)
    return leadOn(reply, nextAddress(sentBy(request), '/admin'))
  })
}

function accountRecord({ userId, storeId, name, secureUrl }: OtherAccount) {
  return { UserId: userId, StoreId: storeId, Name: name, SecureURL: secureUrl }
}
