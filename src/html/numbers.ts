import { refusedFields } from './page-routes.ts'
import { type Form, textIn } from './request.ts'

/** The problem of a field whose text is no number. */
export const NOT_A_NUMBER = 'must be a number in digits, such as 1234.5, with a point before decimals'

/**
 * Returns the text of a number that somebody typed, without blanks around it and with a plain minus, which people copy as a
 * typographic one. Empty: nothing was typed. Null: it is no number as people write it. Separators of thousands, currency signs,
 * exponents and other bases are refused, because a comma has two readings and the others are seldom meant.
 */
export function plainNumber(typed: string): string | null {
  const text = typed.trim().replace(/^−/, '-')
  return text === '' || /^[+-]?(\d+\.?\d*|\.\d+)$/.test(text) ? text : null
}

/** Returns the same of a form's field, for a definition to read. Throws (400, naming the field) if it is no number. */
export function numberText(form: Form, name: string): string {
  const text = plainNumber(textIn(form, name))
  if (text === null) throw refusedFields([{ field: name, problem: NOT_A_NUMBER }])
  return text
}

/** Returns the number of a form's field, rounded to four decimals as fields are; null: nothing. Throws likewise. */
export function numberIn(form: Form, name: string): number | null {
  const text = numberText(form, name)
  return text === '' ? null : Number(Number(text).toFixed(4))
}
