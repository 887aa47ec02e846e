import { isClient, rowsInTurn } from '../../database/client.ts'
import { anyOf, constant, empty, identifier, type Sql, sql } from '../../database/sql.ts'
import { bytesInFlight } from '../../process/bytes-in-flight.ts'
import { INT32_MAX } from '../../values/int32.ts'
import type { Caller, CallerStore } from '../caller.ts'
import type { Selected } from '../definition/reader.ts'
import {
  type KeptRepresentations,
  keptFor,
  type MadeRecord,
  opener,
  type Representation,
  type Version,
} from '../definition/representations.ts'
import { isLarge, readWithin, type Sized, sized, within } from './page-size.ts'
import { type Bounds, LIMIT_DEFAULT } from './paging.ts'

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
  /** Whether bounds of numbers or dates restrict them. */
  readonly isBounded: boolean
}

/**
 * What a chosen record `t` consists of. Its version is the number of the transaction that wrote the row, since whoever changes
 * rows of a record's lists writes its own row too.
 */
export const recordColumns = sql`t.*, t.xmin AS "rowVersion"`

/** The rows of a page. */
interface Chosen {
  readonly table: string
  /** Provides the records as `t`. */
  readonly records: Sql
}

/** Records and the cursor of the next page. */
export interface Rows<Made> {
  /** The number of records. */
  readonly size: number
  /** Unpacks what is kept of them, which a page that is kept as a whole need not wait for. */
  readonly records: () => readonly Made[]
  readonly next: string | null
  /** Names the records and their versions: equal names, equal records. Null: not known. */
  readonly name: string | null
}

/** Bytes of the rows of a page that is kept. */
const KEPT_PAGE_MAX = 4 * 1024 * 1024

/** What a statement read. The highest record may be one more than were asked for, which begins the next page. */
interface Found {
  readonly ids: readonly number[]
  readonly versions: readonly string[]
  readonly referenced: string
  /** As PostgreSQL wrote it: ids and versions. */
  readonly text: string
}

interface FoundRows extends Found {
  /** Of all rows as PostgreSQL wrote them. */
  readonly bytes: number
  /** The record at a place, which is asked for once. */
  readonly rowAt: (place: number) => Selected
}

/**
 * Reads a page of the chosen records, ordered by id. Of what is kept, it uses what has the version that the database names in
 * the same statement that chooses the page, so that nothing is older than that statement.
 */
export async function readRecords<Made>(
  caller: Caller,
  choice: Choice,
  bounds: Bounds,
  as: Representation<Made>,
): Promise<Rows<Made>> {
  const kept = keptFor(caller, as)
  const scope = kept?.scopeOf(caller, as) ?? ''
  const chosen = await chosenRows(caller, choice, bounds)
  if (kept?.isUseful(scope)) {
    const page = await readKept(caller, kept, chosen, bounds, as)
    if (page !== null) return page
  }
  return readRows(caller, { ...chosen, limit: bounds.limit, select: as.select }, (found) => {
    // A page that is very large would leave room for nothing else.
    const keeping = found.bytes > KEPT_PAGE_MAX ? null : kept
    const open = opener()
    const made: MadeRecord<Made>[] = []
    const records = pageOf(found, bounds.limit).map((id, place) => {
      const version = versionAt(found, place)
      const record = keeping?.record<Made>(scope, id)
      return isOf(record, version) ? open(record) : make(made, as, id, version, found.rowAt(place))
    })
    const added = keeping?.keepRecords(scope, made, as) ?? 0
    keeping?.note(scope, records.length - made.length + added, records.length)
    const name = keeping === null ? null : nameOf(found, bounds)
    return { size: records.length, records: () => records, next: nextOf(found, bounds.limit), name }
  })
}

/** Asks which records there are, and reads those that are not kept. Null: too few are, or one is being changed. */
async function readKept<Made>(
  caller: Caller,
  kept: KeptRepresentations,
  chosen: Chosen,
  bounds: Bounds,
  as: Representation<Made>,
): Promise<Rows<Made> | null> {
  const scope = kept.scopeOf(caller, as)
  const found = await readVersions(caller, chosen)
  const page = pageOf(found, bounds.limit)
  const known = page.map((id, place) => {
    const record = kept.record<Made>(scope, id)
    return isOf(record, versionAt(found, place)) ? record : undefined
  })
  const missing = page.filter((_id, place) => known[place] === undefined)
  kept.note(scope, page.length - missing.length, page.length)
  if (!kept.isUseful(scope)) return null
  const opened = () => {
    const open = opener()
    return known.map((record) => record && open(record))
  }
  const rows = { size: page.length, next: nextOf(found, bounds.limit), name: nameOf(found, bounds) }
  if (missing.length === 0) return { ...rows, records: () => opened() as Made[] }
  const records = opened()
  if (!(await addMissing(caller, kept, chosen, as, { found, records, missing }))) return null
  return { ...rows, records: () => records as Made[] }
}

