import { type Db, execute, queryRows } from '../../foundation/database/client.ts'
import { constant, empty, lines, type Sql, sql, storeId } from '../../foundation/database/sql.ts'
import { inBatches, type Sweep } from '../../foundation/database/sweeper.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { actorKind, type Caller } from '../caller.ts'
import type { ComparedChange, Difference } from './differences.ts'

// Who changed which fields of a record. Events tell programs what a record is; this tells people how it came to be so.

/** A record by its table, which names its service. */
export interface RecordName {
  readonly recordType: string
  readonly recordId: number
}

/** A change of a record that was made. */
export interface HistoryEntry extends RecordName {
  readonly id: number
  readonly kind: 'create' | 'update' | 'delete'
  readonly actorKind: ReturnType<typeof actorKind>
  readonly actor: string
  readonly at: Date
  readonly changed: readonly Difference[]
  /** How many more fields were changed than `changed` has. */
  readonly more: number
  /** The CSV import or bulk change that made it; null: none. */
  readonly importId: number | null
}

type Written = Pick<HistoryEntry, 'recordType' | 'recordId' | 'kind' | 'changed' | 'more'> & { readonly caller: Caller }

/**
 * Records changes in their transaction, in one statement. A change that leaves every field as it was is not recorded, nor is one
 * that the record's ledger tells whole.
 */
export async function recordHistory(changes: readonly ComparedChange[]): Promise<void> {
  const entries = changes.flatMap(({ kind, caller, resource, id, differences }): Written[] => {
    const name = { caller, recordType: resource.table, recordId: id }
    if (differences === null) return [{ ...name, kind: 'create', changed: [], more: 0 }]
    const { changed, more } = differences
    if (kind === 'delete') return [{ ...name, kind, changed, more }]
    return changed.length > 0 ? [{ ...name, kind: 'update', changed, more }] : []
  })
  await writeEntries(entries)
}

/** Records that the same value of these records was replaced: a reference, by the deletion of what it named. */
export async function recordReplaced(
  caller: Caller,
  recordType: string,
  recordIds: readonly number[],
  changed: readonly Difference[],
): Promise<void> {
  await writeEntries(recordIds.map((recordId) => ({ caller, recordType, recordId, kind: 'update', changed, more: 0 })))
}

async function writeEntries(entries: readonly Written[]): Promise<void> {
  const [first] = entries
  if (first === undefined) return
  // Changes of different callers that share a transaction are single ones, and part of nothing.
  const { db, store, now, importId = null } = first.caller
  const texts = (of: (entry: Written) => string | number) => lines(entries.map(of))
  await execute(db)`
    INSERT INTO "HistoryEntry" ("storeId", "at", "importId", "recordType", "recordId", "kind", "actorKind", "actor", "changed", "more")
    SELECT ${store.id}::int, ${now().toISOString()}::timestamptz, ${importId}::int, n.*
    FROM unnest(${texts(({ recordType }) => recordType)}, ${texts(({ recordId }) => recordId)}::int[],
      ${texts(({ kind }) => kind)}, ${texts(({ caller }) => actorKind(caller))},
      ${texts(({ caller }) => caller.actor.replace(/\n/g, ' '))},
      ${texts(({ changed }) => JSON.stringify(changed))}::json[], ${texts(({ more }) => more)}::int[]) n`
}

/** Who reads the history of a store. */
type Reader = Pick<Caller, 'db' | 'store'>

/** A page of at most `limit`, of what is older than the entry `before`; null: of all. */
interface PageBounds {
  readonly before: number | null
  readonly limit: number
}

export interface HistoryPage {
  readonly entries: readonly HistoryEntry[]
  /** The `before` of the next page; null: there is none. */
  readonly next: number | null
}

