import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import compress from '@fastify/compress'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { countAnswer } from './bytes-in-flight.ts'

/** A shorter body fits into one or two packets uncompressed. */
const COMPRESSED_BYTES_MIN = 1_024
/** Up to these levels, compression saves more time at 100 Mbit/s than it takes the processor (docs/performance.md). */
const BROTLI_QUALITY = 1
const GZIP_LEVEL = 5

type Encoding = 'br' | 'gzip'

/** At equal quality values, the first is preferred. */
const encodings: (Encoding | 'identity')[] = ['br', 'gzip', 'identity']

/**
 * Enables `sendCompressible` for the routes added after this call. Nothing else is compressed: the length of a
 * compressed response that contains both a secret and text of others would reveal the secret (BREACH).
 */
export function installCompression(app: FastifyInstance): void {
  app.register(compress, {
    global: false,
    encodings,
    threshold: COMPRESSED_BYTES_MIN,
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
    zlibOptions: { level: GZIP_LEVEL },
  })
}

/**
 * Sends a response in an encoding the client accepts. A `no-store` response stays plain, because it has a secret. Counts
 * its bytes until they have left the process.
 */
export function sendCompressible(reply: FastifyReply, body: string | Buffer): FastifyReply {
  const { headers } = reply.request
  const bytes = Buffer.byteLength(body)
  countAnswer(reply, bytes)
  if (!reply.hasHeader('vary')) reply.header('vary', 'accept-encoding')
  const isPlain = bytes < COMPRESSED_BYTES_MIN || reply.getHeader('cache-control') === 'no-store'
  // Errors before the plugin's hook have no `compress`. They are short.
  if (isPlain || !reply.compress) return reply.send(body)
  headers['accept-encoding'] &&= withoutWildcard(headers['accept-encoding'])
  reply.compress(body)
  return reply
}

/** Returns the encoding for a request. Null: none, or none that the server supports. */
function encodingOf({ headers: { 'accept-encoding': accepted = '' } }: FastifyRequest): Encoding | null {
  const encoding = negotiate(withoutWildcard(accepted), encodings)
  return encoding === 'br' || encoding === 'gzip' ? encoding : null
}

/** Returns the header in lower case, with `*` replaced by the encodings it does not name (RFC 9110 §12.5.3). */
function withoutWildcard(header: string): string {
  const ranges = header.split(',').map((range) => range.trim().toLowerCase())
  const names = ranges.map((range) => range.split(/[ ;]/, 1)[0])
  const others = encodings.filter((encoding) => !names.includes(encoding))
  return ranges
    .flatMap((range) => (range.startsWith('*') ? others.map((encoding) => encoding + range.slice(1)) : [range]))
    .join(', ')
}

/** 162 bits of SHA-256, enough to exclude collisions. */
export function digest(content: string | Buffer): string {
  return hash('sha256', content, 'base64url').slice(0, 27)
}

/** The tag of a compressed representation: strong tags differ where the bytes do (RFC 9110 §8.8.3.3). */
export function encodedTag(etag: string, encoding: Encoding): string {
  return etag.replace(/"$/, `.${encoding}"`)
}

/** The tag of the same representation uncompressed. */
export function plainTag(etag: string): string {
  return etag.replace(/\.(br|gzip)"$/, '"')
}

/**
 * Sends content that changes only with the version of the program, such as a file, compressed if the client accepts
 * that. By default browsers cache it and revalidate each time, so that a new version appears at once.
 */
export async function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  content: string | Buffer,
  type: string,
  cacheControl = 'no-cache',
): Promise<FastifyReply> {
  const tag = `"${digest(content)}"`
  const isPlain = Buffer.byteLength(content) < COMPRESSED_BYTES_MIN || type === 'application/gzip'
  const encoding = isPlain ? null : encodingOf(request)
  const etag = encoding === null ? tag : encodedTag(tag, encoding)
  reply.headers({ 'cache-control': cacheControl, etag, vary: 'accept-encoding' })
  if (isNamed(etag, request.headers['if-none-match'])) return reply.code(304).send()
  if (encoding === null) return reply.type(type).send(content)
  const body = await compressed(content, etag, encoding)
  return reply.header('content-encoding', encoding).type(type).send(body)
}

/** Whether If-None-Match has the tag of this encoding. A cache that holds other encodings must not serve those. */
function isNamed(etag: string, ifNoneMatch = ''): boolean {
  const named = ifNoneMatch.split(',').map((each) => each.trim().replace(/^W\//, ''))
  return named.includes(etag) || named.includes('*')
}

const compressors = {
  br: (content: string | Buffer) => promisify(brotliCompress)(content, { params: bestBrotli }),
  gzip: (content: string | Buffer) => promisify(gzip)(content, { level: 9 }),
}

/** Above this level, compressing a file takes seconds. */
const bestBrotli = { [constants.BROTLI_PARAM_QUALITY]: 9 }

/** By tag. One version of the program has about twenty files, and 250 pages of documentation with 6 kB each. */
const kept = new LRUCache<string, Promise<Buffer>>({ max: 500 })

/** Compresses once and caches the result, which allows a higher level than for responses that vary. */
function compressed(content: string | Buffer, etag: string, encoding: Encoding): Promise<Buffer> {
  const found = kept.get(etag)
  if (found) return found
  const made = compressors[encoding](content)
  kept.set(etag, made)
  made.catch(() => kept.delete(etag))
  return made
}