/** Reads the missing records. False: not all of them have the version that was found. */
async function addMissing<Made>(
  caller: Caller,
  kept: KeptRepresentations,
  { table }: Chosen,
  as: Representation<Made>,
  { found, records, missing }: { found: Found; records: (Made | undefined)[]; missing: readonly number[] },
): Promise<boolean> {
  const scope = kept.scopeOf(caller, as)
  const source = { table, limit: missing.length, select: as.select, records: rowsById(caller, table, missing) }
  return readRows(caller, source, (read) => {
    const made: MadeRecord<Made>[] = []
    let added = 0
    for (const [place, id] of read.ids.entries()) {
      const version = versionAt(read, place)
      const record = make(made, as, id, version, read.rowAt(place))
      const at = found.ids.indexOf(id)
      if (!isOf(version, versionAt(found, at))) continue
      records[at] = record
      added++
    }
    kept.keepRecords(scope, made, as)
    return added === missing.length
  })
}

/** Makes a record and adds it to those that were made. */
function make<Made>(
  all: MadeRecord<Made>[],
  as: Representation<Made>,
  id: number,
  { row: version, referenced }: Version,
  row: Selected,
): Made {
  const made = as.make(row)
  all.push({ id, row: version, referenced, made })
  return made
}

function isOf<V extends Version>(kept: V | undefined, { row, referenced }: Version): kept is V {
  return kept !== undefined && kept.row === row && kept.referenced === referenced
}

function versionAt({ versions, referenced }: Found, place: number): Version {
  return { row: versions[place] ?? '', referenced }
}

function pageOf({ ids }: Found, limit: number): readonly number[] {
  return ids.length > limit ? ids.slice(0, limit) : ids
}

function nextOf({ ids }: Found, limit: number): string | null {
  return ids.length > limit ? String((ids.at(-1) as number) - 1) : null
}

function nameOf({ text, referenced }: Found, { limit }: Bounds): string {
  return `${limit} ${referenced} ${text}`
}

/**
 * Chooses the page before any join, so that skipped rows cost little. One row more than requested shows whether a next page
 * exists and where it begins. (Compared with alternatives: docs/decisions/sync.md.)
 */
