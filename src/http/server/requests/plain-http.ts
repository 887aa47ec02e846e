import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { inBlocks } from '../../../foundation/values/address-blocks.ts'
import { leaveAnswersTo } from './limits.ts'

/** Why a request over plain http is refused: PUBLIC_URL is https (contract §4.1). Null: the request is allowed. */
export function plainHttpFault(publicUrl: string, { protocol }: { readonly protocol: string }): string | null {
  const isRefused = publicUrl.startsWith('https:') && protocol !== 'https'
  return isRefused ? `Use ${publicUrl}: plain http is refused` : null
}

interface PlainHttpOfPage {
  readonly fault: string
  /** Whether a browser may be led to PUBLIC_URL instead. */
  readonly canLeadOn: boolean
}

/**
 * Returns a function that says what is wrong with a page's request over plain http, for the visitor and for whoever set the proxy
 * up. Null: the request is allowed. A browser is not led on behind a proxy that ended TLS without being in TRUST_PROXY, because it
 * would come back the same way forever.
 */
export function plainHttpOfPages({
  publicUrl,
  trustProxy,
}: {
  readonly publicUrl: string
  readonly trustProxy: readonly string[]
}): (request: FastifyRequest) => PlainHttpOfPage | null {
  const isProxy = inBlocks(trustProxy)
  return (request) => {
    const fault = plainHttpFault(publicUrl, request)
    if (fault === null) return null
    const { method, headers, socket } = request
    const isTrusted = isProxy(socket.remoteAddress ?? '')
    const isUnknown = !isTrusted && headers['x-forwarded-proto'] !== undefined
    return {
      fault: fault + adviceFor(isTrusted, isUnknown),
      canLeadOn: (method === 'GET' || method === 'HEAD') && !isUnknown,
    }
  }
}

function adviceFor(isTrusted: boolean, isUnknown: boolean): string {
  if (isTrusted) return '. If the proxy ended TLS, it has to send X-Forwarded-Proto: https'
  return isUnknown ? '. If a proxy ended TLS, add its address to TRUST_PROXY' : ''
}

interface Application {
  readonly server: Server
  readonly routing: (request: IncomingMessage, response: ServerResponse) => void
  readonly limitConnections: (server: Server) => void
}

/** Creates a plain http server, not listening, with the limits and early error handlers of one that serves TLS. */
export function plainServer(app: Application): Server {
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
