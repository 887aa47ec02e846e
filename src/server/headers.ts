import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

export interface HeaderOptions {
  readonly publicUrl: string
}

/** How long a browser that came by https once goes on to use nothing else. */
const HSTS_SECONDS = 15_552_000
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

/** A caller's own id is taken when it is short and plain, so that it cannot break the log. */
export function requestIdOf({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** Headers of every answer, by whatever part of the server; `protocol` is how the request came. */
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
