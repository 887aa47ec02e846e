import { type Db, execute, queryRows } from '../../database/client.ts'
import { constant, empty, lines, type Sql, sql, storeId } from '../../database/sql.ts'
import { inBatches, type Sweep } from '../../database/sweeper.ts'
import { StoreFailure } from '../../values/failure.ts'
import { actorKind, type Caller } from '../caller.ts'
import type { ComparedChange } from './changes.ts'
import type { Difference } from './differences.ts'

// Who changed which fields of a record. Events tell programs what a record is; this tells people how it came to be so.

export type ActorKind = ReturnType<typeof actorKind>

/** A record by its table, which names its service. */
export interface RecordName {
  readonly recordType: string
  readonly recordId: number
}

/** A change of a record that was made. */
export interface HistoryEntry extends RecordName {
  readonly id: number
  readonly kind: 'create' | 'update' | 'delete'
  readonly actorKind: ActorKind
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
  await execute(
    db,
    sql`
    INSERT INTO "HistoryEntry" ("storeId", "at", "importId", "recordType", "recordId", "kind", "actorKind", "actor", "changed", "more")
    SELECT ${store.id}::int, ${now().toISOString()}::timestamptz, ${importId}::int, n.*
    FROM unnest(${texts(({ recordType }) => recordType)}, ${texts(({ recordId }) => recordId)}::int[],
      ${texts(({ kind }) => kind)}, ${texts(({ caller }) => actorKind(caller))},
      ${texts(({ caller }) => caller.actor.replace(/\n/g, ' '))},
      ${texts(({ changed }) => JSON.stringify(changed))}::json[], ${texts(({ more }) => more)}::int[]) n`,
  )
}

/** Returns a page of the entries of these records, newest first, and the `before` of the next page; null: there is none. */
export async function listHistory(
  caller: Pick<Caller, 'db' | 'store'>,
  records: readonly RecordName[],
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<HistoryPage> {
  // Record by record, because a scan of the index has the entries of one record in order.
  const newest = newestOf(caller, before, limit + 1, sql`AND h."recordType" = r."type" AND h."recordId" = r."id"`)
  const found = await readEntries(
    caller,
    sql`
    SELECT p.* FROM unnest(${lines(records.map(({ recordType }) => recordType))},
      ${lines(records.map(({ recordId }) => recordId))}::int[]) r ("type", "id")
    CROSS JOIN LATERAL (${newest}) p`,
    limit + 1,
  )
  const entries = found.slice(0, limit)
  return { entries, next: found.length > limit ? (entries.at(-1)?.id ?? null) : null }
}

/** Returns an entry of this record. Throws `not-found`. */
export async function findEntry(
  caller: Pick<Caller, 'db' | 'store'>,
  { recordType, recordId }: RecordName,
  id: number,
): Promise<HistoryEntry> {
  const record = sql`h."recordType" = ${recordType} AND h."recordId" = ${recordId}::int`
  const one = sql`SELECT h.* FROM "HistoryEntry" h WHERE h."storeId" = ${storeId(caller.store)} AND h."id" = ${id}::bigint AND ${record}`
  const [found] = await readEntries(caller, one, 1)
  if (found === undefined) throw new StoreFailure('not-found', 'The history has no such entry any more')
  return found
}

export interface HistoryPage {
  readonly entries: readonly HistoryEntry[]
  readonly next: number | null
}

/** Entries of a store that a filtered page looks through. */
const LOOKED_THROUGH_MAX = 5_000

/**
 * The same of all records of the store, as far as they have this actor and one of these types. A page may have few entries, or none,
 * and a next one, because it looks through a bounded number.
 */
export async function listStoreHistory(
  caller: Pick<Caller, 'db' | 'store'>,
  { actor, recordTypes }: { readonly actor: string | null; readonly recordTypes: readonly string[] | null },
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<HistoryPage> {
  const lookedThrough = newestOf(caller, before, LOOKED_THROUGH_MAX, empty)
  const byActor = actor === null ? empty : sql`AND lower(l."actor") = lower(${actor})`
  const byType = recordTypes === null ? empty : sql`AND l."recordType" = ANY (${lines(recordTypes)})`
  const [found, [last]] = await Promise.all([
    readEntries(caller, sql`SELECT * FROM (${lookedThrough}) l WHERE true ${byActor} ${byType}`, limit + 1),
    queryRows<{ id: number | null }>(
      caller.db,
      sql`
      SELECT h."id"::float8 AS "id" FROM "HistoryEntry" h WHERE h."storeId" = ${storeId(caller.store)} ${until(before)}
      ORDER BY h."id" DESC OFFSET ${constant(LOOKED_THROUGH_MAX - 1)} LIMIT 1`,
    ),
  ])
  const entries = found.slice(0, limit)
  return { entries, next: found.length > limit ? (entries.at(-1)?.id ?? null) : (last?.id ?? null) }
}

function newestOf({ store }: Pick<Caller, 'store'>, before: number | null, limit: number, condition: Sql): Sql {
  return sql`SELECT h.* FROM "HistoryEntry" h WHERE h."storeId" = ${storeId(store)} ${condition} ${until(before)}
    ORDER BY h."id" DESC LIMIT ${constant(limit)}`
}

function until(before: number | null): Sql {
  return before === null ? empty : sql`AND h."id" < ${before}::bigint`
}

function readEntries({ db }: Pick<Caller, 'db'>, rows: Sql, limit: number): Promise<HistoryEntry[]> {
  return queryRows<HistoryEntry>(
    db,
    sql`
    SELECT e."id"::float8 AS "id", e."recordType", e."recordId", e."kind", e."actorKind", e."actor", e."at", e."changed", e."more", e."importId"
    FROM (${rows}) e ORDER BY e."id" DESC LIMIT ${constant(limit)}`,
  )
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
