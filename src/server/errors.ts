import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { Logger } from 'pino'
import { StoreFailure } from '../values/failure.ts'
import { resultItem } from '../values/result-item.ts'
import { endConnection } from './connections.ts'
import { anyOrigin, commonHeaders, type HeaderOptions } from './headers.ts'
import { noteRefusal } from './note-refusal.ts'

/** Responds to errors outside the protocol folders, which have formats of their own. */
export function answerErrors(app: FastifyInstance, answerUnknownAddress: RouteHandlerMethod): void {
  app.setNotFoundHandler(answerUnknownAddress)
  // Without this, the body for an unknown address would be read and parsed first.
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) return answerUnknownAddress.call(app, request, reply)
  })
  app.setErrorHandler<FastifyError | StoreFailure>((error, request, reply) => {
    if (error instanceof StoreFailure) {
      noteRefusal(request, { reason: error.logMessage, detail: error.logDetail })
      return reply.code(error.status).send(errorBody(error.status, error.message, error.field))
    }
    const { statusCode = 500 } = error
    if (statusCode >= 400 && statusCode < 500) return reply.code(statusCode).send(errorBody(statusCode, error.message))
    request.log.error({ err: error }, 'request failed')
    return reply.code(500).send(errorBody(500, 'Internal server error'))
  })
}

export function errorBody(status: number, message: string, field = '') {
  return [resultItem('Error', field, status, message)]
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
  reply.headers({ ...commonHeaders(options, request.id, request.protocol), ...anyOrigin })
  return sendPage(status, message) ?? reply.code(status).send(errorBody(status, message))
}

/** Answers connections that fail before a request exists: malformed, oversized or timed-out headers. */
export function answerUnreadable(
  { config, log }: { config: HeaderOptions; log: Logger },
  error: NodeJS.ErrnoException,
  socket: Socket,
): void {
  if (!canAnswer(error, socket)) return void socket.destroy()
  const [status, reason] = unreadable[error.code ?? ''] ?? [400, 'Bad Request']
  const id = randomUUID()
  log.info({ requestId: id, status, code: error.code }, 'request')
  const body = JSON.stringify(errorBody(status, reason))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...commonHeaders(config, id, socket instanceof TLSSocket ? 'https' : 'http'),
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

const unreadable: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
}
