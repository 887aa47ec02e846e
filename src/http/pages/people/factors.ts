import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import encodeQr from 'qr'
import { z } from 'zod'
import {
  addPasskey,
  confirmAuthenticator,
  type FactorServices,
  type Factors,
  listFactors,
  newRecoveryCodes,
  removeAuthenticator,
  removePasskey,
  startAuthenticator,
  startPasskey,
  waitingAuthenticator,
} from '../../../access/people/factors/changes.ts'
import { hasPasskeys } from '../../../access/people/factors/passkeys.ts'
import { t } from '../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { leadOn, pagesOf } from '../../html/page-routes.ts'
import { actorOf, formId, sentBy, sessionOf, textIn, wantsHtml } from '../../html/request.ts'
import type { Area } from './sign-in.ts'

const removedPasskey = namedObject({ Passkey: formId('must be the id of a passkey') })
const confirmation = namedObject({ Code: z.string('must be a text') })

/** Adds the pages on which a signed-in person sets up and removes the own second factors. */
export function factorPages(app: FastifyInstance, services: FactorServices, area: Area): void {
  const { get, post, form } = pagesOf(app, area.kind).proved
  const address = addressIn(area)
  const again = (request: FastifyRequest) => factorsPage(services, area, request)
  get(address, async (request, reply) => {
    if (wantsHtml(request)) return sendPage(reply, await again(request))
    return factorsRecord(await listFactors(services, sessionOf(request)))
  })
  authenticatorPages(app, services, area)

  form(`${address}/codes`, again, async (request, reply) => {
    return showCodes(reply, area, await newRecoveryCodes(services, sessionOf(request), actorOf(request)), '')
  })

  post(`${address}/passkeys/options`, (request) => startPasskey(services, sessionOf(request)))
  form(`${address}/passkeys`, again, async (request, reply) => {
    const codes = await addPasskey(services, sessionOf(request), sentBy(request), actorOf(request))
    return showCodes(reply, area, codes, 'passkey-added')
  })
  form(`${address}/passkeys/remove`, again, async (request, reply) => {
    const { Passkey } = readInput(removedPasskey, sentBy(request))
    await removePasskey(services, sessionOf(request), Passkey, actorOf(request))
    return leadOn(reply, `${address}?notice=passkey-removed`)
  })
}

function authenticatorPages(app: FastifyInstance, services: FactorServices, area: Area): void {
  const { page, form } = pagesOf(app, area.kind).proved
  const setUp = `${addressIn(area)}/authenticator`
  const again = (request: FastifyRequest) => factorsPage(services, area, request)
  const setUpPage = async (request: FastifyRequest): Promise<HtmlPage> => {
    const waiting = await waitingAuthenticator(services, sessionOf(request))
    if (!waiting) throw new StoreFailure('not-found', 'No authenticator app is being set up: begin at your account')
    const svg = encodeQr(waiting.uri, 'svg', { border: 2 })
    const image = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
    const data = { address: setUp, image, key: waiting.key.replace(/.{4}(?=.)/g, '$& ') }
    return { template: '/pages/people/authenticator', title: t('Set up an authenticator app'), data }
  }
  page(setUp, setUpPage)
  form(setUp, again, async (request, reply) => {
    const session = sessionOf(request)
    await startAuthenticator(services, session)
    if (wantsHtml(request)) return setUp
    const waiting = await waitingAuthenticator(services, session)
    return reply.send({ Key: waiting?.key, Uri: waiting?.uri })
  })
  const confirmAgain = (request: FastifyRequest, _reply: FastifyReply, { status }: StoreFailure) =>
    status === 409 ? again(request) : setUpPage(request)
  form(`${setUp}/confirm`, confirmAgain, async (request, reply) => {
    const { Code } = readInput(confirmation, sentBy(request))
    const codes = await confirmAuthenticator(services, sessionOf(request), { Code }, actorOf(request))
    return showCodes(reply, area, codes, 'authenticator-added')
  })
  form(`${setUp}/remove`, again, async (request, reply) => {
    await removeAuthenticator(services, sessionOf(request), actorOf(request))
    return leadOn(reply, `${addressIn(area)}?notice=authenticator-removed`)
  })
}

function addressIn({ path }: Area): string {
  return `${path}/account/factors`
}

async function factorsPage(services: FactorServices, area: Area, request: FastifyRequest): Promise<HtmlPage> {
  const factors = await listFactors(services, sessionOf(request))
  const canUsePasskey = hasPasskeys(services.config)
  const data = { address: addressIn(area), home: area.path, factors, canUsePasskey, now: services.now() }
  const values = { Name: textIn(sentBy(request), 'Name') }
  return { template: '/pages/people/factors', title: t('Second factor'), data, values }
}

/** Shows new recovery codes, this once. Without any, there is only a notice. */
function showCodes(reply: FastifyReply, area: Area, codes: readonly string[], notice: string) {
  if (!wantsHtml(reply.request)) return reply.send({ RecoveryCodes: codes })
  if (codes.length === 0) return `${addressIn(area)}?notice=${notice}`
  const data = { codes, home: area.path, notice: null }
  return sendPage(reply, { template: '/pages/people/recovery-codes', title: t('Your recovery codes'), data })
}

function factorsRecord({ authenticatorSince, passkeys, recoveryCodes, endAt }: Factors) {
  return {
    AuthenticatorSince: authenticatorSince,
    Passkeys: passkeys.map(({ id, name, createdAt, usedAt }) => {
      return { Id: id, Name: name, DateCreated: createdAt, DateLastUsed: usedAt }
    }),
    RecoveryCodes: recoveryCodes,
    EndAt: endAt,
  }
}
