import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { bytesInFlight } from '../../../foundation/process/bytes-in-flight.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { bodyLength, holdingOfBody } from './bytes-in-flight.ts'

const { uncountedMax, largeMin } = bytesInFlight.bounds

const MEGABYTE = 1024 * 1024

/** How much of an oversized body is read and discarded: a client that is still sending would miss the response. */
const DISCARDED_BYTES_MAX = 50 * MEGABYTE

/**
 * Reads a request's body. Throws `body-too-large` beyond the limit, a 400 if the body ends early, and
 * `rate-limited` or `unavailable` if too many bytes are in flight. A large body is returned when its turn has come.
 */
export async function receiveBytes(payload: Readable, bytesMax: number): Promise<Buffer> {
  const { headers } = payload as Partial<IncomingMessage>
  const declared = headers ? bodyLength(headers) : Number.POSITIVE_INFINITY
  const isShort = declared <= Math.min(uncountedMax, bytesMax)
  return isShort ? receiveShort(payload) : receiveCounted(payload, bytesMax, Math.min(declared, bytesMax))
}

/** Node's parser ends a body where its headers say. */
async function receiveShort(payload: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) chunks.push(chunk)
  } catch (error) {
    throw endedEarly(error)
  }
  return Buffer.concat(chunks)
}

function endedEarly(error: unknown): StoreFailure {
  return new StoreFailure('malformed-body', 'The body ended early', { logDetail: String(error) })
}

async function receiveCounted(payload: Readable, bytesMax: number, declared: number): Promise<Buffer> {
  const holding = declared > uncountedMax ? holdingOfBody(payload) : undefined
  if (declared > largeMin) await holding?.waitForUpload(declared)
  const chunks: Buffer[] = []
  let whole: Buffer | null = null
  let length = 0
  let counted = uncountedMax
  let refusal: unknown = null
  try {
    // Leaves the request's connection open when the loop ends early, because the log needs the client's address.
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
      length += chunk.length
      if (length > bytesMax + DISCARDED_BYTES_MAX) break
      if (refusal !== null) continue
      chunks.push(chunk)
      try {
        if (length > bytesMax) throw tooLarge(bytesMax)
        if (length > counted) holding?.receive(length - counted)
        counted = Math.max(length, counted)
        if (length > largeMin) whole = moveInto(whole ?? Buffer.allocUnsafeSlow(declared), chunks, length)
      } catch (error) {
        refusal = error
        chunks.length = 0
        whole = null
        holding?.drop()
      }
    }
  } catch (error) {
    throw endedEarly(error)
  }
  if (refusal !== null) throw refusal
  if (length > largeMin) await holding?.waitForWork(length)
  return whole?.subarray(0, length) ?? Buffer.concat(chunks)
}

/** Copies `chunks` to the end of what has been received, and frees them. */
function moveInto(whole: Buffer, chunks: Buffer[], end: number): Buffer {
  let at = end - chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  for (const chunk of chunks.splice(0)) {
    at += chunk.copy(whole, at)
    free(chunk)
  }
  return whole
}

/**
 * Gives the memory of a buffer back, which nobody may use any more. By itself V8 gives it back at the next full collection,
 * before which large bodies pile up.
 */
export function free({ buffer, byteLength }: Buffer): void {
  // Smaller ones share their memory with others.
  if (byteLength === buffer.byteLength) (buffer as ArrayBuffer).transfer(0)
}

/** The error for a body larger than `bytesMax`. */
export function tooLarge(bytesMax: number): StoreFailure {
  const size = bytesMax < MEGABYTE ? `${bytesMax / 1024} kB` : `${bytesMax / MEGABYTE} MB`
  return new StoreFailure('body-too-large', `The body is larger than ${size}`)
}

export function unsupportedMedia(field: 'Content-Type' | 'Content-Encoding', message: string): StoreFailure {
  return new StoreFailure('unsupported-media-type', message, { field })
}