/** Returns a page of the entries of these records, newest first. */
export function listHistory(reader: Reader, records: readonly RecordName[], { before, limit }: PageBounds) {
  // Record by record, because a scan of the index has the entries of one record in order.
  const rows = sql`
    SELECT p.* FROM unnest(${lines(records.map(({ recordType }) => recordType))},
      ${lines(records.map(({ recordId }) => recordId))}::int[]) r ("type", "id")
    CROSS JOIN LATERAL (
      SELECT h.* FROM "HistoryEntry" h WHERE ${olderOf(reader, before)} AND h."recordType" = r."type" AND h."recordId" = r."id"
      ORDER BY h."id" DESC LIMIT ${constant(limit + 1)}) p`
  return readPage(reader, rows, limit)
}

/** Returns an entry of this record. Throws `not-found`. */
export function findEntry(reader: Reader, { recordType, recordId }: RecordName, id: number): Promise<HistoryEntry> {
  return readEntry(reader, id, sql`AND h."recordType" = ${recordType} AND h."recordId" = ${recordId}::int`)
}

async function readEntry(reader: Reader, id: number, condition = empty): Promise<HistoryEntry> {
  const own = sql`h."storeId" = ${storeId(reader.store)} AND h."id" = ${id}::bigint ${condition}`
  const [found] = await readEntries(reader, sql`SELECT h.* FROM "HistoryEntry" h WHERE ${own}`, 1)
  if (found === undefined) throw new StoreFailure('not-found', 'The history has no such entry any more')
  return found
}

/** Which changes of a store are asked for. */
export interface HistoryFilters {
  readonly actor: string | null
  readonly recordTypes: readonly string[] | null
  /** The wire path of a field or a list, without keys of items. */
  readonly field: string | null
  /** From this time on. */
  readonly since: Date | null
  /** Before this time. */
  readonly until: Date | null
}

/** What one request has changed of records of one service, or one import of any. */
export interface HistoryGroup {
  /** The last one. */
  readonly entry: HistoryEntry
  /** How many there are, by service and kind. Of an import, at most `COUNTED_MAX` together. */
  readonly counts: readonly {
    readonly recordType: string
    readonly kind: HistoryEntry['kind']
    readonly count: number
  }[]
  /** The differences of some of them. */
  readonly changed: readonly (readonly Difference[])[]
}

/** Entries of a store that a page looks through. */
const LOOKED_THROUGH_MAX = 5_000
/** Imports of a store that a page looks through. */
const IMPORTS_MAX = 5_000
/** Entries of an import that are counted, and among which a field is looked for. */
export const COUNTED_MAX = 10_000
/** Entries of a group whose differences are read. */
const SAMPLE = 5
/** Ids between entries of one request, because others are written at the same moment. */
const APART_MAX = 1_000

/**
 * The changes of all records of the store, as far as they fit: those of one request as one, and those of one import. A page may have few,
 * or none, and a next one, because it looks through a bounded number of entries.
 */
export async function listStoreHistory(reader: Reader, filters: HistoryFilters, { before, limit }: PageBounds) {
  const { since, until } = filters
  const last = until === null ? null : await firstIdFrom(reader, until)
  const start = before === null ? last : Math.min(before, last ?? before)
  const looked = lookedThrough(reader, start)
  const groups = groupsSql(reader, filters, { looked, start, limit })
  const [found, [end]] = await Promise.all([
    queryRows<{ id: number; counts: HistoryGroup['counts']; changed: HistoryGroup['changed'] }>(reader.db)`${groups}`,
    queryRows<{ id: number; at: Date }>(reader.db)`
      SELECT h."id"::float8 AS "id", h."at" ${looked} OFFSET ${constant(LOOKED_THROUGH_MAX - 1)} LIMIT 1`,
  ])
  const shown = found.slice(0, limit)
  const entries = await entriesOf(reader, shown)
  const isOver = end === undefined || (since !== null && end.at < since)
  return {
    groups: shown.flatMap(({ id, ...group }) => {
      const entry = entries.get(id)
      return entry === undefined ? [] : [{ entry, ...group }]
    }),
    next: found.length > limit ? (shown.at(-1)?.id ?? null) : isOver ? null : end.id,
  }
}

