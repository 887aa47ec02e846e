import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import Fastify from 'fastify'
import pino from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMetrics } from '../../../../src/http/server/figures/metrics.ts'
import { limitConnections } from '../../../../src/http/server/requests/connections.ts'
import { answerUnreadable } from '../../../../src/http/server/requests/errors.ts'
import { plainServer } from '../../../../src/http/server/requests/plain-http.ts'
import { cutSlowPeers } from '../../../../src/http/server/requests/slow-peers.ts'
import { makeCertificate } from '../../../support/certificate.ts'
import { sharedFolder } from '../../../support/folders.ts'

/** Above the time that the server lets a peer go on after the last answer. */
const LATER_MS = 10_000

const folder = sharedFolder()
const files = { key: join(folder, 'key'), cert: join(folder, 'cert') }
makeCertificate(files.cert, files.key)
const https = { key: readFileSync(files.key), cert: readFileSync(files.cert) }

const closing: (() => unknown)[] = []
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
})
afterEach(async () => {
  vi.useRealTimers()
  for (const close of closing.splice(0).reverse()) await close()
})

/** What a peer may have reached the server by. */
const listeners = ['PORT', 'PORT with TLS', 'HTTP_PORT'] as const
type Listener = (typeof listeners)[number]

type Opened = Awaited<ReturnType<typeof open>>

/** The limits and early answers of the application, with short times for what Node itself measures. */
async function open(
  listener: Listener,
  { maxConnections = 1_000, headersTimeout = 60_000, handshakeTimeout = 60_000 } = {},
) {
  const metrics = createMetrics()
  const log = pino({ level: 'silent' })
  const config = { publicUrl: 'http://shop.example', maxConnections, trustProxy: [] }
  const times = { headersTimeout, connectionsCheckingInterval: 10 }
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    ...(listener === 'PORT with TLS' ? { https: { ...https, ...times, handshakeTimeout } } : { http: times }),
    clientErrorHandler: (error, socket) => answerUnreadable({ config, log, names: new Set() }, error, socket),
  })
  closing.push(() => app.close())
  const seen: string[] = []
  limitConnections(app, { config, log, metrics })
  cutSlowPeers(app, metrics, { windowMs: 1_000, bytesPerSecond: 1_000 })
  app.addHook('onRequest', async ({ method, url }) => void seen.push(`${method} ${url}`))
  const gate = Promise.withResolvers<void>()
  app.get('/', async () => 'well')
  app.get('/slow', async () => {
    await gate.promise
    return 'well'
  })
  app.post('/', async () => 'taken')
  app.get('/half', async (_request, reply) => {
    const half = new PassThrough()
    half.write('half of the answer')
    return reply.send(half)
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  let server: typeof app.server = app.server
  if (listener === 'HTTP_PORT') {
    server = plainServer(app)
    Object.assign(server, times)
    server.listen(0, '127.0.0.1')
    closing.push(() => {
      server.closeAllConnections()
      server.close()
    })
    await once(server, 'listening')
  }
  let accepted: Socket | undefined
  const keep = (socket: Socket) => {
    accepted = socket
  }
  server.on('connection', keep).on('secureConnection', keep)
  const openNow = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))
  const { port } = server.address() as AddressInfo
  return {
    openNow,
    /** Of the connection that came last. */
    bytesRead: () => accepted?.bytesRead ?? 0,
    seen,
    port,
    release: gate.resolve,
    peer: (head: string) => openPeer(port, head, listener === 'PORT with TLS'),
    tooMany: async () => {
      const { values } = await metrics.closedConnections.get()
      return values.find(({ labels }) => labels.reason === 'too-many')?.value
    },
  }
}

/** A peer that reads, and closes nothing of itself, whatever the server does. */
async function openPeer(port: number, head: string, isTls = false) {
  const plain = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
  const socket: Socket = isTls ? connectTls({ socket: plain, rejectUnauthorized: false }) : plain
  closing.push(() => socket.destroy())
  socket.on('error', () => {})
  let text = ''
  const ended = new Promise<string>((resolve) => {
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    socket.on('end', () => resolve(text)).on('close', () => resolve(text))
  })
  await Promise.race([once(socket, isTls ? 'secureConnect' : 'connect'), ended]).catch(() => {})
  socket.write(head)
  return { socket, /** What was read until the server ended the connection. */ ended, text: () => text }
}

const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n'

