import { queryRows } from '../database/client.ts'
import { constant, empty, identifier, join, type Sql, sql, storeId } from '../database/sql.ts'
import { StoreFailure } from '../values/failure.ts'
import { INT32_MAX } from '../values/int32.ts'
import type { Caller, CallerStore } from './caller.ts'
import type { ProjectedSubResource, RelatedSubResource, Resource } from './define.ts'
import { type Filters, readId, wrongParameter } from './filters.ts'
import { isTableLink, type Link, linkedTo, type TableLink } from './links.ts'
import { isLarge, readWithin, type Sized, sized, within } from './page-size.ts'
import type { Reader, Selected, WireRecord } from './reader.ts'

/** Query parameters by lower-case name; empty ones are omitted. */
export type Query = ReadonlyMap<string, string>

/** A page of records, or their number if `countonly` was requested. */
export type Listing = Page | { count: number }

export interface Page {
  /** The JSON text of each record. */
  readonly records: readonly string[]
  /** The `cursor` of the next page; null on the last page. */
  readonly next: string | null
  /** The number of all matches; null if not requested. */
  readonly total: number | null
}

export interface ListOptions {
  /** Also counts all matches, which doubles the cost. */
  readonly counted?: boolean
}

/** The documented default of `limit` (rest-resources §0.5). */
export const LIMIT_DEFAULT = 10

/**
 * Lists a service's records by identifier, filtered and paged by the query (rest-resources §0.5): by `offset`, or by
 * `cursor`, which continues after the last record of a page regardless of inserts and deletes in between. Throws
 * `not-found` if nothing matches, `bad-request` past the end and for invalid parameters.
 */
export function listRecords(
  caller: Caller,
  resource: Resource,
  query: Query,
  options: ListOptions = {},
): Promise<Listing> {
  return list(caller, resource, resource, query, options)
}

/** The source of a list. */
interface Source {
  readonly reader: Reader
  readonly filters: Filters
  /** Only the records that refer to this one. */
  readonly linked?: { readonly link: Link; readonly id: number }
  /** Only this record. */
  readonly id?: number | null
}

/**
 * Reads at most `limit` records that match `query` by these filters, ordered by identifier, from `offset` on (from 0).
 * Returns none past the end.
 */
export async function readPage(
  caller: Caller,
  resource: Resource,
  source: Source,
  { query, limit, offset }: { query: Query; limit: number; offset: number },
): Promise<readonly WireRecord[]> {
  const choice = choose(caller, resource, source, query)
  const { select, record } = source.reader
  const { records } = await readRows(caller, choice, { limit, offset, after: 0 }, { select, write: record })
  return records
}

export function countRecords(caller: Caller, resource: Resource, query: Query): Promise<number> {
  return count(caller, choose(caller, resource, resource, query))
}

/** One record's JSON text. Throws `not-found`. */
export async function getRecord(caller: Caller, resource: Resource, id: number): Promise<string> {
  const text = await readOne(caller, resource, resource.reader, id)
  if (text === null) throw notFound(resource, id)
  return text
}

/** A record as JSON text, as `reader` reads it; null for an unknown id. */
export async function readOne(caller: Caller, resource: Resource, reader: Reader, id: number): Promise<string | null> {
  const condition = recordCondition(caller, resource, id)
  // OFFSET 0 keeps PostgreSQL from writing the record once for each mention.
  const text = await readWithin(caller, { table: resource.table, limit: 1 }, async (room) => {
    const [found] = await queryRows<{ row: string }>(
      caller.db,
      sql`
      SELECT ${within(room, sql`r."row"`)} AS "row" FROM (
        SELECT ${reader.select}::text AS "row"
        FROM ${identifier(resource.table)} t JOIN "Store" s ON s."id" = t."storeId" WHERE ${condition} OFFSET 0) r`,
    )
    return sized(found?.row ?? null)
  })
  return text === null ? null : reader.compose(JSON.parse(text) as Selected)
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
  return list(caller, resource, { reader, filters: sub.filters, id }, query, options)
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
  const { reader, filters } = other
  return list(caller, other, { reader, filters, linked: { link: sub.link, id } }, query, options)
}

/** Lists a few records that no table holds, with the same paging. `matching` are all matches, by identifier. */
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

export async function exists(caller: Caller, resource: Resource, id: number): Promise<boolean> {
  const found = await queryRows(
    caller.db,
    sql`SELECT 1 FROM ${identifier(resource.table)} t WHERE ${recordCondition(caller, resource, id)}`,
  )
  return found.length > 0
}

/** Matches one record, if the caller may know of it, as a condition over `t`. */
export function recordCondition(caller: Caller, resource: Resource, id: number): Sql {
  const record = sql`t."storeId" = ${caller.store.id}::int AND t."id" = ${id}::int`
  return join([record, ...owned(caller, resource)], ' AND ')
}

function owned(caller: Caller, { owner }: Resource): Sql[] {
  const condition = owner?.(caller) ?? null
  return condition === null ? [] : [condition]
}

