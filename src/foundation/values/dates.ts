import { DateTime, IANAZone } from 'luxon'

/**
 * Which of two instants an ambiguous wall-clock time means: a start takes the earlier, an end the later. Times are ambiguous in
 * the hour that autumn repeats, and in the hour that spring skips, where the clock before and the clock after the change differ
 * (a program that subtracts two minutes from 03:01 sends 02:59).
 */
export type Bound = 'start' | 'end'

const clock = String.raw`(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:\s*([AP]M))?`
const american = new RegExp(String.raw`^(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?:[\sT]+${clock})?$`, 'i')
const iso = new RegExp(
  String.raw`^(\d{4})-(\d{1,2})-(\d{1,2})(?:[\sT]+${clock})?\s*(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?$`,
  'i',
)

/** The first day of the year 1, which .NET sends for a date that nobody set, in the notation of any culture. */
export function isEmptyDate(text: string): boolean {
  return /^\s*(?:0?1(?<mark>[/.-])0?1\k<mark>0001|0001-01-01)(?:[T\s].*)?$/s.test(text)
}

/** The allowed forms, for messages. */
export const dateForms = 'mm/dd/yyyy, mm/dd/yyyy hh:mm:ss (24 hours, or with AM or PM) or yyyy-mm-ddThh:mm:ss'

/**
 * Reads a date in the forms of rest-protocol §8.2, in the store's zone unless the text has an offset. Without `bound`, a repeated
 * time is the first of the two, and a skipped time moves forward by the gap. Null: not a date, or outside 1753 to 9999.
 * Without `hasTime` the text names only a day, and the instant is its first moment.
 */
export function readDate(text: string, timeZone: string, bound?: Bound): { instant: Date; hasTime: boolean } | null {
  const trimmed = text.trim()
  const us = american.exec(trimmed)
  const parts = us ? [us[3], us[1], us[2], us[4], us[5], us[6], us[7], undefined] : iso.exec(trimmed)?.slice(1)
  if (!parts) return null
  const [year, month, day, hourText, minute = '0', second = '0', meridiem, offset] = parts
  const hour = hourOfDay(hourText, meridiem)
  if (hour === null) return null
  const wall = wallClock(Number(year), Number(month), Number(day), hour, Number(minute), Number(second))
  if (wall === null) return null
  const hasTime = hourText !== undefined
  // A day alone means its first moment, even where midnight is skipped or repeated.
  const choice = hasTime ? bound : undefined
  const instant = offset === undefined ? instantAt(wall, timeZone, choice) : new Date(wall - offsetMs(offset))
  return { instant, hasTime }
}

/** The time as if it were UTC, in milliseconds; null for a day or time that does not exist (JavaScript reads 02/31 as 2 March). */
function wallClock(year: number, month: number, day: number, hour: number, minute: number, second: number) {
  if (year < 1753 || year > 9999 || minute > 59 || second > 59) return null
  const wall = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  return wall.getUTCMonth() === month - 1 && wall.getUTCDate() === day ? wall.getTime() : null
}

function offsetMs(offset: string): number {
  if (offset.toUpperCase() === 'Z') return 0
  const ms = (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(-2))) * MINUTE_MS
  return offset.startsWith('-') ? -ms : ms
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/**
 * Looking up a zone's offset is slow, and an import needs it hundreds of thousands of times. Offsets are therefore cached per
 * zone and day; if those of the day before and the day after agree, every time in between has that offset.
 */
function instantAt(wall: number, timeZone: string, bound: Bound | undefined): Date {
  const day = Math.floor(wall / DAY_MS)
  const [before, after] = [offsetOn(timeZone, day - 1), offsetOn(timeZone, day + 2)]
  const byBefore = wall - before * MINUTE_MS
  if (before === after) return new Date(byBefore)
  const byAfter = wall - after * MINUTE_MS
  const zone = IANAZone.create(timeZone)
  const isBefore = zone.offset(byBefore) === before
  const isAfter = zone.offset(byAfter) === after
  if (isBefore !== isAfter) return new Date(isBefore ? byBefore : byAfter)
  if (bound === 'start') return new Date(Math.min(byBefore, byAfter))
  if (bound === 'end') return new Date(Math.max(byBefore, byAfter))
  // By the clock before the change, a repeated time is the earlier one, and a skipped time moves forward.
  return new Date(byBefore)
}

const OFFSETS_MAX = 20_000
/** Minutes east of Greenwich at the beginning of a UTC day, by zone and day. */
const offsets = new Map<string, number>()

function offsetOn(timeZone: string, day: number): number {
  const key = `${timeZone} ${day}`
  const known = offsets.get(key)
  if (known !== undefined) return known
  if (offsets.size >= OFFSETS_MAX) offsets.clear()
  const offset = IANAZone.create(timeZone).offset(day * DAY_MS)
  offsets.set(key, offset)
  return offset
}

function hourOfDay(text: string | undefined, meridiem: string | undefined): number | null {
  if (text === undefined) return 0
  const hour = Number(text)
  if (meridiem === undefined) return hour <= 23 ? hour : null
  if (hour < 1 || hour > 12) return null
  return (hour % 12) + (meridiem.toUpperCase() === 'PM' ? 12 : 0)
}

/** Writes the form of dates in records: `2012-07-11T10:44:08`, local, without zone and fraction. */
export function writeDate(instant: Date, timeZone: string): string {
  return DateTime.fromJSDate(instant, { zone: timeZone }).toFormat("yyyy-MM-dd'T'HH:mm:ss")
}

/** The first instant of the next day in the zone. */
export function nextDay(instant: Date, timeZone: string): Date {
  return DateTime.fromJSDate(instant, { zone: timeZone }).plus({ days: 1 }).startOf('day').toJSDate()
}

/** The instant in a form that PostgreSQL reads: west of Greenwich the last hours of 9999 are in the year 10000. */
export function instantText(instant: Date): string {
  return instant.toISOString().replace('+0', '')
}
