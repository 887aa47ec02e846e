import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { outageOf } from '../database/outage.ts'
import { noteRefusal } from '../server/note-refusal.ts'
import { StoreFailure } from '../values/failure.ts'

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

/** Answers an error as RFC 6749 §5.2 has it. A defect answers 500 with no text from inside; the log has it. */
export function answerRefusal(
  error: FastifyError | StoreFailure | OAuthRefusal,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const refusal = refusalOf(error)
  if (refusal === null) {
    request.log.error({ err: error }, 'request failed')
    return reply.code(500).send({ error: 'server_error', error_description: 'Internal error' })
  }
  const { error: code, message, status, retryAfterSeconds } = refusal
  if (status === 401) reply.header('www-authenticate', 'Basic realm="OAuth", charset="UTF-8"')
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  noteRefusal(request, { error: code, reason: message })
  return reply.code(status).send({ error: code, error_description: message })
}

function refusalOf(error: FastifyError | StoreFailure | OAuthRefusal): OAuthRefusal | null {
  if (error instanceof OAuthRefusal) return error
  const failure = error instanceof StoreFailure ? error : outageOf(error)
  if (failure) {
    const { kind, message, status, retryAfterSeconds = 1 } = failure
    if (kind !== 'unavailable' && kind !== 'throttled') return new OAuthRefusal('invalid_request', message, { status })
    return new OAuthRefusal('temporarily_unavailable', message, { status, retryAfterSeconds })
  }
  const { code, statusCode = 500 } = error as FastifyError
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return notForm()
  return statusCode < 500 ? new OAuthRefusal('invalid_request', 'Bad request') : null
}

export function notForm(): OAuthRefusal {
  const description = 'Content-Type must be application/x-www-form-urlencoded or multipart/form-data'
  return new OAuthRefusal('invalid_request', description, { status: 415 })
}
