import type { FastifyRequest } from 'fastify'
import { type Format, formatOf } from '../texts/format.ts'
import { refusedFields } from './page-routes.ts'
import { type Form, isJson, languageFor, textIn } from './request.ts'

/** How somebody writes numbers. */
export type Writing = Pick<Format, 'decimalSign' | 'typed'>

/** How numbers are written in the fields of a form, shown and sent back: as its reader writes them. JSON is of programs, with a point. */
export function writingOf(request: FastifyRequest): Writing {
  return isJson(request) ? formatOf('en-US') : languageFor(request).format
}

const NOT_A_NUMBER = 'must be a number in digits, such as 1234.5, with a point before decimals'
const NOT_A_NUMBER_WITH_COMMA = 'must be a number in digits, such as 1234,5, with a comma before decimals'

/** Returns the problem of a field whose text is no number. */
export function notANumber({ decimalSign }: Pick<Writing, 'decimalSign'>): string {
  return decimalSign === ',' ? NOT_A_NUMBER_WITH_COMMA : NOT_A_NUMBER
}

/**
 * Returns the text of a number that somebody typed as programs write it: with a point before decimals, without blanks around it and
 * with a plain minus, which people copy as a typographic one. Empty: nothing was typed. Null: it is no number as the reader writes
 * it. Separators of thousands, the decimal sign of other countries, currency signs, exponents and other bases are refused, because a
 * point and a comma have two readings and the others are seldom meant.
 */
export function plainNumber(typed: string, { decimalSign }: Pick<Writing, 'decimalSign'>): string | null {
  const text = typed.trim().replace(/^−/, '-')
  if (decimalSign !== '.' && text.includes('.')) return null
  const plain = text.replace(decimalSign, '.')
  return plain === '' || /^[+-]?(\d+\.?\d*|\.\d+)$/.test(plain) ? plain : null
}

/** Returns the same of a form's field, for a definition to read. Throws (400, naming the field) if it is no number. */
export function numberText(form: Form, name: string, writing: Writing): string {
  const text = plainNumber(textIn(form, name), writing)
  if (text === null) throw refusedFields([{ field: name, problem: notANumber(writing) }])
  return text
}

/** Returns the number of a form's field, rounded to four decimals as fields are; null: nothing. Throws likewise. */
export function numberIn(form: Form, name: string, writing: Writing): number | null {
  const text = numberText(form, name, writing)
  return text === '' ? null : Number(Number(text).toFixed(4))
}
