import { amountProblem } from '../../../foundation/values/typed-number.ts'
import type { Column } from './columns.ts'
import type { Writing } from './writing.ts'

/** A cell of a file that says something. */
export interface Cell {
  readonly column: Column
  /** What the definition reads. */
  readonly text: string
  /** As it stands in the file. */
  readonly typed: string
  readonly writing: Writing
  /** Of the store. */
  readonly currency: string
}

// Spreadsheets take full-width signs for the others, and may begin a formula behind a line break.
const armed = /^'*[=+\-@\t\r\n＝＋－＠]/

/** The text for a file. What a spreadsheet would take for a formula gets an apostrophe before it, and so does `'=1`, which would come back as `=1`. */
export function disarm(text: string): string {
  return armed.test(text) ? `'${text}` : text
}

/** The text of a file without the apostrophe that `disarm` put before it. */
export function rearm(text: string): string {
  return text.startsWith("'") && armed.test(text) ? text.slice(1) : text
}

const flags = new Map(Object.entries({ yes: 'true', y: 'true', no: 'false', n: 'false' }))

/** A number with a decimal comma, with points between its thousands or none. */
const withComma = /^[+-]?(?:\d{1,3}(?:\.\d{3})+|\d*),\d+$/
/** A number whose only sign may stand before its decimals or between its thousands. */
const withTwoReadings = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/
/** A day as people of some countries write it, and a time after it. */
const withPoints = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,?\s+(\d.*))?$/

/** A cell as the definition reads it, of what people write for flags, and for numbers and dates as their file writes them. */
export function spelt({ field: { kind } }: Column, typed: string, writing: Writing): string {
  const text = typed.trim().toLowerCase()
  if (kind === 'boolean') return flags.get(text) ?? typed
  if (kind === 'date') return writing.hasPointsInDates ? dateOf(text, typed) : typed
  const isComma = isNumber(kind) && writing.decimal !== 'point' && withComma.test(text)
  const isInDoubt = writing.decimal === 'either' && withTwoReadings.test(text)
  return isComma && !isInDoubt ? text.replaceAll('.', '').replace(',', '.') : typed
}

function dateOf(text: string, typed: string): string {
  const [, day = '', month = '', year, time] = withPoints.exec(text) ?? []
  if (year === undefined) return typed
  return [`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`, ...(time === undefined ? [] : [time])].join(' ')
}

function isNumber(kind: Column['field']['kind']): boolean {
  return kind === 'decimal' || kind === 'integer'
}

const POINTS = 'Use a point for decimals, and nothing between thousands'
const COMMAS = 'Use a comma for decimals, and nothing between thousands'

/** What is wrong with the commas of a number that the definition refuses; null: it has none, or they were read. */
export function commaProblem({ column: { field }, text: read, typed, writing: { decimal } }: Cell): string | null {
  const text = typed.trim()
  if (read !== typed || !isNumber(field.kind) || !/^[+-]?[\d.]*,[\d.,]*$/.test(text)) return null
  if (decimal === 'comma') return `is no number with one comma. ${COMMAS}`
  if (withTwoReadings.test(text)) return readings(text, decimal)
  return `has a comma. ${POINTS}`
}

/** Why a person may not write what the definition would read, or may mean something else by it; null: for nothing. */
export function doubtOf(cell: Cell): string | null {
  const { field } = cell.column
  if (field.kind === 'date') return dateDoubt(cell)
  const ofNumber = pointDoubt(cell)
  if (ofNumber !== null || field.kind !== 'decimal') return ofNumber
  return amountProblem(field.numberKind, Number(cell.text), cell.currency) || null
}

/** What is wrong with the point of a number in a file whose decimals have commas, or may have them. */
function pointDoubt({ column: { field }, text: read, typed, writing: { decimal } }: Cell): string | null {
  if (decimal === 'point' || !isNumber(field.kind)) return null
  const text = typed.trim()
  // Otherwise it is the name of a record, or was read by its comma.
  if (Number(read) !== Number(text)) return null
  if (withTwoReadings.test(text)) return readings(text, decimal)
  return decimal === 'comma' && text.includes('.') ? `has a point. ${COMMAS}` : null
}

/** What the number may be, and how to say which. */
function readings(text: string, decimal: Writing['decimal']): string {
  const [point, whole] = [text.replace(',', '.'), text.replace(/[.,]/, '')]
  // Four decimals have one reading, whichever their sign.
  if (decimal === 'either') return `can be read as ${point} and as ${whole}. Write ${point}0 or ${whole}`
  if (decimal === 'comma') return `can be read as ${point} and as ${whole}. Write ${text.replace('.', ',')} or ${whole}`
  return `can be read as ${point} and as ${whole}. ${POINTS}`
}

/** A day with slashes of somebody who does not begin with the month, where programs do. */
function dateDoubt({ typed, writing: { hasMonthFirst } }: Cell): string | null {
  const [, first = '', second = '', year] = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?!\d)/.exec(typed.trim()) ?? []
  if (hasMonthFirst || year === undefined) return null
  if (Number(first) === Number(second) || Number(first) > 12 || Number(second) > 12) return null
  const dayOf = (month: string, day: string) => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return `can be read as ${dayOf(first, second)} and as ${dayOf(second, first)}. Write it like one of them`
}
