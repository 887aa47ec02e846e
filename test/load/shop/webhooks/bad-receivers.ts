import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What bad receivers do with a request. */
const habits: readonly ((response: ServerResponse) => unknown)[] = [
  // Never answers.
  () => undefined,
  trickle,
  (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
  (response) => response.socket?.resetAndDestroy(),
]

const TRICKLE_MS = 200

/** Answers 200 and then one byte at a time, without end. */
function trickle(response: ServerResponse): void {
  response.writeHead(200)
  const timer = setInterval(() => response.write('.'), TRICKLE_MS)
  response.once('close', () => clearInterval(timer))
}

export interface BadReceivers {
  readonly urls: readonly string[]
  readonly close: () => Promise<void>
}

/** Opens so many receivers, each at a port of its own: in turn they hang, trickle, redirect and reset. */
export async function openBadReceivers(count: number): Promise<BadReceivers> {
  const servers = Array.from({ length: count }, (_, index) =>
    createServer(async (request, response) => {
      await text(request).catch(() => '')
      habits[index % habits.length]?.(response)
    }).listen(0, '127.0.0.1'),
  )
  await Promise.all(servers.map((server) => server.listening || once(server, 'listening')))
  return {
    urls: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    close: async () => {
      for (const server of servers) server.closeAllConnections()
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    },
  }
}

export interface QuickReceiver {
  readonly url: string
  /** By path and what changed, when its notification arrived first, by `performance.now`. */
  readonly arrivals: ReadonlyMap<string, number>
  readonly close: () => Promise<void>
}

/** Answers at once, and notes which product's stock it was told of. */
export async function openQuickReceiver(): Promise<QuickReceiver> {
  const arrivals = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '')
    const at = performance.now()
    response.end()
    const [record] = JSON.parse(body) as [{ SKUInfo: { CatalogID: number; Stock: number } }]
    const key = arrivalKey(request.url ?? '', record.SKUInfo.CatalogID, record.SKUInfo.Stock)
    if (!arrivals.has(key)) arrivals.set(key, at)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export function arrivalKey(path: string, productId: number, stock: number): string {
  return `${path} ${productId} ${stock}`
}
