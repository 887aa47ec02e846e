import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { parseJson } from '../../foundation/values/json.ts'
import { refused } from '../definition/refused.ts'

export interface NumberedLine {
  /** From 1; blank lines count. */
  readonly number: number
  /** The line's length; 0 if it is not from a stream. */
  readonly bytes: number
  /** The parsed content; a StoreFailure if the line cannot be read. */
  readonly content: unknown
}

/** Maximum length of a line; longer lines are skipped without buffering. */
const LINE_BYTES_MAX = 10 * 1024 * 1024
const NEWLINE = 10

/** The lines of an NDJSON stream (UTF-8), without blank ones, as texts that `rewrite` returns; buffers at most one line. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax = LINE_BYTES_MAX,
  rewrite = (text: string) => text,
): AsyncGenerator<NumberedLine> {
  let parts: Uint8Array[] = []
  let bytes = 0
  let number = 0
  const add = (part: Uint8Array) => {
    bytes += part.length
    if (bytes > bytesMax) parts = []
    else parts.push(part)
  }
  const takeLine = async (): Promise<NumberedLine> => {
    const content = bytes > bytesMax ? tooLong : await parse(Buffer.concat(parts), rewrite)
    const line = { number: ++number, bytes, content }
    parts = []
    bytes = 0
    return line
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end))
      start = end + 1
      const line = await takeLine()
      if (line.content !== undefined) yield line
    }
    add(chunk.subarray(start))
  }
  const line = await takeLine()
  if (line.content !== undefined) yield line
}

/** Numbers records in memory from 1. */
export function* numberLines(records: Iterable<unknown>): Generator<NumberedLine> {
  let number = 0
  for (const content of records) yield { number: ++number, bytes: 0, content }
}

const tooLong = refused('', `The line is longer than ${LINE_BYTES_MAX} bytes`)
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** One record with full lists and all that belongs to it. */
const lineBounds = { recordValuesMax: 1_000_000, valuesMax: 1_000_000 }

/** Undefined for a blank line. */
async function parse(bytes: Buffer, rewrite: (text: string) => string): Promise<unknown> {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return refused('', 'The line is not valid UTF-8')
  }
  if (text.trim() === '') return undefined
  try {
    return await parseJson(rewrite(text), 'The line', lineBounds)
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    return error.message.startsWith('Invalid JSON') ? refused('', 'The line is not valid JSON') : error
  }
}

interface WaitingLine extends NumberedLine {
  readonly reason: string
}

/** Waiting lines in an unlinked temporary file: no other process can open it, and it disappears with this one. */
export class Spool {
  #file: FileHandle | null = null
  count = 0

  async add({ number, content, reason }: WaitingLine): Promise<void> {
    this.#file ??= await openNameless()
    await this.#file.appendFile(`${JSON.stringify({ number, reason, content })}\n`)
    this.count++
  }

  /** In the order of `add`. */
  async *read(): AsyncGenerator<WaitingLine> {
    if (!this.#file) return
    const chunks = this.#file.createReadStream({ start: 0, autoClose: false })
    for await (const { bytes, content } of readLines(chunks, Number.POSITIVE_INFINITY)) {
      yield { ...(content as WaitingLine), bytes }
    }
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = null
  }
}

async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'store-platform-'))
  try {
    return await open(join(folder, 'waiting'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true })
  }
}
