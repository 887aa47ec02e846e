import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { outageOf } from '../../database/outage.ts'
import { type FailureKind, StoreFailure } from '../../failure.ts'
import { resultItem } from '../../result-item.ts'

/** Fastify's own refusals, in our words: its texts may repeat what was sent. */
const refusals: Record<string, { kind: FailureKind; field: string; message: string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { kind: 'body-too-large', field: '', message: 'The body is larger than 1 MB' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    kind: 'unsupported-media-type',
    field: 'Content-Type',
    message: 'Content-Type must be application/json',
  },
  FST_ERR_CTP_INVALID_JSON_BODY: { kind: 'bad-request', field: '', message: 'The body is not valid JSON' },
}

/** Answers every refusal as a list of one result item. A defect answers 500 with no text from inside; the log has it. */
export function answerFailure(error: FastifyError | StoreFailure, request: FastifyRequest, reply: FastifyReply) {
  const failure = failureOf(error)
  if (failure === null) {
    request.log.error({ err: error }, 'request failed')
    return reply.code(500).send([resultItem('Error', '', 500, 'Internal error')])
  }
  const { kind, field, status, message, logDetail } = failure
  if (kind === 'unavailable') reply.header('retry-after', '1')
  request.log.info({ kind, field, detail: logDetail ?? message }, 'request refused')
  return reply.code(status).send([resultItem('Error', field, status, message)])
}

function failureOf(error: FastifyError | StoreFailure): StoreFailure | null {
  if (error instanceof StoreFailure) return error
  const refusal = refusals[error.code]
  if (refusal) return new StoreFailure(refusal.kind, refusal.message, { field: refusal.field })
  const isOfCaller = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
  return isOfCaller ? new StoreFailure('bad-request', 'Bad request', { logDetail: error.code }) : outageOf(error)
}