/** The id of the record with this alternate key (a product's SKU), ignoring case; null if none. */
export async function findByAlternateKey(caller: Caller, resource: Resource, text: string): Promise<number | null> {
  const [found] = await queryRows<{ id: number }>(
    caller.db,
    sql`
    SELECT t."id" FROM ${identifier(resource.table)} t
    WHERE t."storeId" = ${caller.store.id}::int AND lower(t.${identifier(resource.alternateKey ?? '')}) = lower(${text})`,
  )
  return found?.id ?? null
}

export function notFound(resource: Resource, id: number): StoreFailure {
  return new StoreFailure('not-found', `There is no ${resource.typeName} ${id}`, { field: String(id) })
}

async function list(
  caller: Caller,
  resource: Resource,
  source: Source,
  query: Query,
  { counted = false }: ListOptions,
): Promise<Listing> {
  const choice = choose(caller, resource, source, query)
  if (isCountOnly(query)) return { count: await count(caller, choice) }
  const { limit, offset } = pageOf(query, resource.maxRecords)
  const after = cursorOf(query)
  const { select, compose } = source.reader
  const { records, next } = await readRows(caller, choice, { limit, offset, after }, { select, write: compose })
  // A client that follows cursors to the end gets an empty page, not an error.
  if (records.length === 0 && after === 0) throw emptyPage(offset, offset === 0 ? 0 : await count(caller, choice))
  return { records, next, total: counted ? await count(caller, choice) : null }
}

/** The id that the page begins after; 0 without a cursor. */
function cursorOf(query: Query): number {
  const given = cursorIn(query)
  return given === null ? 0 : readId(given, 'cursor')
}

/** Null without a cursor. Throws `bad-request` together with `offset`, because they contradict each other. */
export function cursorIn(query: Query): string | null {
  const given = query.get('cursor') ?? null
  if (given !== null && query.has('offset')) {
    throw new StoreFailure('bad-request', 'cursor and offset cannot be given together', { field: 'cursor' })
  }
  return given
}

/** The refusal of an empty page: 404 if nothing matches, 400 past the last match, with the text that clients know. */
export function emptyPage(offset: number, count: number): StoreFailure {
  if (offset === 0 || count === 0) return new StoreFailure('not-found', 'No records match')
  return new StoreFailure('bad-request', 'Offset amount exceeds the total number of records', { field: 'offset' })
}

/** The rows from which the records of a list are chosen. */
interface Choice {
  /** The table of the records. */
  readonly table: string
  readonly from: Sql
  /** A record's id. */
  readonly id: Sql
  readonly where: Sql
  /** Joined to the chosen rows; provides the records as `t`. */
  readonly toRecords: Sql
  /** The store whose records they all are; null: only some are chosen. */
  readonly allOf: CallerStore | null
}

function choose(caller: Caller, resource: Resource, { filters, linked, id = null }: Source, query: Query): Choice {
  const asked = [...owned(caller, resource), ...queryConditions(caller, resource, filters, query)]
  if (linked && isTableLink(linked.link) && asked.length === 0) {
    return linkedRows(caller, resource, linked.link, linked.id)
  }
  const { table } = resource
  const conditions = [
    ...(id === null ? [] : [sql`t."id" = ${id}::int`]),
    ...(linked ? [linkedTo(linked.link, caller.store, linked.id)] : []),
    ...asked,
  ]
  const where = join([sql`t."storeId" = ${caller.store.id}::int`, ...conditions], ' AND ')
  const allOf = conditions.length === 0 ? caller.store : null
  return { table, from: sql`${identifier(table)} t`, id: sql`t."id"`, where, toRecords: sql`t`, allOf }
}

/**
 * Reads a list restricted only by a link from the link's rows, in index order, and looks up only the records of the
 * page. With a join, PostgreSQL's statistics would decide whether to scan all records of the store. OFFSET 0 keeps the
 * look-up separate, and `storeId` hides the store's id from the planner.
 */
function linkedRows({ store }: Caller, { table: target }: Resource, link: TableLink, id: number): Choice {
  const [table, record, column] = [identifier(link.table), identifier(link.record), identifier(link.column)]
  return {
    table: target,
    from: sql`${table} l`,
    id: sql`l.${record}`,
    where: sql`l."storeId" = ${storeId(store)} AND l.${column} = ${id}::int`,
    toRecords: sql`l
        JOIN LATERAL (SELECT * FROM ${identifier(target)} t
          WHERE t."storeId" = ${storeId(store)} AND t."id" = l.${record} OFFSET 0) t ON true`,
    allOf: null,
  }
}

/** Exact. The number of all records is kept, so that nobody walks through a store to count them. */
async function count({ db }: Caller, { table, from, where, allOf }: Choice): Promise<number> {
  const counted =
    allOf === null
      ? sql`SELECT count(*)::int AS "count" FROM ${from} WHERE ${where}`
      : sql`SELECT sum("count")::int AS "count" FROM "RecordCount" WHERE "storeId" = ${allOf.id}::int AND "table" = ${table}`
  const [row] = await queryRows<{ count: number | null }>(db, counted)
  return row?.count ?? 0
}

