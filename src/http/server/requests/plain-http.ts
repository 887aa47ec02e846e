import { createServer, type Server } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../../../foundation/process/settings.ts'
import { inBlocks } from '../../../foundation/values/address-blocks.ts'
import { leaveAnswersTo } from './limits.ts'

/** Why a request over plain http is refused: PUBLIC_URL is https (contract §4.1). Null: the request is allowed. */
export function plainHttpFault(publicUrl: string, { protocol }: { readonly protocol: string }): string | null {
  const isRefused = publicUrl.startsWith('https:') && protocol !== 'https'
  return isRefused ? `Use ${publicUrl}: plain http is refused` : null
}

/**
 * Returns a function that says what is wrong with a page's request over plain http, for the visitor and for whoever set the proxy
 * up. Null: the request is allowed. A browser is not led on behind a proxy that ended TLS without being in TRUST_PROXY, because it
 * would come back the same way forever.
 */
export function plainHttpOfPages({ publicUrl, trustProxy }: Pick<Config, 'publicUrl' | 'trustProxy'>) {
  const isProxy = inBlocks(trustProxy)
  return (request: FastifyRequest) => {
    const fault = plainHttpFault(publicUrl, request)
    if (fault === null) return null
    const { method, headers, socket } = request
    const isTrusted = isProxy(socket.remoteAddress ?? '')
    const isUnknownProxy = !isTrusted && headers['x-forwarded-proto'] !== undefined
    const advice = isTrusted
      ? '. If the proxy ended TLS, it has to send X-Forwarded-Proto: https'
      : '. If a proxy ended TLS, add its address to TRUST_PROXY'
    return {
      fault: isTrusted || isUnknownProxy ? fault + advice : fault,
      /** Whether a browser may be led to PUBLIC_URL instead. */
      canLeadOn: (method === 'GET' || method === 'HEAD') && !isUnknownProxy,
    }
  }
}

/** Creates a plain http server, not listening, with the limits and early error handlers of one that serves TLS. */
export function plainServer(app: Pick<FastifyInstance, 'server' | 'routing' | 'limitConnections'>): Server {
  const { server, routing, limitConnections } = app
  const plain = createServer(routing)
  plain.setTimeout(server.timeout)
  plain.headersTimeout = server.headersTimeout
  plain.requestTimeout = server.requestTimeout
  plain.keepAliveTimeout = server.keepAliveTimeout
  limitConnections(plain)
  leaveAnswersTo(app, plain)
  return plain
}
