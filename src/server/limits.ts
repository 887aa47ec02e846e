import type { IncomingMessage, Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { sendRefusal } from './errors.ts'

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

/** What Node answers itself unless it is told not to. */
type Lenient = Server & { requireHostHeader?: boolean }

/**
 * Answers what Node would answer itself, without a request id and a line in the log: 417 to unsupported Expect headers, and 400
 * to HTTP/1.1 without Host.
 */
export function answerInsteadOfNode(app: FastifyInstance): void {
  const refused = new WeakSet<IncomingMessage>()
  const server: Lenient = app.server
  server.requireHostHeader = false
  server.on('checkExpectation', (request, response) => {
    refused.add(request)
    app.routing(request, response)
  })
  app.addHook('onRequest', (request, reply, done) => {
    const fault = faultOf(request.raw, refused)
    if (fault === null) return done()
    const [status, message] = fault
    sendRefusal(reply.header('connection', 'close'), status, message)
  })
}

function faultOf(
  request: IncomingMessage,
  refused: WeakSet<IncomingMessage>,
): [status: number, message: string] | null {
  if (refused.has(request)) return [417, 'Expect may only be 100-continue']
  const isWithoutHost = request.headers.host === undefined && request.httpVersion === '1.1'
  return isWithoutHost ? [400, 'The header Host is missing'] : null
}

/** Lets another server of the application leave these answers to it too. */
export function leaveAnswersTo(app: { readonly server: Server }, other: Lenient): void {
  other.requireHostHeader = false
  for (const event of ['clientError', 'checkExpectation']) {
    for (const listener of app.server.listeners(event)) other.on(event, listener as () => void)
  }
}
