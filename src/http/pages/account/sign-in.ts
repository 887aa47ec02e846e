import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type MailServices, mailsAre } from '../../../access/mail/write.ts'
import { LINK_MINUTES, requestCustomerLink } from '../../../access/people/customer-links.ts'
import { redeemCustomerToken } from '../../../access/people/customer-tokens.ts'
import { endSession, type SessionServices } from '../../../access/people/sessions.ts'
import { openStoreAt } from '../../../access/stores/closing.ts'
import type { CallerStore } from '../../../engine/caller.ts'
import type { Db } from '../../../foundation/database/client.ts'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { sentBy, textIn, wantsHtml } from '../../html/request.ts'
import { clientOf, signOut } from '../people/sign-in.ts'

const area = { path: '/account', kind: 'customer', signUp: null } as const

const loginToken = namedObject({ Token: z.string('must be a text') })

/**
 * Adds the customers' sign-in page, which asks for the address that a link goes to. Opening a login link neither uses its token nor
 * reveals anything about it, because programs that scan mail open links. The button uses the token, once.
 */
export function customerSignInPages(app: FastifyInstance, services: SessionServices & MailServices): void {
  const { get, form } = pagesFor(app, 'anyone', 'customer')
  const pageOf = (data: object): HtmlPage => ({
    template: '/pages/account/sign-in',
    title: t('Your orders'),
    data: { token: '', isSent: false, mails: mailsAre(services.config), minutes: LINK_MINUTES, ...data },
  })
  const askPage = async (sent: unknown, isSent = false): Promise<HtmlPage> => {
    const shop = await shopAt(services.db, textIn(sent, 'Store') || textIn(sent, 'store'))
    const Store = shop?.secureUrl ?? textIn(sent, 'Store')
    return { ...pageOf({ isSent, shop }), values: { Email: textIn(sent, 'Email'), Store } }
  }
  get('/account/sign-in', async ({ session, query }, reply) => {
    const token = textIn(query, 'token')
    if (session && token === '') return reply.redirect('/account', 303)
    return sendPage(reply, token === '' ? await askPage(query) : pageOf({ token }))
  })

  const again = (request: FastifyRequest) => askPage(sentBy(request))
  form('/account/sign-in/link', again, async (request, reply) => {
    await requestCustomerLink(services, sentBy(request), clientOf(request))
    if (!wantsHtml(request)) return reply.code(204).send()
    return sendPage(reply, await askPage(sentBy(request), true))
  })

  const emptyPage = () => askPage({})
  form('/account/sign-in', emptyPage, async (request, reply) => {
    const { Token } = readInput(loginToken, sentBy(request))
    const opened = await redeemCustomerToken(services, Token, clientOf(request))
    if (request.session) await endSession(services, request.session.id)
    app.sessionCookies.set(reply, 'customer', opened)
    return wantsHtml(request) ? '/account' : { ExpiresAt: opened.expiresAt.toISOString() }
  })

  pagesFor(app, 'customer').post('/account/sign-out', (_request, reply) => signOut(services, area, reply))
}

/** Returns the shop that names itself in the address by which it leads here; without that, the only one of the server. Null: neither. */
async function shopAt(db: Db, address: string): Promise<Pick<CallerStore, 'name' | 'secureUrl'> | null> {
  if (address !== '') return openStoreAt(db, address)
  const [first, second] = await db.store.findMany({ where: { testStore: null, closedAt: null }, take: 2 })
  return second === undefined ? (first ?? null) : null
}
