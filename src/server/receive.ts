import type { Readable } from 'node:stream'
import { StoreFailure } from '../values/failure.ts'

const MEGABYTE = 1024 * 1024

/** How much of an oversized body is read and discarded: a client that is still sending would miss the response. */
const DISCARDED_BYTES_MAX = 50 * MEGABYTE

/** Reads a request's body. Throws `body-too-large` beyond the limit, and `bad-request` if the body ends early. */
export async function receiveBytes(payload: Readable, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    // Leaves the request's connection open when the loop ends early, because the log needs the client's address.
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
      length += chunk.length
      if (length <= bytesMax) chunks.push(chunk)
      else if (length > bytesMax + DISCARDED_BYTES_MAX) break
    }
  } catch (error) {
    throw new StoreFailure('bad-request', 'The body ended early', { logDetail: String(error) })
  }
  if (length <= bytesMax) return Buffer.concat(chunks)
  throw tooLarge(bytesMax)
}

/** The error for a body larger than `bytesMax`. */
export function tooLarge(bytesMax: number): StoreFailure {
  const size = bytesMax < MEGABYTE ? `${bytesMax / 1024} kB` : `${bytesMax / MEGABYTE} MB`
  return new StoreFailure('body-too-large', `The body is larger than ${size}`)
}

export function unsupportedMedia(field: 'Content-Type' | 'Content-Encoding', message: string): StoreFailure {
  return new StoreFailure('unsupported-media-type', message, { field })
}