/**
 * Chooses the page before any join, so that skipped rows cost little, and returns it as one value, because each value
 * returned has a cost. One row more than requested shows whether a next page exists and where it begins. (Compared with
 * alternatives: docs/decisions/sync.md.)
 */
async function readRows<T>(
  caller: Caller,
  { table, from, id, where, toRecords }: Choice,
  { limit, offset, after }: { limit: number; offset: number; after: number },
  { select, write }: { select: Sql; write: (row: Selected) => T },
): Promise<Written<T>> {
  // Omitted on the first page, where it would only change PostgreSQL's row estimates.
  const behind = after === 0 ? empty : sql`AND ${id} > ${after}::int`
  const isPlannedOnce = where.values.length === 1 && offset === 0 && plannedLimits.has(limit)
  const bounds = isPlannedOnce
    ? sql`LIMIT ${constant(limit + 1)}`
    : sql`LIMIT ${limit}::int + 1 OFFSET ${offset}::bigint`
  const found = sql`
    FROM (SELECT * FROM ${from} WHERE ${where} ${behind} ORDER BY ${id} ${bounds}) ${toRecords}
    JOIN "Store" s ON s."id" = t."storeId"`
  const source = { limit, select, found, write }
  return readWithin(caller, { table, limit }, (room) =>
    isLarge(room) ? readEach(caller, source, room) : readTogether(caller, source, room),
  )
}

interface RowsSource<T> {
  readonly limit: number
  readonly select: Sql
  /** Finds one row more than `limit`, if there is one. */
  readonly found: Sql
  readonly write: (row: Selected) => T
}

interface Written<T> {
  readonly records: readonly T[]
  readonly next: string | null
}

async function readTogether<T>({ db }: Caller, source: RowsSource<T>, room: number | null): Promise<Sized<Written<T>>> {
  const { select, found } = source
  const [together] = await queryRows<{ page: string | null; highest: number }>(
    db,
    sql`
    SELECT ${within(room, sql`a."page"`)} AS "page", a."highest" FROM (
      SELECT json_agg(p."row" ORDER BY p."id")::text AS "page", max(p."id") AS "highest" FROM (
        SELECT t."id", ${select} AS "row" ${found}) p) a`,
  )
  const { bytes, value } = sized(together?.page ?? null)
  if (value === undefined) return { bytes }
  const rows = value === null ? [] : (JSON.parse(value) as Selected[])
  return { bytes, value: writeRows(rows, together?.highest ?? 0, source.limit, source.write) }
}

/** The rows of a large page one by one: as one value, they would be in memory four times. */
async function readEach<T>({ db }: Caller, source: RowsSource<T>, room: number): Promise<Sized<Written<T>>> {
  const { select, found, limit, write } = source
  // OFFSET 0 keeps PostgreSQL from writing the record once for each mention.
  const rows = await queryRows<{ id: number; row: string | null; bytes: number }>(
    db,
    sql`
    SELECT q."id", CASE WHEN q."bytes" <= ${room}::int THEN q."row" END AS "row", q."bytes" FROM (
      SELECT p.*, LEAST(sum(octet_length(p."row")) OVER (), ${INT32_MAX}::int)::int AS "bytes" FROM (
        SELECT t."id", ${select}::text AS "row" ${found} OFFSET 0) p) q
    ORDER BY q."id"`,
  )
  const { bytes } = rows[0] ?? { bytes: 0 }
  if (bytes > room) return { bytes }
  const value = writeRows(rows, rows.at(-1)?.id ?? 0, limit, (one) => {
    const record = write(JSON.parse(one.row ?? '') as Selected)
    // Collected while the others are written.
    one.row = null
    return record
  })
  return { bytes, value }
}

/** `rows` may have one more than `limit`, which has the highest id and begins the next page. */
function writeRows<Row, T>(rows: readonly Row[], highest: number, limit: number, write: (row: Row) => T): Written<T> {
  const next = rows.length > limit ? String(highest - 1) : null
  return { records: rows.slice(0, limit).map((row) => write(row)), next }
}

/**
 * Limits written into the statement. PostgreSQL plans a page anew each time if its limit is a parameter, which takes as
 * long as reading ten products. Only the usual sizes, because prepared statements are limited.
 */
const plannedLimits = new Set([LIMIT_DEFAULT, 50, 100, 200, 300, 500])

function queryConditions(caller: Caller, resource: Resource, filters: Filters, query: Query): Sql[] {
  const conditions: Sql[] = []
  const id = query.get(resource.idParam)
  if (id !== undefined && !Object.hasOwn(filters, resource.idParam)) {
    conditions.push(sql`t."id" = ${readId(id, resource.idParam)}::int`)
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
  throw wrongParameter('countonly', given, 'must be 1 or true for the number alone; 0, -1 or false for the records')
}

/** `offset` counts from 1, and 0 equals 1 (rest-resources §0.5). The result counts from 0. */
export function pageOf(
  query: Query,
  maxRecords: number,
  limitDefault = LIMIT_DEFAULT,
): { limit: number; offset: number } {
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
