import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { createMetrics } from '../../../../src/http/server/figures/metrics.ts'
import { cutSlowPeers, type SlowPeerLimits } from '../../../../src/http/server/requests/slow-peers.ts'
import { openRaw, requestHead } from '../../../support/raw-connection.ts'

const ANSWER = Buffer.alloc(32 * 1024 * 1024, 'x')

let app: FastifyInstance | undefined
afterEach(() => app?.close())

/** A server that answers a POST with the length of its body, and a GET with 32 MB. */
async function open(limits: SlowPeerLimits) {
  const metrics = createMetrics()
  app = Fastify({ logger: false, forceCloseConnections: true })
  cutSlowPeers(app, metrics, limits)
  app.post('/', async ({ body }) => ({ length: JSON.stringify(body).length }))
  app.get('/', (request, reply) => {
    reply.server.watchReader(request, reply, ANSWER.length)
    return reply.send(ANSWER)
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const closed = async () => {
    const { values } = await metrics.closedConnections.get()
    return Object.fromEntries(values.flatMap(({ labels, value }) => (value > 0 ? [[labels.reason, value]] : [])))
  }
  return { port, closed }
}

const head = requestHead('POST', '/', { 'content-type': 'application/json', 'content-length': 100 })

test('a body that stops arriving is answered 408, and its connection closed', async () => {
  const { port, closed } = await open({ windowMs: 100, bytesPerSecond: 1_000 })
  const sender = await openRaw(port, `${head}"abc`)

  expect(await sender.status()).toBe(408)
  expect(sender.text()).toMatch(/^connection: close\r$/im)
  expect(sender.text()).toMatch(/^x-error-code: request-timeout\r$/im)
  expect(sender.text()).toContain('The body was not sent in time')
  expect(await closed()).toEqual({ 'slow-body': 1 })
})

test('a body of a byte now and then is too slow', async () => {
  const { port } = await open({ windowMs: 200, bytesPerSecond: 1_000 })
  const sender = await openRaw(port, `${head}"`)
  const trickle = setInterval(() => sender.socket.write('a'), 10)

  expect(await sender.status()).toBe(408)
  clearInterval(trickle)
})

test('a slow but steady body is taken, however long it takes', async () => {
  const { port, closed } = await open({ windowMs: 500, bytesPerSecond: 2 })
  const sender = await openRaw(port, `${head}"`)
  let sent = 1
  const steady = setInterval(() => {
    sent++
    if (sent <= 100) sender.socket.write(sent === 100 ? '"' : 'a')
  }, 15)

  expect(await sender.status()).toBe(200)
  clearInterval(steady)
  expect(await closed()).toEqual({})
})

test('the connection of a client that reads nothing is closed', async () => {
  const { port, closed } = await open({ windowMs: 100, bytesPerSecond: 100_000 })
  const reader = await openRaw(port, requestHead('GET', '/', {}), { slow: true })

  await expect.poll(closed).toEqual({ 'slow-reader': 1 })
  reader.socket.resume()
  await once(reader.socket, 'close')
})

test('an answer that is read at once is whole, and the connection serves the next request', async () => {
  const { port, closed } = await open({ windowMs: 60_000, bytesPerSecond: 1_000_000 })
  for (let count = 0; count < 2; count++) {
    const answer = await fetch(`http://127.0.0.1:${port}/`)
    expect((await answer.arrayBuffer()).byteLength).toBe(ANSWER.length)
  }

  expect(await closed()).toEqual({})
})
