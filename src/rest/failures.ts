import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { outageOf } from '../database/outage.ts'
import { defect } from '../engine/change.ts'
import type { Answer } from '../engine/endpoints.ts'
import { StoreFailure } from '../values/failure.ts'
import { resultItem } from '../values/result-item.ts'
import { sendAnswer } from './answer.ts'

/** Turns an error into the answer of rest-protocol §5. A defect reveals nothing internal; the log has the error. */
export function answerFailure(error: FastifyError | StoreFailure, request: FastifyRequest, reply: FastifyReply) {
  const failure = failureOf(error)
  if (failure === null) {
    request.log.error({ err: error }, 'request failed')
    return sendAnswer(request, reply, { kind: 'results', status: 500, items: [defect] })
  }
  request.refusal ||= failure.logMessage
  if (failure.logDetail) request.log.info({ detail: failure.logDetail }, failure.message)
  return sendAnswer(request, reply, refusal(failure))
}

/** An empty 404 means that the record does not exist; every other refusal is one result item. */
function refusal({ kind, status, field, message }: StoreFailure): Answer {
  if (kind === 'not-found') return { kind: 'nothing' }
  return { kind: 'results', status, items: [resultItem('Error', field, status, message)] }
}

/** Rewords Fastify's own refusals, because its texts may repeat what was sent. Null for a defect. */
function failureOf(error: FastifyError | StoreFailure): StoreFailure | null {
  if (error instanceof StoreFailure) return error
  const { code, statusCode = 500 } = error
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new StoreFailure('unsupported-media-type', 'Unsupported media type: Content-Type is not one', {
      field: 'Content-Type',
    })
  }
  if (statusCode < 400 || statusCode >= 500) return outageOf(error)
  return new StoreFailure('bad-request', 'Bad request', { logDetail: code })
}
