import { rowsInTurn } from '../../foundation/database/client.ts'
import { anyOf, constant, empty, identifier, join, type Sql, sql, storeId } from '../../foundation/database/sql.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import type { Caller } from '../caller.ts'
import type { JsonText, Query } from '../definition/endpoints.ts'
import { equalToId, type Filter, type Filters, readFilter } from '../definition/filters.ts'
import { isTableLink, type Link, linkedTo } from '../definition/links.ts'
import type { Reader } from '../definition/reader.ts'
import type { Projection, RelatedSubResource, Resource, SubProjection } from '../definition/resource.ts'
import { readOne } from './lanes.ts'
import { refuseTooLarge } from './page-size.ts'
import { boundsOf, emptyPage, isCountOnly, valuesIn } from './paging.ts'
import { jsonOf, type Representation } from './representations.ts'
import { type Choice, linkedRows, readByIds, readRecords, recordColumns } from './rows.ts'

/** A page of records, or their number if `countonly` was requested. */
export type Listing = RecordPage | { count: number }

export interface RecordPage {
  /** The JSON text of each record. */
  readonly records: readonly JsonText[]
  /** `records` are what was asked for by `ListOptions.as`, instead of JSON. */
  readonly isFormatted?: boolean
  /** The `cursor` of the next page; null on the last page. */
  readonly next: string | null
  /** The number of all matches; null if not requested. */
  readonly total: number | null
}

export interface ListOptions {
  /** Also counts all matches, which doubles the cost. */
  readonly counted?: boolean
  /** Asks for other texts than JSON, where the records come from the database. */
  readonly as?: ((keptAs: string | null, reader: Reader) => Representation<Buffer>) | undefined
}

/**
 * Lists a service's records by identifier, filtered and paged by the query (rest-resources §0.5): by `offset`, or by
 * `cursor`, which continues after the last record of a page regardless of inserts and deletes in between. Throws
 * `not-found` if nothing matches, a 400 past the end and for invalid parameters.
 */
export function listRecords(caller: Caller, resource: Resource, query: Query, options: ListOptions = {}) {
  return list(caller, resource, { ...resource, keptAs: resource.service }, query, options)
}

