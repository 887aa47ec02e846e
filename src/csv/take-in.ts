import { leases } from '../database/leases.ts'
import type { Caller } from '../engine/caller.ts'
import type { Resource } from '../engine/definition/define.ts'
import { StoreFailure } from '../values/failure.ts'
import type { Secrets } from '../values/secrets.ts'
import { countHeadings, type Headings, readHeadings } from './columns.ts'
import { Comparison } from './compare.ts'
import { addImport, addLines, deleteImport, endReading, renewReading, settleLines } from './imports.ts'
import { BATCH_LENGTH_MAX, BATCH_LINES_MAX } from './limits.ts'
import { readRow } from './records.ts'
import { References } from './references.ts'
import { type Row, rowsOf } from './rows.ts'
import { textOf } from './text.ts'

export interface CsvFile {
  readonly name: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/**
 * Reads a CSV file, compares its records with the store's and stores what it would change, which changes nothing yet. Returns the
 * id of the import. Takes the memory of a hundred records, whatever the file has. Throws `bad-request` for a file that cannot be
 * read, and stores nothing of it then.
 */
export async function takeIn(caller: Caller, resource: Resource, file: CsvFile, secrets: Secrets): Promise<number> {
  let importId: number | null = null
  const renew = async () => {
    if (importId !== null) await renewReading(caller, importId)
  }
  const rows = rowsOf(textOf(renewing(file.bytes, caller.now, renew)))
  try {
    const headings = await headingsOf(caller, resource, rows)
    const id = await addImport(caller, resource, { fileName: file.name, ignored: headings.ignored })
    importId = id
    try {
      const reading = { resource, headings, references: new References(caller, headings) }
      const comparison = new Comparison(caller, resource)
      let count = 0
      for await (const batch of batchesOf(rows)) {
        await reading.references.read(batch)
        const records = []
        for (const row of batch) records.push(await readRow(caller, reading, row))
        await addLines(caller, { secrets, id, lines: await comparison.compare(records) })
        count += batch.length
      }
      if (count === 0) throw new StoreFailure('bad-request', 'The file has only a header line.')
      await settleLines(caller, id, comparison.settle())
      await endReading(caller, id)
      return id
    } catch (error) {
      // A failure here must not hide the one that the caller is told; what stays shows as not read to its end.
      await deleteImport(caller, id).catch(() => {})
      throw error
    }
  } finally {
    await rows.return(undefined)
  }
}

async function headingsOf(caller: Caller, resource: Resource, rows: AsyncGenerator<Row>): Promise<Headings> {
  const { value: first } = await rows.next()
  if (first === undefined) throw new StoreFailure('bad-request', 'The file is empty.')
  try {
    return readHeadings(caller, resource, (first as Row).cells)
  } catch (error) {
    // What is wrong with the rows is not the first thing to say.
    const line = await lineOfHeadings(resource, rows).catch(() => null)
    if (line === null) throw error
    const advice = `The headings are at line ${line}. Delete the lines above them, and import that file.`
    throw new StoreFailure('bad-request', advice, { faults: [{ field: '', problem: advice }] })
  }
}

/** Lines of a title that programs write above the headings. */
const TITLE_LINES_MAX = 10

/** The line that has headings; null: none of the next ones has. The first line has decided on the separator, and may be wrong. */
async function lineOfHeadings(resource: Resource, rows: AsyncGenerator<Row>): Promise<number | null> {
  for (let count = 0; count < TITLE_LINES_MAX; count++) {
    const { value: row } = await rows.next()
    if (row === undefined) return null
    const { cells, line } = row as Row
    if (countHeadings(resource, cells.join(',').split(/[,;\t|]/)) >= 2) return line
  }
  return null
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
