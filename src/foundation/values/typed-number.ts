import { decimalsOf } from './currency.ts'

// Numbers as people write them, in forms and files.

/** What a number is of. Of money it may have the sign of the currency: a price of a piece, a sum, or another amount such as a surcharge. */
export type NumberKind = 'number' | 'money' | 'price' | 'sum'

/** The decimals that are stored (rest-resources §0.10). */
export const STORED_DECIMALS = 4

/** How somebody writes numbers. */
export interface NumberWriting {
  readonly decimalSign: string
  /** Of the store. Empty: the reader has none. */
  readonly currencyCode?: string
  /** As pages show an amount of a currency. */
  readonly money?: (amount: number, currency: string) => string
}

export interface TypedNumber {
  /** As programs write it; empty: nothing was typed. Null: it is no number, or has two readings. */
  readonly text: string | null
  /** Why it is refused, without its subject; empty: it is not. */
  readonly problem: string
}

/** Whether rounding takes more off a number than what sums of floats leave behind it. */
export function losesDecimals(value: number, decimals = STORED_DECIMALS): boolean {
  const kept = Number(value.toFixed(decimals))
  return Math.abs(value - kept) > (kept === 0 ? 1e-12 : Math.max(1e-9, Math.abs(value) * 2 ** -50))
}

/** Why people may not write a number, without its subject; empty: they may. */
export function amountProblem(kind: NumberKind, value: number, currency: string): string {
  if (kind === 'price' && value < 0) return 'must not be below 0'
  const decimals = kind === 'sum' ? decimalsOf(currency) : STORED_DECIMALS
  if (!losesDecimals(value, decimals)) return ''
  if (kind !== 'sum') return `must have at most ${decimals} decimals`
  return decimals === 0
    ? `must have no decimals in ${currency}`
    : `must have at most ${decimals} decimals in ${currency}`
}

/** By the sign before the decimals. Thousands have one sign, and are groups of exactly three digits. */
const shapes: Readonly<Record<string, RegExp>> = {
  '.': /^[+-]?(?=\.?\d)(?:[1-9]\d{0,2}([,'’\s])\d{3}(?:\1\d{3})*|\d*)(?:\.\d*)?$/,
  ',': /^[+-]?(?=,?\d)(?:[1-9]\d{0,2}([.'’\s])\d{3}(?:\1\d{3})*|\d*)(?:,\d*)?$/,
}

/**
 * Reads what somebody typed: digits, a minus or plus, thousands, the decimal sign, and for money the sign or code of the currency at
 * either end, as pages show it. Where a point or a comma may stand before decimals or between thousands (`1.299` of a German), it has
 * two readings and is refused, unless a sum has no decimals at all. Exponents and other bases are never meant.
 */
export function readTyped(typed: string, writing: NumberWriting, kind: NumberKind = 'number'): TypedNumber {
  const { decimalSign, currencyCode = '' } = writing
  const text = (kind === 'number' ? typed : withoutCurrency(typed, writing)).trim().replace(/^−/, '-')
  if (text === '') return { text, problem: '' }
  const shape = shapes[decimalSign]?.exec(text)
  if (!shape) {
    const example = decimalSign === ',' ? '1234,5, with a comma' : '1234.5, with a point'
    const problem = `must be a number in digits, such as ${example} before decimals: it has ${strayIn(text, decimalSign)}`
    return { text: null, problem }
  }
  const plain = text.replaceAll(decimalSign === ',' ? /[^\d+,-]/g : /[^\d+.-]/g, '').replace(',', '.')
  const mayBeDecimals = kind !== 'sum' || decimalsOf(currencyCode) > 0
  if (mayBeDecimals && /^[+-]?\d{1,3}[.,]\d{3}$/.test(text) && /[.,]/.test(shape[1] ?? '')) {
    const decimals = text.replace(/[.,]/, decimalSign)
    return { text: null, problem: `can be read as ${decimals} and as ${plain}. Write it like one of them` }
  }
  return { text: plain, problem: amountProblem(kind, Number(plain), currencyCode) }
}

/** Takes off the sign or code of the store's currency, before which a minus may stand. */
function withoutCurrency(typed: string, { currencyCode: currency = '', money }: NumberWriting): string {
  const signs = currency === '' ? [] : [money?.(0, currency).replaceAll(/[\d.,\s]/g, '') ?? currency, currency]
  const sign = signs.find((one) => typed.includes(one)) ?? ''
  const [before = '', after = ''] = typed.split(sign || /$/, 2).map((part) => part.trim())
  return /\d/.test(before) && after !== '' ? typed : before + after
}

/** What keeps a text from being a number, in quotes: a word or a sign, or a comma or point at a wrong place. As text can be shown. */
export function strayIn(text: string, decimalSign = '.'): string {
  const other = decimalSign === ',' ? /[.'’]/ : /[,'’]/
  const found = /[^\d\s.,'’+−-]+/.exec(text) ?? other.exec(text) ?? /\D/.exec(text.replace(/^[+-](?=\d)/, ''))
  return `"${(found?.[0] ?? text).slice(0, 20).replaceAll(/\p{C}/gu, '\uFFFD')}"`
}
