import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Caller } from '../../engine/caller.ts'
import { importRecords, type TransferLine } from '../../engine/transfer/import.ts'
import { numberLines } from '../../engine/transfer/lines.ts'
import { writeDate } from '../../foundation/values/dates.ts'
import { resources } from '../../shop/registry.ts'

/** A transfer file, written by `npm run sandbox-data`. */
export const recordsFile = new URL('records.ndjson.gz', import.meta.url)
/** The first line of each service in it: the records that the reference shows. */
export const samplesFile = new URL('samples.ndjson', import.meta.url)
/** The day to which the file's dates refer. The newest change in it is of the day before. */
export const recordsDay = '2026-11-02'

/** A JSON string with a date as in records, or a `ShipmentShippedDate` (`MM/DD/YYYY`). */
const dates = /"(?:(\d{4}-\d\d-\d\d)(T\d\d:\d\d:\d\d)|(\d\d)\/(\d\d)\/(\d{4}))"/g

/** Imports the sandbox's records, with dates relative to today in the store's zone. `caller.db` is a transaction. */
export async function fillSandbox(caller: Caller): Promise<void> {
  const lines = await readRecords(writeDate(caller.now(), caller.store.timeZone).slice(0, 10))
  // In a transaction a refused line makes the import throw, so there is nothing to report.
  await importRecords(caller, resources, numberLines(lines), { refused: () => {} })
}

/** Returns the file's lines. Dates move by the days from `recordsDay` to `today` (`YYYY-MM-DD`), times stay. */
export async function readRecords(today: string): Promise<TransferLine[]> {
  const moveMs = Date.parse(today) - Date.parse(recordsDay)
  const move = (day: string) => new Date(Date.parse(day) + moveMs).toISOString().slice(0, 10)
  const text = (await promisify(gunzip)(await readFile(recordsFile))).toString()
  const moved = text.replace(dates, (_, isoDay, time, month, day, year) => {
    if (isoDay) return `"${move(isoDay)}${time}"`
    const [toYear, toMonth, toDay] = move(`${year}-${month}-${day}`).split('-')
    return `"${toMonth}/${toDay}/${toYear}"`
  })
  const lines = moved.trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as TransferLine)
}
