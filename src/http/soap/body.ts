import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip, inflate } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { nextTurn } from '../../foundation/values/slices.ts'
import { receiveBytes, tooLarge, unsupportedMedia } from '../server/requests/receive.ts'

/**
 * The largest request, an editCustomer with every field full, has some thousand characters. The credentials are in the body, so
 * anybody can have one read, and a compressed one costs its sender next to nothing.
 */
const BODY_BYTES_MAX = 256 * 1024

const SHORT_BYTES_MAX = 16 * 1024

const mediaTypes = ['text/xml', 'application/soap+xml', 'application/xml']

/**
 * Reads bodies in this scope as XML. Decodes them by their byte order mark, the charset of Content-Type or the declaration, else
 * as UTF-8 (RFC 7303). Unpacks compressed ones; 256 kB at most before and after that.
 */
export function receiveEnvelopes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async ({ headers }: FastifyRequest, payload: Readable): Promise<string> => {
    const bytes = await receiveBytes(payload, BODY_BYTES_MAX)
    const contentType = headers['content-type'] ?? 'text/xml'
    const [mediaType = ''] = contentType.split(';', 1)
    if (!mediaTypes.includes(mediaType.trim().toLowerCase())) {
      throw unsupportedMedia('Content-Type', `Content-Type must be ${mediaTypes.join(', ')}`)
    }
    const unpacked = await unpack(bytes, headers)
    // Reading takes some milliseconds: many that come together must not add up.
    if (unpacked.length > SHORT_BYTES_MAX) await nextTurn()
    return decode(unpacked, contentTypeParameter(contentType, 'charset'))
  })
}

/** A parameter of a Content-Type, without quotes; empty: there is none. Takes time in proportion to the header. */
export function contentTypeParameter(contentType: string, wanted: string): string {
  for (const parameter of contentType.split(';').slice(1)) {
    const [name = '', ...value] = parameter.split('=')
    if (value.length > 0 && name.trim().toLowerCase() === wanted) {
      return value
        .join('=')
        .trim()
        .replace(/^["']|["']$/g, '')
    }
  }
  return ''
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
  if (!unpackBytes) throw unsupportedMedia('Content-Encoding', 'Content-Encoding must be gzip, deflate or identity')
  try {
    return (await unpackBytes(bytes, { maxOutputLength: BODY_BYTES_MAX })) as Buffer
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(BODY_BYTES_MAX)
    throw new StoreFailure('malformed-body', `The body is not ${name}`, { field: 'Content-Encoding' })
  }
}

/** By their names in WHATWG's Encoding standard. Making one takes a quarter of a millisecond. */
const decoders = new Map(
  ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'].map((name) => [name, new TextDecoder(name, { fatal: true })]),
)

function decode(bytes: Buffer, charset: string): string {
  const decoder = decoderOf(markedCharset(bytes) ?? (charset || declaredCharset(bytes)))
  try {
    return decoder.decode(bytes)
  } catch {
    throw new StoreFailure('malformed-body', `The body is not valid ${decoder.encoding}`)
  }
}

function decoderOf(charset: string) {
  const known = decoders.get(charset.toLowerCase())
  if (known) return known
  try {
    // UTF-16 without a mark is read as most programs write it; its first character does not tell.
    const decoder = decoders.get(new TextDecoder(charset).encoding)
    if (decoder) return decoder
  } catch {
    // An unknown name is refused below.
  }
  throw unsupportedMedia('Content-Type', 'The charset must be utf-8, utf-16, iso-8859-1, windows-1252 or us-ascii')
}

function markedCharset(bytes: Buffer): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : null
}

const DECLARATION_LENGTH_MAX = 200

function declaredCharset(bytes: Buffer): string {
  const start = bytes.toString('latin1', 0, DECLARATION_LENGTH_MAX)
  const [, charset] = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']/.exec(start) ?? []
  // A declaration that can be read as bytes is not in UTF-16, whatever it says.
  return charset && !/^utf-?16|^ucs/i.test(charset) ? charset : 'utf-8'
}
