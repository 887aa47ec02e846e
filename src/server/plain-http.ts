import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

/** Why a request over plain http is refused: PUBLIC_URL is https (contract §4.1). Null: the request is allowed. */
export function plainHttpFault(publicUrl: string, { protocol }: { readonly protocol: string }): string | null {
  const isRefused = publicUrl.startsWith('https:') && protocol !== 'https'
  return isRefused ? `Use ${publicUrl}: plain http is refused` : null
}

interface Application {
  readonly server: Server
  readonly routing: (request: IncomingMessage, response: ServerResponse) => void
  readonly limitConnections: (server: Server) => void
}

/** Creates a plain http server, not listening, with the limits and early error handlers of one that serves TLS. */
export function plainServer({ server, routing, limitConnections }: Application): Server {
  const plain = createServer(routing)
  plain.setTimeout(server.timeout)
  plain.headersTimeout = server.headersTimeout
  plain.requestTimeout = server.requestTimeout
  plain.keepAliveTimeout = server.keepAliveTimeout
  limitConnections(plain)
  for (const event of ['clientError', 'checkExpectation']) {
    for (const listener of server.listeners(event)) plain.on(event, listener as () => void)
  }
  return plain
}
