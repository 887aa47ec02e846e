import type { Caller } from '../../../engine/caller.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { leases } from '../../../foundation/database/leases.ts'
import type { Format } from '../../../foundation/texts/format.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { resourceNamed } from '../../registry.ts'
import { countHeadings, type Headings, isExport, readHeadings, refusal, repeated } from '../lines/columns.ts'
import { addFilled, addLines, type Import, type OpenReading, readKept, renewReading } from '../lines/imports.ts'
import { BATCH_LENGTH_MAX, BATCH_LINES_MAX, MAPPED_COLUMNS_MAX } from '../lines/limits.ts'
import { printable, readRow } from '../lines/records.ts'
import { References } from '../lines/references.ts'
import { type Row, rowsOf } from '../lines/rows.ts'
import { type Letters, notUtf8, textOf } from '../lines/text.ts'
import { likelyDecimal, type Written } from '../lines/writing.ts'
import { Comparison } from './compare.ts'
import { headingsBy, isSecret, type Meaning, suggest } from './mapping.ts'
import { keepPart, keptParts } from './parts.ts'

/** A file, and how who sends it writes numbers and dates. `decimal`: what they said of the file; null: nothing. */
export interface CsvFile extends Pick<Written, 'decimal'> {
  readonly name: string
  readonly sender: Pick<Format, 'locale' | 'decimalSign'>
  readonly bytes: AsyncIterable<Uint8Array>
}

/**
 * Reads a CSV file, compares its records with the store's and stores what it would change, which changes nothing yet. What the
 * headings mean is known of exports and of the file of the platform that the merchant comes from; the rows of any other file are kept
 * until a person has said it (`isMapped`).
 * Takes the memory of a hundred records, whatever the file has. Throws a 400 for a file that cannot be read, and stores nothing
 * of it then.
 */
export async function takeIn(caller: Caller, resource: Resource, file: CsvFile) {
  let opened: OpenReading | null = null
  const renew = async () => {
    if (opened !== null) await renewReading(caller, opened)
  }
  const letters: Letters = { windowsLine: null }
  const rows = rowsOf(textOf(renewing(file.bytes, caller.now, renew), letters))
  try {
    const { begun, headings, first, rest } = await beginningOf(caller, resource, rows)
    const { locale } = file.sender
    const written = { decimal: file.decimal ?? likelyDecimal(first, file.sender), locale }
    const named = { ...begun, ...written, fileName: file.name }
    const id = await addFilled(caller, resource, named, async (reading) => {
      opened = reading
      const batches = readable(batchesOf(rest), headings !== null && headings.other === undefined ? letters : null)
      if (headings === null) await keep(caller, { resource, reading, names: begun.headings }, batches)
      else await readBatches(caller, { resource, headings, written, reading }, batches)
      return { state: headings === null ? 'mapping' : 'ready', isWindows: letters.windowsLine !== null }
    })
    return { id, isMapped: headings === null }
  } finally {
    await rows.return(undefined)
  }
}

/**
 * Reads the kept rows of a file by what a person has said of its headings, and compares them with the store's records; not where its changes
 * are being made, or were, it is being read, or it was cancelled. What fails leaves it to be read again.
 */
export async function readMapped(
  caller: Caller,
  { id, service, headings: names, source, decimal, locale }: Import,
  meanings: readonly Meaning[],
  secrets: Secrets,
): Promise<void> {
  const resource = resourceNamed(service)
  await readKept(caller, id, { mapping: meanings }, async (reading) => {
    const headings = headingsBy(caller, resource, names, { meanings, isFormer: source === 'former' })
    const batches = keptParts(caller, id, secrets)
    await readBatches(caller, { resource, headings, written: { decimal, locale }, reading }, batches)
  })
}

interface Batches {
  readonly resource: Resource
  readonly reading: OpenReading
}

async function readBatches(
  caller: Caller,
  { resource, headings, written, reading }: Batches & { headings: Headings; written: Written },
  batches: AsyncIterable<Row[]>,
): Promise<void> {
  const references = new References(caller, headings)
  const comparison = new Comparison(caller, { resource, headings, written })
  let count = 0
  for await (const batch of batches) {
    await references.read(batch)
    const records = []
    for (const row of batch) records.push(await readRow(caller, { resource, headings, references, written }, row))
    const lines = await comparison.compare(records)
    for (const { made } of lines) references.newNames.use(made)
    await addLines(caller, reading, lines)
    count += batch.length
  }
  if (count === 0) throw new StoreFailure('malformed-body', NO_LINES)
  const owner = { storeId: caller.store.id, importId: reading.id }
  await caller.db.csvImportName.createMany({ data: references.newNames.used.map((name) => ({ ...name, ...owner })) })
}