function orderedRows({ columns, from, id, where, toRecords }: Choice, { limit, offset, after }: Bounds): Sql {
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
 * The rows of a page. PostgreSQL takes it that what lies within bounds lies evenly among all records, and would look for a page in
 * the order of ids; but the orders since yesterday are the last of the store. So it may do that only where a page is among the
 * first records. (docs/decisions/sync.md)
 */
async function chosenRows(caller: Caller, choice: Choice, page: Bounds): Promise<Chosen> {
  const { table, isBounded } = choice
  const isGathered = isBounded && !(await isAmongFirst(caller, choice, page))
  return { table, records: isGathered ? gatheredRows(caller, choice, page) : orderedRows(choice, page) }
}

async function isAmongFirst(
  caller: Caller,
  { from, id, where }: Choice,
  { limit, offset, after }: Bounds,
): Promise<boolean> {
  const [found] = await rowsInTurn<{ count: number }>(
    caller,
    sql`
    SELECT count(*)::int AS "count" FROM (
      SELECT FROM (
        SELECT * FROM ${from} WHERE t."storeId" = ${caller.store.id}::int AND ${id} > ${after}::int
        ORDER BY ${id} LIMIT ${LOOKED_AT * (limit + 1)}::int) t
      WHERE ${where} LIMIT ${offset + limit + 1}::bigint) matches`,
  )
  return (found?.count ?? 0) > offset + limit
}

/** Takes the ids of all matches from an index, and sorts those. OFFSET 0 hides from PostgreSQL that few of them are wanted. */
function gatheredRows(
  { store }: Caller,
  { table, columns, from, id, where }: Choice,
  { limit, offset, after }: Bounds,
): Sql {
  return sql`(SELECT r.* FROM (
      SELECT "id" FROM (SELECT t."id" FROM ${from} WHERE ${where} AND ${id} > ${after}::int OFFSET 0) matches
      ORDER BY "id" LIMIT ${limit}::int + 1 OFFSET ${offset}::bigint) page
    CROSS JOIN LATERAL (
      SELECT ${columns} FROM ${identifier(table)} t WHERE t."storeId" = ${store.id}::int AND t."id" = page."id" OFFSET 0) r) t`
}

function rowsById({ store }: Caller, table: string, ids: readonly number[]): Sql {
  return sql`(SELECT ${recordColumns} FROM ${identifier(table)} t
    WHERE t."storeId" = ${store.id}::int AND t."id" = ${anyOf(ids)}) t`
}

/**
 * Limits written into the statement. PostgreSQL plans a page anew each time if its limit is a parameter, which takes as
 * long as reading ten products. Only the usual sizes, because prepared statements are limited.
 */
const plannedLimits = new Set([LIMIT_DEFAULT, 50, 100, 200, 300, 500])

/** The version of everything that records of the store show of others. */
export function referencedVersion({ store }: Caller): Sql {
  return sql`(SELECT coalesce(sum(v."version"), 0)::text FROM "ReferencedVersion" v WHERE v."storeId" = ${store.id}::int)`
}

const namesOfRows = (row: Sql, version: Sql) =>
  sql`string_agg(${row}."id" || ' ' || ${version}::text, ' ' ORDER BY ${row}."id")`

function foundIn(text: string | null, referenced: string): Found {
  const parts = text?.split(' ') ?? []
  const ids: number[] = []
  const versions: string[] = []
  for (let place = 0; place < parts.length; place += 2) {
    ids.push(Number(parts[place]))
    versions.push(parts[place + 1] as string)
  }
  return { ids, versions, referenced, text: text ?? '' }
}

/** The records of a table that a caller may know of. */
export interface Owned {
  readonly table: string
  /** A condition over `t`; null: all of the store. */
  readonly owned: Sql | null
}

/**
 * Reads these records, by id; those that are not there are left out. In one statement, which returns the rows of those alone
 * that are not kept, unless they are large.
 */
export async function readByIds<Made>(
  caller: Caller,
  source: Owned,
  ids: readonly number[],
  as: Representation<Made>,
): Promise<ReadonlyMap<number, Made>> {
  const kept = keptFor(caller, as)
  const scope = kept?.scopeOf(caller, as) ?? ''
  const all = ids.map((id) => kept?.record<Made>(scope, id))
  const { referenced = '' } = all.find((record) => record !== undefined) ?? {}
  // Only what the statement is told of: it returns the rows of all others.
  const known = all.map((record) => (record?.referenced === referenced ? record : undefined))
  const versions = known.map((record) => record?.row ?? '')
  const found = await readUnlessKept(caller, source, { ids, versions, referenced }, as.select)
  if (found === null) return readEachById(caller, source, ids, as)
  const open = opener()
  const made: MadeRecord<Made>[] = []
  const records = new Map(
    found.ids.map((id, place): [number, Made] => {
      const version = versionAt(found, place)
      const record = known[ids.indexOf(id)]
      if (isOf(record, version)) return [id, open(record)]
      return [id, make(made, as, id, version, found.rows[made.length] as Selected)]
    }),
  )
  kept?.keepRecords(scope, made, as)
  return records
}

/** In a sub-select, which the planner cannot estimate: it keeps one plan, instead of planning each execution. */
function arrayOf(values: readonly (number | string)[]): Sql {
  return sql`(SELECT string_to_array(${values.join(',')}, ','))`
}

/** Reads which of these records there are, and the rows of those with another version. Null: they are large. */
async function readUnlessKept(
  caller: Caller,
  { table, owned }: Owned,
  { ids, versions, referenced }: { ids: readonly number[]; versions: readonly string[]; referenced: string },
  select: Sql,
): Promise<(Found & { readonly rows: readonly Selected[] }) | null> {
  const room = isClient(caller.db) ? bytesInFlight.largeMin : null
  const [one] = await rowsInTurn<{ page: string | null; found: string | null; referenced: string }>(
    caller,
    sql`
    SELECT ${within(room, sql`a."page"`)} AS "page", a."found", a."referenced" FROM (
      SELECT json_agg(p."row" ORDER BY p."id") FILTER (WHERE p."row" IS NOT NULL)::text AS "page",
        ${namesOfRows(sql`p`, sql`p."version"`)} AS "found", min(p."referenced") AS "referenced"
      FROM (
        SELECT t."id", t.xmin AS "version", v."referenced",
          CASE WHEN t.xmin::text = k."version" AND v."referenced" = ${referenced} THEN NULL ELSE ${select} END AS "row"
        FROM unnest(${arrayOf(ids)}::int[], ${arrayOf(versions)}) AS k ("id", "version")
        JOIN ${identifier(table)} t ON t."storeId" = ${caller.store.id}::int AND t."id" = k."id"
        JOIN "Store" s ON s."id" = t."storeId"
        CROSS JOIN (SELECT ${referencedVersion(caller)} AS "referenced") v
        WHERE ${owned ?? sql`TRUE`}) p) a`,
  )
  const { value } = sized(one?.page ?? null)
  if (value === undefined) return null
  const rows = value === null ? [] : (JSON.parse(value) as Selected[])
  return { ...foundIn(one?.found ?? null, one?.referenced ?? ''), rows }
}

async function readEachById<Made>(
  caller: Caller,
  { table }: Owned,
  ids: readonly number[],
  as: Representation<Made>,
): Promise<ReadonlyMap<number, Made>> {
  const kept = keptFor(caller, as)
  const scope = kept?.scopeOf(caller, as) ?? ''
  const records = new Map<number, Made>()
  for (const one of ids) {
    const source = { table, limit: 1, select: as.select, records: rowsById(caller, table, [one]) }
    const made = await readRows(caller, source, (read) => {
      const made: MadeRecord<Made>[] = []
      for (const [place, id] of read.ids.entries()) make(made, as, id, versionAt(read, place), read.rowAt(place))
      return made
    })
    kept?.keepRecords(scope, made, as)
    for (const { id, made: record } of made) records.set(id, record)
  }
  return records
}

/** One value for all records, because each value returned has a cost. */
async function readVersions(caller: Caller, { records }: Chosen): Promise<Found> {
  const [found] = await rowsInTurn<{ found: string | null; referenced: string }>(
    caller,
    sql`
    SELECT ${namesOfRows(sql`t`, sql`t."rowVersion"`)} AS "found", ${referencedVersion(caller)} AS "referenced"
    FROM ${records}`,
  )
  return foundIn(found?.found ?? null, found?.referenced ?? '')
}

interface RowsSource {
  readonly table: string
  /** About as many records. */
  readonly limit: number
  readonly select: Sql
  /** Provides the records as `t`. */
  readonly records: Sql
}

/** Reads the rows of records. `use` makes something of them while they have their turn, if they are large. */
function readRows<T extends object | boolean>(
  caller: Caller,
  { table, limit, select, records }: RowsSource,
  use: (found: FoundRows) => T,
): Promise<T> {
  const from = sql`FROM ${records} JOIN "Store" s ON s."id" = t."storeId"`
  return readWithin(caller, { table, limit }, async (room): Promise<Sized<T>> => {
    const read = isLarge(room) ? readEach(caller, select, from, room) : readTogether(caller, select, from, room)
    const { bytes, value } = await read
    return value === undefined ? { bytes } : { bytes, value: use({ ...value, bytes }) }
  })
}

/** The page as one value, because each value returned has a cost. */
async function readTogether(
  caller: Caller,
  select: Sql,
  from: Sql,
  room: number | null,
): Promise<Sized<Omit<FoundRows, 'bytes'>>> {
  const [together] = await rowsInTurn<{ page: string | null; found: string | null; referenced: string }>(
    caller,
    sql`
    SELECT ${within(room, sql`a."page"`)} AS "page", a."found", ${referencedVersion(caller)} AS "referenced" FROM (
      SELECT json_agg(p."row" ORDER BY p."id")::text AS "page", ${namesOfRows(sql`p`, sql`p."version"`)} AS "found" FROM (
        SELECT t."id", t."rowVersion" AS "version", ${select} AS "row" ${from}) p) a`,
  )
  const { bytes, value } = sized(together?.page ?? null)
  if (value === undefined) return { bytes }
  const rows = value === null ? [] : (JSON.parse(value) as Selected[])
  const found = foundIn(together?.found ?? null, together?.referenced ?? '')
  return { bytes, value: { ...found, rowAt: (place) => rows[place] as Selected } }
}

/** The rows of a large page one by one: as one value, they would be in memory four times. */
async function readEach(
  caller: Caller,
  select: Sql,
  from: Sql,
  room: number,
): Promise<Sized<Omit<FoundRows, 'bytes'>>> {
  // OFFSET 0 keeps PostgreSQL from writing the record once for each mention.
  const rows = await rowsInTurn<{ id: number; version: string; row: string | null; bytes: number; referenced: string }>(
    caller,
    sql`
    SELECT q."id", q."version"::text AS "version", CASE WHEN q."bytes" <= ${room}::int THEN q."row" END AS "row", q."bytes",
      ${referencedVersion(caller)} AS "referenced"
    FROM (
      SELECT p.*, LEAST(sum(octet_length(p."row")) OVER (), ${INT32_MAX}::int)::int AS "bytes" FROM (
        SELECT t."id", t."rowVersion" AS "version", ${select}::text AS "row" ${from} OFFSET 0) p) q
    ORDER BY q."id"`,
  )
  const { bytes, referenced } = rows[0] ?? { bytes: 0, referenced: '' }
  if (bytes > room) return { bytes }
  const rowAt = (place: number) => {
    const one = rows[place] as (typeof rows)[number]
    const row = JSON.parse(one.row ?? '') as Selected
    // Collected while the others are written.
    one.row = null
    return row
  }
  const ids = rows.map(({ id }) => id)
  const versions = rows.map(({ version }) => version)
  const text = rows.map(({ id, version }) => `${id} ${version}`).join(' ')
  return { bytes, value: { ids, versions, referenced, text, rowAt } }
}
