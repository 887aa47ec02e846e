import type { Server, Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { inBlocks, networkOf } from '../values/address-blocks.ts'
import { isLoopback } from '../values/loopback.ts'
import type { Metrics } from './metrics.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Limits the connections of another server of the application together with its own. */
    limitConnections: (server: Server) => void
  }
}

/** The part of all connections that one network may have. */
const NETWORK_SHARE = 0.25
const LOGGED_EVERY_MS = 60_000

interface ConnectionServices {
  readonly config: { readonly maxConnections: number; readonly trustProxy: readonly string[] }
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'closedConnections' | 'connections' | 'connectionsMax'>
}

/**
 * Closes connections beyond MAX_CONNECTIONS, and those of a network beyond a quarter of it. Loopback and the proxies of
 * TRUST_PROXY are exempt from the latter, because they bring everybody's requests.
 */
export function limitConnections(app: FastifyInstance, { config, log, metrics }: ConnectionServices): void {
  const { maxConnections, trustProxy } = config
  const networkMax = Math.ceil(maxConnections * NETWORK_SHARE)
  const isProxy = inBlocks(trustProxy)
  const byNetwork = new Map<string, number>()
  let loggedMs = Number.NEGATIVE_INFINITY

  function refused(reason: 'too-many' | 'too-many-of-network', address = ''): void {
    metrics.closedConnections.inc({ reason })
    const nowMs = performance.now()
    if (nowMs - loggedMs < LOGGED_EVERY_MS) return
    loggedMs = nowMs
    log.warn({ reason, ip: address, maxConnections }, 'connections are refused; the metrics count them')
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
    refused('too-many-of-network', address)
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
    server.maxConnections = maxConnections
    show(server, server === app.server ? 'PORT' : 'HTTP_PORT')
    server.on('drop', (dropped) => refused('too-many', dropped?.remoteAddress)).on('connection', count)
  })
  app.limitConnections(app.server)
}
