import { DATE_LENGTH_MAX } from '../../engine/fields.ts'
import { readDate, writeDate } from '../../values/dates.ts'
import { type Parameters, textParameter } from '../parameters.ts'
import { ResultError } from '../result-errors.ts'

/**
 * The day of the store's zone that a parameter names, as `2026-03-08`; empty: it was not sent, or is the empty date of .NET, in
 * any notation. A time beside it is read and left out. Refuses (36) what is no date.
 */
export function dayParameter(parameters: Parameters, name: string, timeZone: string): string {
  const given = textParameter(parameters, name)
  if (given === '' || EMPTY_DATE.test(given)) return ''
  const read = given.length <= DATE_LENGTH_MAX ? readDate(given, timeZone) : null
  const day = read === null ? '' : writeDate(read.instant, timeZone).slice(0, DAY_LENGTH)
  // With an offset, an instant of the first or the last year may lie in one that is not known here.
  if (readDate(day, timeZone) !== null) return day
  throw new ResultError('invalidDate', `${name} must be a date such as mm/dd/yyyy`)
}

const DAY_LENGTH = 10
/** The first day of the year 1, which .NET proxies send for a date that nobody set, in the notation of their culture. */
const EMPTY_DATE = /^(?:0?1(?<mark>[/.-])0?1\k<mark>0001|0001-01-01)(?:[T\s].*)?$/s
