import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { mailsAre } from '../../../access/mail/write.ts'
import { newPasswordInput } from '../../../access/people/passwords.ts'
import {
  findReset,
  RESET_MINUTES,
  type ResetServices,
  requestReset,
  resetPassword,
} from '../../../access/people/reset.ts'
import { andOf, type Phrase, t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { leadOn, orShowAgain, pagesFor } from '../../html/page-routes.ts'
import { formId, sentBy, textIn, wantsHtml } from '../../html/request.ts'
import { type Area, clientOf } from './sign-in.ts'

const chosen = 'must be one of the accounts of the link'
const newPasswordBody = namedObject({
  Token: z.string('must be a text'),
  Password: newPasswordInput,
  // The form's "all of them" is empty.
  Identity: z.union([z.literal(''), formId(chosen)], chosen).optional(),
})

/**
 * Adds the page of a lost password: it asks for the address, and with a link for a new password. Opening a link neither uses it nor
 * changes anything, because programs that scan mail open links; the button does.
 */
export function resetPages(app: FastifyInstance, services: ResetServices, area: Area): void {
  const { get, form } = pagesFor(app, 'anyone')
  const address = `${area.path}/reset`
  const mails = mailsAre(services.config)
  const askPage = (email = '', isSent = false): HtmlPage => ({
    template: '/pages/people/reset',
    title: t('Password lost?'),
    data: { isSent, email, area, mails, minutes: RESET_MINUTES },
    values: { Email: email },
  })
  const linkPage = async (token: string): Promise<HtmlPage> => {
    const { email, identities } = await findReset(services, area.kind, token)
    const named = identities.map(({ id, stores }) => ({ id, accounts: accountsIn(area, stores) }))
    const data = { action: `${address}/password`, token, email, identities: named }
    return { template: '/pages/people/new-password', title: t('Choose a new password'), data }
  }

  get(address, async (request, reply) => {
    const token = textIn(request.query, 'token')
    if (token === '') return sendPage(reply, askPage())
    const show = async () => sendPage(reply, await linkPage(token))
    return orShowAgain(reply, show, () => askPage())
  })

  const askAgain = (request: FastifyRequest) => askPage(textIn(sentBy(request), 'Email'))
  form(address, askAgain, async (request, reply) => {
    const sent = sentBy(request)
    await requestReset(services, area.kind, sent, clientOf(request))
    if (!wantsHtml(request)) return reply.code(204).send()
    return sendPage(reply, askPage(textIn(sent, 'Email'), true))
  })

  const linkAgain = async (request: FastifyRequest, _reply: FastifyReply, { field }: { field: string }) =>
    field === 'Token' ? askPage() : linkPage(textIn(sentBy(request), 'Token'))
  form(`${address}/password`, linkAgain, async (request, reply) => {
    const { Token, Password, Identity } = readInput(newPasswordBody, sentBy(request))
    const identityIds = Identity ? [Identity] : []
    await resetPassword(services, area.kind, { token: Token, password: Password, identityIds }, clientOf(request))
    return leadOn(reply, `${area.path}/sign-in?notice=password-reset`)
  })
}

/** What a new password opens. `stores`: by name, of a merchant. */
function accountsIn({ kind }: Area, stores: readonly string[]): Phrase {
  if (kind === 'merchant') {
    const names = andOf(stores)
    return t('{count, plural, one {the store {names}} other {the stores {names}}}', { count: stores.length, names })
  }
  return kind === 'developer' ? t('the developer pages') : t('the pages of the operator')
}
