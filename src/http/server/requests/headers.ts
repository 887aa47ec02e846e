import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'

export interface HeaderOptions {
  readonly publicUrl: string
}

/** How long a browser that has connected over https refuses plain http. */
const HSTS_SECONDS = 15_552_000
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

/** Accepts a caller's request id only if it is short and plain, so that it cannot corrupt the log. */
export function requestIdOf({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** The headers of every response. `protocol` is that of the request. */
export function commonHeaders({ publicUrl }: HeaderOptions, id: string, protocol: string): Record<string, string> {
  const isHttps = publicUrl.startsWith('https:') && protocol === 'https'
  const strict = isHttps && { 'Strict-Transport-Security': `max-age=${HSTS_SECONDS}` }
  return { 'X-Request-Id': id, 'X-Content-Type-Options': 'nosniff', ...strict }
}

export function setCommonHeaders(app: FastifyInstance, options: HeaderOptions): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders(options, request.id, request.protocol))
    done()
  })
}

/** Allows pages of any site to read a response (CORS). A page must send the keys itself; cookies are ignored. */
export const anyOrigin = { 'access-control-allow-origin': '*' }

/** Has the code of a refusal. */
export const ERROR_CODE = 'X-Error-Code'

/** The request headers of REST that CORS does not allow by default. `*` would exclude Authorization. */
const requestHeaders =
  'SecureURL, PrivateKey, Token, Authorization, Accept, Content-Type, If-Match, If-None-Match, Idempotency-Key, Prefer, ' +
  'X-Request-Id'

/** RFC 9110 §5.6.2: a token. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const ASKED_LENGTH_MAX = 1024

/**
 * The names that `Access-Control-Allow-Headers` has: those of REST, and after them up to 1 kB of others that the page asks for,
 * which its libraries add, such as `traceparent`.
 */
function allowedHeaders(asked: string): string {
  const known = new Set(requestHeaders.toLowerCase().split(', '))
  const added: string[] = []
  let length = 0
  for (const name of asked.split(',').map((text) => text.trim())) {
    const isTaken = HEADER_NAME.test(name) && !known.has(name.toLowerCase())
    if (!isTaken || length + name.length > ASKED_LENGTH_MAX) continue
    known.add(name.toLowerCase())
    added.push(name)
    length += name.length + ', '.length
  }
  return [requestHeaders, ...added].join(', ')
}

/** How long a browser may cache the preflight response. Browsers cap it at two hours to a day. */
const MAX_AGE_SECONDS = 86_400

/** Responds to OPTIONS, the CORS preflight, with 204 and the `methods` of the address. */
export function sendOptions(reply: FastifyReply, methods: string): FastifyReply {
  const { 'access-control-request-headers': asked } = reply.request.headers
  reply.headers({
    ...anyOrigin,
    allow: methods,
    'access-control-allow-methods': methods,
    'access-control-allow-headers': allowedHeaders(String(asked ?? '')),
    vary: 'access-control-request-headers',
    'access-control-max-age': String(MAX_AGE_SECONDS),
  })
  return reply.code(204).send()
}
