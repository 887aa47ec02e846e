import { DateTime } from 'luxon'

/** Which instant a wall-clock time names in the hour that autumn repeats: a range's start takes the earlier, its end the later. */
export type Repeated = 'earlier' | 'later'

const clock = String.raw`(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:\s*([AP]M))?`
const american = new RegExp(String.raw`^(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?:[\sT]+${clock})?$`, 'i')
const iso = new RegExp(String.raw`^(\d{4})-(\d{1,2})-(\d{1,2})(?:[\sT]+${clock})?\s*(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?$`, 'i')

export interface WireDate {
  readonly instant: Date
  /** False: the text named a day alone; the instant is its first moment. */
  readonly hasTime: boolean
}

/** What is allowed, for messages. */
export const dateForms = 'mm/dd/yyyy, mm/dd/yyyy hh:mm:ss (24 hours, or with AM or PM) or yyyy-mm-ddThh:mm:ss'

/**
 * Reads a date as clients write them (rest-protocol 8.2), in the store's zone unless the text names an offset.
 * A wall-clock time that spring skips is moved forward by the gap. Null: not a date, or outside the years 1753 to 9999.
 */
export function readDate(text: string, timeZone: string, repeated: Repeated = 'earlier'): WireDate | null {
  const trimmed = text.trim()
  const us = american.exec(trimmed)
  const parts = us ? [us[3], us[1], us[2], us[4], us[5], us[6], us[7], undefined] : iso.exec(trimmed)?.slice(1)
  if (!parts) return null
  const [year, month, day, hourText, minute, second, meridiem, offset] = parts
  const hour = hourOfDay(hourText, meridiem)
  if (hour === null) return null
  const zone = offset === undefined ? timeZone : offsetZone(offset)
  const local = DateTime.fromObject(
    {
      year: Number(year),
      month: Number(month),
      day: Number(day),
      hour,
      minute: Number(minute ?? 0),
      second: Number(second ?? 0),
    },
    { zone },
  )
  if (!local.isValid || local.year < 1753 || local.year > 9999) return null
  const candidates = local.getPossibleOffsets()
  const chosen = repeated === 'earlier' ? candidates[0] : candidates.at(-1)
  return { instant: (chosen ?? local).toJSDate(), hasTime: hourText !== undefined }
}

function offsetZone(offset: string): string {
  return offset.toUpperCase() === 'Z' ? 'utc' : `utc${offset.slice(0, 3)}:${offset.slice(-2)}`
}

function hourOfDay(text: string | undefined, meridiem: string | undefined): number | null {
  if (text === undefined) return 0
  const hour = Number(text)
  if (meridiem === undefined) return hour <= 23 ? hour : null
  if (hour < 1 || hour > 12) return null
  return (hour % 12) + (meridiem.toUpperCase() === 'PM' ? 12 : 0)
}

/** `2012-07-11T10:44:08`: the form of dates in records; local, without zone and fraction. */
export function writeDate(instant: Date, timeZone: string): string {
  return DateTime.fromJSDate(instant, { zone: timeZone }).toFormat("yyyy-MM-dd'T'HH:mm:ss")
}

/** The first instant of the day after the one that `instant` lies in. */
export function nextDay(instant: Date, timeZone: string): Date {
  return DateTime.fromJSDate(instant, { zone: timeZone }).plus({ days: 1 }).startOf('day').toJSDate()
}

/** The instant as PostgreSQL reads it: west of Greenwich the last hours of 9999 lie in the year 10000. */
export function instantText(instant: Date): string {
  return instant.toISOString().replace('+0', '')
}