/** The entries `h` of single changes, newest first, among which those that began before `start` are. */
function lookedThrough({ store }: Reader, start: number | null): Sql {
  return sql`FROM "HistoryEntry" h WHERE h."storeId" = ${storeId(store)} AND h."importId" IS NULL
    ${start === null ? empty : sql`AND h."id" < ${start + APART_MAX}::bigint`} ORDER BY h."id" DESC`
}

/** The conditions of the filters on an entry `l`. */
function conditionsOf({ actor, since, until }: HistoryFilters): Sql {
  return sql`
    ${actor === null ? empty : sql`AND lower(l."actor") = lower(${actor})`}
    ${since === null ? empty : sql`AND l."at" >= ${since.toISOString()}::timestamptz`}
    ${until === null ? empty : sql`AND l."at" < ${until.toISOString()}::timestamptz`}`
}

function typesOf({ recordTypes }: Pick<HistoryFilters, 'recordTypes'>): Sql {
  return recordTypes === null ? sql`true` : sql`l."recordType" = ANY (${lines(recordTypes)})`
}

function hasField(field: string): Sql {
  return sql`EXISTS (
    SELECT FROM json_array_elements(l."changed") c, regexp_replace(c ->> 0, '\\[[^]]*\\]', '', 'g') AS path
    WHERE path = ${field}::text OR starts_with(path, ${`${field}.`}::text))`
}

/** Selects the groups that begin before `start`, one more than the page has where there is a next one. */
function groupsSql(
  { store }: Reader,
  filters: HistoryFilters,
  { looked, start, limit }: { looked: Sql; start: number | null; limit: number },
): Sql {
  const { field } = filters
  const own = sql`h."storeId" = ${storeId(store)}`
  const ofImport = sql`FROM "HistoryEntry" h WHERE ${own} AND h."importId" = i."importId" ORDER BY h."id" DESC`
  const begins = (id: Sql) => (start === null ? sql`true` : sql`${id} < ${start}::bigint`)
  return sql`
    WITH RECURSIVE looked AS MATERIALIZED (
      SELECT h.*, h."xmin"::text AS "transaction" ${looked} LIMIT ${constant(LOOKED_THROUGH_MAX)}),
    single AS (
      SELECT max(l."id") AS "id", (array_agg(l."changed" ORDER BY l."id" DESC))[1:${constant(SAMPLE)}] AS "changed",
        json_build_array(json_build_object('recordType', l."recordType", 'kind', l."kind", 'count', count(*))) AS "counts"
      FROM looked l
      WHERE ${typesOf(filters)} ${conditionsOf(filters)} ${field === null ? empty : sql`AND ${hasField(field)}`}
      GROUP BY l."transaction", l."at", l."actorKind", l."actor", l."recordType", l."kind"
      HAVING ${begins(sql`max(l."id")`)} ORDER BY 1 DESC LIMIT ${constant(limit + 1)}),
    import AS (
      (SELECT h."importId" FROM "HistoryEntry" h WHERE ${own} AND h."importId" IS NOT NULL ORDER BY h."importId" DESC LIMIT 1)
      UNION ALL
      SELECT (SELECT h."importId" FROM "HistoryEntry" h WHERE ${own} AND h."importId" < i."importId"
        ORDER BY h."importId" DESC LIMIT 1)
      FROM import i WHERE i."importId" IS NOT NULL),
    head AS (
      SELECT l."id", i."importId" FROM (SELECT * FROM import LIMIT ${constant(IMPORTS_MAX)}) i
      CROSS JOIN LATERAL (SELECT h.* ${ofImport} LIMIT 1) l
      WHERE ${begins(sql`l."id"`)} ${conditionsOf(filters)}
        AND l."id" >= coalesce((SELECT min("id") FROM looked HAVING count(*) = ${constant(LOOKED_THROUGH_MAX)}), 0)
      ORDER BY 1 DESC),
    whole AS (
      SELECT i."id", c."counts", ARRAY(SELECT h."changed" ${ofImport} LIMIT ${constant(SAMPLE)}) AS "changed"
      FROM head i CROSS JOIN LATERAL (
        SELECT json_agg(k) AS "counts" FROM (
          SELECT l."recordType", l."kind", count(*)
          FROM (SELECT h."recordType", h."kind" ${ofImport} LIMIT ${constant(COUNTED_MAX)}) l
          WHERE ${typesOf(filters)} GROUP BY 1, 2) k) c
      WHERE c."counts" IS NOT NULL ${
        field === null
          ? empty
          : sql`AND EXISTS (
          SELECT FROM (SELECT h."changed" ${ofImport} LIMIT ${constant(COUNTED_MAX)}) l WHERE ${hasField(field)})`
      }
      LIMIT ${constant(limit + 1)})
    SELECT g."id"::float8 AS "id", g."counts", to_json(g."changed") AS "changed"
    FROM (SELECT "id", "counts", "changed" FROM single UNION ALL SELECT "id", "counts", "changed" FROM whole) g
    ORDER BY g."id" DESC LIMIT ${constant(limit + 1)}`
}

