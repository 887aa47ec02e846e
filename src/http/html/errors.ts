import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type Text, t } from '../../foundation/texts/text.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { failureIn, type Said, sendRefusal } from '../server/requests/errors.ts'
import { LedOn, pageHeaders } from './guard.ts'
import { sendPage } from './page.ts'
import { isForm, languageFor, wantsHtml } from './request.ts'

type Refusal = ConstructorParameters<typeof StoreFailure>

const tooOld = 'The form is too old, or cookies are blocked. Go back, reload the page and send it again'
const expiredForm: Refusal = ['forbidden', tooOld, { field: '_csrf' }]
export const notJson: Refusal = [
  'unsupported-media-type',
  'Content-Type must be application/json',
  { field: 'Content-Type' },
]

const wordings: Readonly<Record<string, Refusal>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: notJson,
  FST_ERR_CTP_BODY_TOO_LARGE: ['body-too-large', 'The body is too large'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['malformed-body', 'The body is not valid JSON'],
  FST_CSRF_MISSING_SECRET: expiredForm,
  FST_CSRF_INVALID_TOKEN: expiredForm,
}

/** Responds to every error: a page for browsers, a refusal by `sendRefusal` for programs and the pages' script. */
export function answerFailure(error: FastifyError | StoreFailure, request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof LedOn && wantsHtml(request)) return reply.redirect(error.address, 303)
  return answer(reply, failureIn(error, reply, wordings))
}

/**
 * Responds to an unknown address. Within the scopes of pages, a signed-in person keeps the navigation. `advice` follows
 * the message.
 */
export function answerUnknownAddress(request: FastifyRequest, reply: FastifyReply, advice = '') {
  const message = `${wantsHtml(request) ? 'There is no such page' : 'No such address'}${advice}`
  return answer(reply, { code: 'unknown-address', status: 404, message })
}

function answer(reply: FastifyReply, { code, status, field, message }: Said) {
  if (wantsHtml(reply.request)) return sendErrorPage(reply, status, message)
  // The pages' script sends a form, and shows what it is told. Programs send JSON.
  const said = isForm(reply.request) ? languageFor(reply.request).sayProblem(message) : message
  return sendRefusal(reply, { code, status, message: said, field })
}

/** Also works outside the scopes of pages. */
export function sendErrorPage(reply: FastifyReply, status: number, message: string) {
  const title = titles[status] ?? t('That did not work')
  const data = { message: languageFor(reply.request).sayProblem(message), requestId: reply.request.id }
  return sendPage(reply.headers(pageHeaders), { template: '/html/templates/error', title, status, data })
}

const titles: Readonly<Record<number, Text>> = {
  403: t('Refused'),
  404: t('Not found'),
  429: t('Too many tries'),
  500: t('Something went wrong here'),
  503: t('Not available just now'),
}

/**
 * For `catch`: rethrows an error. If an application did not confirm, adds advice for the merchant after contract §6's
 * `Server not Responding`.
 */
export function adviseMerchant(error: unknown): never {
  if (!(error instanceof StoreFailure) || error.code !== 'bad-gateway') throw error
  const advice = 'The application did not confirm, so nothing was changed. Try again later, or ask its developer.'
  throw new StoreFailure('bad-gateway', `${error.message}. ${advice}`)
}
