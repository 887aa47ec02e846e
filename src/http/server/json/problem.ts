import { STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { ResultsAnswer } from '../../../engine/definition/endpoints.ts'
import type { ErrorCode } from '../../../foundation/values/failure.ts'
import { type Content, ref } from './openapi.ts'

/** What an empty 404 means. */
export const NO_SUCH_RECORD = 'There is no such record'

type Refused = Pick<ResultsAnswer, 'status' | 'items' | 'parts'>

/** A refusal in the form of RFC 9457 (the schema Problem), with two members of our own: `errors` and `requestId`. */
function problemOf({ status, items, parts }: Refused, requestId: string, coded?: Coded) {
  const codeOf = (code: ErrorCode | undefined) => coded && code && { code }
  return {
    type: coded ? `${coded.baseUrl}/docs/errors/${coded.code}` : `urn:store-platform:problem:${status}`,
    ...codeOf(coded?.code),
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: items.length === 0 ? NO_SUCH_RECORD : items.map(({ Message }) => Message).join('; '),
    errors: items.flatMap(({ Value, Status, Message, Code }, index) => {
      const all = (parts?.get(index) ?? []).map(({ code, field, status, message }) => {
        return { index, field, status, ...codeOf(code), detail: message }
      })
      return all.length > 0 ? all : { index, field: Value, status: Number(Status), ...codeOf(Code), detail: Message }
    }),
    requestId,
  }
}

/** What new applications are told too: the code, and the page that says what to do, below `baseUrl`. */
interface Coded {
  readonly code: ErrorCode
  readonly baseUrl: string
}

/** Sends a refusal in that form. */
export function sendProblem(reply: FastifyReply, refused: Refused, coded?: Coded): FastifyReply {
  const problem = JSON.stringify(problemOf(refused, reply.request.id, coded))
  return reply.code(refused.status).type(`${PROBLEM_TYPE}; charset=utf-8`).send(problem)
}

/** Such an answer in the document, with an example. */
export function problemContent(refused: Refused): Content {
  const example = problemOf(refused, '0b6f0f3c-2c1e-4b0e-9d0a-6a3f1c9d7e55')
  return { [PROBLEM_TYPE]: { schema: ref('schemas', 'Problem'), example } }
}

/** Whether refusals are wanted as problem details (RFC 9457). Only the exact type counts, because old clients accept anything. */
export function acceptsProblem(accept: string | undefined): boolean {
  const ranges = accept?.toLowerCase().split(',').map(readRange) ?? []
  return ranges.some(({ type, quality }) => type === PROBLEM_TYPE && quality > 0)
}

export const PROBLEM_TYPE = 'application/problem+json'

/** A range of media types of a header Accept, with its quality. */
export function readRange(text: string) {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim())
  const given = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = given === undefined ? 1 : Number(given.slice(2))
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}
