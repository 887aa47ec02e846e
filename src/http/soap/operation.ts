import type { CustomerTokenServices } from '../../access/people/customer-tokens.ts'
import type { Caller } from '../../engine/caller.ts'
import { DATE_LENGTH_MAX } from '../../engine/definition/fields.ts'
import { isEmptyDate, readDate, writeDate } from '../../foundation/values/dates.ts'
import { INT32_MAX, INT32_MIN } from '../../foundation/values/int32.ts'
import { shownInXml } from '../../foundation/xml/text.ts'
import { type ErrorName, ResultError, type Xml } from './result.ts'

/** Carries a call out and returns the result's XML, whose root has `xmlns=""`. Throws ResultError for what it refuses. */
export type Operation = (call: SoapCall) => Promise<Xml>

export interface SoapCall {
  readonly caller: Caller
  readonly parameters: Parameters
  readonly services: CustomerTokenServices
  /** Reports, in the log and in the answer's header `X-Error-Reason`, names of the caller's that the operation ignores. */
  readonly passOver: (detail: string) => void
}

/** The parameters of a call by the names of the WSDL: texts without blanks around them. A nil parameter counts as not sent. */
export class Parameters extends Map<string, string> {
  /** Empty: not sent, or empty. */
  text(name: string): string {
    return this.get(name) ?? ''
  }

  /** Refuses a parameter that is not sent, or empty. */
  required(name: string, error: ErrorName): string {
    const text = this.text(name)
    if (text === '') throw new ResultError(error, `${name} is missing`)
    return text
  }

  /** A whole number of 32 bits. Not sent or empty, it is 0, as a proxy's default. `allowed` names the bounds in the refusal. */
  integer(name: string, error: ErrorName, allowed: string, { min = INT32_MIN, max = INT32_MAX } = {}): number {
    const text = this.text(name)
    const value = text === '' ? 0 : /^[+-]?0*\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw new ResultError(error, `${name} must be ${allowed}`)
  }

  /** Not sent or empty, it is false: PHP sends its false so. */
  boolean(name: string, error: ErrorName): boolean {
    const text = this.text(name).toLowerCase()
    if (text === 'true' || text === '1') return true
    if (text === '' || text === 'false' || text === '0') return false
    throw new ResultError(error, `${name} must be true or false`)
  }

  /**
   * A day in the store's zone, as `2026-03-08`; a time beside it is left out. Empty: not sent, empty, or the empty date of .NET,
   * in any notation. Refuses (36) what is no date.
   */
  day(name: string, timeZone: string): string {
    const text = this.text(name)
    if (text === '' || isEmptyDate(text)) return ''
    const read = text.length <= DATE_LENGTH_MAX ? readDate(text, timeZone) : null
    const day = read === null ? '' : writeDate(read.instant, timeZone).slice(0, 'yyyy-mm-dd'.length)
    // With an offset, an instant of the first or the last known year may lie in an unknown one.
    if (readDate(day, timeZone) !== null) return day
    throw new ResultError('invalidDate', `${name} must be a date such as mm/dd/yyyy`)
  }
}

/** Returns a stored text as clients send back what an answer shows of it: as XML has it, without white space around it. */
export function shownAsParameter(text: string): string {
  return shownInXml(text).trim()
}

const BATCH_SIZE_MAX = 100
/** Characters of an answer. A page of a hundred large orders has some megabytes. */
const ANSWER_LENGTH_MAX = 32 * 1024 * 1024

/**
 * Reads which page is asked for: 1 to 100 records from the position `startNum` on, which counts from 1 (0, missing or empty: 1).
 * The offset counts from 0. Refuses a missing batchSize (5) and other figures (33, 34).
 */
export function readBatch(parameters: Parameters): { limit: number; offset: number } {
  parameters.required('batchSize', 'batchSizeMissing')
  const bounds = { min: 1, max: BATCH_SIZE_MAX }
  const allowed = `a whole number from 1 to ${BATCH_SIZE_MAX}`
  const limit = parameters.integer('batchSize', 'invalidBatchSize', allowed, bounds)
  const startNum = parameters.integer('startNum', 'invalidStartNum', 'a whole number, not negative', { min: 0 })
  return { limit, offset: Math.max(0, startNum - 1) }
}

/** The result of a page: each record as `write` has it. Refuses (33) a page of more than 32 million characters. */
export function writePage<T>(root: string, records: readonly T[], write: (record: T) => string | (string | Buffer)[]) {
  let length = 0
  const pieces = records.flatMap((record) => {
    const written = write(record)
    for (const piece of Array.isArray(written) ? written : [written]) length += piece.length
    if (length <= ANSWER_LENGTH_MAX) return written
    throw new ResultError('invalidBatchSize', 'These records are too large for one answer; ask for fewer by batchSize')
  })
  return [`<${root} xmlns="">`, ...pieces, `</${root}>`]
}
