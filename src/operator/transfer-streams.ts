import type { Writable } from 'node:stream'
import type { ImportCounts, ImportWatch, Refusal } from '../engine/transfer/import.ts'

export interface ImportReport extends ImportWatch {
  /** Sends the first line, and with it the answer's head. */
  start(): void
  done(counts: ImportCounts): Promise<void>
  failed(message: string): Promise<void>
  end(): void
}

const PROGRESS_INTERVAL_MS = 500

/**
 * What an import answers, one JSON object a line: `progress` now and then, `refused` for each refused line, at last
 * `done`, or `failed` when the server could not go on. A report that nobody reads any more is written to no one.
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
      // Who does not read needs no news.
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

/** Writes, and waits as long as the stream has enough. Throws when the stream was closed before. */
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
