import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { EnteredSession } from '../../../access/people/enter.ts'
import { hasPasskeys, type PasskeyServices } from '../../../access/people/factors/passkeys.ts'
import {
  type FactorStepServices,
  findWaiting,
  signInPasskeyRequest,
  signInWithCode,
  signInWithPasskey,
  signInWithSecondPasskey,
  waitingPasskeyRequest,
} from '../../../access/people/factors/sign-in-factor.ts'
import type { AccountKind, Client } from '../../../access/people/sessions.ts'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput, text } from '../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { nextAddress, sentBy } from '../../html/request.ts'

/** `next`: the page to open afterwards. Sent by forms only. */
const shownCode = namedObject({ Code: text(50), next: z.unknown().optional() })
const shownPasskey = namedObject({ Credential: z.unknown(), next: z.unknown().optional() })

interface FactorStep {
  readonly kind: AccountKind
  /** Such as `/admin`. */
  readonly path: string
  readonly clientOf: (request: FastifyRequest) => Client
  readonly begin: (reply: FastifyReply, opened: EnteredSession) => Promise<unknown>
  readonly signInPage: (request: FastifyRequest) => HtmlPage
}

/** Adds the second step of a sign-in, and signing in by a passkey alone. */
export function factorStepPages(
  app: FastifyInstance,
  services: FactorStepServices & PasskeyServices,
  { kind, path, clientOf, begin, signInPage }: FactorStep,
): void {
  const { get, post, form } = pagesFor(app, 'anyone', kind)
  const signIn = `${path}/sign-in`
  const address = `${signIn}/factor`
  const waitingOf = (request: FastifyRequest) => {
    return { kind, token: app.sessionCookies.read(request, `${kind}-factor`) ?? '', ...clientOf(request) }
  }
  /** The page of the step. Null: no sign-in waits. */
  const stepPage = async (request: FastifyRequest, sent: unknown): Promise<HtmlPage | null> => {
    const waiting = await findWaiting(services, waitingOf(request))
    if (!waiting) return null
    const data = { address, signIn, hasPasskey: waiting.hasPasskey && hasPasskeys(services.config) }
    const values = { next: nextAddress(sent, path) }
    return { template: '/pages/people/factor-step', title: t('Second factor'), data, values }
  }
  const again = async (request: FastifyRequest) => (await stepPage(request, sentBy(request))) ?? signInPage(request)
  const finish = (reply: FastifyReply, opened: EnteredSession) => {
    app.sessionCookies.clear(reply, `${kind}-factor`)
    return begin(reply, opened)
  }

  get(address, async (request, reply) => {
    const page = await stepPage(request, request.query)
    if (page) return sendPage(reply, page)
    return reply.redirect(`${signIn}?${new URLSearchParams({ next: nextAddress(request.query, path) })}`, 303)
  })
  form(address, again, async (request, reply) => {
    const { Code: code } = readInput(shownCode, sentBy(request))
    return finish(reply, await signInWithCode(services, { ...waitingOf(request), code }))
  })

  post(`${address}/passkey/options`, (request) => waitingPasskeyRequest(services, waitingOf(request)))
  form(`${address}/passkey`, again, async (request, reply) =>
    finish(reply, await signInWithSecondPasskey(services, { ...waitingOf(request), ...credentialIn(request) })),
  )

  post(`${signIn}/passkey/options`, (request) => signInPasskeyRequest(services, kind, request.ip))
  form(`${signIn}/passkey`, signInPage, async (request, reply) =>
    begin(reply, await signInWithPasskey(services, { kind, ...credentialIn(request), ...clientOf(request) })),
  )
}

function credentialIn(request: FastifyRequest): { credential: unknown } {
  return { credential: readInput(shownPasskey, sentBy(request)).Credential }
}
