import { constants } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import compress from '@fastify/compress'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Shorter answers fit a packet or two as they are. */
export const COMPRESSED_BYTES_MIN = 1_024
/** Each level up to these saves more time on a line of 100 Mbit/s than it takes the processor (docs/performance.md). */
const BROTLI_QUALITY = 1
const GZIP_LEVEL = 5

export type Encoding = 'br' | 'gzip'

/** At equal quality the first is taken. */
const encodings: (Encoding | 'identity')[] = ['br', 'gzip', 'identity']

/**
 * Lets the routes that are added from now on use `sendCompressible`. Nothing else is compressed: an answer that holds a
 * secret beside what others can put into it would give the secret away by its length (BREACH).
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

/** Sends an answer as the client accepts it, compressed or not. What is `no-store`, because it carries a secret, stays plain. */
export function sendCompressible(reply: FastifyReply, body: string | Buffer): FastifyReply {
  const { headers } = reply.request
  if (!reply.hasHeader('vary')) reply.header('vary', 'accept-encoding')
  // Refusals from before the plugin's hook have no `compress`; they are short.
  if (reply.getHeader('cache-control') === 'no-store' || !reply.compress) return reply.send(body)
  headers['accept-encoding'] &&= withoutWildcard(headers['accept-encoding'])
  reply.compress(body)
  return reply
}

/** The encoding that a request asks for; null: none, or none that there is. */
export function encodingOf({ headers: { 'accept-encoding': accepted = '' } }: FastifyRequest): Encoding | null {
  const encoding = negotiate(withoutWildcard(accepted), encodings)
  return encoding === 'br' || encoding === 'gzip' ? encoding : null
}

/** In small letters, with `*` replaced by the encodings that it stands for: those that the header does not name (RFC 9110 §12.5.3). */
function withoutWildcard(header: string): string {
  const ranges = header.split(',').map((range) => range.trim().toLowerCase())
  const names = ranges.map((range) => range.split(/[ ;]/, 1)[0])
  const others = encodings.filter((encoding) => !names.includes(encoding))
  return ranges
    .flatMap((range) => (range.startsWith('*') ? others.map((encoding) => encoding + range.slice(1)) : [range]))
    .join(', ')
}

/** The tag of a compressed representation: strong tags differ where the bytes do (RFC 9110 §8.8.3.3). */
export function encodedTag(etag: string, encoding: Encoding): string {
  return etag.replace(/"$/, `.${encoding}"`)
}

/** The tag of the same representation uncompressed. */
export function plainTag(etag: string): string {
  return etag.replace(/\.(br|gzip)"$/, '"')
}
