import { StoreFailure } from '../../foundation/values/failure.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import type { Query } from '../definition/endpoints.ts'
import { distinct, readId, severalValues, wrongParameter } from '../definition/filters.ts'

/** All values of a parameter. */
export function valuesIn(query: Query, name: string): readonly string[] {
  const first = query.get(name)
  return first === undefined ? [] : (query.repeated?.get(name) ?? [first])
}

/** The value of a parameter that takes one; undefined without it. Throws a 400 for different values. */
export function onlyValue(query: Query, name: string): string | undefined {
  const [value, ...others] = distinct(valuesIn(query, name), name)
  if (others.length > 0) throw severalValues(name)
  return value
}

/** Where a page begins and ends. */
export interface PageBounds {
  readonly limit: number
  /** Counts from 0. */
  readonly offset: number
  /** The id that the page begins after; 0: none. */
  readonly after: number
}

/** The documented default of `limit` (rest-resources §0.5). */
export const LIMIT_DEFAULT = 10

/** The page that a query asks for. Throws a 400 for what cannot be read, and for `cursor` with `offset`. */
export function boundsOf(query: Query, maxRecords: number, limitDefault = LIMIT_DEFAULT): PageBounds {
  const given = cursorIn(query)
  return { ...pageOf(query, maxRecords, limitDefault), after: given === null ? 0 : readId(given, 'cursor') }
}

/** Null without a cursor. Throws a 400 together with `offset`, because they contradict each other. */
export function cursorIn(query: Query): string | null {
  const given = query.get('cursor') ?? null
  if (given !== null && query.has('offset')) {
    throw new StoreFailure('invalid-value', 'cursor and offset cannot be given together', { field: 'cursor' })
  }
  return given
}

/** `offset` counts from 1, and 0 equals 1 (rest-resources §0.5). The result counts from 0. */
export function pageOf(query: Query, maxRecords: number, limitDefault = LIMIT_DEFAULT) {
  return { limit: limitOf(query, maxRecords, limitDefault), offset: Math.max(0, boundOf(query, 'offset') - 1) }
}

/** Cuts `limit` to the maximum; absent, 0 or negative means the default (rest-resources §0.5). */
export function limitOf(query: Query, maxRecords: number, limitDefault: number): number {
  const limit = boundOf(query, 'limit')
  return Math.min(limit > 0 ? limit : limitDefault, maxRecords)
}

/** Clamps to 32 bits, because no store has more records. */
function boundOf(query: Query, name: 'limit' | 'offset'): number {
  const given = query.get(name) ?? '0'
  if (!/^[+-]?\d+$/.test(given.trim())) throw wrongParameter(name, given, 'must be a whole number')
  return Math.max(-INT32_MAX, Math.min(Number(given), INT32_MAX))
}

/** Whether the query asks only for the number of records. */
export function isCountOnly(query: Query): boolean {
  const given = query.get('countonly') ?? ''
  const folded = given.trim().toLowerCase()
  if (['', '0', '-1', 'false'].includes(folded)) return false
  if (['1', 'true'].includes(folded)) return true
  throw wrongParameter('countonly', given, 'must be 1 or true for only the number; 0, -1 or false for the records')
}

/** The same query, for the number of records. */
export function countOnly(query: Query): Query {
  const { repeated = new Map() } = query
  return Object.assign(new Map([...query, ['countonly', '1']]), { repeated })
}

/** The refusal of a page past the last match, with the text that clients of v1 know. v2 answers it as if nothing matched. */
export class PastTheEnd extends StoreFailure {
  constructor() {
    super('out-of-range', 'Offset amount exceeds the total number of records', { field: 'offset' })
  }
}

/** The refusal of an empty page: 404 if nothing matches, otherwise PastTheEnd. */
export function emptyPage(offset: number, count: number): StoreFailure {
  return offset === 0 || count === 0 ? new StoreFailure('not-found', 'No records match') : new PastTheEnd()
}
