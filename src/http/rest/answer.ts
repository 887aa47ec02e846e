import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { refusalItem } from '../../engine/changing/requests.ts'
import type { Answer, RecordsAnswer, ResultsAnswer } from '../../engine/definition/endpoints.ts'
import { joined, jsonFrame } from '../../engine/reading/representations.ts'
import { codeOfStatus, type ErrorCode, type StoreFailure, withoutQuoted } from '../../foundation/values/failure.ts'
import { acceptsProblem, NO_SUCH_RECORD, sendProblem } from '../server/json/problem.ts'
import { sendCompressible } from '../server/requests/compression.ts'
import { failureIn, noteRefusal, sayCode } from '../server/requests/errors.ts'
import { anyOrigin } from '../server/requests/headers.ts'
import { acceptedFormat } from './format.ts'
import { headers } from './openapi/answers.ts'
import { countToXml, recordsToXml, resultsToXml, xmlFrame } from './xml.ts'

/** Answers in the accepted format (rest-protocol §4, §5, §7). `baseUrl` begins the addresses of next pages, and those of codes. */
export function sendAnswer(reply: FastifyReply, answer: Answer, baseUrl: string) {
  const { request } = reply
  const { code, message } = refusedIn(answer)
  if (code !== null) sayCode(reply, code)
  request.refusal ||= message
  if (isRefusal(answer) && answer.kind === 'results') noteRefusal(request, { reason: withoutQuoted(request.refusal) })
  if (answer.kind === 'unmodified') return reply.code(304).header('etag', answer.etag).send()
  if ('replayed' in answer && answer.replayed) reply.header('idempotency-replayed', 'true')
  if (isRefusal(answer) && code && comesBack.includes(code) && !reply.hasHeader('retry-after'))
    reply.header('retry-after', '1')
  const { accept } = request.headers
  const { isOfNewApplication } = request
  if (isRefusal(answer) && acceptsProblem(accept)) {
    const refused = answer.kind === 'nothing' ? { status: 404, items: [] } : answer
    return sendProblem(reply, refused, isOfNewApplication && code !== null ? { code, baseUrl } : undefined)
  }
  if (answer.kind === 'nothing') return reply.code(404).send()
  if (answer.kind === 'records') reply.headers(recordsHeaders(reply, answer, baseUrl))
  const format = acceptedFormat(accept)
  reply
    .code('status' in answer ? (answer.status ?? 200) : 200)
    .type(format === 'xml' ? 'application/xml; charset=utf-8' : 'application/json; charset=utf-8')
  const shown = answer.kind === 'results' && !isOfNewApplication ? withoutCodes(answer) : answer
  return sendCompressible(reply, format === 'xml' ? toXml(shown) : toJson(shown))
}

/** Makes the function that turns an error into the answer of rest-protocol §5. */
export function answerFailure(baseUrl: string) {
  return (error: FastifyError | StoreFailure, request: FastifyRequest, reply: FastifyReply) => {
    const failure = failureIn(error, reply, wordings)
    request.refusal ||= failure.logMessage
    // An empty 404 means that the record does not exist; every other refusal is one result item.
    if (failure.code === 'not-found') return sendAnswer(reply, { kind: 'nothing' }, baseUrl)
    const { status, parts } = failure
    const items = [refusalItem(failure)]
    return sendAnswer(reply, { kind: 'results', status, items, parts: new Map([[0, parts]]) }, baseUrl)
  }
}

const noType = 'Unsupported media type: Content-Type is not one'
const wordings = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported-media-type', noType, { field: 'Content-Type' }],
} as const

/** The first refusal, also one that the answer has beside what was done. Code null: nothing was refused. */
function refusedIn(answer: Answer): { readonly code: ErrorCode | null; readonly message: string } {
  if (answer.kind === 'nothing') return { code: 'not-found', message: NO_SUCH_RECORD }
  const refused = answer.kind === 'results' ? answer.items.find(({ Key }) => Key === 'Error') : undefined
  if (refused === undefined) return { code: null, message: '' }
  return { code: refused.Code ?? codeOfStatus(Number(refused.Status)), message: refused.Message }
}

/** As existing applications know their items. */
function withoutCodes(answer: ResultsAnswer): ResultsAnswer {
  return { ...answer, items: answer.items.map(({ Code: _, ...item }) => item) }
}

/** Codes worth a retry after a second: a conflict with a request in progress, an outage. */
const comesBack: readonly ErrorCode[] = ['in-progress', 'unavailable']

export function isRefusal(answer: Answer): answer is Extract<Answer, { kind: 'nothing' | 'results' }> {
  return answer.kind === 'nothing' || (answer.kind === 'results' && answer.status >= 400)
}

function recordsHeaders(reply: FastifyReply, { next, total, etag, isSecret }: RecordsAnswer, baseUrl: string) {
  const handling = reply.getHeader('preference-applied')
  const applied = handling === undefined ? 'count=exact' : `${handling}, count=exact`
  return {
    ...(next && { link: `<${nextPage(reply.request.url, baseUrl, next)}>; rel="next"` }),
    ...(typeof total === 'number' && { 'x-total-count': String(total), 'preference-applied': applied }),
    ...(etag !== undefined && { etag }),
    ...(isSecret && { 'cache-control': 'no-store' }),
  }
}

/**
 * The address of the request with a new cursor. The rest is kept as sent, except characters that would break the header
 * or end the address. A proxy may have sent an absolute address with another host.
 */
function nextPage(url: string, baseUrl: string, cursor: string): string {
  const [address = '', ...queries] = url.split('?')
  const path = address.replace(/^https?:\/\/[^/]*/, '').replace(/#.*$/, '')
  const kept = queries.join('?').split('&').filter(isKept)
  const page = `${baseUrl}${path}?${[...kept, `cursor=${cursor}`].join('&')}`
  return page.replace(/[^!-~]|[<>"#]/gu, encodeURIComponent)
}

/** Drops `offset` and the old cursor, in any spelling, because the new cursor replaces them. */
function isKept(parameter: string): boolean {
  const [name = ''] = parameter.split('=', 1)
  const letters = name.replace(/%[4-7][\da-f]/gi, decodeURIComponent)
  return parameter !== '' && !/^(offset|cursor)$/i.test(letters)
}

type WithBody = Exclude<Answer, { kind: 'nothing' | 'unmodified' }>

function toJson(answer: WithBody): string | Buffer {
  if (answer.kind === 'records') return joined(answer.records, jsonFrame)
  return JSON.stringify(answer.kind === 'count' ? { TotalCount: answer.count } : answer.items)
}

function toXml(answer: WithBody): string | Buffer {
  if (answer.kind === 'records' && answer.isFormatted) return joined(answer.records, xmlFrame(answer.type))
  if (answer.kind === 'records') return recordsToXml(answer.records, answer.type)
  return answer.kind === 'count' ? countToXml(answer.count) : resultsToXml(answer.items)
}

/**
 * The headers of every recorded answer of the public service (rest-protocol §3), caching rules, and the headers that
 * pages of other sites may read. `private`, because a shared cache could give a store's records to another caller.
 */
export const commonHeaders = {
  'cache-control': 'no-cache, private',
  pragma: 'no-cache',
  expires: '-1',
  ...anyOrigin,
  'access-control-expose-headers': [...Object.keys(headers), 'Date'].join(', '),
  vary: 'accept, accept-encoding, authorization, privatekey, token, secureurl',
}
