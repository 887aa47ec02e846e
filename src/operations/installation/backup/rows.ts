import { type Table, target } from './tables.ts'

/** The line after a table's rows. Within them it cannot stand, because COPY doubles the backslashes of values. */
export const ROWS_END = '\\.\n'

const NEWLINE = 10

/** The line before a table's rows, without its line break. */
export function copyLine(table: Table): string {
  return `COPY ${target(table)} FROM stdin;`
}

/** Counts the rows that pass by: each is a line, because COPY escapes the line breaks of values. */
export class RowCounter {
  /** By table, in the order of the calls of `passing`. */
  readonly counts: number[] = []
  total = 0
  readonly #onRows: (rows: number) => void

  constructor(onRows: (rows: number) => void) {
    this.#onRows = onRows
  }

  /** Passes the rows of a table on, once those of the one before have passed. */
  async *passing(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const before = this.total
    const place = this.counts.push(0) - 1
    for await (const chunk of chunks) {
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) this.total++
      this.counts[place] = this.total - before
      this.#onRows(this.total)
      yield chunk
    }
  }
}

const sectionEnd = Buffer.from(`\n${ROWS_END}`)

/** Reads the uncompressed rows of a backup, a table after the other. */
export class SectionReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Reads the line before a table's rows. Throws when another one is there. */
  async begin(table: Table): Promise<void> {
    const line = Buffer.from(`${copyLine(table)}\n`)
    while (this.#rest.length < line.length && (await this.#readOn()));
    if (!this.#rest.subarray(0, line.length).equals(line)) throw new Error(`the rows of ${table.name} are missing`)
    // The line break stays, so that the end always follows one.
    this.#rest = this.#rest.subarray(line.length - 1)
  }

  /** The rows of the table that `begin` has begun. Throws when their end is missing. */
  async *rows(): AsyncGenerator<Buffer> {
    for (let from = 1; ; ) {
      const end = this.#rest.indexOf(sectionEnd)
      // Without an end, the last bytes may be the beginning of one.
      const until = end >= 0 ? end + 1 : this.#rest.length - sectionEnd.length + 1
      const rows = this.#rest.subarray(from, Math.max(from, until))
      if (end >= 0) this.#rest = this.#rest.subarray(end + sectionEnd.length)
      else if (rows.length > 0) this.#rest = this.#rest.subarray(until)
      if (rows.length > 0) {
        yield rows
        from = 0
      }
      if (end >= 0) return
      if (!(await this.#readOn())) throw new Error('the end of a table is missing')
    }
  }

  /** Throws when anything follows the last table. */
  async end(): Promise<void> {
    await this.#readOn()
    if (this.#rest.length > 0) throw new Error('something follows the last table')
  }

  async #readOn(): Promise<boolean> {
    const { value, done } = await this.#chunks.next()
    if (done) return false
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
    return true
  }
}
