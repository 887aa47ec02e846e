import { constant, empty, join, identifier as named, type Sql, sql, storeId } from '../database/sql.ts'
import { StoreFailure } from '../values/failure.ts'
import { INT32_MAX } from '../values/int32.ts'
import type { Caller } from './caller.ts'
import type { ProjectedSubResource, RelatedSubResource, Resource } from './define.ts'
import { type Filters, identifier, invalid } from './filters.ts'
import { isTableLink, linkedTo, type TableLink } from './links.ts'
import type { Reader, Row, WireRecord } from './reader.ts'

/** Query parameters by lower-case name; empty ones are left out. */
export type Query = ReadonlyMap<string, string>

/** What a list answers: a page of records, or their number when `countonly` was asked. */
export type Listing = Page | { count: number }

export interface Page {
  /** The JSON text of each record. */
  readonly records: readonly string[]
  /** The value of `cursor` that gives the next page; null: this is the last one. */
  readonly next: string | null
  /** How many records match in all; null: not asked for. */
  readonly total: number | null
}

export interface ListOptions {
  /** Count the matches beside the page; it costs as much again. */
  readonly counted?: boolean
}

/** The documented default of `limit` (rest-resources 0.5). */
export const LIMIT_DEFAULT = 10

/**
 * Lists a service's records by identifier, filtered and paged as the query says (rest-resources 0.5): by `offset`, or by
 * `cursor`, which reads on behind the last record of a page whatever was inserted or deleted meanwhile.
 * Throws `not-found` when nothing matches, `bad-request` past the end and for what it cannot read.
 */
export function listRecords(
  caller: Caller,
  resource: Resource,
  query: Query,
  options: ListOptions = {},
): Promise<Listing> {
  return list(caller, resource, { reader: resource.reader, filters: resource.filters, own: [] }, query, options)
}

/** What a page is read by, where it is not a service's own list. */
export interface PageSource {
  readonly reader: Reader
  readonly filters: Filters
}

/**
 * The records that `query` names by these filters, from `offset` on (counted from 0), by identifier; at most `limit`. Past the
 * end there are none.
 */
export async function readPage(
  caller: Caller,
  resource: Resource,
  { reader, filters }: PageSource,
  { query, limit, offset }: { query: Query; limit: number; offset: number },
): Promise<WireRecord[]> {
  const where = new Where(caller, resource, filters, query, [])
  const { rows } = await where.read(reader, { limit, offset, after: 0 })
  return rows.map(reader.record)
}

/** How many records a query names. */
export function countRecords(caller: Caller, resource: Resource, query: Query): Promise<number> {
  return new Where(caller, resource, resource.filters, query, []).count()
}

/** One record's JSON text. Throws `not-found`. */
export async function getRecord(caller: Caller, resource: Resource, id: number): Promise<string> {
  const text = await readOne(caller, resource, resource.reader, id)
  if (text === null) throw notFound(resource, id)
  return text
}

/** What `privateFields` say of a record, as JSON text; null for an unknown id. */
export function readOne(caller: Caller, resource: Resource, reader: Reader, id: number): Promise<string | null> {
  return caller.db
    .$queryRaw<{ row: string }[]>(sql`
      SELECT ${reader.select}::text AS "row" FROM ${named(resource.table)} t JOIN "Store" s ON s."id" = t."storeId"
      WHERE ${recordCondition(caller, resource, id)}`)
    .then(([found]) => (found ? reader.compose(JSON.parse(found.row) as Row) : null))
}

/** Lists an object inside the records, such as every product's SKUInfo; `id` narrows to one record. */
export async function listProjection(
  caller: Caller,
  resource: Resource,
  sub: ProjectedSubResource,
  query: Query,
  id: number | null,
  options: ListOptions = {},
): Promise<Listing> {
  const reader = resource.projections.get(sub.object)
  if (!reader) throw new Error(`${resource.service}: no projection ${sub.object}`)
  const own = id === null ? [] : [sql`t."id" = ${id}::int`]
  return list(caller, resource, { reader, filters: sub.filters, own }, query, options)
}

/** Lists the records of another service that belong to one record, with all filters of their service. */
export async function listRelated(
  caller: Caller,
  sub: RelatedSubResource,
  id: number,
  query: Query,
  options: ListOptions = {},
): Promise<Listing> {
  const other = sub.resource()
  const own = [linkedTo(sub.link, caller.store, id)]
  const linked = isTableLink(sub.link) ? { link: sub.link, id } : null
  return list(caller, other, { reader: other.reader, filters: other.filters, own, linked }, query, options)
}

/** The same for a few records that no table holds: all that match, by identifier, with their JSON texts. */
export function listFixed(
  matching: readonly { id: number; text: string }[],
  maxRecords: number,
  query: Query,
  { counted = false }: ListOptions = {},
): Listing {
  if (isCountOnly(query)) return { count: matching.length }
  const { limit, offset } = pageOf(query, maxRecords)
  const after = cursorOf(query)
  const rest = matching.filter(({ id }) => id > after).slice(offset)
  if (rest.length === 0 && after === 0) throw emptyPage(offset, matching.length)
  const page = rest.slice(0, limit)
  return {
    records: page.map(({ text }) => text),
    next: rest.length > limit ? String(page.at(-1)?.id) : null,
    total: counted ? matching.length : null,
  }
}

