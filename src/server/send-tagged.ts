import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { COMPRESSED_BYTES_MIN, type Encoding, encodedTag, encodingOf } from './compression.ts'

/**
 * Sends what changes with the program alone, such as a file; compressed, where the client accepts that. By default it is kept
 * by browsers, and asked for again each time, so that a new version of the program shows at once.
 */
export async function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  content: string | Buffer,
  type: string,
  cacheControl = 'no-cache',
): Promise<FastifyReply> {
  const tag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`
  const encoding = Buffer.byteLength(content) < COMPRESSED_BYTES_MIN ? null : encodingOf(request)
  const etag = encoding === null ? tag : encodedTag(tag, encoding)
  reply.headers({ 'cache-control': cacheControl, etag, vary: 'accept-encoding' })
  if (isNamed(etag, request.headers['if-none-match'])) return reply.code(304).send()
  if (encoding === null) return reply.type(type).send(content)
  const body = await compressed(content, etag, encoding)
  return reply.header('content-encoding', encoding).type(type).send(body)
}

/** The tag of the encoding that would be sent: a cache on the way may hold the others too, and must not give out a wrong one. */
function isNamed(etag: string, ifNoneMatch = ''): boolean {
  const named = ifNoneMatch.split(',').map((each) => each.trim().replace(/^W\//, ''))
  return named.includes(etag) || named.includes('*')
}

const compressors = {
  br: (content: string | Buffer) => promisify(brotliCompress)(content, { params: bestBrotli }),
  gzip: (content: string | Buffer) => promisify(gzip)(content, { level: 9 }),
}

/** Beyond it, a file takes seconds. */
const bestBrotli = { [constants.BROTLI_PARAM_QUALITY]: 9 }

/** By their tags. Those of a version of the program are some twenty. */
const kept = new LRUCache<string, Promise<Buffer>>({ max: 100 })

/** Compressed once, and so better than an answer that is new each time. */
function compressed(content: string | Buffer, etag: string, encoding: Encoding): Promise<Buffer> {
  const found = kept.get(etag)
  if (found) return found
  const made = compressors[encoding](content)
  kept.set(etag, made)
  made.catch(() => kept.delete(etag))
  return made
}
