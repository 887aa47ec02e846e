import type { Column } from './columns.ts'

/** A cell of a file that says something. */
export interface Cell {
  readonly column: Column
  /** What the definition reads. */
  readonly text: string
  /** As it stands in the file. */
  readonly typed: string
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
/** One that may be a whole number with a comma between its thousands. */
const withTwoReadings = /^[+-]?[1-9]\d{0,2},\d{3}$/

/** A cell as the definition reads it, of what people write for flags, and for numbers where commas separate nothing else. */
export function spelt({ field: { kind } }: Column, typed: string, separator: string): string {
  const text = typed.trim().toLowerCase()
  if (kind === 'boolean') return flags.get(text) ?? typed
  const isComma = (kind === 'decimal' || kind === 'integer') && separator === ';' && withComma.test(text)
  return isComma && !withTwoReadings.test(text) ? text.replaceAll('.', '').replace(',', '.') : typed
}

/** What is wrong with the commas of a number; null: it has none, or they were read. */
export function commaProblem({ column: { field }, text: read, typed }: Cell): string | null {
  if (read !== typed) return null
  const text = typed.trim()
  if ((field.kind !== 'decimal' && field.kind !== 'integer') || !/^[+-]?[\d.]*,[\d.,]*$/.test(text)) return null
  const readings = `can be read as ${text.replace(',', '.')} and as ${text.replace(',', '')}`
  return `${withTwoReadings.test(text) ? readings : 'has a comma'}. Use a point for decimals, and nothing between thousands`
}