/** Whether the store has the record. */
export async function exists(caller: Caller, resource: Resource, id: number): Promise<boolean> {
  const found = await caller.db.$queryRaw<unknown[]>(
    sql`SELECT 1 FROM ${named(resource.table)} t WHERE ${recordCondition(caller, resource, id)}`,
  )
  return found.length > 0
}

/** One record of those that the caller may know of, as a condition over `t`. */
export function recordCondition(caller: Caller, resource: Resource, id: number): Sql {
  return allOf([sql`t."storeId" = ${caller.store.id}::int AND t."id" = ${id}::int`, ...owned(caller, resource)])
}

function owned(caller: Caller, { owner }: Resource): Sql[] {
  const condition = owner?.(caller) ?? null
  return condition === null ? [] : [condition]
}

function allOf(conditions: readonly Sql[]): Sql {
  return join(conditions as Sql[], ' AND ')
}

/** The id of the record whose alternate key (a product's SKU) is this text, without regard to case; null: none. */
export async function findByAlternateKey(caller: Caller, resource: Resource, text: string): Promise<number | null> {
  const [found] = await caller.db.$queryRaw<{ id: number }[]>(sql`
    SELECT t."id" FROM ${named(resource.table)} t
    WHERE t."storeId" = ${caller.store.id}::int AND lower(t.${named(resource.alternateKey ?? '')}) = lower(${text})`)
  return found?.id ?? null
}

export function notFound(resource: Resource, id: number): StoreFailure {
  return new StoreFailure('not-found', `There is no ${resource.typeName} ${id}`, { field: String(id) })
}

interface Source {
  readonly reader: Reader
  readonly filters: Filters
  /** Conditions of the address itself. */
  readonly own: readonly Sql[]
  /** What `own` says, where it is nothing but a link by the rows of a table. */
  readonly linked?: Linked | null
}

interface Linked {
  readonly link: TableLink
  /** The record that is referred to. */
  readonly id: number
}

async function list(
  caller: Caller,
  resource: Resource,
  { reader, filters, own, linked = null }: Source,
  query: Query,
  { counted = false }: ListOptions,
): Promise<Listing> {
  const where = new Where(caller, resource, filters, query, own, linked)
  if (isCountOnly(query)) return { count: await where.count() }
  const { limit, offset } = pageOf(query, resource.maxRecords)
  const after = cursorOf(query)
  const { rows, next } = await where.read(reader, { limit, offset, after })
  const records = rows.map(reader.compose)
  // Who follows cursors to the end must not meet a refusal there.
  if (records.length === 0 && after === 0) throw emptyPage(offset, offset === 0 ? 0 : await where.count())
  return { records, next, total: counted ? await where.count() : null }
}

/** The id that the page begins behind; 0: none was given. */
function cursorOf(query: Query): number {
  const given = cursorIn(query)
  return given === null ? 0 : identifier(given, 'cursor')
}

/** Null: none was given. Throws `bad-request` together with `offset`: they contradict one another. */
export function cursorIn(query: Query): string | null {
  const given = query.get('cursor') ?? null
  if (given !== null && query.has('offset')) {
    throw new StoreFailure('bad-request', 'cursor and offset cannot be given together', { field: 'cursor' })
  }
  return given
}

/** Nothing was read: nothing matches (404), or the page begins behind the last match (400, with the text that clients know). */
export function emptyPage(offset: number, count: number): StoreFailure {
  if (offset === 0 || count === 0) return new StoreFailure('not-found', 'No records match')
  return new StoreFailure('bad-request', 'Offset amount exceeds the total number of records', { field: 'offset' })
}

/** The conditions of one list, ready to be counted or read. */
class Where {
  readonly #caller: Caller
  readonly #chosen: Choice

  constructor(
    caller: Caller,
    resource: Resource,
    filters: Filters,
    query: Query,
    own: readonly Sql[],
    linked: Linked | null = null,
  ) {
    this.#caller = caller
    const asked = [...owned(caller, resource), ...queryConditions(caller, resource, filters, query)]
    this.#chosen =
      linked && asked.length === 0 ? linkedIds(caller, resource, linked) : records(caller, resource, [...own, ...asked])
  }

