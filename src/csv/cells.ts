import type { Column } from './columns.ts'

/** A cell of a file that says something. */
export interface Cell {
  readonly column: Column
  /** What the definition reads. */
  readonly text: string
  /** As it stands in the file. */
  readonly typed: string
  /** What separates the file's cells. */
  readonly separator: string
}

// Spreadsheets take full-width signs for the others, and may begin a formula behind a line break.
const armed = /^'*[=+\-@\t\r\n＝＋－＠]/

/** The text for a file. What a spreadsheet would take for a formula gets an apostrophe before it. */
export function disarm(text: string): string {
  return armed.test(text) ? `'${text}` : text
}

/** The text of a file without the apostrophe that `disarm` put before it. */
export function rearm(text: string): string {
  return text.startsWith("'") && armed.test(text) ? text.slice(1) : text
}

const flags = new Map([
  ['yes', 'true'],
  ['y', 'true'],
  ['no', 'false'],
  ['n', 'false'],
])

/** A number with a decimal comma, with points between its thousands or none. */
const withComma = /^[+-]?(?:\d{1,3}(?:\.\d{3})+|\d*),\d+$/
/** A number whose only sign may stand before its decimals or between its thousands. */
const withTwoReadings = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/

/** A cell as the definition reads it, of what people write for flags, and for numbers where commas separate nothing else. */
export function spelt({ field: { kind } }: Column, typed: string, separator: string): string {
  const text = typed.trim().toLowerCase()
  if (kind === 'boolean') return flags.get(text) ?? typed
  const isComma = isNumber(kind) && separator === ';' && withComma.test(text)
  return isComma && !withTwoReadings.test(text) ? text.replaceAll('.', '').replace(',', '.') : typed
}

function isNumber(kind: Column['field']['kind']): boolean {
  return kind === 'decimal' || kind === 'integer'
}

const POINTS = 'Use a point for decimals, and nothing between thousands'

/** What is wrong with the commas of a number; null: it has none, or they were read. */
export function commaProblem({ column: { field }, text: read, typed, separator }: Cell): string | null {
  const text = typed.trim()
  if (read !== typed || !isNumber(field.kind) || !/^[+-]?[\d.]*,[\d.,]*$/.test(text)) return null
  if (withTwoReadings.test(text)) return readings(text, separator)
  return `has a comma. ${POINTS}`
}

/** What is wrong with the point of a number in a file whose decimals may have commas; null: the number has one reading. */
export function pointProblem({ column: { field }, text: read, typed, separator }: Cell): string | null {
  if (separator !== ';' || !isNumber(field.kind)) return null
  const text = typed.trim()
  // Otherwise it is the name of a record.
  const isRead = Number(read) === Number(text)
  return isRead && withTwoReadings.test(text) ? readings(text, separator) : null
}

/** In a file with semicolons, three decimals are in doubt whatever their sign. */
function readings(text: string, separator: string): string {
  const [decimal, whole] = [text.replace(',', '.'), text.replace(/[.,]/, '')]
  const advice = separator === ';' ? `Write ${decimal}0 or ${whole}` : POINTS
  return `can be read as ${decimal} and as ${whole}. ${advice}`
}
