import { identifier, type Sql, sql, storeId } from '../database/sql.ts'
import { type Bound, dateForms, instantText, nextDay, readDate } from '../values/dates.ts'
import type { StoreFailure } from '../values/failure.ts'
import { INT32_MAX } from '../values/int32.ts'
import type { CallerStore } from './caller.ts'
import type { ListRows } from './fields.ts'
import { wrongField } from './refused.ts'

/** The form of a query parameter: the whole text, a part of it, a number, 1 or 0, or a bound of dates. */
export type FilterKind = 'text' | 'part' | 'integer' | 'number' | 'flag' | 'since' | 'until'

export interface Filter {
  readonly kind: FilterKind
  /** The record's column that it compares. Omitted: that of its items. */
  readonly column?: string
  /** Whether it is a bound of numbers or dates, whose matches may lie together in the order of ids. */
  readonly isBound?: boolean
  /**
   * Turns a query parameter into a condition over `t`; null: no filter. `name` is for messages. Throws `bad-request`
   * for an invalid value.
   */
  readonly read: (given: string, name: string, store: CallerStore) => Sql | null
}

export type Filters = Readonly<Record<string, Filter>>

/** Matches the whole text, ignoring case. */
export function exactly(column: string): Filter {
  const stored = sql`lower(t.${identifier(column)})`
  return { kind: 'text', column, read: (given, name) => sql`${stored} = lower(${checkedText(given, name)})` }
}

/** Matches as `exactly`, for a text stored without surrounding white space: ignores white space around the value. */
export function exactlyTrimmed(column: string): Filter {
  const filter = exactly(column)
  return { ...filter, read: (given, name, store) => filter.read(given.trim(), name, store) }
}

/** Matches a part of the text, ignoring case. */
export function containing(column: string): Filter {
  const stored = sql`lower(t.${identifier(column)})`
  return {
    kind: 'part',
    column,
    read: (given, name) => {
      const literal = checkedText(given, name).replace(/[\\%_]/g, String.raw`\$&`)
      return sql`${stored} LIKE lower(${`%${literal}%`})`
    },
  }
}

/** Compares a column, by this operator, with the value that `read` finds in the query parameter. */
function comparing(
  kind: FilterKind,
  operator: Sql,
  type: Sql,
  read: (given: string, name: string, store: CallerStore) => string | number,
) {
  return (column: string): Filter => ({
    kind,
    column,
    isBound: operator.text !== '=',
    read: (given, name, store) => sql`t.${identifier(column)} ${operator} ${read(given, name, store)}::${type}`,
  })
}

export const equalTo = comparing('integer', sql`=`, sql`int`, readWholeNumber)
/** Inclusive bounds of a range of numbers. */
export const atLeast = comparing('number', sql`>=`, sql`numeric`, number)
export const atMost = comparing('number', sql`<=`, sql`numeric`, number)
/** Bounds for an integer column, whose index does not serve comparisons with decimals. */
export const integerAtLeast = comparing('integer', sql`>=`, sql`int`, readWholeNumber)
export const integerAtMost = comparing('integer', sql`<=`, sql`int`, readWholeNumber)

/** The inclusive start of a date range, in the store's zone. */
export const since = comparing('since', sql`>=`, sql`timestamptz`, (given, name, { timeZone }) =>
  instantText(day(given, name, timeZone, 'start').instant),
)
/** The inclusive end of a date range: the whole second, or the whole day if the value has no time. */
export const until = comparing('until', sql`<`, sql`timestamptz`, (given, name, { timeZone }) => {
  const { instant, hasTime } = day(given, name, timeZone, 'end')
  return instantText(hasTime ? new Date(instant.getTime() + 1000) : nextDay(instant, timeZone))
})

/** Accepts 1, 0, true or false; −1 is "no filter" (rest-resources §0.5). */
export function flag(column: string): Filter {
  return {
    kind: 'flag',
    column,
    read: (given, name) => {
      const folded = given.trim().toLowerCase()
      if (folded === '-1') return null
      // Literal conditions, not parameters, so that partial indexes on the rare value apply.
      if (folded === '1' || folded === 'true') return sql`t.${identifier(column)}`
      if (folded === '0' || folded === 'false') return sql`NOT t.${identifier(column)}`
      throw wrongParameter(name, given, 'must be 1, 0, true, false or -1 for no filter')
    },
  }
}

/** Matches records with at least one item, stored in these rows, that the other filter matches. */
export function anyItem({ table, parent }: ListRows, { kind, read }: Filter): Filter {
  return {
    kind,
    read: (given, name, store) => {
      // `t` is the item inside the sub-select.
      const condition = read(given, name, store)
      const items = sql`SELECT t.${identifier(parent)} FROM ${identifier(table)} t WHERE t."storeId" = ${storeId(store)}`
      return condition && sql`t."id" IN (${items} AND ${condition})`
    },
  }
}

function day(given: string, name: string, timeZone: string, bound: Bound) {
  const read = readDate(given, timeZone, bound)
  if (!read) throw wrongParameter(name, given, `is not a date; allowed: ${dateForms}`)
  return read
}

function checkedText(given: string, name: string): string {
  if (!given.includes('\0') && given.isWellFormed()) return given
  throw wrongField(name, 'holds a character that text cannot have')
}

function number(given: string, name: string): string {
  const trimmed = given.trim()
  if (!/^[+-]?\d{1,15}(\.\d{1,15})?$/.test(trimmed)) throw wrongParameter(name, given, 'must be a number')
  return trimmed
}

/** Parses a 32-bit integer from a query parameter. */
export function readWholeNumber(given: string, name: string): number {
  const read = /^[+-]?\d{1,10}$/.test(given.trim()) ? Number(given) : Number.NaN
  if (!Number.isInteger(read) || Math.abs(read) > INT32_MAX) throw wrongParameter(name, given, 'must be a whole number')
  return read
}

/** Parses an identifier in an address or a query parameter: a positive 32-bit integer (rest-resources §0.4). */
export function readId(given: string, name: string, min = 1, max = INT32_MAX): number {
  const read = /^\d{1,16}$/.test(given) ? Number(given) : -1
  if (read < min || read > max) throw wrongParameter(name, given, `must be a whole number from ${min} to ${max}`)
  return read
}

/** The refusal of a query parameter; `problem` is a sentence without its subject. */
export function wrongParameter(name: string, given: string, problem: string): StoreFailure {
  const shown = given.length > 40 ? `${given.slice(0, 40)}…` : given
  return wrongField(name, `${problem}; "${shown}" was given`)
}
