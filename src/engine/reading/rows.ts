import { rowsInTurn } from '../../foundation/database/client.ts'
import { anyOf, constant, empty, identifier, type Sql, sql, storeId } from '../../foundation/database/sql.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import type { Caller, CallerStore } from '../caller.ts'
import type { TableLink } from '../definition/links.ts'
import type { Selected } from '../definition/reader.ts'
import type { Resource } from '../definition/resource.ts'
import { readWithin } from './page-size.ts'
import { LIMIT_DEFAULT, type PageBounds } from './paging.ts'
import { keptFor, type Representation } from './representations.ts'

/** The rows from which the records of a list are chosen. */
export interface Choice {
  /** The table of the records. */
  readonly table: string
  /** The columns of `from` that `toRecords` needs. */
  readonly columns: Sql
  readonly from: Sql
  /** A record's id. */
  readonly id: Sql
  readonly where: Sql
  /** Joined to the chosen rows; provides the records as `t`, with `recordColumns`. */
  readonly toRecords: Sql
  /** The store whose records they all are; null: only some are chosen. */
  readonly allOf: CallerStore | null
  /** Whether bounds of numbers or dates, or what their items are, restrict them. */
  readonly isBounded: boolean
  /** Whether what their items are restricts them. */
  readonly isByItems: boolean
}

/**
 * What a chosen record `t` consists of. Its version is the number of the transaction that wrote the row, since whoever changes
 * rows of a record's lists writes its own row too.
 */
export const recordColumns = sql`t.*, t.xmin AS "rowVersion"`

export type Owned = Pick<Resource, 'table' | 'owner'>

/** Records to be read. */
interface Source {
  readonly table: string
  /** Provides the records as `t`. */
  readonly records: Sql
  /** How many are wanted. There may be one more, which begins the next page. */
  readonly limit: number
}

/** Reads a page of the chosen records, ordered by id, and the cursor of the next one. */
export async function readRecords<Made extends object>(
  caller: Caller,
  choice: Choice,
  bounds: PageBounds,
  as: Representation<Made>,
): Promise<{ records: readonly Made[]; next: string | null }> {
  const { table } = choice
  const { limit } = bounds
  const source = { table, records: await chosenRows(caller, choice, bounds), limit }
  const { names, records } = await readNamed(caller, source, as)
  const behind = names[limit]
  return { records, next: behind === undefined ? null : String(idIn(behind) - 1) }
}

/** Reads these records, by id; those that are not there, or not the caller's, are left out. */
export async function readByIds<Made extends object>(
  caller: Caller,
  { table, owner }: Owned,
  ids: readonly number[],
  as: Representation<Made>,
): Promise<ReadonlyMap<number, Made>> {
  if (ids.length === 0) return new Map()
  const source = { table, records: rowsById(caller, table, ids, owner?.(caller)), limit: ids.length }
  const { names, records } = await readNamed(caller, source, as)
  return new Map(records.map((record, place) => [idIn(names[place] ?? ''), record]))
}

/**
 * Reads records by id, with the names of their versions and of the next one. What is kept is used if it is of the versions that
 * the database names in the statement that chooses them, so that nothing is older than that statement; the others are read by a
 * second one.
 */
async function readNamed<Made extends object>(caller: Caller, source: Source, as: Representation<Made>) {
  const { table, limit } = source
  const kept = keptFor(caller, as)
  if (kept !== null) {
    const names = await readNames(caller, source)
    const page = names.slice(0, limit)
    const known = page.map(kept.get)
    const missing = page.filter((_name, place) => known[place] === undefined)
    if (missing.length === 0) return { names, records: known as Made[] }
    // Many are found as the page was: a table without statistics, such as one just filled, would be read whole for their ids.
    const isMost = missing.length * 2 > page.length
    const rest = { table, records: rowsById(caller, table, missing.map(idIn)), limit: missing.length }
    const read = await readRows(caller, isMost ? source : rest, as)
    for (const [name, record] of read) kept.set(name, record)
    const records = page.flatMap((name, place) => known[place] ?? read.get(name) ?? [])
    if (records.length === page.length) return { names, records }
    // One was changed between the two statements: what was chosen then is no longer what is there.
  }
  const all = await readRows(caller, source, as)
  return { names: [...all.keys()], records: [...all.values()].slice(0, limit) }
}

/** A record's id and version, and that of everything that it may show of others: equal names, equal records. */
function nameOf({ store }: Caller): Sql {
  return sql`t."id" || ' ' || t."rowVersion"::text || ' ' || (
    SELECT coalesce(sum(v."version"), 0) FROM "ReferencedVersion" v WHERE v."storeId" = ${store.id}::int)`
}

function idIn(name: string): number {
  return Number.parseInt(name, 10)
}

/** One value for all records, because each value returned has a cost. */
async function readNames(caller: Caller, { records }: Source): Promise<string[]> {
  const [found] = await rowsInTurn<{ names: string | null }>(caller)`
    SELECT string_agg(${nameOf(caller)}, ',' ORDER BY t."id") AS "names" FROM ${records}`
  return found?.names?.split(',') ?? []
}

