import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { NothingAnswer, ResultsAnswer } from '../engine/endpoints.ts'
import type { ResultItem } from '../values/result-item.ts'
import { PROBLEM_TYPE } from './format.ts'

/** A refusal in the form of RFC 9457, with two members of our own: `errors` and `requestId`. */
export interface Problem {
  /** `urn:store-platform:problem:` and the status. */
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  /** One for each refused record. */
  readonly errors: readonly ProblemError[]
  /** Also in the header X-Request-Id, and in the log. */
  readonly requestId: string
}

export interface ProblemError {
  /** The record's index in the request, from 0. */
  readonly index: number
  /** The field, parameter or header at fault; empty if none is. */
  readonly field: string
  readonly status: number
  readonly detail: string
}

/** What an empty 404 means. */
export const NO_SUCH_RECORD = 'There is no such record'

export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: ResultsAnswer | NothingAnswer,
): FastifyReply {
  const status = answer.kind === 'nothing' ? 404 : answer.status
  const items = answer.kind === 'nothing' ? [] : answer.items
  const title = STATUS_CODES[status] ?? 'Error'
  const problem: Problem = {
    type: `urn:store-platform:problem:${status}`,
    title,
    status,
    detail: items.length === 0 ? NO_SUCH_RECORD : items.map(({ Message }) => Message).join('; '),
    errors: items.map(errorOf),
    requestId: request.id,
  }
  return reply.code(status).type(`${PROBLEM_TYPE}; charset=utf-8`).send(JSON.stringify(problem))
}

function errorOf({ Value, Status, Message }: ResultItem, index: number): ProblemError {
  return { index, field: Value, status: Number(Status), detail: Message }
}
