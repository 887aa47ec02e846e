import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Caller } from '../engine/caller.ts'
import { importRecords, type TransferLine } from '../engine/transfer/import.ts'
import { numberLines } from '../engine/transfer/lines.ts'
import { resources } from '../registry.ts'
import { writeDate } from '../values/dates.ts'

/** A transfer file. `npm run sandbox-data` writes it. */
export const recordsFile = new URL('records.ndjson.gz', import.meta.url)
/** The day on which the file's dates are right: the newest change in it is of the day before. */
export const recordsDay = '2026-11-02'

/** A JSON string that is a date as records hold it, or a `ShipmentShippedDate` (`MM/DD/YYYY`). */
const dates = /"(?:(\d{4}-\d\d-\d\d)(T\d\d:\d\d:\d\d)|(\d\d)\/(\d\d)\/(\d{4}))"/g

/** Imports the sandbox's records, with dates relative to today in the store's time zone. `caller.db` is a transaction. */
export async function fillSandbox(caller: Caller): Promise<void> {
  const lines = await readRecords(writeDate(caller.now(), caller.store.timeZone).slice(0, 10))
  // In a transaction a refused line ends the import with an error, so that there is nothing to report.
  await importRecords(caller, resources, numberLines(lines), { refused: () => {} })
}

/** Returns the file's lines. Every date moves by the days from `recordsDay` to `today` (`YYYY-MM-DD`) and keeps its time of day. */
export async function readRecords(today: string): Promise<TransferLine[]> {
  const moveMs = Date.parse(today) - Date.parse(recordsDay)
  const move = (day: string) => new Date(Date.parse(day) + moveMs).toISOString().slice(0, 10)
  const text = (await promisify(gunzip)(await readFile(recordsFile))).toString()
  const moved = text.replace(dates, (_, isoDay, time, month, day, year) => {
    if (isoDay) return `"${move(isoDay)}${time}"`
    const [toYear, toMonth, toDay] = move(`${year}-${month}-${day}`).split('-')
    return `"${toMonth}/${toDay}/${toYear}"`
  })
  return moved
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as TransferLine)
}
