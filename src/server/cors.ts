import type { FastifyReply } from 'fastify'

/**
 * Lets pages of any site read an answer (CORS), as the recorded answers of the public service do. A page has to set the keys
 * itself; no cookie counts where this is said.
 */
export const anyOrigin = { 'access-control-allow-origin': '*' }

/** The request headers that REST reads and a browser does not allow by itself. `*` would leave out Authorization. */
const requestHeaders = [
  'SecureURL',
  'PrivateKey',
  'Token',
  'Authorization',
  'Accept',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'Prefer',
  'X-Request-Id',
].join(', ')

/** How long a browser may keep the answer. The longest that one keeps it for is a day, some two hours. */
const MAX_AGE_SECONDS = 86_400

/**
 * Answers OPTIONS, which a browser sends before a page's request to another site (the preflight): 204 with the `methods` of
 * the address.
 */
export function sendOptions(reply: FastifyReply, methods: string): FastifyReply {
  reply.headers({
    ...anyOrigin,
    allow: methods,
    'access-control-allow-methods': methods,
    'access-control-allow-headers': requestHeaders,
    'access-control-max-age': String(MAX_AGE_SECONDS),
  })
  return reply.code(204).send()
}
