import type { Readable } from 'node:stream'
import { StoreFailure } from '../values/failure.ts'

const MEGABYTE = 1024 * 1024

/** Of a body that is too large so much more is taken and thrown away: a client still sending would not see the answer. */
const DISCARDED_BYTES_MAX = 50 * MEGABYTE

/** The bytes of a request's body. Throws `body-too-large` beyond the bound, `bad-request` where it ended early. */
export async function receiveBytes(payload: Readable, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    // Ended early, the iterator must leave the request its connection: the log names the client's address.
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

/** The refusal of a body that is larger than so many bytes. */
export function tooLarge(bytesMax: number): StoreFailure {
  const size = bytesMax < MEGABYTE ? `${bytesMax / 1024} kB` : `${bytesMax / MEGABYTE} MB`
  return new StoreFailure('body-too-large', `The body is larger than ${size}`)
}
