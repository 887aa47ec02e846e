import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics } from '../figures/metrics.ts'
import { sendRefusal } from './errors.ts'

// Peers that send a body or read an answer too slowly. Total time is no measure: 10 MB over a poor line take minutes.

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is read as a stream, at the server's pace: only a connection without any traffic is closed. */
    streamed?: boolean
  }
  interface FastifyInstance {
    /** Watches the client of an answer of so many bytes. */
    watchReader: (request: FastifyRequest, reply: FastifyReply, bytes: number) => void
  }
}

export interface SlowPeerLimits {
  /** How long a peer may take for `bytesPerSecond` times as many seconds. */
  readonly windowMs: number
  readonly bytesPerSecond: number
}

/** A quarter of a poor line's 16 kB/s. */
const defaults: SlowPeerLimits = { windowMs: 30_000, bytesPerSecond: 4_096 }

/** How often a window is looked at. */
const TICKS = 10

/** Requests whose connection the server closed because the body did not arrive. Not logged as aborted by the client. */
export const cutOff = new WeakSet<IncomingMessage>()

interface ArrivingBody {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** What the connection had received at the beginning of the window. */
  bytesRead: number
  /** How often the timer has run in the window. */
  ticks: number
}

type Closed = Pick<Metrics, 'closedConnections'>

/** Cuts slow senders, and slow readers of the answers that `watchReader` names. */
export function cutSlowPeers(app: FastifyInstance, metrics: Closed, limits: SlowPeerLimits = defaults): void {
  cutSlowBodies(app, metrics, limits)
  app.decorate('watchReader', (request, reply, bytes) => watchReader({ request, reply, bytes }, metrics, limits))
}

/**
 * Answers 408 to a body that arrives more slowly than 4 kB/s for 30 s. One timer watches all bodies, because most arrive
 * within a millisecond.
 */
function cutSlowBodies(
  app: FastifyInstance,
  { closedConnections }: Closed,
  { windowMs, bytesPerSecond }: SlowPeerLimits,
): void {
  const bodies = new Set<ArrivingBody>()
  const bytesMin = (bytesPerSecond * windowMs) / 1000
  let timer: NodeJS.Timeout | undefined
  const startTimer = () => {
    timer ??= setTimeout(check, windowMs / TICKS).unref()
  }
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, raw, routeOptions } = request
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    if (hasBody && !routeOptions.config.streamed) {
      const body = { request, reply, bytesRead: raw.socket.bytesRead, ticks: 0 }
      bodies.add(body)
      const forget = () => bodies.delete(body)
      raw.once('close', forget).once('end', forget)
      startTimer()
    }
    done()
  })
  app.addHook('onClose', async () => clearTimeout(timer))

  function check(): void {
    for (const body of bodies) {
      const { raw } = body.request
      const { bytesRead } = raw.socket
      // The request waits for its turn or its reader, not for the sender: the body has arrived whole, or the buffer is full.
      const isWaiting = raw.complete || raw.readableLength >= raw.readableHighWaterMark
      if (isWaiting) Object.assign(body, { bytesRead, ticks: 0 })
      // The first tick is not a whole one.
      else if (++body.ticks <= TICKS) continue
      else if (bytesRead - body.bytesRead >= bytesMin) Object.assign(body, { bytesRead, ticks: 0 })
      else {
        bodies.delete(body)
        closedConnections.inc({ reason: 'slow-body' })
        cutBody(body)
      }
    }
    timer = undefined
    if (bodies.size > 0) startTimer()
  }
}

function cutBody({ request: { raw }, reply }: ArrivingBody): void {
  cutOff.add(raw)
  // The request was answered before its body was read, and Node is still discarding the body.
  if (reply.raw.headersSent) raw.destroy()
  else {
    // Node does not tell the reader of an answered request's body that its connection is closed.
    raw.socket.once('close', () => raw.destroy())
    const said = { code: 'request-timeout', status: 408, message: 'The body was not sent in time' } as const
    sendRefusal(reply.header('connection', 'close'), said)
  }
}

/** Closes the connection of a client that reads none of an answer for 30 s, or reads it more slowly than 4 kB/s on the whole. */
function watchReader(
  { request, reply: { raw }, bytes }: { request: FastifyRequest; reply: FastifyReply; bytes: number },
  { closedConnections }: Closed,
  { windowMs, bytesPerSecond }: SlowPeerLimits,
): void {
  const { socket } = request.raw
  // A request that no connection brought, as in tests.
  if (!(socket instanceof Socket)) return
  const { timeout: usualMs = 0 } = socket
  const cut = () => {
    closedConnections.inc({ reason: 'slow-reader' })
    request.log.info({ bytes }, 'the client read the answer too slowly')
    raw.destroy()
  }
  const timer = setTimeout(cut, windowMs + (bytes / bytesPerSecond) * 1000)
  // Node's timeout counts as progress what the system takes over.
  raw.setTimeout(windowMs, cut)
  raw.once('close', () => {
    clearTimeout(timer)
    raw.off('timeout', cut)
    socket.setTimeout(usualMs)
  })
}
