import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { errorBody } from './errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is read as a stream, of any length and at any pace. */
    streamed?: boolean
  }
}

/** A hundred full products fit (rest-protocol §5.2). */
const BODY_LIMIT_BYTES = 10 * 1024 * 1024
/** How long a sender may take over a body, `streamed` routes aside. */
const BODY_TIMEOUT_MS = 60_000
/** A connection on which nothing moves is closed. */
const CONNECTION_TIMEOUT_MS = 120_000
const PARAM_LENGTH_MAX = 2_048

/** Options of Fastify. */
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

/** Refuses what Node would refuse by itself, without an id and without a line in the log. */
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

/** Answered requests whose connection was closed because the rest of the body did not come: no client aborted them. */
export const cutOff = new WeakSet<IncomingMessage>()

/**
 * Limits the time for a body, because Node's requestTimeout is one figure for all routes, and an import may take an hour.
 * Without a limit, slow senders would hold connections and memory without end.
 */
export function limitBodyTime(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, raw, routeOptions } = request
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    if (hasBody && !routeOptions.config.streamed) {
      const timer = setTimeout(() => {
        // Refused before its body was read: the answer is sent, and Node still throws away what comes of the body.
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
