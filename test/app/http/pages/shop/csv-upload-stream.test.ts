import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { StoreFailure } from '../../../../../src/foundation/values/failure.ts'
import { orShowAgain } from '../../../../../src/http/html/page-routes.ts'
import { receiveFile, type UploadedFile } from '../../../../../src/http/html/upload.ts'
import { createMetrics } from '../../../../../src/http/server/figures/metrics.ts'
import { cutSlowPeers } from '../../../../../src/http/server/requests/slow-peers.ts'
import { openRaw, requestHead } from '../../../../support/raw-connection.ts'
import { sendInChunks } from './form-in-chunks.ts'

const BYTES_MAX = 600 * 1024
const refusal = new StoreFailure('invalid-value', 'refused by the consumer')

type Bytes = AsyncIterable<Uint8Array>

/** Passes bytes on, as decoders and parsers between a file and its reader do. */
async function* passedOn(bytes: Bytes): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) yield chunk
}

/** Reads `at` bytes, or all if there are fewer. */
async function readUpTo(bytes: Bytes, at: number): Promise<void> {
  let length = 0
  for await (const chunk of bytes) {
    length += chunk.length
    if (length >= at) return
  }
}

let waiting = Promise.withResolvers<void>()

/** Ways in which a consumer ends. Each is given where to end. */
const consumers: Record<string, (bytes: Bytes, at: number) => Promise<unknown>> = {
  'returns before it reads': async () => 'done',
  'throws before it reads': async () => {
    throw refusal
  },
  'returns while it reads': async (bytes, at) => readUpTo(bytes, at),
  'throws while it reads': async (bytes, at) => {
    await readUpTo(passedOn(passedOn(bytes)), at)
    throw refusal
  },
  'throws beside a reader that waits for bytes': async (bytes) => {
    const reader = passedOn(bytes)
    await reader.next()
    void reader.next()
    void reader.next()
    throw refusal
  },
  'throws beside readers that read ahead': async (bytes, at) => {
    const reader = passedOn(bytes)
    await reader.next()
    pipeline(passedOn({ [Symbol.asyncIterator]: () => reader }), async (ahead: Bytes) => {
      await readUpTo(passedOn(ahead), at)
      await new Promise(() => {})
    }).catch(() => {})
    await new Promise(setImmediate)
    throw refusal
  },
  'waits before it reads': async (bytes) => {
    await waiting.promise
    await readUpTo(bytes, Number.POSITIVE_INFINITY)
  },
  'reads to the end': async (bytes) => readUpTo(bytes, Number.POSITIVE_INFINITY),
}

const ending = Object.keys(consumers).filter((name) => !name.startsWith('waits'))

let app: FastifyInstance
let port = 0
/** What the server logged, a line each. */
const log: string[] = []
/** The latest request. */
let latest: FastifyRequest | undefined

async function open(): Promise<void> {
  app = Fastify({ logger: { stream: { write: (line: string) => log.push(line) } }, forceCloseConnections: true })
  cutSlowPeers(app, createMetrics())
  app.addContentTypeParser('multipart/form-data', (_request, payload, done) => done(null, payload))
  app.decorate('admitAgain', async () => {})
  app.decorate('csrfProtection', (_request: unknown, _reply: unknown, done: () => void) => done())
  app.post<{ Querystring: { consumer: string; at: string } }>(
    '/',
    { config: { isUpload: true } },
    async (request, reply) => {
      const { consumer, at } = request.query
      latest = request
      const use = async ({ bytes }: UploadedFile) => {
        await consumers[consumer]?.(bytes, Number(at))
        return { done: true }
      }
      return orShowAgain(
        reply,
        () => receiveFile(reply, BYTES_MAX, use),
        () => ({ template: '', title: '' }),
      )
    },
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as AddressInfo).port
}

beforeAll(open)
afterAll(() => app?.close())

const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
const end = '\r\n--b--\r\n'
const formOf = (file: Buffer) => Buffer.concat([Buffer.from(head), file, Buffer.from(end)])

function send(query: Record<string, string>, body: Buffer, chunkLength: number) {
  return sendInChunks({ port, path: `/?${new URLSearchParams(query)}` }, body, chunkLength)
}

/** Resolves when something is the case that the server does by itself. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate)
}

test.each([
  ['in the middle of reading', 'reads to the end', 413],
  ['that nobody reads', 'returns before it reads', 200],
])('a file above the limit %s is answered', async (_when, consumer, status) => {
  for (const size of [BYTES_MAX + 1, 3 * BYTES_MAX]) {
    expect((await send({ consumer }, formOf(Buffer.alloc(size, 'x')), 50_000)).status).toBe(status)
  }
})

const filler = 'x'.repeat(400_000)

test.each([
  ['has no end', `${head}${filler}`, 400],
  ["ends within its file's head", head.slice(0, -2), 400],
  ['is no form', filler, 400],
  ['has a head without an end', `--b\r\n${filler}`, 400],
  ['has text before it', `${filler}\r\n${head}file${end}`, 200],
  ['has text behind it', `${head}file${end}${filler}`, 200],
  ['has a second file', `${head}file\r\n${head}${filler}${end}`, 200],
])('a form that %s is answered, however its consumer ends', async (_what, body, status) => {
  for (const consumer of ending) {
    const answer = await send({ consumer, at: '10' }, Buffer.from(body), 50_000)
    // One that returns early has not met the problem.
    if (consumer.startsWith('returns')) expect([200, status], consumer).toContain(answer.status)
    else expect(answer.status, consumer).toBe(consumer.startsWith('throws') ? 400 : status)
  }
})

describe('beside the watch for slow bodies', () => {
  beforeEach(async () => {
    await app.close()
    // The first body starts the timer of a server.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    log.length = 0
    latest = undefined
    await open()
  })
  afterEach(() => vi.useRealTimers())

  /** The beginning of a request with a form that is never sent to its end. */
  const begun = (consumer: string) => {
    const path = `/?${new URLSearchParams({ consumer, at: '1' })}`
    const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': 1_000_000 }
    return `${requestHead('POST', path, headers)}${head}`
  }

  test.each(['reads to the end', 'throws before it reads'])(
    'a file that stops on its way is answered 408, and its connection closed, where its consumer %s',
    async (consumer) => {
      const sender = await openRaw(port, `${begun(consumer)}abc`)
      const closed = once(sender.socket, 'close')
      await until(() => latest !== undefined)
      vi.advanceTimersByTime(40_000)
      expect(await sender.status()).toBe(408)
      await closed
      await until(() => latest?.raw.destroyed === true)
      await new Promise(setImmediate)
      expect(log.join()).not.toMatch(/"level":[45]0|already sent|"err"/)
    },
  )

  test.each([
    ['has arrived whole', 300_000, (raw: IncomingMessage) => raw.complete && raw.readableLength > 0],
    ['is held up', 550_000, (raw: IncomingMessage) => raw.readableLength >= raw.readableHighWaterMark],
  ])('a file that %s is not cut off for a consumer that takes its time', async (_how, size, hasArrived) => {
    waiting = Promise.withResolvers()
    const answer = send({ consumer: 'waits before it reads' }, formOf(Buffer.alloc(size, 'x')), 50_000)
    await until(() => latest !== undefined && hasArrived(latest.raw))
    vi.advanceTimersByTime(600_000)
    waiting.resolve()
    expect((await answer).status).toBe(200)
  })
})