async function entriesOf({ db, store }: Reader, named: readonly { readonly id: number }[]) {
  if (named.length === 0) return new Map<number, HistoryEntry>()
  const ids = lines(named.map(({ id }) => id))
  const rows = sql`SELECT h.* FROM "HistoryEntry" h WHERE h."storeId" = ${storeId(store)} AND h."id" = ANY (${ids}::bigint[])`
  return new Map((await readEntries({ db, store }, rows, named.length)).map((entry) => [entry.id, entry]))
}

/** The first id of an entry from this time on, or one between it and the entry before: ids follow the time. Null: there are no entries. */
async function firstIdFrom({ db, store }: Reader, time: Date): Promise<number | null> {
  const own = sql`h."storeId" = ${storeId(store)}`
  const [found] = await queryRows<{ id: number }>(db)`
    WITH RECURSIVE between AS (
      SELECT (SELECT h."id" FROM "HistoryEntry" h WHERE ${own} ORDER BY h."id" LIMIT 1) AS "from",
        (SELECT h."id" FROM "HistoryEntry" h WHERE ${own} ORDER BY h."id" DESC LIMIT 1) + 1 AS "to"
      UNION ALL
      SELECT CASE WHEN e."at" < t."at" THEN e."id" + 1 ELSE b."from" END, CASE WHEN e."at" < t."at" THEN b."to" ELSE (b."from" + b."to") / 2 END
      FROM between b CROSS JOIN (SELECT ${time.toISOString()}::timestamptz AS "at") t CROSS JOIN LATERAL (
        SELECT h."id", h."at" FROM "HistoryEntry" h WHERE ${own} AND h."id" >= (b."from" + b."to") / 2 ORDER BY h."id" LIMIT 1) e
      WHERE b."from" < b."to")
    SELECT "from"::float8 AS "id" FROM between WHERE "from" >= "to"`
  return found?.id ?? null
}

/** Returns a page of what the request, or the import, of this entry has changed, newest first. Throws `not-found`. */
export async function listChangesWith(
  reader: Reader,
  id: number,
  filters: Pick<HistoryFilters, 'recordTypes'>,
  { before, limit }: PageBounds,
): Promise<HistoryPage> {
  const { importId, at, actorKind: kindOfActor, actor, recordType, kind } = await readEntry(reader, id)
  const together =
    importId !== null
      ? sql`h."importId" = ${importId}::int`
      : sql`h."importId" IS NULL
          AND h."id" BETWEEN ${id - LOOKED_THROUGH_MAX}::bigint AND ${id}::bigint
          AND h."xmin"::text = (SELECT o."xmin"::text FROM "HistoryEntry" o
            WHERE o."storeId" = ${storeId(reader.store)} AND o."id" = ${id}::bigint) AND h."at" = ${at.toISOString()}::timestamptz
          AND h."actorKind" = ${kindOfActor} AND h."actor" = ${actor} AND h."recordType" = ${recordType} AND h."kind" = ${kind}`
  const rows = sql`
    SELECT * FROM (SELECT h.* FROM "HistoryEntry" h WHERE ${olderOf(reader, before)} AND ${together}) l
    WHERE ${typesOf(filters)} ORDER BY l."id" DESC LIMIT ${constant(limit + 1)}`
  return readPage(reader, rows, limit)
}

