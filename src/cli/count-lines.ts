import type { Readable } from 'node:stream'

const NEWLINE = 10
/** The longest end line that an export writes is shorter. */
const END_LINE_BYTES = 60

/** How many lines of records a transfer file has: its end line is none. */
export async function countLines(file: Readable): Promise<number> {
  const counter = createLineCounter()
  for await (const chunk of file as AsyncIterable<Buffer>) counter.add(chunk)
  return counter.lines()
}

export interface LineCounter {
  add(chunk: Uint8Array): void
  /** So far, without the end line. */
  lines(): number
  /** What the end line says; null: there is none (yet), or the last line is cut off. */
  end(): number | null
}

export function createLineCounter(): LineCounter {
  let complete = 0
  /** Length of the line that has begun; blank ones are none. */
  let begun = 0
  let tail = Buffer.alloc(0)
  const end = () => {
    const [, records] = /(?:^|\n)\{"end":\{"records":(\d+)\}\}\s*$/.exec(tail.toString('latin1')) ?? []
    return records === undefined ? null : Number(records)
  }
  return {
    add: (chunk) => {
      let start = 0
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
        if (begun + at - start > 0) complete++
        begun = 0
        start = at + 1
      }
      begun += chunk.length - start
      tail = Buffer.from(Buffer.concat([tail, chunk.subarray(-END_LINE_BYTES)]).subarray(-END_LINE_BYTES))
    },
    lines: () => complete + (begun > 0 ? 1 : 0) - (end() === null ? 0 : 1),
    end,
  }
}
