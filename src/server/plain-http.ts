import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

/** Why a request over plain http is refused: PUBLIC_URL is https (contract §4.1). Null: it is not refused. */
export function plainHttpFault(publicUrl: string, { protocol }: { readonly protocol: string }): string | null {
  const isRefused = publicUrl.startsWith('https:') && protocol !== 'https'
  return isRefused ? `Use ${publicUrl}: plain http is refused` : null
}

/** What answers requests, and the server by which it does. */
interface Application {
  readonly server: Server
  readonly routing: (request: IncomingMessage, response: ServerResponse) => void
}

/**
 * A second server of an application that speaks TLS, for plain http. It has the limits of the first one, and its handlers
 * for what is not a request yet. It does not listen.
 */
export function plainServer({ server, routing }: Application): Server {
  const plain = createServer(routing)
  plain.setTimeout(server.timeout)
  plain.headersTimeout = server.headersTimeout
  plain.requestTimeout = server.requestTimeout
  plain.keepAliveTimeout = server.keepAliveTimeout
  for (const event of ['clientError', 'checkExpectation']) {
    for (const listener of server.listeners(event)) plain.on(event, listener as () => void)
  }
  return plain
}