interface Source {
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
export async function readPage<Made extends object>(
  caller: Caller,
  resource: Resource,
  { as, filters }: { as: Representation<Made>; filters: Filters },
  { query, limit, offset }: { query: Query; limit: number; offset: number },
): Promise<readonly Made[]> {
  const choice = choose(caller, resource, { filters }, query)
  return (await readRecords(caller, choice, { limit, offset, after: 0 }, as)).records
}

export function countRecords(caller: Caller, resource: Resource, query: Query): Promise<number> {
  return count(caller, choose(caller, resource, resource, query))
}

/** Counts the matches up to `max` + 1, so that a count costs the same in a store of any size. */
export async function countUpTo(caller: Caller, resource: Resource, query: Query, max: number): Promise<number> {
  const choice = choose(caller, resource, resource, query)
  if (choice.allOf !== null) return count(caller, choice)
  // Of a limit in a parameter PostgreSQL takes a tenth of the matches, and a plan for any text then seems the cheapest: one that
  // collects all that holds "cotton" (170 ms in a million products) before it counts the first ten thousand (30 ms).
  const [row] = await rowsInTurn<{ count: number }>(caller)`
    SELECT count(*)::int AS "count" FROM (SELECT FROM ${choice.from} WHERE ${choice.where} LIMIT ${constant(max + 1)}) matches`
  return row?.count ?? 0
}

/** An order of records: by a column that an index holds after the store, or by id. */
export interface Order {
  readonly column: string
  /** Of the column, for comparing with the value that a page begins after. */
  readonly type: Sql
  readonly isDescending: boolean
}

/** Where a page in some order begins: after the record with this value and id. */
export interface Behind {
  readonly value: string
  readonly id: number
}

export interface OrderedPage {
  readonly records: readonly JsonText[]
  /** Null on the last page. */
  readonly next: Behind | null
}

interface OrderedBy {
  readonly order: Order
  readonly behind: Behind | null
  readonly limit: number
}

/** Lists the records that match the query by the service's filters, in the order of a column that is never NULL, then of ids. */
export async function listOrdered(caller: Caller, resource: Resource, query: Query, by: OrderedBy) {
  const { ids, next } = await findOrdered(caller, resource, { filters: resource.filters, query }, by)
  const read = await findJson(caller, resource, ids)
  return { records: ids.flatMap((id) => read.get(id) ?? []), next }
}

/** Finds the ids of those that match by these filters. */
export async function findOrdered(
  caller: Caller,
  resource: Resource,
  { filters, query }: { filters: Filters; query: Query },
  { order, behind, limit }: OrderedBy,
): Promise<{ readonly ids: readonly number[]; readonly next: Behind | null }> {
  const { from, where, isByItems } = choose(caller, resource, { filters }, query)
  const column = sql`t.${identifier(order.column)}`
  const [operator, direction] = order.isDescending ? [sql`<`, sql`DESC`] : [sql`>`, sql`ASC`]
  const start =
    behind === null
      ? empty
      : sql`AND (${column}, t."id") ${operator} (${behind.value}::text::${order.type}, ${behind.id}::int)`
  // Few records may have such items: OFFSET 0 takes those first, in place of walking through all in their order.
  const found = await rowsInTurn<{ id: number; value: string }>(caller)`
    SELECT t."id", to_json(t."by") #>> '{}' AS "value"
    FROM (SELECT t."id", ${column} AS "by" FROM ${from} WHERE ${where} ${start} ${isByItems ? sql`OFFSET 0` : empty}) t
    ORDER BY t."by" ${direction}, t."id" ${direction} LIMIT ${limit}::int + 1`
  const page = found.slice(0, limit)
  const last = page.at(-1)
  const next = found.length > limit && last !== undefined ? { value: last.value, id: last.id } : null
  return { ids: page.map(({ id }) => id), next }
}

/** One record's JSON text. Throws `not-found`. */
export async function getRecord(caller: Caller, resource: Resource, id: number): Promise<string> {
  return String(await getJson(caller, resource, id))
}

/** The same, or its UTF-8 bytes. */
export async function getJson(caller: Caller, resource: Resource, id: number): Promise<JsonText> {
  const found = await readOne(caller, resource, id, jsonOfRecords(resource))
  if (found === undefined) throw notFound(resource, id)
  return found
}

/** The JSON texts of these records, in this order, as they were at one moment. Throws `not-found` for the first that is missing. */
export async function getRecords(caller: Caller, resource: Resource, ids: readonly number[]): Promise<string[]> {
  const found = await findJson(caller, resource, ids)
  return ids.map((id) => {
    const text = found.get(id)
    if (text === undefined) throw notFound(resource, id)
    return String(text)
  })
}

/** The JSON texts of those of these records that there are. */
export function findJson(caller: Caller, resource: Resource, ids: readonly number[]) {
  return readByIds(caller, resource, ids, jsonOfRecords(resource))
}

/** Reads columns of these records, and members of their documents by their paths, as texts by id. Those that do not exist are missing. */
export async function readTexts(
  caller: Caller,
  resource: Resource,
  ids: readonly number[],
  stored: readonly (string | readonly string[])[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  if (ids.length === 0) return new Map()
  const textOf = (at: string | readonly string[]) =>
    typeof at === 'string' ? sql`t.${identifier(at)}::text` : sql`t."details" #>> ${`{${at.join(',')}}`}::text[]`
  const texts = stored.map((at) => sql`coalesce(${textOf(at)}, '')`)
  const named = [sql`t."storeId" = ${storeId(caller.store)}`, sql`t."id" = ${anyOf(ids)}`, ...owned(caller, resource)]
  const rows = await rowsInTurn<{ id: number; texts: string[] }>(caller)`
    SELECT t."id", json_build_array(${join(texts, ', ')}) AS "texts"
    FROM ${identifier(resource.table)} t WHERE ${join(named, ' AND ')}`
  return new Map(rows.map((row) => [row.id, row.texts]))
}

/** Lists an object inside the records, such as every product's SKUInfo, or what is worked out of them; `id` narrows to one record. */
export async function listProjection(
  caller: Caller,
  resource: Resource,
  sub: SubProjection,
  { query, id, options }: { query: Query; id: number | null; options: ListOptions },
): Promise<Listing> {
  return list(caller, resource, { ...projectionOf(resource, sub), filters: sub.filters, id }, query, options)
}

export function projectionOf({ service, projections }: Resource, sub: SubProjection): Projection {
  const found = projections.get(sub)
  if (!found) throw new Error(`${service} has no such projection`)
  return found
}

/** Lists the records of another service that belong to one record. */
export async function listRelated(
  caller: Caller,
  sub: RelatedSubResource,
  id: number,
  { query, filters, options }: { query: Query; filters: Filters; options: ListOptions },
): Promise<Listing> {
  const other = sub.resource()
  const { service: keptAs, reader } = other
  return list(caller, other, { keptAs, reader, filters, linked: { link: sub.link, id } }, query, options)
}

/** Lists a few records that no table holds, with the same paging, all without `limit`. `matching` are all matches, by identifier. */
export function listFixed(
  matching: readonly { id: number; text: string }[],
  maxRecords: number,
  query: Query,
  { counted = false }: ListOptions = {},
): Listing {
  if (isCountOnly(query)) return { count: matching.length }
  const { limit, offset, after } = boundsOf(query, maxRecords, maxRecords)
  const rest = matching.filter(({ id }) => id > after).slice(offset)
  if (rest.length === 0 && after === 0) throw emptyPage(offset, matching.length)
  const page = rest.slice(0, limit)
  const next = rest.length > limit ? String(page.at(-1)?.id) : null
  return { records: page.map(({ text }) => text), next, total: counted ? matching.length : null }
}

export async function exists(caller: Caller, resource: Resource, id: number): Promise<boolean> {
  return (await readTexts(caller, resource, [id], ['id'])).size > 0
}

function owned(caller: Caller, { owner }: Resource): Sql[] {
  const condition = owner?.(caller) ?? null
  return condition === null ? [] : [condition]
}

/** The ids of the records with these alternate keys (the SKUs of products), ignoring case. */
export function findByAlternateKeys(
  caller: Caller,
  { table, alternateKey = '', keyForms = (text) => [text] }: Resource,
  texts: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  return findByForms(texts, keyForms, async (forms) => {
    const found = await rowsInTurn<{ text: string; id: number }>(caller)`
    SELECT n."text", t."id" FROM json_array_elements_text(${JSON.stringify(forms)}::text::json) AS n ("text")
    JOIN ${identifier(table)} t ON t."storeId" = ${caller.store.id}::int AND lower(t.${identifier(alternateKey)}) = lower(n."text")`
    return new Map(found.map(({ text, id }) => [text, id]))
  })
}

/** What `find` finds of the forms of each text: that of the first one of which there is something. */
export async function findByForms<Found>(
  texts: readonly string[],
  formsOf: (text: string) => readonly string[],
  find: (forms: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): Promise<Map<string, Found>> {
  const forms = texts.map((text) => [text, formsOf(text)] as const)
  const found = await find([...new Set(forms.flatMap(([, each]) => each))])
  const first = forms.map(([text, each]) => [text, each.find((form) => found.has(form))] as const)
  return new Map(first.flatMap(([text, form]) => (form === undefined ? [] : [[text, found.get(form) as Found]])))
}

export function notFound({ typeName }: Pick<Resource, 'typeName'>, id: number): StoreFailure {
  return new StoreFailure('not-found', `There is no ${typeName} ${id}`, { field: String(id) })
}

function jsonOfRecords({ service, reader }: Resource): Representation<Buffer> {
  return jsonOf(service, reader)
}

async function list(
  caller: Caller,
  resource: Resource,
  { keptAs, reader, ...source }: Source & Pick<Projection, 'keptAs' | 'reader'>,
  query: Query,
  { counted = false, as }: ListOptions,
): Promise<Listing> {
  const choice = choose(caller, resource, source, query)
  if (isCountOnly(query)) return { count: await count(caller, choice) }
  const bounds = boundsOf(query, resource.maxRecords)
  const { offset, after } = bounds
  const { records, next } = await readRecords(caller, choice, bounds, (as ?? jsonOf)(keptAs, reader))
  // A client that follows cursors to the end gets an empty page, not an error.
  if (records.length === 0 && after === 0) throw emptyPage(offset, offset === 0 ? 0 : await count(caller, choice))
  refuseTooLarge(records.reduce((sum, { length }) => sum + length, 0))
  return { records, isFormatted: as !== undefined, next, total: counted ? await count(caller, choice) : null }
}

function choose(caller: Caller, resource: Resource, { filters, linked, id = null }: Source, query: Query): Choice {
  const read = queryConditions(caller, resource, filters, query)
  const asked = [...owned(caller, resource), ...read.conditions]
  if (linked && isTableLink(linked.link) && asked.length === 0) {
    return linkedRows(caller, resource, linked.link, linked.id)
  }
  const { table } = resource
  const named = id === null ? [] : [sql`t."id" = ${id}::int`]
  const conditions = [...named, ...(linked ? [linkedTo(linked.link, caller.store, linked.id)] : []), ...asked]
  const isBounded = !linked && id === null && read.isBounded
  const own = isBounded ? storeId(caller.store) : sql`${caller.store.id}::int`
  const where = join([sql`t."storeId" = ${own}`, ...conditions], ' AND ')
  const allOf = conditions.length === 0 ? caller.store : null
  return {
    table,
    columns: recordColumns,
    from: sql`${identifier(table)} t`,
    id: sql`t."id"`,
    where,
    toRecords: sql`t`,
    allOf,
    isBounded,
    isByItems: read.isByItems,
  }
}

/** The number of a store's records of a table, as triggers keep it: nobody walks through a store to count them. */
export function keptCount(storeId: number, table: string): Sql {
  return sql`(SELECT coalesce(sum("count"), 0)::int FROM "RecordCount" WHERE "storeId" = ${storeId}::int AND "table" = ${table})`
}

/** Exact. */
async function count(caller: Caller, { table, from, where, allOf }: Choice): Promise<number> {
  const counted =
    allOf === null
      ? sql`SELECT count(*)::int AS "count" FROM ${from} WHERE ${where}`
      : sql`SELECT ${keptCount(allOf.id, table)} AS "count"`
  const [row] = await rowsInTurn<{ count: number }>(caller)`${counted}`
  return row?.count ?? 0
}

/** `isBounded`: a bound, several values or what their items are restrict the records, so that their ids may lie anywhere. */
function queryConditions({ store }: Caller, { idParam }: Resource, filters: Filters, query: Query) {
  const conditions: Sql[] = []
  let [isBounded, isByItems] = [false, false]
  const take = (filter: Filter, name: string) => {
    if (!query.has(name)) return
    const { condition, isUnion } = readFilter(filter, name, valuesIn(query, name), store)
    if (condition === null) return
    conditions.push(condition)
    isByItems ||= filter.ofItems !== undefined
    isBounded ||= isByItems || filter.isBound === true || (isUnion && filter !== equalToId)
  }
  if (!Object.hasOwn(filters, idParam)) take(equalToId, idParam)
  for (const [name, filter] of Object.entries(filters)) take(filter, name)
  return { conditions, isBounded, isByItems }
}
