import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as immediate } from 'node:timers/promises'
import { onTestFinished, vi } from 'vitest'
import {
  createOutbound,
  type OutboundAnswer,
  type OutboundOptions,
  type OutboundRequest,
  textOf,
} from '../../../../src/foundation/outbound/outbound.ts'

export const loopback = ['127.0.0.0/8', '::1/128']

/** Closed when the test ends. */
export function openOutbound(options: Partial<OutboundOptions> = {}) {
  const outbound = createOutbound({ allow: loopback, ...options })
  onTestFinished(() => outbound.close())
  return outbound
}

export function post(url: string, limits: Partial<OutboundRequest> = {}): OutboundRequest {
  const headers = { 'content-type': 'application/json' }
  return {
    url,
    method: 'POST',
    headers,
    body: '{"a":1}',
    connectMs: 3_000,
    totalMs: 10_000,
    answerBytesMax: 65_536,
    ...limits,
  }
}

export function reasonOf(answer: OutboundAnswer): string {
  if (answer.ok) throw new Error(`The answer was ${answer.status} ${textOf(answer)}`)
  return answer.reason
}

export function received(answer: OutboundAnswer) {
  if (!answer.ok) throw new Error(answer.reason)
  return { ...answer, body: textOf(answer) }
}

/** Closed when the test ends. */
export async function httpReceiver(listener: RequestListener) {
  return receiverOf(createHttpServer(listener))
}

/** Says what it likes on each connection; closed when the test ends. */
export async function rawReceiver(talk: (socket: Socket) => void) {
  return receiverOf(createServer(talk))
}

export async function receiverOf(server: Server) {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket.once('close', () => sockets.delete(socket)).on('error', () => {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    connections: () => connections,
    open: () => sockets.size,
    /** Resolves when the other side has gone. */
    async gone() {
      await vi.waitUntil(() => sockets.size === 0, 3_000)
    },
  }
}

/** Every address that this process has tried to connect to since, until the test ends. */
export function watchConnections() {
  const addresses: string[] = []
  const onSocket = (message: unknown) => {
    const { socket } = message as { socket: Socket }
    socket.on('connectionAttempt', (address) => addresses.push(address))
  }
  subscribe('net.client.socket', onSocket)
  onTestFinished(() => {
    unsubscribe('net.client.socket', onSocket)
  })
  return async () => {
    // An attempt may still be about to be made.
    await immediate()
    return addresses
  }
}
