import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { hasPasskeys, type PasskeyServices } from '../../../access/people/factors/passkeys.ts'
import { proofRequest, proveByPasskey, proveByPassword } from '../../../access/people/factors/prove.ts'
import { identityOf } from '../../../access/people/proof.ts'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { leadOn, pagesOf } from '../../html/page-routes.ts'
import { nextAddress, sentBy, sessionOf } from '../../html/request.ts'
import { type Area, byPerson } from './sign-in.ts'

/** `next`: the page to open afterwards. Sent by forms only. */
const shownPassword = namedObject({ Password: z.string('must be a text'), next: z.unknown().optional() })
const shownPasskey = namedObject({ Credential: z.unknown(), next: z.unknown().optional() })

/** Adds the page on which a signed-in person shows the password or a passkey once more (src/http/html/guard.ts leads there). */
export function provePages(app: FastifyInstance, services: PasskeyServices, area: Area): void {
  const { get, post, form } = pagesOf(app, area.kind)
  const address = `${area.path}/prove`
  const provePage = async (request: FastifyRequest, sent: unknown): Promise<HtmlPage> => {
    const { identityId } = identityOf(sessionOf(request))
    const hasPasskey = hasPasskeys(services.config) && (await services.db.passkey.count({ where: { identityId } })) > 0
    const values = { next: nextAddress(sent, area.path) }
    return { template: '/pages/people/prove', title: t('Is it still you?'), data: { address, hasPasskey }, values }
  }
  const again = (request: FastifyRequest) => provePage(request, sentBy(request))
  const onward = (reply: FastifyReply) => leadOn(reply, nextAddress(sentBy(reply.request), area.path))

  get(address, async (request, reply) => sendPage(reply, await provePage(request, request.query)))

  form(address, again, async (request, reply) => {
    const { Password } = readInput(shownPassword, sentBy(request))
    await proveByPassword(services, sessionOf(request), { Password }, byPerson(request))
    return onward(reply)
  })

  post(`${address}/passkey/options`, (request) => proofRequest(services, sessionOf(request)))
  form(`${address}/passkey`, again, async (request, reply) => {
    const { Credential } = readInput(shownPasskey, sentBy(request))
    await proveByPasskey(services, sessionOf(request), Credential)
    return onward(reply)
  })
}
