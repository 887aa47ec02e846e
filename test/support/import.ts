import { Readable } from 'node:stream'
import { request } from 'undici'

/** A store of a running server, as its operator reaches it. */
export interface ImportTarget {
  readonly baseUrl: string
  readonly operatorKey: string
  readonly storeId: number
}

export interface ImportAnswer {
  readonly status: number
  readonly body: string
}

/** Streams transfer lines through `POST /admin/stores/{id}/import`, as fast as the server takes them. */
export async function importLines(
  target: ImportTarget,
  lines: AsyncIterable<object> | Iterable<object>,
): Promise<ImportAnswer> {
  const answer = await request(`${target.baseUrl}/admin/stores/${target.storeId}/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${target.operatorKey}`, 'content-type': 'application/x-ndjson' },
    body: Readable.from(chunksOf(lines), { objectMode: false }),
    // The answer comes after the last line: minutes later, for a large file.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return { status: answer.statusCode, body: await answer.body.text() }
}

const chunkLength = 64 * 1024

/** NDJSON in chunks of many lines: one write a line would halve the rate. */
async function* chunksOf(lines: AsyncIterable<object> | Iterable<object>): AsyncGenerator<Buffer> {
  let chunk = ''
  for await (const line of lines) {
    chunk += `${JSON.stringify(line)}\n`
    if (chunk.length < chunkLength) continue
    yield Buffer.from(chunk)
    chunk = ''
  }
  if (chunk !== '') yield Buffer.from(chunk)
}
