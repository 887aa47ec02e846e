import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Caller, callerKey } from '../../engine/caller.ts'
import type { Body, Taken } from '../../engine/definition/endpoints.ts'
import type { Handling } from '../../engine/definition/handling.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { jsonSteps, repeatedNames } from '../../foundation/values/json.ts'
import { Semaphore } from '../../foundation/values/semaphore.ts'
import { nextTurn, runInSlices, type Steps } from '../../foundation/values/slices.ts'
import { free, receiveBytes, unsupportedMedia } from '../server/requests/receive.ts'
import { bodyFormat, type Format } from './format.ts'
import { isPictureType, readPictureBody } from './picture-body.ts'
import { readXml } from './xml.ts'

/** Accepts JSON and XML bodies of any such media type, up to the server's bodyLimit. An empty body is null. */
export function receiveBodies(app: FastifyInstance): void {
  const { bodyLimit } = app.initialConfig
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable): Promise<Body | null> => {
    const bytes = await receiveBytes(payload, bodyLimit ?? 0)
    if (bytes.length === 0) return null
    const { 'content-type': contentType = '' } = request.headers
    const mayBePicture = request.method === request.routeOptions.config.takesPicture
    if (mayBePicture && isPictureType(mediaTypeOf(contentType))) return readPictureBody(contentType, bytes)
    const format = formatOf(request.headers)
    // It waits for its turn to be read, too.
    request.hasWaited ||= bytes.length > SHORT_LENGTH_MAX
    if (bytes.length > SHORT_LENGTH_MAX) await nextTurn()
    const text = decode(bytes)
    free(bytes)
    return { format, text }
  })
}

/** A missing Content-Type means JSON (rest-protocol §2). */
function formatOf(headers: IncomingHttpHeaders): Format {
  const { 'content-type': contentType = 'application/json', 'content-encoding': encoding = 'identity' } = headers
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupportedMedia('Content-Encoding', 'Content-Encoding must be identity: compressed bodies are not accepted')
  }
  const [, ...parameters] = contentType.toLowerCase().split(';')
  const format = bodyFormat(mediaTypeOf(contentType))
  if (format === null) {
    const allowed = 'application/json, text/json, application/xml or text/xml'
    throw unsupportedMedia('Content-Type', `Unsupported media type: Content-Type must be ${allowed}`)
  }
  const charset = /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/
  const given = parameters.map((parameter) => charset.exec(parameter)?.[1]).find((name) => name !== undefined)
  if (given !== undefined && !charsets.includes(given)) {
    throw unsupportedMedia('Content-Type', 'The charset of Content-Type must be utf-8 or us-ascii')
  }
  return format
}

function mediaTypeOf(contentType: string): string {
  const [mediaType = ''] = contentType.toLowerCase().split(';', 1)
  return mediaType.trim()
}

/** ASCII is UTF-8 too. */
const charsets = ['utf-8', 'utf8', 'us-ascii', 'ascii']

/** Drops a byte order mark. */
function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new StoreFailure('malformed-body', 'The body is not valid UTF-8')
  }
}

/** Maximum records in one POST or PUT (rest-protocol §6). */
export const RECORDS_MAX = 100

/** Bodies up to this length are read at once; longer ones, one at a time in the process. */
const SHORT_LENGTH_MAX = 65_536

/** Side by side they would be read no sooner, and take the memory of all. */
const readers = new Semaphore({
  capacity: 1,
  capacityOfKey: 1,
  waitingMax: 200,
  waitingOfKeyMax: 20,
  waitMs: 30_000,
  message: 'Too many large bodies are waiting to be read; try again in a moment',
})

/**
 * Reads the records of a body, in slices. Throws a 400 for none, more than 100, several if the address names
 * one, and a body beyond the bounds; `unavailable` if too many bodies wait to be read. `caller` is who takes turns; `repeat`
 * is called with each member that its object has a second time.
 */
export async function readTaken(body: Body | null, taken: Taken, caller: Caller, repeat: Handling['repeat']) {
  if (body === null && taken.isOptional) return []
  if (body === null) throw new StoreFailure('malformed-body', 'The body is empty; a record is expected')
  const read = () => runInSlices(stepsOf(body, taken, repeat))
  const isShort = body.text.length <= SHORT_LENGTH_MAX
  return recordsOf(isShort ? await read() : await readers.run(callerKey(caller), 1, read), taken)
}

function* stepsOf({ format, text }: Body, { type }: Taken, repeat: Handling['repeat']): Steps<unknown> {
  if (format === 'xml') return yield* readXml(text, type, repeat)
  const read = yield* jsonSteps(text, 'The body')
  if (repeat) yield* repeatedNames(text, repeat)
  return read
}

function recordsOf(read: unknown, { many }: Taken): readonly unknown[] {
  const records = Array.isArray(read) ? read : [read]
  if (records.length === 0)
    throw new StoreFailure('malformed-body', 'The body is an empty list; send at least one record')
  if (records.length > RECORDS_MAX) {
    const message = `The body has ${records.length} records; at most ${RECORDS_MAX} are allowed in one request`
    throw new StoreFailure('too-many-items', message)
  }
  if (many || records.length === 1) return records
  throw new StoreFailure('malformed-body', 'The address names one record; the body must hold one record, not a list')
}
