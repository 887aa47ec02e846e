import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

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
  return {
    'X-Request-Id': id,
    'X-Content-Type-Options': 'nosniff',
    ...(isHttps && { 'Strict-Transport-Security': `max-age=${HSTS_SECONDS}` }),
  }
}

export function setCommonHeaders(app: FastifyInstance, options: HeaderOptions): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders(options, request.id, request.protocol))
    done()
  })
}
