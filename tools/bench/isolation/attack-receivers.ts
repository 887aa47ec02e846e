import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { productStockChanged } from '../../../src/engine/definition/event-kinds.ts'
import { type Credentials, callRest } from '../application.ts'
import type { Situation, Target } from './situations.ts'

const WEBHOOKS = 200
/** What the contract's bucket lets through. */
const CHANGE_EVERY_MS = 500

/** What the receivers do with a connection: never answer, a byte a second, lead elsewhere, hang up. */
const kinds: readonly ((socket: Socket) => void)[] = [
  () => undefined,
  (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
    const timer = setInterval(() => socket.write('.'), 1_000)
    socket.once('close', () => clearInterval(timer))
  },
  (socket) =>
    socket.end('HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n'),
  (socket) => socket.resetAndDestroy(),
]

/** Webhooks of one store to receivers that hang, trickle, redirect or reset, and changes that are notified to all of them. */
export const badReceivers: Pick<Situation, 'attack'> = {
  attack: async (target, signal) => {
    const servers = await Promise.all(kinds.map(openReceiver))
    const [first, second] = target.wideHeaders
    const added: (readonly [headers: Credentials, id: string])[] = []
    try {
      const registering = Array.from({ length: WEBHOOKS }, async (_, count) => {
        const url = `http://127.0.0.1:${portOf(servers[count % servers.length] as Server)}/${count}`
        const headers = count % 8 < 4 ? first : second
        added.push([headers, await register(target, headers, url)])
      })
      await Promise.all(registering)
      for (let stock = 0; !signal.aborted; stock++) {
        await callRest(target.origin, target.headers, 'PUT', '/Products', [
          { SKUInfo: { CatalogID: target.productIds[stock % 50], Stock: stock } },
        ]).catch(() => undefined)
        await sleep(CHANGE_EVERY_MS, undefined, { signal }).catch(() => undefined)
      }
    } finally {
      for (const [headers, id] of added)
        await callRest(target.origin, headers, 'DELETE', `/Webhooks/${id}`).catch(() => undefined)
      for (const server of servers) server.close()
    }
  },
}

async function openReceiver(handle: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => handle(socket))
    socket.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

async function register(target: Target, headers: Credentials, Url: string): Promise<string> {
  const body = { Name: 'Bad', Url, EventType: productStockChanged.type, Enabled: true, Format: 'JSON' }
  const [item] = (await callRest(target.origin, headers, 'POST', '/Webhooks', body)) as [{ Value: string }]
  return item.Value
}