const NO_LINES = 'The file has only a header line.'

async function keep(
  caller: Caller,
  { resource, reading, names }: Batches & { names: readonly string[] },
  batches: AsyncIterable<Row[]>,
): Promise<void> {
  const secretPlaces = new Set(names.flatMap((name, place) => (isSecret(resource, name) ? [place] : [])))
  let part = 0
  for await (const rows of batches) {
    await keepPart(caller, { resource, id: reading.id }, { part: ++part, rows, secretPlaces })
    await renewReading(caller, reading)
  }
  if (part === 0) throw new StoreFailure('malformed-body', NO_LINES)
}

/** The batches of a file. Throws where `letters` has a line that is not UTF-8; null: that will do. */
async function* readable(batches: AsyncIterable<Row[]>, letters: Letters | null): AsyncGenerator<Row[]> {
  for await (const batch of batches) {
    if (letters !== null && letters.windowsLine !== null) throw notUtf8(letters.windowsLine)
    yield batch
  }
}

type Begun = Pick<Import, 'ignored' | 'source' | 'headings' | 'mapping'>

/** The `first` row, what it says, and the rows behind it. `headings` null: a person has to say what they mean. */
async function beginningOf(caller: Caller, resource: Resource, rows: AsyncGenerator<Row>) {
  const { value } = await rows.next()
  if (value === undefined) throw new StoreFailure('malformed-body', 'The file is empty.')
  const first = value as Row
  const { cells } = first
  const names = cells.map((cell) => printable(cell.trim()))
  if (isExport(resource, names)) {
    const headings = readHeadings(caller, resource, names)
    const begun: Begun = { ignored: [...headings.ignored], source: 'own', headings: [], mapping: null }
    return { begun, headings, first, rest: rows }
  }
  const twice = repeated(names)
  const ahead = await someOf(rows)
  const line = lineOfHeadings(resource, names, ahead)
  if (line !== null)
    throw refusal([`The headings are at line ${line}. Delete the lines above them, and import that file.`])
  if (twice.length > 0) throw refusal(twice)
  if (names.length > MAPPED_COLUMNS_MAX) {
    throw refusal([`The file has ${names.length} columns; at most ${MAPPED_COLUMNS_MAX} are allowed.`])
  }
  const { isFormer, isCertain, suggestions } = suggest(caller, resource, names)
  const meanings = suggestions.map(({ column, reason }): Meaning => [column, reason])
  const source = isFormer ? 'former' : 'other'
  const begun: Begun = { ignored: [], source, headings: names, mapping: isCertain ? meanings : null }
  const headings = isCertain ? headingsBy(caller, resource, names, { meanings, isFormer }) : null
  return { begun, headings, first, rest: joined(ahead, rows) }
}

/** Lines of a title that programs write above the headings. */
const TITLE_LINES_MAX = 10

async function someOf(rows: AsyncGenerator<Row>): Promise<Row[]> {
  const some: Row[] = []
  while (some.length < TITLE_LINES_MAX) {
    const { value: row } = await rows.next()
    if (row === undefined) break
    some.push(row as Row)
  }
  return some
}

async function* joined(first: readonly Row[], rest: AsyncIterable<Row>): AsyncGenerator<Row> {
  yield* first
  yield* rest
}

/** The line that has headings, below a first one without any; null: none of these has. The first line has decided on the separator, and may be wrong. */
function lineOfHeadings(resource: Resource, names: readonly string[], rows: readonly Row[]): number | null {
  if (countHeadings(resource, names) > 0) return null
  const filled = names.filter((name) => name !== '').length
  const found = rows.find(({ cells }) => {
    const headings = countHeadings(resource, cells.join(',').split(/[,;\t|]/))
    // Values of many columns may be words such as "Title".
    return headings >= 2 && headings >= filled
  })
  return found?.line ?? null
}

/** Renews the lease while bytes arrive: a batch of long lines over a poor line takes minutes. */
async function* renewing(bytes: CsvFile['bytes'], now: Caller['now'], renew: () => Promise<void>) {
  let renewedMs = now().getTime()
  for await (const chunk of bytes) {
    if (now().getTime() - renewedMs >= leases.csvReading.ms / 3) {
      await renew()
      renewedMs = now().getTime()
    }
    yield chunk
  }
}

async function* batchesOf(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let batch: Row[] = []
  let length = 0
  for await (const row of rows) {
    batch.push(row)
    length += row.length
    if (batch.length < BATCH_LINES_MAX && length < BATCH_LENGTH_MAX) continue
    yield batch
    batch = []
    length = 0
  }
  if (batch.length > 0) yield batch
}
