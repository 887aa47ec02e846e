import type { IncomingMessage, Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { sendRefusal, UNKNOWN_CODING } from './errors.ts'

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
 * to HTTP/1.1 without Host. Also what Node lets pass: 400 to several of Host, and 501 to unknown codings (RFC 9112 §3.2, §6.1).
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
    sendRefusal(reply.header('connection', 'close'), { code: 'malformed-request', status, message })
  })
}

function faultOf(request: IncomingMessage, refused: WeakSet<IncomingMessage>): readonly [number, string] | null {
  if (refused.has(request)) return [417, 'Expect may only be 100-continue']
  const { rawHeaders, headers, httpVersion } = request
  const hosts = rawHeaders.filter((name, place) => place % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts === 0 && httpVersion === '1.1') return [400, 'The header Host is missing']
  if (hosts > 1) return [400, 'The header Host came more than once; send it once']
  return /^chunked$/i.test(headers['transfer-encoding'] ?? 'chunked') ? null : [501, UNKNOWN_CODING]
}

/** Lets another server of the application leave these answers to it too. */
export function leaveAnswersTo(app: { readonly server: Server }, other: Lenient): void {
  other.requireHostHeader = false
  for (const event of ['clientError', 'checkExpectation']) {
    for (const listener of app.server.listeners(event)) other.on(event, listener as () => void)
  }
}
