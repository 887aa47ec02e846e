import { refused } from '../refused.ts'

/** A line of a transfer file. */
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

/** The lines of an NDJSON stream (UTF-8), without blank ones; buffers at most one line. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax = LINE_BYTES_MAX,
): AsyncGenerator<NumberedLine> {
  const line = new PartialLine(bytesMax)
  let number = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      line.add(chunk.subarray(start, end))
      start = end + 1
      number++
      if (line.bytes > 0) yield* numbered(number, line)
    }
    line.add(chunk.subarray(start))
  }
  if (line.bytes > 0) yield* numbered(number + 1, line)
}

/** Numbers records in memory from 1. */
export function* numberLines(records: Iterable<unknown>): Generator<NumberedLine> {
  let number = 0
  for (const content of records) yield { number: ++number, bytes: 0, content }
}

class PartialLine {
  readonly #bytesMax: number
  #parts: Uint8Array[] = []
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  add(part: Uint8Array): void {
    this.#bytes += part.length
    if (this.#bytes > this.#bytesMax) this.#parts = []
    else if (part.length > 0) this.#parts.push(part)
  }

  /** Returns and resets the line; null if it was too long. */
  take(): Buffer | null {
    const whole = this.#bytes > this.#bytesMax ? null : Buffer.concat(this.#parts)
    this.#parts = []
    this.#bytes = 0
    return whole
  }
}

function* numbered(number: number, line: PartialLine): Generator<NumberedLine> {
  const bytes = line.bytes
  const content = parse(line.take())
  if (content !== undefined) yield { number, bytes, content }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Undefined for a blank line. */
function parse(bytes: Buffer | null): unknown {
  if (bytes === null) return refused('', `The line is longer than ${LINE_BYTES_MAX} bytes`)
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return refused('', 'The line is not valid UTF-8')
  }
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return refused('', 'The line is not valid JSON')
  }
}
