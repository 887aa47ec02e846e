import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { StoreFailure } from '../values/failure.ts'
import { isUpload } from './request.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A form of a page with a file, whose handler checks the token (`receiveFile`). */
    isUpload?: boolean
  }
}

export interface UploadedFile {
  /** As the browser calls it; empty: no file was chosen. */
  readonly name: string
  /** Throws `body-too-large` behind the largest number of bytes. */
  readonly bytes: AsyncIterable<Uint8Array>
}

/** Bytes of a form's fields, of which each upload has the token alone. */
const FIELD_BYTES_MAX = 1_000
const FILE_NAME_LENGTH_MAX = 200
/** How much more is read and discarded: a browser that is still sending would miss the answer. */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024

/** Lets the routes of `app` receive forms with a file. */
export function takeUploads(app: FastifyInstance): void {
  app.addContentTypeParser('multipart/form-data', (request, payload, done) => {
    if (isUpload(request)) done(null, payload)
    else done(new StoreFailure('unsupported-media-type', 'This address takes no files', { field: 'Content-Type' }))
  })
}

/**
 * Hands the file of a form over while it arrives, after checking the form's token, which has to stand before it. Rejects when `use`
 * does, behind the end of the body. The file is never in memory as a whole.
 */
export async function receiveFile<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  bytesMax: number,
  use: (file: UploadedFile) => Promise<T>,
): Promise<T> {
  if (!isUpload(request)) {
    throw new StoreFailure('unsupported-media-type', 'Content-Type must be multipart/form-data', {
      field: 'Content-Type',
    })
  }
  const body = request.body as Readable
  // Loaded with the first file, because a start does not need it.
  const { Busboy } = await import('@fastify/busboy')
  const headers = { ...request.headers, 'content-type': request.headers['content-type'] ?? '' }
  const limits = { fieldSize: FIELD_BYTES_MAX, fields: 1, files: 1, fileSize: bytesMax, parts: 2, headerPairs: 20 }
  const parser = readable(() => new Busboy({ headers, limits }))
  const { promise: begun, resolve, reject } = Promise.withResolvers<{ file: Readable; name: string }>()
  let token = ''
  parser.on('field', (name, value) => {
    if (name === '_csrf') token = value
  })
  parser.on('file', (_field, file, name) => {
    // Reported by the loop that reads the file.
    file.on('error', () => {})
    resolve({ file, name: name ?? '' })
  })
  const arrived = pipeline(boundedBy(body, bytesMax + DISCARDED_BYTES_MAX), parser).then(
    () => reject(new StoreFailure('bad-request', 'Choose a file first.')),
    (error) => {
      const failure = error instanceof StoreFailure ? error : endedEarly(error)
      reject(failure)
      void begun.then(
        ({ file }) => file.destroy(failure),
        () => {},
      )
    },
  )
  begun.catch(() => {})
  const { file, name } = await begun
  try {
    await checkToken(request, reply, token)
    return await use({ name: name.slice(0, FILE_NAME_LENGTH_MAX).toWellFormed(), bytes: upTo(file, bytesMax) })
  } finally {
    file.resume()
    await arrived
  }
}

function readable<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw endedEarly(error)
  }
}

function endedEarly(error: unknown): StoreFailure {
  return new StoreFailure('bad-request', 'The file did not arrive whole. Send it once more.', {
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

async function* upTo(file: Readable & { readonly truncated?: boolean }, bytesMax: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of file.iterator({ destroyOnReturn: false })) {
    if (file.truncated) throw tooLarge(bytesMax)
    yield chunk
  }
  if (file.truncated) throw tooLarge(bytesMax)
}

function tooLarge(bytesMax: number): StoreFailure {
  const size = `${bytesMax / 1024 / 1024} MB`
  return new StoreFailure('body-too-large', `The file is larger than ${size}. Divide it into several files.`)
}

/** Throws the failure that other forms get from the plugin. */
function checkToken(request: FastifyRequest, reply: FastifyReply, token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const answered = Object.create(reply, { send: { value: (error: FastifyError) => reject(error) } })
    request.body = { _csrf: token }
    request.server.csrfProtection(request, answered, () => resolve())
  })
}
