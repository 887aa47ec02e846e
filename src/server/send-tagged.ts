import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { COMPRESSED_BYTES_MIN, type Encoding, encodedTag, encodingOf } from './compression.ts'

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
  const tag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`
  const encoding = Buffer.byteLength(content) < COMPRESSED_BYTES_MIN ? null : encodingOf(request)
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

/** By tag. One version of the program has about twenty. */
const kept = new LRUCache<string, Promise<Buffer>>({ max: 100 })

/** Compresses once and caches the result, which allows a higher level than for responses that vary. */
function compressed(content: string | Buffer, etag: string, encoding: Encoding): Promise<Buffer> {
  const found = kept.get(etag)
  if (found) return found
  const made = compressors[encoding](content)
  kept.set(etag, made)
  made.catch(() => kept.delete(etag))
  return made
}
