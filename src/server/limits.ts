import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { errorBody } from './errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is read as a stream, without a limit on length or time. */
    streamed?: boolean
  }
}

/** Sufficient for a hundred full products (rest-protocol §5.2). */
const BODY_LIMIT_BYTES = 10 * 1024 * 1024
/** The time limit for sending a body, except on `streamed` routes. */
const BODY_TIMEOUT_MS = 60_000
/** Closes a connection without traffic for this time. */
const CONNECTION_TIMEOUT_MS = 120_000
const PARAM_LENGTH_MAX = 2_048

export const limits = {
  bodyLimit: BODY_LIMIT_BYTES,
  connectionTimeout: CONNECTION_TIMEOUT_MS,
  routerOptions: {
    caseSensitive: false,
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: true,
    maxParamLength: PARAM_LENGTH_MAX,
  },
} as const

/** Answers unsupported Expect headers with 417, because Node's own response lacks a request id and is not logged. */
export function refuseExpectations(app: FastifyInstance): void {
  const refused = new WeakSet<IncomingMessage>()
  app.server.on('checkExpectation', (request, response) => {
    refused.add(request)
    app.routing(request, response)
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (!refused.has(request.raw)) return done()
    reply.code(417).header('connection', 'close').send(errorBody(417, 'Expect may only be 100-continue'))
  })
}

/** Requests whose connection the server closed because the body did not arrive. Not logged as aborted by the client. */
export const cutOff = new WeakSet<IncomingMessage>()

/** Limits the time for a body. Node's requestTimeout is one value for all routes, and an import may take an hour. */
export function limitBodyTime(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, raw, routeOptions } = request
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    if (hasBody && !routeOptions.config.streamed) {
      const timer = setTimeout(() => {
        // The request was answered before its body was read, and Node is still discarding the body.
        if (reply.raw.headersSent) {
          cutOff.add(raw)
          return void raw.destroy()
        }
        reply.code(408).header('connection', 'close').send(errorBody(408, 'The body was not sent in time'))
      }, BODY_TIMEOUT_MS)
      raw.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
    }
    done()
  })
}
