import { type Filter, wrongParameter } from '../../../engine/definition/filters.ts'
import { type Sql, sql } from '../../../foundation/database/sql.ts'
import { INT32_MAX } from '../../../foundation/values/int32.ts'

// The displayed invoice number: prefix and number in one text, such as `AB-1347` (soap-cartapi §4.5).

/** The fields by which people name an order. */
interface Numbered {
  readonly InvoiceNumberPrefix?: unknown
  readonly InvoiceNumber?: unknown
}

/** Returns the number by which people know an order, such as `AB-1000`. */
export function invoiceOf({ InvoiceNumberPrefix, InvoiceNumber }: Numbered): string {
  return `${InvoiceNumberPrefix}${InvoiceNumber}`
}

/** Returns `0` for an order without a number, whatever the prefix. */
export function shownInvoiceNumber(prefix: string, number: number): string {
  return number === 0 ? '0' : `${prefix}${number}`
}

/** The longest prefix plus the longest number. */
const LENGTH_MAX = 60

/** Whether a text can be an invoice number: it ends in a digit. */
export function isInvoiceNumber(text: string): boolean {
  return text.length <= LENGTH_MAX && /\d$/.test(text)
}

/** Orders with this invoice number. A number without a prefix matches any prefix. Prefixes ignore case. */
export const hasInvoiceNumber: Filter = {
  kind: 'text',
  read: (given, name) => {
    // 0 is shown without the prefix.
    const behind = numbersBehind(given, name, 1)
    const bare = isBare(given) && Number(given) <= INT32_MAX ? Number(given) : -1
    return sql`${isOneOf(bare, behind)} AND (t."invoiceNumber" = ${bare}::int
        OR (${startsWithPrefix(given)} AND t."invoiceNumber" = ${numberBehind(prefix, behind)}))`
  },
}

/** Blanks and dashes. */
const separators = ' \u00A0\u202F-\u2010\u2011\u2013\u2014'

/** The same for a text as people type it, whatever blanks and dashes it has or leaves out. */
export const looksLikeInvoiceNumber: Filter = {
  kind: 'text',
  read: (given, name, store) => {
    const typed = [...given].filter((character) => !separators.includes(character)).join('')
    const exact = hasInvoiceNumber.read(given, name, store)
    const behind = numbersBehind(typed, name, 1)
    const plain = sql`translate(t."invoicePrefix", ${separators}, '')`
    const bare = isBare(given) ? Math.min(Number(given), INT32_MAX) : -1
    return sql`${isOneOf(bare, behind)} AND ((${exact}) OR (${plain} <> '' AND ${startsWithPrefix(typed, plain)}
        AND t."invoiceNumber" = ${numberBehind(plain, behind)}))`
  },
}

/** Orders with this invoice number or a higher one; with a prefix, only those with the same prefix. */
export const fromInvoiceNumber: Filter = {
  kind: 'text',
  read: (given, name) => {
    const behind = numbersBehind(given, name, 0)
    if (isBare(given)) return sql`t."invoiceNumber" >= ${Math.min(Number(given), INT32_MAX + 1)}::bigint`
    return sql`${startsWithPrefix(given)} AND t."invoiceNumber" >= ${numberBehind(prefix, behind)}`
  },
}

function isBare(text: string): boolean {
  return /^\d+$/.test(text)
}

const prefix = sql`t."invoicePrefix"`

function startsWithPrefix(given: string, own = prefix): Sql {
  return sql`lower(${own}) = lower(left(${given}, length(${own})))`
}

/** Redundant beside what follows, but it lets PostgreSQL use an index. */
function isOneOf(bare: number, behind: readonly (number | null)[]): Sql {
  const numbers = [bare, ...behind.filter((number) => number !== null)]
  return sql`t."invoiceNumber" = ANY (string_to_array(${numbers.join(',')}, ',')::int[])`
}

/** NULL where no valid number follows the prefix. */
function numberBehind(prefix: Sql, behind: readonly (number | null)[]): Sql {
  return sql`(SELECT string_to_array(${behind.join(',')}, ',', '')::int[])[length(${prefix}) + 1]`
}

/**
 * Returns the number that follows a prefix of each length, or null. A prefix may end in digits: `S11000` is 11000 after
 * `S`, 1000 after `S1`, and so on.
 */
function numbersBehind(text: string, name: string, min: 0 | 1): (number | null)[] {
  if (!isInvoiceNumber(text)) {
    throw wrongParameter(name, text, `must end in a number and have at most ${LENGTH_MAX} characters`)
  }
  const characters = [...text]
  return characters.map((_, length) => {
    const rest = characters.slice(length).join('')
    return isBare(rest) && Number(rest) >= min && Number(rest) <= INT32_MAX ? Number(rest) : null
  })
}
