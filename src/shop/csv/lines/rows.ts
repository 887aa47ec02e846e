import { pipeline } from 'node:stream/promises'
import { parse } from 'csv-parse'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { LINE_LENGTH_MAX, LINES_MAX } from './limits.ts'
import { notUtf8 } from './text.ts'

/** A record of a file. */
export interface Row {
  /** The line that it begins at, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  readonly length: number
  /** What separates the file's cells. */
  readonly separator: string
}

const separators = [',', ';', '\t']
/** No first line of names is as long. */
const HEADING_LENGTH_MAX = 64 * 1024

/**
 * Returns the rows of a file with line feeds, beginning with the headings. Empty rows are left out. The first line decides
 * whether commas, semicolons or tabs separate the cells: the headings, or a line `sep=;` before them, which Excel reads too.
 * Throws a 400 that names the line, and `body-too-large` beyond 100,000 records.
 */
export async function* rowsOf(text: AsyncIterable<string>): AsyncGenerator<Row> {
  const { separator, rest } = await beginningOf(text)
  let lastLine = 0
  const parser = parse({
    // A failure is met before the rows that were read ahead.
    on_record: (record, { lines }) => {
      lastLine = lines
      return record
    },
    delimiter: separator,
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
      yield { line: info.lines - own.split('\n').length + 2, cells: record, length: own.length, separator }
    }
  } catch (error) {
    throw problemAt(lastLine + 1, error)
  } finally {
    parser.destroy()
  }
}

type Parsed = { readonly record: string[]; readonly raw: string; readonly info: { readonly lines: number } }

function tooLong(): StoreFailure {
  const most = LINES_MAX.toLocaleString('en-US')
  return new StoreFailure('body-too-large', `The file has more than ${most} records. Divide it into several files.`)
}

/** A first line that names the separator. */
const separatorLine = /^(\n*)"?sep=(.)"?[ ,;\t]*\n/i

/** Reads up to the end of the first line that has text, which says the separator; `rest` begins with what was read. */
async function beginningOf(text: AsyncIterable<string>) {
  const pieces = text[Symbol.asyncIterator]()
  let head = ''
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    head += next.value
    if (/[^\n]\n/.test(head)) break
    if (head.length > HEADING_LENGTH_MAX) throw new StoreFailure('too-long', 'The first line of the file is too long.')
  }
  if (head.trim() === '') throw new StoreFailure('malformed-body', 'The file is empty.')
  const [before = '', first = ''] = /^(\n*)(.*)/.exec(head)?.slice(1) ?? []
  // Every second byte of ASCII in UTF-16, which nothing else tells from UTF-8 without a mark.
  if (first.includes('\0')) throw notUtf8(before.length + 1)
  const [, , named] = separatorLine.exec(head) ?? []
  const separator = named ?? separatorIn(first)
  if (!separators.includes(separator)) {
    const problem = `The cells of the file are separated by "${separator}". Separate them by commas, semicolons or tabs.`
    throw new StoreFailure('malformed-body', problem)
  }
  async function* rest() {
    // Lines are counted as they stand in the file.
    yield head.replace(separatorLine, '$1\n')
    yield* { [Symbol.asyncIterator]: () => pieces }
  }
  return { separator, rest: rest() }
}

/** What is most frequent outside of quotation marks; a bar, which many programs write, where nothing else is there. */
function separatorIn(line: string): string {
  const heading = line.replaceAll(/"[^"]*"/g, '')
  const counts = [...separators, '|'].map((separator) => ({ separator, count: heading.split(separator).length }))
  const [first, second] = counts.toSorted((one, other) => other.count - one.count)
  return (first?.separator === '|' && second?.count !== 1 ? second : first)?.separator ?? ','
}

/** `toLocaleString` would load a locale at each start, which takes 35 ms. */
const LINE_LENGTH = String(LINE_LENGTH_MAX).replace(/\B(?=(\d{3})+$)/g, ',')

const problems: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quotation mark that is never closed',
  CSV_INVALID_CLOSING_QUOTE: 'has text after a closing quotation mark. A quotation mark inside a cell is written twice',
  INVALID_OPENING_QUOTE: 'has a quotation mark inside a cell that does not begin with one',
  CSV_MAX_RECORD_SIZE: `is longer than ${LINE_LENGTH} characters, or a quotation mark is not closed`,
}

function problemAt(line: number, error: unknown): unknown {
  const problem = problems[(error as { code?: string }).code ?? '']
  return problem === undefined ? error : new StoreFailure('malformed-body', `The record at line ${line} ${problem}.`)
}
