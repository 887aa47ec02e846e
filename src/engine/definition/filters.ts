import { isDeepStrictEqual } from 'node:util'
import { anyOf, identifier, type Sql, sql, storeId } from '../../foundation/database/sql.ts'
import { type Bound, dateForms, instantText, isEmptyDate, nextDay, readDate } from '../../foundation/values/dates.ts'
import type { ErrorCode, StoreFailure } from '../../foundation/values/failure.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import type { CallerStore } from '../caller.ts'
import type { ListRows } from './fields.ts'
import type { JsonSchema } from './json-schema.ts'
import { wrongField } from './refused.ts'

/** The form of a query parameter: the whole text, a part of it, a number, 1 or 0, or a bound of dates. */
export type FilterKind = 'text' | 'part' | 'integer' | 'number' | 'flag' | 'since' | 'until'

export interface Filter {
  readonly kind: FilterKind
  /** The record's column that it compares. Omitted: that of its items. */
  readonly column?: string
  /** The column of the items in this table that it compares. */
  readonly ofItems?: { readonly table: string; readonly column: string }
  /** Whether it is a bound of numbers or dates, whose matches may lie together in the order of ids. */
  readonly isBound?: boolean
  /** Of a bound: whether it is the lower one. */
  readonly isLower?: boolean
  /** What the reference says of it besides. */
  readonly note?: string
  /** Turns a query parameter into a condition over `t`; null: no filter. `name` is for messages. Throws a 400 for an invalid value. */
  readonly read: (given: string, name: string, store: CallerStore) => Sql | null
  /** For a filter that compares for equality: the condition that any of several values matches. Throws likewise. */
  readonly readAny?: (given: readonly string[], name: string, store: CallerStore) => Sql
}

export type Filters = Readonly<Record<string, Filter>>

/** The most values of one filter. */
const VALUES_MAX = 100

/** What the reference says of a filter that takes several values. */
export const anyOfValues = {
  repeated: `Given several times, at most ${VALUES_MAX}: any of the values.`,
  listed: `Given several times or as a comma list, at most ${VALUES_MAX}: any of the values.`,
  /** One value or a list, so that a program generated of an earlier document, which had one value, still compiles. */
  schema: (one: JsonSchema): JsonSchema => ({ anyOf: [one, { type: 'array', items: one, maxItems: VALUES_MAX }] }),
}

/** Matches the whole text, ignoring case. `formsOf` gives the texts by which a value may be stored. */
export function exactly(column: string, formsOf = (given: string): readonly string[] => [given]): Filter {
  const stored = sql`lower(t.${identifier(column)})`
  const readAny = (given: readonly string[], name: string) => {
    const forms = [...new Set(given.flatMap((value) => formsOf(checkedText(value, name))))]
    if (forms.length === 1) return sql`${stored} = lower(${forms[0]})`
    return sql`${stored} = ANY (ARRAY (SELECT lower("form") FROM unnest(${forms}::text[]) AS "form"))`
  }
  return { kind: 'text', column, readAny, read: (given, name) => readAny([given], name) }
}

/** Matches a part of the text, ignoring case. */
export function containing(column: string): Filter {
  const stored = sql`lower(t.${identifier(column)})`
  const read = (given: string, name: string) => {
    const literal = checkedText(given, name).replace(/[\\%_]/g, String.raw`\$&`)
    return sql`${stored} LIKE lower(${`%${literal}%`})`
  }
  return { kind: 'part', column, read }
}

/** Matches a text of which the column has a few. Throws for any other. */
export function oneOf(column: string, allowed: readonly string[]): Filter {
  const read = (given: string, name: string) => {
    if (!allowed.includes(given)) throw wrongParameter(name, given, `must be one of ${allowed.join(', ')}`)
    return sql`t.${identifier(column)} = ${given}`
  }
  return { kind: 'text', column, read }
}

