import type { Writable } from 'node:stream'
import type { ImportCounts, ImportWatch, Refusal } from '../engine/transfer/import.ts'

export interface ImportReport extends ImportWatch {
  /** Sends the first line and with it the response's headers. */
  start(): void
  done(counts: ImportCounts): Promise<void>
  failed(message: string): Promise<void>
  end(): void
}

const PROGRESS_INTERVAL_MS = 500

/**
 * Writes the report of an import, one JSON object per line: `progress` at intervals, `refused` for each refused line,
 * finally `done`, or `failed` if the server could not continue. When the client has disconnected, writes nothing.
 */
export function createImportReport(stream: Writable, now: () => Date): ImportReport {
  let shownAtMs = 0
  const write = async (line: object) => {
    if (!stream.destroyed) await writeText(stream, `${JSON.stringify(line)}\n`)
  }
  return {
    start: () => void write({ progress: { lines: 0, stored: 0 } }),
    progress: async ({ lines, stored }) => {
      const nowMs = now().getTime()
      // Skips progress while the client is not reading.
      if (nowMs - shownAtMs < PROGRESS_INTERVAL_MS || stream.writableNeedDrain) return
      shownAtMs = nowMs
      await write({ progress: { lines, stored } })
    },
    refused: (refusal: Refusal) => write({ refused: refusal }),
    done: (counts) => write({ done: counts }),
    failed: (message) => write({ failed: { message } }),
    end: () => void stream.end(),
  }
}

/** Writes, and waits for the stream to drain if its buffer is full. Throws if the stream is already closed. */
export async function writeText(stream: Writable, text: string): Promise<void> {
  if (stream.destroyed) throw new Error('The stream is closed')
  if (!stream.write(text)) await drained(stream)
}

function drained(stream: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const go = () => {
    stream.off('drain', go).off('close', go)
    resolve()
  }
  stream.on('drain', go).on('close', go)
  return promise
}
