import { Readable } from 'node:stream'
import { callServer, type Server } from '../../src/cli/server.ts'
import type { ImportCounts, Refusal, TransferLine } from '../../src/engine/transfer/import.ts'
import { readLines } from '../../src/engine/transfer/lines.ts'

export interface ImportOutcome {
  readonly counts: ImportCounts
  readonly refused: readonly Refusal[]
}

type ReportLine =
  | { progress: { lines: number } }
  | { refused: Refusal }
  | { done: ImportCounts }
  | { failed: { message: string } }

/**
 * Streams transfer lines through `POST /admin/stores/{id}/import` as fast as the server takes them. Rejects with the
 * error of `lines`, if they throw, and when the server cannot go on or breaks off. `onLines`: how many it has read so far.
 */
export async function importLines(
  server: Server,
  lines: AsyncIterable<TransferLine> | Iterable<TransferLine>,
  onLines: (count: number) => void = () => {},
): Promise<ImportOutcome> {
  let cause: unknown
  const body = Readable.from(chunksOf(lines), { objectMode: false }).once('error', (error) => {
    cause = error
  })
  try {
    const headers = { 'content-type': 'application/x-ndjson' }
    const path = `/admin/stores/${server.storeId}/import`
    return await readReport(await callServer(server, path, { method: 'POST', headers, body }), onLines)
  } catch (error) {
    // The connection breaks with the lines; what broke them says more.
    throw cause ?? error
  }
}

async function readReport(report: Readable, onLines: (count: number) => void): Promise<ImportOutcome> {
  const refused: Refusal[] = []
  for await (const { content } of readLines(report)) {
    const line = content as ReportLine
    if ('refused' in line) refused.push(line.refused)
    else if ('failed' in line) throw new Error(line.failed.message)
    else if ('done' in line) return { counts: line.done, refused }
    else onLines(line.progress.lines)
  }
  throw new Error('The server ended its answer early')
}

const CHUNK_LENGTH = 64 * 1024

/** NDJSON in chunks of many lines: one write a line would halve the rate. */
async function* chunksOf(lines: AsyncIterable<TransferLine> | Iterable<TransferLine>): AsyncGenerator<Buffer> {
  let chunk = ''
  for await (const line of lines) {
    chunk += `${JSON.stringify(line)}\n`
    if (chunk.length < CHUNK_LENGTH) continue
    yield Buffer.from(chunk)
    chunk = ''
  }
  if (chunk !== '') yield Buffer.from(chunk)
}
