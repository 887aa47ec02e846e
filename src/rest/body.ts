import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Body, Taken } from '../engine/endpoints.ts'
import { receiveBytes, unsupportedMedia } from '../server/receive.ts'
import { StoreFailure } from '../values/failure.ts'
import { bodyFormat, type Format } from './format.ts'
import { readXml } from './xml.ts'

/** Accepts JSON and XML bodies of any such media type, up to the server's bodyLimit. An empty body is null. */
export function receiveBodies(app: FastifyInstance): void {
  const { bodyLimit } = app.initialConfig
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async ({ headers }: FastifyRequest, payload: Readable): Promise<Body | null> => {
    const bytes = await receiveBytes(payload, bodyLimit ?? 0)
    return bytes.length === 0 ? null : { format: formatOf(headers), text: decode(bytes) }
  })
}

/** A missing Content-Type means JSON (rest-protocol §2). */
function formatOf(headers: IncomingHttpHeaders): Format {
  const { 'content-type': contentType = 'application/json', 'content-encoding': encoding = 'identity' } = headers
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupportedMedia('Content-Encoding', 'Content-Encoding must be identity: compressed bodies are not taken')
  }
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';')
  const format = bodyFormat(mediaType.trim())
  if (format === null) {
    const allowed = 'application/json, text/json, application/xml or text/xml'
    throw unsupportedMedia('Content-Type', `Unsupported media type: Content-Type must be ${allowed}`)
  }
  const charset = /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/
  const given = parameters.map((parameter) => charset.exec(parameter)?.[1]).find((name) => name !== undefined)
  if (given !== undefined && given !== 'utf-8' && given !== 'utf8') {
    throw unsupportedMedia('Content-Type', 'The charset of Content-Type must be utf-8')
  }
  return format
}

/** Drops a byte order mark. */
function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new StoreFailure('bad-request', 'The body is not valid UTF-8')
  }
}

/** Maximum records in one POST or PUT (rest-protocol §6). */
export const RECORDS_MAX = 100

/** Reads the records of a body. Throws `bad-request` for none, more than 100, or several if the address names one. */
export function readTaken(body: Body | null, { type, many, isOptional = false }: Taken): readonly unknown[] {
  if (body === null && isOptional) return []
  if (body === null) throw new StoreFailure('bad-request', 'The body is empty; a record is expected')
  const read = body.format === 'json' ? readJson(body.text) : readXml(body.text, type)
  const records = Array.isArray(read) ? read : [read]
  if (records.length === 0) throw new StoreFailure('bad-request', 'The body is an empty list; send at least one record')
  if (records.length > RECORDS_MAX) {
    const message = `The body has ${records.length} records; at most ${RECORDS_MAX} are allowed in one request`
    throw new StoreFailure('bad-request', message)
  }
  if (many || records.length === 1) return records
  throw new StoreFailure('bad-request', 'The address names one record; the body must hold one record, not a list')
}

/** Nested objects and lists; a record needs four levels. */
const DEPTH_MAX = 32

/** Parses JSON. Throws `bad-request` with the position of a syntax error, or for too deep nesting. */
function readJson(text: string): unknown {
  if (isTooDeep(text)) {
    throw new StoreFailure('bad-request', `The body is nested deeper than ${DEPTH_MAX} levels`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    // V8's message has the position, or a few characters around it, which the caller sent.
    throw new StoreFailure('bad-request', `Invalid JSON: "${(error as Error).message}"`)
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Checked before parsing, because every level costs memory. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) index = endOfString(text, index)
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > DEPTH_MAX) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}

function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === BACKSLASH) index++
    else if (code === QUOTE) return index
  }
  return text.length
}