/** Bounds a column, by this operator, by the value that `read` finds in the query parameter. */
function bounding(
  kind: FilterKind,
  operator: Sql,
  type: Sql,
  read: (given: string, name: string, store: CallerStore) => string | number | null,
) {
  return (column: string): Filter => ({
    kind,
    column,
    isBound: true,
    isLower: operator.text === '>=',
    read: (given, name, store) => {
      const value = read(given, name, store)
      return value === null ? null : sql`t.${identifier(column)} ${operator} ${value}::${type}`
    },
  })
}

export function equalTo(column: string, readOne: typeof readWholeNumber = readWholeNumber): Filter {
  return {
    kind: 'integer',
    column,
    read: (given, name) => sql`t.${identifier(column)} = ${readOne(given, name)}::int`,
    readAny: (given, name) => sql`t.${identifier(column)} = ${anyOf(given.map((one) => readOne(one, name)))}`,
  }
}
/** Matches the record's identifier. */
export const equalToId = equalTo('id', readId)
/** Inclusive bounds of a range of numbers. */
export const atLeast = bounding('number', sql`>=`, sql`numeric`, number)
export const atMost = bounding('number', sql`<=`, sql`numeric`, number)
/** Bounds for an integer column, whose index does not serve comparisons with decimals. */
export const integerAtLeast = bounding('integer', sql`>=`, sql`int`, readWholeNumber)
export const integerAtMost = bounding('integer', sql`<=`, sql`int`, readWholeNumber)

/** The inclusive start of a date range, in the store's zone. The empty date of .NET is no bound. */
export const since = bounding('since', sql`>=`, sql`timestamptz`, (given, name, { timeZone }) =>
  isEmptyDate(given) ? null : instantText(day(given, name, timeZone, 'start').instant),
)
/** The inclusive end of a date range: the whole second, or the whole day if the value has no time. As for `since`. */
export const until = bounding('until', sql`<`, sql`timestamptz`, (given, name, { timeZone }) => {
  if (isEmptyDate(given)) return null
  const { instant, hasTime } = day(given, name, timeZone, 'end')
  return instantText(hasTime ? new Date(instant.getTime() + 1000) : nextDay(instant, timeZone))
})

/** Accepts 1, 0, true or false; −1 is "no filter" (rest-resources §0.5). */
export function flag(column: string): Filter {
  const read = (given: string, name: string) => {
    const isWanted = readFlag(given, name)
    if (isWanted === null) return null
    // Literal conditions, not parameters, so that partial indexes on the rare value apply.
    return isWanted ? sql`t.${identifier(column)}` : sql`NOT t.${identifier(column)}`
  }
  return { kind: 'flag', column, read }
}

/** Reads 1, 0, true or false; null: −1, either. Throws a 400 for anything else. */
export function readFlag(given: string, name: string): boolean | null {
  const folded = given.trim().toLowerCase()
  if (folded === '-1') return null
  if (folded === '1' || folded === 'true') return true
  if (folded === '0' || folded === 'false') return false
  throw wrongParameter(name, given, 'must be 1, 0, true, false or -1 for no filter')
}

/** Matches records with at least one item, stored in these rows, that the other filter matches. */
export function anyItem({ table, parent }: Pick<ListRows, 'table' | 'parent'>, filter: Filter): Filter {
  const { kind, column, note, read, readAny } = filter
  // `t` is the item inside the sub-select.
  const having = (condition: Sql, store: CallerStore) =>
    sql`t."id" IN (SELECT t.${identifier(parent)} FROM ${identifier(table)} t WHERE t."storeId" = ${storeId(store)} AND ${condition})`
  return {
    kind,
    ...(column !== undefined && { ofItems: { table, column } }),
    ...(note !== undefined && { note }),
    read: (given, name, store) => {
      const condition = read(given, name, store)
      return condition && having(condition, store)
    },
    ...(readAny && { readAny: (given, name, store) => having(readAny(given, name, store), store) }),
  }
}