/** Matches the entries `h` of the store that are older than this one. */
function olderOf({ store }: Reader, before: number | null): Sql {
  return sql`h."storeId" = ${storeId(store)} ${before === null ? empty : sql`AND h."id" < ${before}::bigint`}`
}

/** Reads a page of these rows, which hold one more than the page where there is a next one. */
async function readPage(reader: Reader, rows: Sql, limit: number): Promise<HistoryPage> {
  const found = await readEntries(reader, rows, limit + 1)
  const entries = found.slice(0, limit)
  return { entries, next: found.length > limit ? (entries.at(-1)?.id ?? null) : null }
}

function readEntries({ db }: Reader, rows: Sql, limit: number): Promise<HistoryEntry[]> {
  return queryRows<HistoryEntry>(db)`
    SELECT e."id"::float8 AS "id", e."recordType", e."recordId", e."kind", e."actorKind", e."actor", e."at", e."changed", e."more", e."importId"
    FROM (${rows}) e ORDER BY e."id" DESC LIMIT ${constant(limit)}`
}

/** Entries that one statement deletes. */
const SWEPT_MAX = 1_000

const DAY_MS = 86_400_000

/**
 * Deletes entries that are older than so many days, store by store; null: none. Ids follow the time, so each store is walked from its
 * lowest id to the first entry that is not old.
 */
export function historySweep({ db, now }: { db: Db; now: () => Date }, days: number | null): Sweep {
  return async (isStopping) => {
    if (days === null) return
    const before = new Date(now().getTime() - days * DAY_MS)
    await inBatches(isStopping, { storeId: 0, id: 0 }, (after) => deleteOld(db, before, after))
  }
}

interface SweptThrough {
  readonly storeId: number
  readonly id: number
}

/** Returns the last entry that was deleted; null: no entry behind `after` was old. */
async function deleteOld(db: Db, before: Date, after: SweptThrough): Promise<SweptThrough | null> {
  const behind = sql`h."storeId" = s."id" AND h."id" > CASE WHEN s."id" = ${after.storeId}::int THEN ${after.id}::bigint ELSE 0 END`
  // For most stores, the oldest entry is enough to tell that nothing is old.
  const [last] = await db.$queryRaw<SweptThrough[]>`
    WITH "old" AS MATERIALIZED (
      SELECT s."id" AS "storeId", o."id" FROM "Store" s
      CROSS JOIN LATERAL (SELECT h."at" FROM "HistoryEntry" h WHERE ${behind} ORDER BY h."id" LIMIT 1) "oldest"
      CROSS JOIN LATERAL (SELECT h."id", h."at" FROM "HistoryEntry" h WHERE ${behind} ORDER BY h."id" LIMIT ${SWEPT_MAX}) o
      WHERE s."id" >= ${after.storeId}::int AND "oldest"."at" < ${before} AND o."at" < ${before}
      ORDER BY s."id", o."id" LIMIT ${SWEPT_MAX}
    ), "deleted" AS (
      DELETE FROM "HistoryEntry" h USING "old" o WHERE h."storeId" = o."storeId" AND h."id" = o."id"
    )
    SELECT "storeId", "id"::float8 AS "id" FROM "old" ORDER BY "storeId" DESC, "id" DESC LIMIT 1`
  return last ?? null
}
