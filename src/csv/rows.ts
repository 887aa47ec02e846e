import { pipeline } from 'node:stream/promises'
import { StoreFailure } from '../values/failure.ts'
import { LINE_LENGTH_MAX, LINES_MAX } from './limits.ts'

/** A record of a file. */
export interface Row {
  /** The line that it begins at, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  readonly length: number
}

const separators = [',', ';', '\t']
/** No first line of names is as long. */
const HEADING_LENGTH_MAX = 64 * 1024

/**
 * The rows of a file with line feeds, the headings first. Empty ones are left out. The first line says whether commas, semicolons
 * or tabs separate the cells. Throws `bad-request` that names the line, `body-too-large` beyond 100,000 records.
 */
export async function* rowsOf(text: AsyncIterable<string>): AsyncGenerator<Row> {
  const { head, rest } = await beginningOf(text)
  // Loaded with the first file, because a start does not need it.
  const { parse } = await import('csv-parse')
  let lastLine = 0
  const parser = parse({
    // A failure is met before the rows that were read ahead.
    on_record: (record, { lines }) => {
      lastLine = lines
      return record
    },
    delimiter: separatorIn(head),
    record_delimiter: '\n',
    info: true,
    raw: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    max_record_size: LINE_LENGTH_MAX,
  })
  // A failure of either side ends the loop below.
  pipeline(rest, parser).catch(() => {})
  let rows = 0
  try {
    for await (const { record, raw, info } of parser as AsyncIterable<Parsed>) {
      if (rows++ > LINES_MAX) throw tooLong()
      // Empty lines before it are part of what was read.
      const own = raw.replace(/^\n+/, '')
      yield { line: info.lines - own.split('\n').length + 2, cells: record, length: own.length }
    }
  } catch (error) {
    throw problemAt(lastLine + 1, error)
  } finally {
    parser.destroy()
  }
}

interface Parsed {
  readonly record: string[]
  readonly raw: string
  readonly info: { readonly lines: number }
}

function tooLong(): StoreFailure {
  const most = LINES_MAX.toLocaleString('en-US')
  return new StoreFailure('body-too-large', `The file has more than ${most} records. Divide it into several files.`)
}

/** Reads up to the end of the first line that has text; `rest` begins with what was read. */
async function beginningOf(text: AsyncIterable<string>) {
  const pieces = text[Symbol.asyncIterator]()
  let head = ''
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    head += next.value
    if (/[^\n]\n/.test(head)) break
    if (head.length > HEADING_LENGTH_MAX)
      throw new StoreFailure('bad-request', 'The first line of the file is too long.')
  }
  if (head.trim() === '') throw new StoreFailure('bad-request', 'The file is empty.')
  async function* rest() {
    yield head
    yield* { [Symbol.asyncIterator]: () => pieces }
  }
  return { head, rest: rest() }
}

function separatorIn(head: string): string {
  const heading =
    head
      .trimStart()
      .split('\n', 1)[0]
      ?.replaceAll(/"[^"]*"/g, '') ?? ''
  const counts = separators.map((separator) => ({ separator, count: heading.split(separator).length }))
  return counts.toSorted((one, other) => other.count - one.count)[0]?.separator ?? ','
}

const problems: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quotation mark that no other one closes',
  CSV_INVALID_CLOSING_QUOTE:
    'has text behind a closing quotation mark. A quotation mark inside a cell is written twice',
  INVALID_OPENING_QUOTE: 'has a quotation mark inside a cell that does not begin with one',
  CSV_MAX_RECORD_SIZE: `is longer than ${LINE_LENGTH_MAX.toLocaleString('en-US')} characters, or a quotation mark is not closed`,
}

function problemAt(line: number, error: unknown): unknown {
  const problem = problems[(error as { code?: string }).code ?? '']
  return problem === undefined ? error : new StoreFailure('bad-request', `The record at line ${line} ${problem}.`)
}
