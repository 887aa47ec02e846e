import { constants } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import compress from '@fastify/compress'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** A shorter body fits into one or two packets uncompressed. */
export const COMPRESSED_BYTES_MIN = 1_024
/** Up to these levels, compression saves more time at 100 Mbit/s than it takes the processor (docs/performance.md). */
const BROTLI_QUALITY = 1
const GZIP_LEVEL = 5

export type Encoding = 'br' | 'gzip'

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

/** Sends a response in an encoding the client accepts. A `no-store` response stays plain, because it has a secret. */
export function sendCompressible(reply: FastifyReply, body: string | Buffer): FastifyReply {
  const { headers } = reply.request
  if (!reply.hasHeader('vary')) reply.header('vary', 'accept-encoding')
  // Errors before the plugin's hook have no `compress`. They are short.
  if (reply.getHeader('cache-control') === 'no-store' || !reply.compress) return reply.send(body)
  headers['accept-encoding'] &&= withoutWildcard(headers['accept-encoding'])
  reply.compress(body)
  return reply
}

/** Returns the encoding for a request. Null: none, or none that the server supports. */
export function encodingOf({ headers: { 'accept-encoding': accepted = '' } }: FastifyRequest): Encoding | null {
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

/** The tag of a compressed representation: strong tags differ where the bytes do (RFC 9110 §8.8.3.3). */
export function encodedTag(etag: string, encoding: Encoding): string {
  return etag.replace(/"$/, `.${encoding}"`)
}

/** The tag of the same representation uncompressed. */
export function plainTag(etag: string): string {
  return etag.replace(/\.(br|gzip)"$/, '"')
}
