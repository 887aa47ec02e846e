import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { errorBody } from './errors.ts'

/** Sufficient for a hundred full products (rest-protocol §5.2). */
const BODY_LIMIT_BYTES = 10 * 1024 * 1024
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
