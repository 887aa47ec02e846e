import type { FastifyReply } from 'fastify'

/**
 * Allows pages of any site to read a response (CORS), like the recorded responses of the public service. A page must
 * send the keys itself; routes with this header ignore cookies.
 */
export const anyOrigin = { 'access-control-allow-origin': '*' }

/** The request headers of REST that CORS does not allow by default. `*` would exclude Authorization. */
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

/** How long a browser may cache the preflight response. Browsers cap it at two hours to a day. */
const MAX_AGE_SECONDS = 86_400

/** Responds to OPTIONS, the CORS preflight, with 204 and the `methods` of the address. */
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