describe.each(listeners)('at %s', (listener) => {
  test.each([
    ['headers that do not end', 'GET / HTTP/1.1\r\nHost: x\r\nA: ', 408, ''],
    ['what is not HTTP', 'GET / HTTP/9\r\n\r\n', 400, ''],
    ['headers of more than 16 kB', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`, 431, ''],
    ['a body that stops', `${head}Content-Length: 9\r\n\r\n{"a"`, 408, 'POST /'],
    ['Connection: close', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 200, 'GET /'],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', 200, 'GET /'],
  ])('%s: the peer reads the answer, may go on for a moment, and is closed', async (_name, sent, status, request) => {
    const times = sent.endsWith('A: ') ? { headersTimeout: 20 } : {}
    const { openNow, bytesRead, seen, peer } = await open(listener, times)
    const { socket, ended } = await peer(sent)
    await expect.poll(() => seen).toEqual(request === '' ? [] : [request])
    if (request === 'POST /') vi.advanceTimersByTime(LATER_MS)

    expect(await ended).toMatch(new RegExp(`^HTTP/1.1 ${status} (?!.*HTTP/1.1)`, 's'))
    // It must not be cut off at once, because a reset would take an answer away that it has not read.
    for (const part of ['\r\n\r\n', 'GET /late HTTP/1.1\r\n', 'Host: x\r\n\r\n']) {
      const before = bytesRead()
      socket.write(part)
      await expect.poll(bytesRead).toBeGreaterThanOrEqual(before + part.length)
    }
    expect(await openNow()).toBe(1)
    vi.advanceTimersByTime(LATER_MS)
    await expect.poll(openNow).toBe(0)
    expect(seen).toEqual(request === '' ? [] : [request])
  })

  test('an answer that is under way is cut off where what follows is not HTTP, and gets no other in its middle', async () => {
    const { openNow, peer } = await open(listener)
    const { socket, ended, text } = await peer('GET /half HTTP/1.1\r\nHost: x\r\n\r\n')
    await expect.poll(text).toContain('half of the answer')
    socket.write('GET / HTTP/9\r\n\r\n')
    expect(await ended).toMatch(/^HTTP\/1.1 200 (?!.*HTTP\/1.1)/s)
    await expect.poll(openNow).toBe(0)
  })

  test('a peer that closes is gone at once', async () => {
    const { openNow, peer } = await open(listener)
    const { socket, ended } = await peer('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    await ended
    socket.end()
    await expect.poll(openNow).toBe(0)
  })
})

/** Waits until the server has taken over what it was sent, and lets `ms` pass for its timers. */
async function pass({ openNow }: Opened, ms: number): Promise<number> {
  vi.advanceTimersByTime(ms)
  return openNow()
}

test('a TLS handshake that does not end is ended, whatever arrives', async () => {
  const opened = await open('PORT with TLS', { handshakeTimeout: 20 })
  const { socket } = await openPeer(opened.port, '\x16\x03\x01\x02\x00\x01')
  await expect
    .poll(() => {
      socket.write('\0')
      return pass(opened, LATER_MS)
    })
    .toBe(0)
})

test.each(listeners)('at %s: an empty line now and then is no request', async (listener) => {
  const opened = await open(listener)
  const { socket, text } = await opened.peer('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await expect.poll(text).toMatch(/^HTTP\/1.1 200 /)
  for (let seconds = 0; seconds < 110; seconds += 10) {
    await new Promise<void>((resolve) => socket.write('\r\n', () => resolve()))
    expect(await pass(opened, 10_000)).toBe(1)
  }
  await expect.poll(() => pass(opened, 10_000)).toBe(0)
})

describe.each(listeners)('at %s, where there are MAX_CONNECTIONS', (listener) => {
  const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

  test('whoever sends a request is answered, in place of those that send none', async () => {
    const { openNow, peer, tooMany } = await open(listener, { maxConnections: 4 })
    const dripping = []
    for (let count = 0; count < 4; count++) dripping.push(await peer('GET / HTTP/1.1\r\nHost: x\r\nA: '))
    for (let count = 0; count < 8; count++) {
      const { text } = await peer(request)
      await expect.poll(text).toMatch(/^HTTP\/1.1 200 /)
    }
    for (const { ended } of dripping) expect(await ended).toBe('')
    await expect.poll(openNow).toBe(4)
    expect(await tooMany()).toBe(8)
  })

  test('requests that are being answered are not given up for others', async () => {
    const { peer, seen, release, tooMany } = await open(listener, { maxConnections: 2 })
    const waiting = [
      await peer('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'),
      await peer('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'),
    ]
    await expect.poll(() => seen.length).toBe(2)
    expect(await (await peer(request)).ended).toBe('')
    expect(await tooMany()).toBe(1)
    release()
    for (const { text } of waiting) await expect.poll(text).toMatch(/^HTTP\/1.1 200 /)
  })
})