  async count(): Promise<number> {
    const { from, where } = this.#chosen
    const [row] = await this.#caller.db.$queryRaw<{ count: number }[]>(
      sql`SELECT count(*)::int AS "count" FROM ${from} WHERE ${where}`,
    )
    return row?.count ?? 0
  }

  /**
   * The page is chosen before anything is joined to it, so that rows passed over cost little, and comes as one value: each
   * value that is handed over has its price. One row more than asked for tells whether there is a next page, and where it
   * begins. (Measured beside other ways: docs/decisions/sync.md.)
   */
  async read(
    reader: Reader,
    { limit, offset, after }: { limit: number; offset: number; after: number },
  ): Promise<{ rows: readonly Row[]; next: string | null }> {
    const { from, id, where, toRecords } = this.#chosen
    // A first page goes without the condition: it would change nothing but what PostgreSQL expects of the plan.
    const behind = after === 0 ? empty : sql`AND ${id} > ${after}::int`
    const isPlannedOnce = where.values.length === 1 && offset === 0 && plannedLimits.has(limit)
    const bounds = isPlannedOnce
      ? sql`LIMIT ${constant(limit + 1)}`
      : sql`LIMIT ${limit}::int + 1 OFFSET ${offset}::bigint`
    const [found] = await this.#caller.db.$queryRaw<{ page: string | null; highest: number }[]>(sql`
      SELECT json_agg(p."row" ORDER BY p."id")::text AS "page", max(p."id") AS "highest" FROM (
        SELECT t."id", ${reader.select} AS "row"
        FROM (SELECT * FROM ${from} WHERE ${where} ${behind} ORDER BY ${id} ${bounds}) ${toRecords}
        JOIN "Store" s ON s."id" = t."storeId") p`)
    const rows = found?.page ? (JSON.parse(found.page) as Row[]) : []
    const next = found && rows.length > limit ? String(found.highest - 1) : null
    return { rows: rows.slice(0, limit), next }
  }
}

/** The rows by which the records of a list are chosen. */
interface Choice {
  readonly from: Sql
  /** A record's id. */
  readonly id: Sql
  readonly where: Sql
  /** Follows the chosen rows and gives the records as `t`. */
  readonly toRecords: Sql
}

function records(caller: Caller, { table }: Resource, conditions: readonly Sql[]): Choice {
  const where = allOf([sql`t."storeId" = ${caller.store.id}::int`, ...conditions])
  return { from: sql`${named(table)} t`, id: sql`t."id"`, where, toRecords: sql`t` }
}

/**
 * A list that nothing narrows but a link is read from the link's own rows, in the order of an index, and only the records of
 * the page are looked up: a join would leave it to PostgreSQL's statistics whether it walks through all records of the store
 * instead. OFFSET 0 keeps the look-up apart, and `storeId` keeps the store's id from the planner.
 */
function linkedIds({ store }: Caller, { table: target }: Resource, { link, id }: Linked): Choice {
  const [table, record, column] = [named(link.table), named(link.record), named(link.column)]
  return {
    from: sql`${table} l`,
    id: sql`l.${record}`,
    where: sql`l."storeId" = ${storeId(store)} AND l.${column} = ${id}::int`,
    toRecords: sql`l
        JOIN LATERAL (SELECT * FROM ${named(target)} t
          WHERE t."storeId" = ${storeId(store)} AND t."id" = l.${record} OFFSET 0) t ON true`,
  }
}

/**
 * With a limit that it does not know, PostgreSQL plans a page anew each time, which takes as long as to read ten products.
 * So the usual sizes of a page are part of the statement; few, since prepared statements are.
 */
const plannedLimits = new Set([LIMIT_DEFAULT, 50, 100, 200, 300, 500])

function queryConditions(caller: Caller, resource: Resource, filters: Filters, query: Query): Sql[] {
  const conditions: Sql[] = []
  const id = query.get(resource.idParam)
  if (id !== undefined && !Object.hasOwn(filters, resource.idParam)) {
    conditions.push(sql`t."id" = ${identifier(id, resource.idParam)}::int`)
  }
  for (const [name, filter] of Object.entries(filters)) {
    const given = query.get(name)
    const condition = given === undefined ? null : filter.read(given, name, caller.store)
    if (condition !== null) conditions.push(condition)
  }
  return conditions
}

function isCountOnly(query: Query): boolean {
  const given = query.get('countonly') ?? ''
  const folded = given.trim().toLowerCase()
  if (['', '0', '-1', 'false'].includes(folded)) return false
  if (['1', 'true'].includes(folded)) return true
  throw invalid('countonly', given, 'must be 1 or true for the number alone; 0, -1 or false for the records')
}

/** `offset` counts from 1, and 0 equals 1 (rest-resources 0.5). The result counts from 0. */
export function pageOf(
  query: Query,
  maxRecords: number,
  limitDefault = LIMIT_DEFAULT,
): { limit: number; offset: number } {
  return { limit: limitOf(query, maxRecords, limitDefault), offset: Math.max(0, boundOf(query, 'offset') - 1) }
}

/** `limit`: cut to the cap; the default where it is absent, 0 or negative (rest-resources 0.5). */
export function limitOf(query: Query, maxRecords: number, limitDefault: number): number {
  const limit = boundOf(query, 'limit')
  return Math.min(limit > 0 ? limit : limitDefault, maxRecords)
}

/** No store has as many records as 32 bits count: beyond them every number means the same. */
function boundOf(query: Query, name: 'limit' | 'offset'): number {
  const given = query.get(name) ?? '0'
  if (!/^[+-]?\d+$/.test(given.trim())) throw invalid(name, given, 'must be a whole number')
  return Math.max(-INT32_MAX, Math.min(Number(given), INT32_MAX))
}