/**
 * The condition of a filter that was given these values; null: no filter. One that compares for equality matches any of them, and
 * takes numbers as a comma list too. `isUnion`: it has several. Throws a 400 for values that cannot be read, for more than 100,
 * and for different values of any other filter.
 */
export function readFilter(
  { kind, read, readAny }: Filter,
  name: string,
  given: readonly string[],
  store: CallerStore,
): { readonly condition: Sql | null; readonly isUnion: boolean } {
  const values = readAny && kind === 'integer' ? listedNumbers(given, name) : distinct(given, name)
  const [first = '', ...others] = values
  if (others.length > 0 && readAny) return { condition: readAny(values, name, store), isUnion: true }
  const condition = read(first, name, store)
  const isSame = (other: string) => isDeepStrictEqual(read(other, name, store), condition)
  if (!others.every(isSame)) throw severalValues(name)
  return { condition, isUnion: false }
}

/** The different values of a filter that takes several; of numbers each value may be a comma list. Throws a 400 for more than 100. */
export function listedNumbers(given: readonly string[], name: string): string[] {
  const parts = given.flatMap((one) => one.split(',')).map((part) => part.trim())
  return distinct(parts, name)
}

/** The same for texts, which may hold commas. */
export function distinct(given: readonly string[], name: string): string[] {
  const values = [...new Set(given)]
  if (values.length <= VALUES_MAX) return values
  throw wrongField(name, `has ${values.length} values; at most ${VALUES_MAX} are allowed`, 'too-many-items')
}

export function severalValues(name: string): StoreFailure {
  return wrongField(name, 'is given several times, with different values; only one is allowed')
}

/** In a query a bare `+` is a blank, so that the offset of `2026-07-10T10:44:08+02:00` arrives without its sign. */
function day(given: string, name: string, timeZone: string, bound: Bound) {
  const read = readDate(given, timeZone, bound) ?? readDate(given.replace(/ (?=\d\d:\d\d$)/, '+'), timeZone, bound)
  if (!read) throw wrongParameter(name, given, `is not a date; allowed: ${dateForms}`)
  return read
}

/** Throws for a text that the database cannot hold. */
export function checkedText(given: string, name: string): string {
  if (!given.includes('\0') && given.isWellFormed()) return given
  throw wrongField(name, 'holds a character that text cannot have')
}

function number(given: string, name: string): string {
  const trimmed = given.trim()
  if (/^[+-]?\d{1,15}(\.\d{1,15})?$/.test(trimmed)) return trimmed
  const isLong = /^[+-]?\d+(\.\d+)?$/.test(trimmed)
  throw wrongParameter(name, given, isLong ? 'must be a number of at most 15 digits on each side' : 'must be a number')
}

/** Parses a 32-bit integer from a query parameter. */
export function readWholeNumber(given: string, name: string): number {
  if (!/^[+-]?\d+$/.test(given.trim())) throw wrongParameter(name, given, 'must be a whole number')
  const read = Number(given)
  if (Math.abs(read) <= INT32_MAX) return read
  throw wrongParameter(name, given, `must be a whole number from ${-INT32_MAX} to ${INT32_MAX}`, 'out-of-range')
}

/** Parses an identifier in an address or a query parameter: a positive 32-bit integer (rest-resources §0.4). */
export function readId(given: string, name: string, min = 1, max = INT32_MAX): number {
  const read = /^\d{1,16}$/.test(given) ? Number(given) : -1
  if (read < min || read > max)
    throw wrongParameter(name, given, `must be a whole number from ${min} to ${max}`, 'out-of-range')
  return read
}

/** The refusal of a query parameter; `problem` is a sentence without its subject. */
export function wrongParameter(name: string, given: string, problem: string, code?: ErrorCode): StoreFailure {
  const shown = given.length > 40 ? `${given.slice(0, 40)}…` : given
  return wrongField(name, `${problem}; "${shown}" was given`, code)
}
