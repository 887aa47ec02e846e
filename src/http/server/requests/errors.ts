import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { Logger } from 'pino'
import { failureOf } from '../../../foundation/database/outage.ts'
import { type ErrorCode, resultItem, StoreFailure } from '../../../foundation/values/failure.ts'
import { acceptsProblem, sendProblem } from '../json/problem.ts'
import { endConnection } from './connections.ts'
import { anyOrigin, commonHeaders, ERROR_CODE, type HeaderOptions } from './headers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `noteRefusal`. */
    refused: Refused | null
  }
}

/** Why a request was refused: without what the refusal repeats of the request. */
export interface Refused {
  readonly reason: string
  /** What the caller is not told. */
  readonly detail?: string | undefined
  /** The code of a protocol that has its own. */
  readonly error?: string | number
}

/** Records why the request was refused, for its line in the log. The first reason is kept. */
export function noteRefusal(request: FastifyRequest, refused: Refused): void {
  request.refused ??= refused
}

/** Answers unknown addresses, before a body is read. */
export function answerUnknown(app: FastifyInstance, answer: RouteHandlerMethod): void {
  app.setNotFoundHandler(answer)
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) return answer.call(app, request, reply)
  })
}

/** Refusals in place of those by Fastify and its plugins, by their code: their own messages may repeat input. */
type Wordings = Readonly<Record<string, Readonly<ConstructorParameters<typeof StoreFailure>>>>

/**
 * Returns what an error is to the caller, for a protocol to format: a refusal, an outage (503) or a defect (500, without internal
 * details). Sets Retry-After, and tells the log.
 */
export function failureIn(error: FastifyError | StoreFailure, reply: FastifyReply, wordings: Wordings): StoreFailure {
  const { request } = reply
  const failure = refusalByFastify(error, wordings) ?? failureOf(error)
  const { code, logMessage: reason, logDetail: detail } = failure
  if (code === 'internal-error') request.log.error({ err: error }, 'request failed')
  else noteRefusal(request, { reason, detail })
  const retryAfter = failure.retryAfterSeconds ?? (code === 'unavailable' ? 1 : undefined)
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  return failure
}

function refusalByFastify(error: FastifyError | StoreFailure, wordings: Wordings) {
  if (error instanceof StoreFailure) return null
  const { code, statusCode = 500 } = error
  const wording = wordings[code]
  if (wording !== undefined) return new StoreFailure(...wording)
  const isRefusal = statusCode >= 400 && statusCode < 500
  return isRefusal ? new StoreFailure('malformed-request', 'Bad request', { logDetail: code }) : null
}

/** What a program is told. */
export type Said = Pick<StoreFailure, 'code' | 'status' | 'message'> & { readonly field?: string | undefined }

function errorBody(status: number, message: string, field = '') {
  return [resultItem('Error', field, status, message)]
}

/** Says the code of a refusal (rest-protocol §5.5). */
export function sayCode(reply: FastifyReply, code: ErrorCode): FastifyReply {
  return reply.header(ERROR_CODE, code)
}

/** Sends a refusal to a program: as problem details if it accepts them by name, else as a list of one result item. */
export function sendRefusal(reply: FastifyReply, { code, status, message, field = '' }: Said): FastifyReply {
  const items = errorBody(status, message, field)
  sayCode(reply, code)
  const isProblem = acceptsProblem(reply.request.headers.accept)
  return isProblem ? sendProblem(reply, { status, items }) : reply.code(status).send(items)
}

/**
 * Responds to an address with invalid percent-encoding or an overlong segment. No hook has run for it, and Fastify
 * ignores TRUST_PROXY, so `request` is as the proxy sent it. `sendPage` responds to browsers and returns null for
 * programs.
 */
export function answerUnroutable(
  options: HeaderOptions,
  { statusCode: status = 400 }: FastifyError,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  sendPage: (status: number, message: string) => FastifyReply | null,
): FastifyReply {
  const message = status === 414 ? 'The address is too long' : 'The address is not validly encoded'
  request.log.info({ method: request.method, status }, 'request')
  reply.headers(commonHeaders(options, request.id, request.protocol))
  reply.headers({ ...anyOrigin, 'access-control-expose-headers': ERROR_CODE })
  return sendPage(status, message) ?? sendRefusal(reply, { code: 'malformed-request', status, message })
}

/** Answers connections that fail before a request exists: malformed, oversized or timed-out headers. */
export function answerUnreadable(
  { config, log, names }: { config: HeaderOptions; log: Logger; names: ReadonlySet<string> },
  error: Unreadable,
  socket: Socket,
): void {
  if (!canAnswer(error, socket)) return void socket.destroy()
  const { code = '', rawPacket, bytesParsed = 0 } = error
  const received = Buffer.isBuffer(rawPacket) ? rawPacket : Buffer.alloc(0)
  const [status, reason, words = reason] = unreadable[code] ?? [400, 'Bad Request']
  const isOfAddress = code === 'HPE_INVALID_URL'
  const path = isOfAddress ? beginningOf(received.toString('latin1', 0, bytesParsed), names) : ''
  const id = randomUUID()
  log.info({ requestId: id, status, code, path }, 'request')
  const isBeyondAscii = isOfAddress && Number(received[bytesParsed]) > 0x7f
  const body = JSON.stringify(errorBody(status, isBeyondAscii ? BEYOND_ASCII : words))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...commonHeaders(config, id, socket instanceof TLSSocket ? 'https' : 'http'),
    [ERROR_CODE]: status === 408 ? 'request-timeout' : 'malformed-request',
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`)
  endConnection(socket)
}

/** Not before the TLS handshake is over, and not in the middle of another answer, of which it would become a part. */
function canAnswer({ code }: NodeJS.ErrnoException, socket: Socket & { _httpMessage?: ServerResponse | null }) {
  const isGone = code === 'ECONNRESET' || code === 'ERR_TLS_HANDSHAKE_TIMEOUT'
  return !isGone && socket.writable && !socket._httpMessage?.headersSent
}

/** What Node says of bytes that are no request. */
type Unreadable = NodeJS.ErrnoException & { readonly rawPacket?: unknown; readonly bytesParsed?: number }

/** The address up to the byte at fault, as far as it has `names` of routes and numbers: any other text may be a key (`loggablePath`). */
function beginningOf(text: string, names: ReadonlySet<string>): string {
  const [line = ''] = text.split('\n').slice(-1)
  const parts = (line.split(/[ ?#]/)[1] ?? '').split('/')
  const end = parts.findIndex((part) => !names.has(part.toLowerCase()) && !/^\d{1,10}$/.test(part))
  return parts.slice(0, end === -1 ? parts.length : end).join('/')
}

const BEYOND_ASCII = 'The address has a byte beyond ASCII; percent-encode its UTF-8, such as é as %C3%A9'
export const UNKNOWN_CODING = 'Transfer-Encoding may only be chunked'
/** Status and reason by Node's codes, and the message where it says more. */
const unreadable: Readonly<Record<string, readonly [number, string, string?]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
  HPE_INVALID_TRANSFER_ENCODING: [501, 'Not Implemented', UNKNOWN_CODING],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
}
