const NEWLINE = 10
/** The longest end line that an export writes is shorter. */
const END_LINE_BYTES = 60

/** Counts the records of a transfer file that passes by: its lines without blank ones and the end line. */
export class LineCounter {
  #complete = 0
  /** Length of the line that has begun. */
  #begun = 0
  #tail = Buffer.alloc(0)

  add(chunk: Uint8Array): void {
    let start = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      if (this.#begun + at - start > 0) this.#complete++
      this.#begun = 0
      start = at + 1
    }
    this.#begun += chunk.length - start
    this.#tail = Buffer.from(Buffer.concat([this.#tail, chunk.subarray(-END_LINE_BYTES)]).subarray(-END_LINE_BYTES))
  }

  /** The lines so far, without the end line. */
  get lines(): number {
    return this.#complete + (this.#begun > 0 ? 1 : 0) - (this.end === null ? 0 : 1)
  }

  /** The count in the end line; null: there is none (yet), or the last line is cut off. */
  get end(): number | null {
    const [, records] = /(?:^|\n)\{"end":\{"records":(\d+)\}\}\s*$/.exec(this.#tail.toString('latin1')) ?? []
    return records === undefined ? null : Number(records)
  }
}