/** Makes records of their rows, by name in the order of ids. The rows come one by one: as one value, they would be in memory four times. */
function readRows<Made>(caller: Caller, { table, records, limit }: Source, { select, make }: Representation<Made>) {
  return readWithin(caller, { table, limit }, async (room) => {
    // OFFSET 0 keeps PostgreSQL from writing the record once for each mention.
    const rows = await rowsInTurn<{ name: string; row: string | null; bytes: number }>(caller)`
      SELECT q."name", CASE WHEN q."bytes" <= ${room}::int THEN q."row" END AS "row", q."bytes" FROM (
        SELECT p.*, LEAST(sum(octet_length(p."row")) OVER (), ${constant(INT32_MAX)})::int AS "bytes" FROM (
          SELECT t."id", ${nameOf(caller)} AS "name", ${select}::text AS "row"
          FROM ${records} JOIN "Store" s ON s."id" = t."storeId" OFFSET 0) p) q
      ORDER BY q."id"`
    const bytes = rows[0]?.bytes ?? 0
    if (bytes > room) return { bytes }
    const made = rows.map((each): [string, Made] => {
      const row = JSON.parse(each.row ?? '') as Selected
      // Collected while the others are written.
      each.row = null
      return [each.name, make(row)]
    })
    return { bytes, value: new Map(made) }
  })
}

/**
 * Chooses the page before any join, so that skipped rows cost little. One row more than requested shows whether a next page
 * exists and where it begins. (Compared with alternatives: docs/decisions/sync.md.)
 */
function orderedRows({ columns, from, id, where, toRecords }: Choice, { limit, offset, after }: PageBounds): Sql {
  // Omitted on the first page, where it would only change PostgreSQL's row estimates.
  const behind = after === 0 ? empty : sql`AND ${id} > ${after}::int`
  const isPlannedOnce = where.values.length === 1 && offset === 0 && plannedLimits.has(limit)
  const bounds = isPlannedOnce
    ? sql`LIMIT ${constant(limit + 1)}`
    : sql`LIMIT ${limit}::int + 1 OFFSET ${offset}::bigint`
  return sql`(SELECT ${columns} FROM ${from} WHERE ${where} ${behind} ORDER BY ${id} ${bounds}) ${toRecords}`
}

/** Records that are looked at in the order of ids, for each one of the page. */
const LOOKED_AT = 100

/**
 * Reads a list restricted only by a link from the link's rows, in index order, and looks up only the records of the
 * page. With a join, PostgreSQL's statistics would decide whether to scan all records of the store. OFFSET 0 keeps the
 * look-up separate, and `storeId` hides the store's id from the planner.
 */
export function linkedRows({ store }: Caller, { table: target }: Resource, link: TableLink, id: number): Choice {
  const [table, record, column] = [identifier(link.table), identifier(link.record), identifier(link.column)]
  return {
    table: target,
    columns: sql`l.*`,
    from: sql`${table} l`,
    id: sql`l.${record}`,
    where: sql`l."storeId" = ${storeId(store)} AND l.${column} = ${id}::int`,
    toRecords: sql`l
        JOIN LATERAL (SELECT ${recordColumns} FROM ${identifier(target)} t
          WHERE t."storeId" = ${storeId(store)} AND t."id" = l.${record} OFFSET 0) t ON true`,
    allOf: null,
    isBounded: false,
    isByItems: false,
  }
}

/**
 * The rows of a page. PostgreSQL takes it that what lies within bounds lies evenly among all records, and would look for a page in
 * the order of ids; but the orders since yesterday are the last of the store. So it may do that only where a page is among the
 * first records. (docs/decisions/sync.md)
 */
async function chosenRows(caller: Caller, choice: Choice, page: PageBounds): Promise<Sql> {
  const isGathered = choice.isBounded && !(await isAmongFirst(caller, choice, page))
  return isGathered ? gatheredRows(caller, choice, page) : orderedRows(choice, page)
}

async function isAmongFirst(caller: Caller, { from, id, where }: Choice, { limit, offset, after }: PageBounds) {
  const [found] = await rowsInTurn<{ count: number }>(caller)`
    SELECT count(*)::int AS "count" FROM (
      SELECT FROM (
        SELECT * FROM ${from} WHERE t."storeId" = ${caller.store.id}::int AND ${id} > ${after}::int
        ORDER BY ${id} LIMIT ${LOOKED_AT * (limit + 1)}::int) t
      WHERE ${where} LIMIT ${offset + limit + 1}::bigint) matches`
  return (found?.count ?? 0) > offset + limit
}

/** Takes the ids of all matches from an index, and sorts those. OFFSET 0 hides from PostgreSQL that few of them are wanted. */
function gatheredRows(
  { store }: Caller,
  { table, columns, from, id, where }: Choice,
  { limit, offset, after }: PageBounds,
): Sql {
  return sql`(SELECT r.* FROM (
      SELECT "id" FROM (SELECT t."id" FROM ${from} WHERE ${where} AND ${id} > ${after}::int OFFSET 0) matches
      ORDER BY "id" LIMIT ${limit}::int + 1 OFFSET ${offset}::bigint) page
    CROSS JOIN LATERAL (
      SELECT ${columns} FROM ${identifier(table)} t WHERE t."storeId" = ${store.id}::int AND t."id" = page."id" OFFSET 0) r) t`
}

function rowsById({ store }: Caller, table: string, ids: readonly number[], owned: Sql | null = null): Sql {
  return sql`(SELECT ${recordColumns} FROM ${identifier(table)} t
    WHERE t."storeId" = ${store.id}::int AND t."id" = ${anyOf(ids)} AND ${owned ?? sql`TRUE`}) t`
}

/**
 * Limits written into the statement. PostgreSQL plans a page anew each time if its limit is a parameter, which takes as
 * long as reading ten products. Only the usual sizes, because prepared statements are limited.
 */
const plannedLimits = new Set([LIMIT_DEFAULT, 50, 100, 200, 300, 500])
