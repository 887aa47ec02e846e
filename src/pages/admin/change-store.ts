import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { formId, returnAddress, sentBy, textIn } from '../../html/forms.ts'
import { type Page, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { merchantOf, sessionOf } from '../../html/principals.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import { changeStore, type OtherAccount, type SessionServices } from '../../people/sessions.ts'
import { normaliseHost } from '../../stores/secure-url.ts'
import { namedObject, readInput } from '../../values/input.ts'

const account = 'must be the id of an account'

/** `next`: the page to open afterwards. Sent by forms only. */
const chosenAccount = namedObject({
  UserId: formId(account),
  next: z.unknown().optional(),
})

/** Adds the page on which a merchant switches to another account of the sign-in. `store` in the address selects one. */
export async function changeStorePages(app: FastifyInstance, services: SessionServices): Promise<void> {
  const { get, form } = pagesFor(app, 'merchant')
  get('/admin/change-store', async (request, reply) => {
    const { others } = merchantOf(request)
    if (!wantsHtml(request)) return others.map(accountRecord)
    const host = normaliseHost(textIn(request.query, 'store'))
    const asked = others.filter(({ secureUrl }) => normaliseHost(secureUrl) === host)
    const next = returnAddress(textIn(request.query, 'next'), '/admin')
    return sendPage(reply, page(asked.length > 0 ? asked : others, next))
  })

  const next = (request: FastifyRequest) => returnAddress(textIn(sentBy(request), 'next'), '/admin')
  const change = async (request: FastifyRequest, reply: FastifyReply) => {
    const { UserId } = readInput(chosenAccount, sentBy(request))
    await changeStore(services, sessionOf(request), UserId)
    return wantsHtml(request) ? next(request) : reply.code(204).send()
  }
  form('/admin/change-store', change, (request) => page(merchantOf(request).others, next(request)))
}

function accountRecord({ userId, storeId, name, secureUrl }: OtherAccount) {
  return { UserId: userId, StoreId: storeId, Name: name, SecureURL: secureUrl }
}

function page(others: readonly OtherAccount[], next: string): Page {
  return { template: '/pages/admin/change-store', title: 'Change store', data: { others }, values: { next } }
}
