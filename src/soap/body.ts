import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip, inflate } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { receiveBytes, tooLarge } from '../server/receive.ts'
import { StoreFailure } from '../values/failure.ts'
import { contentTypeParameter } from './content-type.ts'

/**
 * The largest request, an editCustomer with every field full, has some thousand characters. Whoever calls is known by what the
 * body says only, so anybody can have a body read, and a packed one costs its sender next to nothing.
 */
const BODY_BYTES_MAX = 256 * 1024

const mediaTypes = ['text/xml', 'application/soap+xml', 'application/xml']

/**
 * Bodies of this scope are XML, decoded: by their byte order mark, the charset of Content-Type, or the declaration, UTF-8
 * without any (RFC 7303). Compressed ones are unpacked. Both before and after that 256 kB at most.
 */
export function receiveEnvelopes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async ({ headers }: FastifyRequest, payload: Readable): Promise<string> => {
    const bytes = await receiveBytes(payload, BODY_BYTES_MAX)
    const charset = charsetOf(headers)
    return decode(await unpack(bytes, headers), charset)
  })
}

/** Empty: Content-Type names none. */
function charsetOf({ 'content-type': contentType = 'text/xml' }: IncomingHttpHeaders): string {
  const [mediaType = ''] = contentType.split(';', 1)
  if (!mediaTypes.includes(mediaType.trim().toLowerCase())) {
    throw unsupported('Content-Type', `Content-Type must be ${mediaTypes.join(', ')}`)
  }
  return contentTypeParameter(contentType, 'charset')
}

const unpackers = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
])

async function unpack(bytes: Buffer, { 'content-encoding': encoding = 'identity' }: IncomingHttpHeaders) {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity') return bytes
  const unpackBytes = unpackers.get(name)
  if (!unpackBytes) throw unsupported('Content-Encoding', 'Content-Encoding must be gzip, deflate or identity')
  try {
    return (await unpackBytes(bytes, { maxOutputLength: BODY_BYTES_MAX })) as Buffer
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(BODY_BYTES_MAX)
    throw new StoreFailure('bad-request', `The body is not ${name}`, { field: 'Content-Encoding' })
  }
}

/** As WHATWG's Encoding standard names them. To make one takes a quarter of a millisecond. */
const decoders = new Map(
  ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'].map((name) => [name, new TextDecoder(name, { fatal: true })]),
)

function decode(bytes: Buffer, given: string): string {
  const charset = markedCharset(bytes) ?? (given || (declaredCharset(bytes) ?? 'utf-8'))
  const decoder = decoderOf(charset)
  try {
    return decoder.decode(bytes)
  } catch {
    throw new StoreFailure('bad-request', `The body is not valid ${decoder.encoding}`)
  }
}

function decoderOf(charset: string) {
  const known = decoders.get(charset.toLowerCase())
  if (known) return known
  try {
    // Of UTF-16 without a mark, the first character tells nothing; it is read as most programs write it.
    const decoder = decoders.get(new TextDecoder(charset).encoding)
    if (decoder) return decoder
  } catch {
    // Told below.
  }
  throw unsupported('Content-Type', 'The charset must be utf-8, utf-16, iso-8859-1, windows-1252 or us-ascii')
}

function markedCharset(bytes: Buffer): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : null
}

const DECLARATION_LENGTH_MAX = 200

function declaredCharset(bytes: Buffer): string | null {
  const start = bytes.toString('latin1', 0, DECLARATION_LENGTH_MAX)
  const [, charset] = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']/.exec(start) ?? []
  // One that could be read as bytes is not UTF-16, whatever it says.
  return charset && !/^utf-?16|^ucs/i.test(charset) ? charset : null
}

function unsupported(field: string, message: string): StoreFailure {
  return new StoreFailure('unsupported-media-type', message, { field })
}
