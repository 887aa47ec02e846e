import formbody from '@fastify/formbody'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { outageOf } from '../database/outage.ts'
import { plainHttpFault } from '../server/plain-http.ts'
import { StoreFailure } from '../values/failure.ts'
import { firstOf, type Parameters, queryOf, readParameters } from './parameters.ts'
import { OAuthRefusal } from './refusal.ts'

const BODY_LIMIT_BYTES = 65_536

/**
 * Makes `app` the scope of what applications call by themselves: no cookies, forms, answers that nobody keeps, refusals as
 * RFC 6749 5.2 has them; https alone where PUBLIC_URL is.
 */
export async function openEndpoints(
  app: FastifyInstance,
  { publicUrl }: { readonly publicUrl: string },
): Promise<void> {
  app.setErrorHandler(answerRefusal)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
    const fault = plainHttpFault(publicUrl, request)
    if (fault !== null) throw new OAuthRefusal('invalid_request', fault, { status: 403 })
  })
  app.removeAllContentTypeParsers()
  await app.register(formbody, {
    bodyLimit: BODY_LIMIT_BYTES,
    parser: (text) => ({ parameters: readParameters(text, repeatable) }),
  })
  // Clients that send all in the query name any type for their empty body.
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, done) => {
    done(body === '' ? null : notForm(), undefined)
  })
}

function notForm(): OAuthRefusal {
  const description = 'Content-Type must be application/x-www-form-urlencoded'
  return new OAuthRefusal('invalid_request', description, { status: 415 })
}

/** The OAuth library of Ruby always sends grant_type twice. */
const repeatable = { areRepeatsTaken: true }

/** What the form holds, and of what it lacks, the query (rest-protocol 9.2). */
export function parametersOf({ body, url }: FastifyRequest): Parameters {
  const query = readParameters(queryOf({ url }), repeatable)
  const form = body as { readonly parameters: Parameters } | null | undefined
  return form ? firstOf(form.parameters, query) : query
}

function answerRefusal(
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
  request.log.info({ error: code, detail: message }, 'request refused')
  return reply.code(status).send({ error: code, error_description: message })
}

function refusalOf(error: FastifyError | StoreFailure | OAuthRefusal): OAuthRefusal | null {
  if (error instanceof OAuthRefusal) return error
  const outage = error instanceof StoreFailure ? null : outageOf(error)
  if (outage) {
    return new OAuthRefusal('temporarily_unavailable', outage.message, { status: outage.status, retryAfterSeconds: 1 })
  }
  const { code, statusCode = 500 } = error as FastifyError
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return notForm()
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new OAuthRefusal('invalid_request', 'The body is larger than 64 kB', { status: statusCode })
  }
  return statusCode < 500 ? new OAuthRefusal('invalid_request', 'Bad request') : null
}
