import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { codeOfStatus, StoreFailure } from '../../foundation/values/failure.ts'
import { failureIn, noteRefusal, sayCode } from '../server/requests/errors.ts'

/** What the endpoints answer (RFC 6749 §5.2, RFC 7009 §2.2.1). */
export const endpointErrors = [
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'server_error',
  'temporarily_unavailable',
  'unsupported_grant_type',
  'unsupported_token_type',
] as const

/** With those that only a redirect carries (RFC 6749 §4.1.2.1). */
export type OAuthError = (typeof endpointErrors)[number] | 'access_denied' | 'unsupported_response_type'

/** A refusal in OAuth's own form. The description is for the client's developer: ASCII without `"` and `\`. */
export class OAuthRefusal extends Error {
  readonly error: OAuthError
  readonly status: number
  /** With 429 and 503: whole seconds until the client may try again. */
  readonly retryAfterSeconds: number | undefined

  constructor(error: OAuthError, description: string, options: { status?: number; retryAfterSeconds?: number } = {}) {
    super(description)
    this.name = 'OAuthRefusal'
    this.error = error
    this.status = options.status ?? 400
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Answers an error as RFC 6749 §5.2 has it. */
export function answerRefusal(
  error: FastifyError | StoreFailure | OAuthRefusal,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const failure = error instanceof OAuthRefusal ? null : failureIn(error, reply, wordings)
  const refusal = failure === null ? (error as OAuthRefusal) : refusalOf(failure)
  const { error: code, message, status, retryAfterSeconds } = refusal
  if (status === 401) reply.header('www-authenticate', 'Basic realm="OAuth", charset="UTF-8"')
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  sayCode(reply, failure?.code ?? codeOfStatus(status))
  if (error instanceof OAuthRefusal) noteRefusal(request, { error: code, reason: message })
  return reply.code(status).send({ error: code, error_description: message })
}

function refusalOf({ code, message, status }: StoreFailure): OAuthRefusal {
  if (code === 'internal-error') return new OAuthRefusal('server_error', message, { status })
  const isPassing = code === 'unavailable' || code === 'rate-limited'
  return new OAuthRefusal(isPassing ? 'temporarily_unavailable' : 'invalid_request', message, { status })
}

const formTypes = 'Content-Type must be application/x-www-form-urlencoded or multipart/form-data'
const wordings = { FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported-media-type', formTypes] } as const

export function notForm(): StoreFailure {
  return new StoreFailure(...wordings.FST_ERR_CTP_INVALID_MEDIA_TYPE)
}
