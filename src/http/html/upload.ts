import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy } from '@fastify/busboy'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { PICTURE_BYTES_MAX } from '../../foundation/pictures/bounds.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { type PictureServices, storePicture } from '../../shop/pictures/pictures.ts'
import { type Form, isUpload } from './request.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A form of a page with a file, whose handler checks the token (`receiveFile`). */
    isUpload?: boolean
  }
}

export interface UploadedFile {
  /** As the browser calls it; empty: no file was chosen. */
  readonly name: string
  /** Throws `body-too-large` after the largest number of bytes. */
  readonly bytes: AsyncIterable<Uint8Array>
  /** The fields of the form that stand before the file. */
  readonly fields: Form
}

/** Bytes of a form's field; an upload has the token, and little beside it. */
const FIELD_BYTES_MAX = 1_000
const FIELDS_MAX = 5
const FILE_NAME_LENGTH_MAX = 200
/** How much more is read and discarded: a browser that is still sending would miss the answer. */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024

/**
 * Hands the file of a form over while it arrives, after checking the form's token, which has to stand before it. Rejects when `use`
 * does. However `use` ends, the rest of the body is read and discarded first, so that the answer reaches a browser that is still
 * sending. The file is never in memory as a whole. Its last byte is followed by another look at who sends it, whose refusal ends `bytes`.
 */
export async function receiveFile<T>(
  reply: FastifyReply,
  bytesMax: number,
  use: (file: UploadedFile) => Promise<T>,
): Promise<T> {
  const { request } = reply
  if (!isUpload(request)) {
    const message = 'Content-Type must be multipart/form-data'
    throw new StoreFailure('unsupported-media-type', message, { field: 'Content-Type' })
  }
  // What `use` reads is a stream of its own: nothing that waits for it can keep the form's file from being read to its end.
  const lent = new PassThrough()
  // Reported by the loop that reads it.
  lent.on('error', () => {})
  const { begun, arrived, fields } = await readForm(reply, bytesMax, lent)
  try {
    const { file, name } = await begun
    try {
      await checkToken(request, reply, fields)
      const { _csrf, ...others } = fields
      return await use({ name, bytes: admitted(file.pipe(lent), request, reply, fields), fields: others })
    } finally {
      file.unpipe(lent).resume()
      lent.end()
    }
  } finally {
    await arrived
  }
}

/** Receives the picture of a form, stores it, and hands over its path. Throws as `receiveFile` and `storePicture` do. */
export function receivePicture<T>(
  reply: FastifyReply,
  services: PictureServices,
  storeId: number,
  use: (path: string) => Promise<T>,
): Promise<T> {
  return receiveFile(reply, PICTURE_BYTES_MAX, async ({ bytes }) => {
    return use(await storePicture(services, storeId, Buffer.concat(await Array.fromAsync(bytes)), 'file'))
  })
}

/** Reads the body as a form: `begun` is its file, `arrived` its end, `fields` what has come. What goes wrong with the file ends `lent`. */
async function readForm(reply: FastifyReply, bytesMax: number, lent: PassThrough) {
  const { body, headers } = reply.request as FastifyRequest<{ Body: Readable }>
  const limits = {
    fieldSize: FIELD_BYTES_MAX,
    fields: FIELDS_MAX,
    files: 1,
    fileSize: bytesMax,
    parts: FIELDS_MAX + 1,
    headerPairs: 20,
  }
  const contentType = headers['content-type'] ?? ''
  const parser = readable(() => new Busboy({ headers: { ...headers, 'content-type': contentType }, limits }))
  const { promise: begun, resolve, reject } = Promise.withResolvers<{ file: Readable; name: string }>()
  const fields: Record<string, string> = {}
  parser.on('field', (name, value) => {
    fields[name] = value
  })
  parser.on('file', (_field, file, name) => {
    file.once('error', (error) => lent.destroy(endedEarly(error)))
    file.once('limit', () => lent.destroy(tooLarge(bytesMax)))
    resolve({ file, name: nameOf(name) })
  })
  const arrived = pipeline(boundedBy(body, bytesMax + DISCARDED_BYTES_MAX), parser).then(
    () => reject(new StoreFailure('missing-field', 'Choose a file first.')),
    (error) => {
      const failure = error instanceof StoreFailure ? error : endedEarly(error)
      reject(failure)
      lent.destroy(failure)
      return discard(body, reply)
    },
  )
  begun.catch(() => {})
  return { begun, arrived, fields }
}

async function* admitted(bytes: AsyncIterable<Uint8Array>, request: FastifyRequest, reply: FastifyReply, fields: Form) {
  yield* bytes
  await request.server.admitAgain(request, reply)
  // The person may have changed to another store.
  await checkToken(request, reply, fields)
}

/** Without control characters, which no file system shows and no database text holds. */
function nameOf(sent: string | undefined): string {
  return (sent ?? '')
    .replaceAll(/\p{Cc}/gu, '')
    .slice(0, FILE_NAME_LENGTH_MAX)
    .toWellFormed()
}

function readable<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw endedEarly(error)
  }
}

function endedEarly(error: unknown): StoreFailure {
  return new StoreFailure('malformed-body', 'The file did not arrive completely. Send it again.', {
    logDetail: String(error),
  })
}

/** Leaves the request's connection open when the loop ends early, because the log needs the client's address. */
async function* boundedBy(body: Readable, bytesMax: number): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    length += chunk.length
    if (length > bytesMax) throw tooLarge(bytesMax)
    yield chunk
  }
}

/** Reads what is left of a body that could not be read as a form. One without an end is left with its connection. */
async function discard(body: Readable, reply: FastifyReply): Promise<void> {
  try {
    for await (const _chunk of boundedBy(body, DISCARDED_BYTES_MAX));
  } catch {
    reply.header('connection', 'close')
  }
}

function tooLarge(bytesMax: number): StoreFailure {
  const size = `${bytesMax / 1024 / 1024} MB`
  return new StoreFailure('body-too-large', `The file is larger than ${size}. Choose a smaller one.`)
}

/** Throws the failure that other forms get from the plugin. The fields become the body, as of a form without a file. */
function checkToken(request: FastifyRequest, reply: FastifyReply, fields: Form): Promise<void> {
  return new Promise((resolve, reject) => {
    const answered = Object.create(reply, { send: { value: (error: FastifyError) => reject(error) } })
    request.body = fields
    request.server.csrfProtection(request, answered, () => resolve())
  })
}
