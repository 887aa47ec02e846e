import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { inBlocks, networkOf } from '../../../foundation/values/address-blocks.ts'
import { isLoopback } from '../../../foundation/values/loopback.ts'
import type { Metrics } from '../figures/metrics.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Limits the connections of another server of the application together with its own. */
    limitConnections: (server: Server) => void
  }
}

/** The part of all connections that one network may have. */
const NETWORK_SHARE = 0.25
const LOGGED_EVERY_MS = 60_000
/** How long a connection may be without a request, as it may be without traffic. */
const REST_MAX_MS = 120_000
const SWEEP_MS = 5_000
/** How long a peer may keep a connection that the server has ended. */
const LINGER_MS = 5_000

interface ConnectionServices {
  readonly config: { readonly maxConnections: number; readonly trustProxy: readonly string[] }
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'closedConnections' | 'connections' | 'connectionsMax'>
}

/**
 * Ends a connection behind its last answer, and destroys it after 5 s unless the peer closes it before. What still arrives
 * until then is discarded: destroyed at once, the connection would be reset, and a peer that is still sending would lose
 * the answer.
 */
export function endConnection(socket: Socket): void {
  if (socket.destroyed) return
  socket.end()
  // Node's parser would go on to hand over requests.
  socket
    .removeAllListeners('data')
    .on('data', () => {})
    .resume()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** Lets Node end connections by `endConnection` too, where it would destroy them as soon as the answer is sent. */
function endGently(server: Server): void {
  const install = (socket: Socket) => {
    socket.destroySoon = () => endConnection(socket)
  }
  server.on('connection', install).on('secureConnection', install)
}

interface Connection {
  readonly peer: string
  /** As it was accepted, below TLS. */
  readonly socket: Socket
  requests: number
  /** Since when there has been no request. */
  restingSinceMs: number
}

/**
 * Keeps at most `max` connections of a server: beyond that, destroys the one that has been without a request for the longest, and
 * says so by `onClosed`. That is the one that came last only where each of the others has a request. So nobody keeps others out by
 * connections without requests, however many. Destroys those that have none for 120 s, too: to Node a byte now and then is traffic.
 */
function closeResting(server: Server, max: number, onClosed: (address?: string) => void): void {
  const open = new Map<string, Connection>()
  // The one that rests for the longest comes first.
  const resting = new Set<Connection>()
  const isOpen = (connection: Connection) => open.get(connection.peer) === connection
  const rest = (connection: Connection) => {
    connection.restingSinceMs = performance.now()
    resting.add(connection)
  }
  const forget = (connection: Connection) => {
    if (isOpen(connection)) open.delete(connection.peer)
    resting.delete(connection)
  }
  const destroy = (connection: Connection) => {
    // At once, because others may come before its 'close'.
    forget(connection)
    connection.socket.destroy()
  }
  server.on('connection', (socket) => {
    if (socket.destroyed) return
    const connection = { peer: peerOf(socket), socket, requests: 0, restingSinceMs: 0 }
    open.set(connection.peer, connection)
    rest(connection)
    socket.once('close', () => forget(connection))
    if (open.size <= max) return
    const [longest = connection] = resting
    onClosed(longest.socket.remoteAddress)
    destroy(longest)
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(peerOf(socket))
    if (connection === undefined) return
    connection.requests++
    resting.delete(connection)
    response.once('close', () => {
      if (--connection.requests === 0 && isOpen(connection)) rest(connection)
    })
  })
  server.once('listening', () => {
    const sweep = setInterval(() => {
      const sinceMs = performance.now() - REST_MAX_MS
      for (const connection of resting) if (connection.restingSinceMs < sinceMs) destroy(connection)
    }, SWEEP_MS).unref()
    server.once('close', () => clearInterval(sweep))
  })
}

/** Names a connection, whose requests have another socket with TLS than the one that was accepted. */
function peerOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

/**
 * Closes connections beyond MAX_CONNECTIONS, those without a request first, and those of a network beyond a quarter of it.
 * Loopback and the proxies of TRUST_PROXY are exempt from the latter, because they bring everybody's requests.
 */
export function limitConnections(app: FastifyInstance, { config, log, metrics }: ConnectionServices): void {
  const { maxConnections, trustProxy } = config
  const networkMax = Math.ceil(maxConnections * NETWORK_SHARE)
  const isProxy = inBlocks(trustProxy)
  const byNetwork = new Map<string, number>()
  let loggedMs = Number.NEGATIVE_INFINITY

  function closed(reason: 'too-many' | 'too-many-of-network', address = ''): void {
    metrics.closedConnections.inc({ reason })
    const nowMs = performance.now()
    if (nowMs - loggedMs < LOGGED_EVERY_MS) return
    loggedMs = nowMs
    log.warn({ reason, ip: address, maxConnections }, 'connections are closed; the metrics count them')
  }

  function count(socket: Socket): void {
    const { remoteAddress: address = '' } = socket
    if (isLoopback(address) || isProxy(address)) return
    const network = networkOf(address)
    const open = (byNetwork.get(network) ?? 0) + 1
    byNetwork.set(network, open)
    socket.once('close', () => {
      const left = (byNetwork.get(network) ?? 0) - 1
      if (left > 0) byNetwork.set(network, left)
      else byNetwork.delete(network)
    })
    if (open <= networkMax) return
    closed('too-many-of-network', address)
    socket.destroy()
  }

  function show(server: Server, listener: 'PORT' | 'HTTP_PORT'): void {
    metrics.connections.set({ listener }, 0)
    server.on('connection', (socket) => {
      metrics.connections.inc({ listener })
      socket.once('close', () => metrics.connections.dec({ listener }))
    })
  }

  metrics.connectionsMax.set(maxConnections)
  app.decorate('limitConnections', (server) => {
    endGently(server)
    show(server, server === app.server ? 'PORT' : 'HTTP_PORT')
    server.on('connection', count)
    closeResting(server, maxConnections, (address) => closed('too-many', address))
  })
  app.limitConnections(app.server)
}
