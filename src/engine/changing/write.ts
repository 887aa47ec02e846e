import { execute, inTurn, queryRows } from '../../foundation/database/client.ts'
import { anyOfFew, empty, identifier, join, type Sql, sql } from '../../foundation/database/sql.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import type { Caller } from '../caller.ts'
import { type FieldSet, hasRows, isDocumentMember, type ListField, type TableList } from '../definition/fields.ts'
import type { Json, Patch } from '../definition/input.ts'
import { hasDocumentMember, keyColumn, rowOrder } from '../definition/reader.ts'
import type { Change, Resource } from '../definition/resource.ts'
import { columnDefaults, type Document, type Row, type Stored } from '../definition/stored-row.ts'
import { notFound } from '../reading/read.ts'
import { mergeDocument, mergeRows, type NewKey } from './merge.ts'

// The rows of records: ids, locks, contents after a change, and writes.

/** The counter of nested row ids, shared by all lists of a store. */
export const ROW_COUNTER = 'row'

/**
 * Reserves `count` ids of a kind of record in the caller's store and returns the first. Call it outside transactions,
 * so that ids never wait for a lock; a failed transaction leaves a gap.
 */
export async function reserveIds({ db, store }: Caller, counter: string, count: number): Promise<number> {
  const reserve = async () =>
    queryRows<{ value: number }>(db)`
    INSERT INTO "Counter" AS c ("storeId", "name", "value") VALUES (${store.id}::int, ${counter}, ${count}::int)
    ON CONFLICT ("storeId", "name") DO UPDATE SET "value" = least(c."value"::bigint + ${count}::int, ${INT32_MAX}::int)
    RETURNING "value"`
  const [row] = await inTurn(db, store.id, reserve)
  const last = Number(row?.value)
  if (last >= INT32_MAX) throw new StoreFailure('unavailable', `The store has no ${counter} identifiers left`)
  return last - count + 1
}

/** Raises a counter so that ids up to `used` are not assigned again. */
export async function raiseCounter({ db, store }: Caller, counter: string, used: number): Promise<void> {
  await execute(db)`
    INSERT INTO "Counter" AS c ("storeId", "name", "value") VALUES (${store.id}::int, ${counter}, ${used}::int)
    ON CONFLICT ("storeId", "name") DO UPDATE SET "value" = greatest(c."value", excluded."value")`
}

export interface NewRows {
  /** Items without a key, which are always new. */
  readonly keyless: number
  readonly all: number
}

/** Thrown in a transaction that has more new rows than reserved ids; the transaction is run again with enough ids. */
class RowIdsExhausted extends Error {}

/** Hands out the ids of the new nested rows of one write, one a call. */
export type RowIds = () => number

/** Returns what begins to hand out so many ids, from the first on: anew for a transaction that is run again. */
export function rowIds(first: number, count: number): () => RowIds {
  return () => {
    let taken = 0
    return () => {
      if (taken === count) throw new RowIdsExhausted()
      return first + taken++
    }
  }
}

const noRowIds = rowIds(0, 0)

export async function reserveRowIds(caller: Caller, count: number): Promise<() => RowIds> {
  return count === 0 ? noRowIds : rowIds(await reserveIds(caller, ROW_COUNTER, count), count)
}

/** Runs a write with ids for the rows without a key; if keys turn out to be unknown, again with ids for all rows. */
export async function withRowIds<T>(
  caller: Caller,
  { keyless, all }: NewRows,
  write: (ids: () => RowIds) => Promise<T>,
): Promise<T> {
  if (all === 0) return write(noRowIds)
  try {
    return await write(await reserveRowIds(caller, keyless))
  } catch (error) {
    if (!(error instanceof RowIdsExhausted)) throw error
    return write(await reserveRowIds(caller, all))
  }
}

/** How records are locked. */
export interface Locking {
  readonly kind?: 'update' | 'delete'
  /** How long the transaction waits for a lock from now on, if less than usual; 0: leaves out what somebody else has locked. */
  readonly waitMs?: number | undefined
  /** Bytes that all rows together may have; null: any number. */
  readonly bytesMax?: number | null
}

export interface Locked {
  readonly stored: ReadonlyMap<number, Stored>
  /** With `waitMs`: the records that there are, locked or not. */
  readonly ids: ReadonlySet<number>
}

/**
 * Locks a record against other changes and reads its row and the named table lists. For a deletion, also prevents new
 * references to it. Throws `not-found`.
 */
export async function lockRecord(
  caller: Caller,
  resource: Resource,
  id: number,
  listNames: readonly string[],
  kind: 'update' | 'delete' = 'update',
): Promise<Stored> {
  const stored = (await lockRecords(caller, resource, [id], listNames, { kind }))?.stored.get(id)
  if (stored === undefined) throw notFound(resource, id)
  return stored
}

/** Locks several in the order of their ids, and reads them likewise. Null: their rows have more than `bytesMax`. */
export async function lockRecords(
  caller: Caller,
  resource: Resource,
  ids: readonly number[],
  listNames: readonly string[],
  { kind = 'update', waitMs, bytesMax = null }: Locking = {},
): Promise<Locked | null> {
  const { db, store } = caller
  const own = resource.owner?.(caller)
  const table = identifier(resource.table)
  const wanted = sql`t."storeId" = ${store.id}::int AND t."id" = ${anyOfFew(ids)} ${own ? sql`AND ${own}` : empty}`
  // Evaluated once, before the first lock.
  const waiting = waitMs ? sql`AND (SELECT set_config('lock_timeout', ${String(waitMs)}, true)) IS NOT NULL` : empty
  const strength = kind === 'update' ? sql`FOR NO KEY UPDATE` : sql`FOR UPDATE`
  const tableLists = listNames.flatMap((name) => {
    const field = resource.fields.get(name)
    return hasRows(field) ? [{ name, field }] : []
  })
  const locking = queryRows<{ rows: string | null; ids: string | null }>(db)`
    SELECT CASE WHEN octet_length(l."rows") > ${bytesMax}::int THEN '' ELSE l."rows" END AS "rows",
      ${waitMs === undefined ? sql`NULL` : sql`(SELECT string_agg(t."id"::text, ',') FROM ${table} t WHERE ${wanted})`} AS "ids"
    FROM (
      SELECT json_agg(o."row")::text AS "rows" FROM (
        SELECT to_json(t) AS "row" FROM ${table} t WHERE ${wanted} ${waiting}
        ORDER BY t."id" ${strength} ${waitMs === 0 ? sql`SKIP LOCKED` : empty}) o) l`
  // Each list is read by a statement of its own, which begins after the locks are held.
  const lists = tableLists.map(({ field }) => readRowsOf(caller, field, ids))
  const [[found], ...read] = await Promise.all([locking, ...lists])
  if (found?.rows === '') return null
  const rows = JSON.parse(found?.rows ?? '[]') as Row[]
  const stored = rows.map((row): [number, Stored] => {
    const id = Number(row.id)
    return [id, { row, lists: Object.fromEntries(tableLists.map(({ name }, at) => [name, read[at]?.get(id) ?? []])) }]
  })
  return { stored: new Map(stored), ids: new Set(found?.ids?.split(',').map(Number)) }
}

/** The rows of one record's table list, in order. */
export async function readRows(caller: Caller, field: ListField, id: number): Promise<Row[]> {
  if (!hasRows(field)) throw new Error(`${field.typeName} has no table`)
  return (await readRowsOf(caller, field, [id])).get(id) ?? []
}

/** The rows of a table list by record, in order. */
async function readRowsOf({ db, store }: Caller, field: TableList, ids: readonly number[]) {
  const { table, parent } = field.rows
  const [found] = await queryRows<{ rows: string | null }>(db)`
    SELECT json_agg(to_json(r) ORDER BY ${rowOrder(field, field.rows)})::text AS "rows" FROM ${identifier(table)} r
    WHERE r."storeId" = ${store.id}::int AND r.${identifier(parent)} = ${anyOfFew(ids)}`
  return Map.groupBy(JSON.parse(found?.rows ?? '[]') as Row[], (row) => Number(row[parent]))
}

/** A new row of a record, before its fields are set. */
export function newRecordRow(caller: Caller, resource: Resource, id: number): Row {
  const now = caller.now()
  const row: Row = { ...columnDefaults(resource.storedFields, now), ...resource.hidden }
  if (resource.hasDetails) row.details = {}
  if ('createdAt' in row) row.createdAt = now.toISOString()
  return { ...row, storeId: caller.store.id, id, ...stamps(row, caller, now) }
}

/** A new row of a table list, before its fields and key are set. */
export function newListRow(caller: Caller, { fields, rows }: TableList, parentId: number): Row {
  const now = caller.now()
  const owner = { storeId: caller.store.id, [rows.parent]: parentId }
  const row: Row = { ...columnDefaults(fields, now), ...rows.hidden, ...owner }
  if (rows.position !== undefined) row[rows.position] = 0
  if (hasDocumentMember(fields)) row.details = {}
  return { ...row, ...stamps(row, caller, now) }
}

function stamps(row: Row, caller: Caller, now: Date): Row {
  const stamped: Row = {}
  if ('updatedAt' in row) stamped.updatedAt = now.toISOString()
  if ('updatedBy' in row) stamped.updatedBy = caller.actor
  return stamped
}

/** The record after a patch; `before` is null for a new record. */
export function mergeRecord(
  caller: Caller,
  resource: Resource,
  id: number,
  before: Stored | null,
  patch: Patch,
  ids: RowIds,
): Stored {
  const newKey: NewKey = (field, { key }, others) => {
    if (field.keyFrom === 'caller') return key as number | string
    if (field.keyFrom === 'none') throw new Error(`${field.typeName} has no key`)
    return field.keyFrom === 'record' ? Math.max(0, ...others.map(Number)) + 1 : ids()
  }
  const base = before === null ? newRecordRow(caller, resource, id) : before.row
  const row: Row = { ...base, ...(before && stampsBehind(before.row, caller)), ...patch.columns }
  if (resource.hasDetails && (before === null || isOfDocument(resource.storedFields, patch))) {
    row.details = mergeDocument(resource.storedFields, (base.details ?? {}) as Document, patch, newKey)
  }
  const lists: Record<string, Row[]> = {}
  for (const [name, given] of Object.entries(patch.lists)) {
    const field = resource.fields.get(name)
    if (!hasRows(field)) continue
    lists[name] = mergeRows(field, field.rows, before?.lists[name] ?? [], given, newListRow(caller, field, id), newKey)
  }
  return { row, lists }
}

/** Whether a patch has members of the document. */
function isOfDocument(fields: FieldSet, { details, lists }: Patch): boolean {
  const isDocumentList = (name: string) => {
    const field = fields.get(name)
    return field?.kind === 'list' && isDocumentMember(field)
  }
  return Object.keys(details).length > 0 || Object.keys(lists).some(isDocumentList)
}

/** Never lowers LastUpdate, even if clocks differ: clients that ask for recent changes would miss the record. */
export function stampsBehind(row: Row, caller: Caller): Row {
  const now = Math.max(caller.now().getTime(), Date.parse(String(row.updatedAt ?? 0)))
  return stamps(row, caller, new Date(now))
}

/** Inserts rows by the columns that all of them have, which `onConflict` is given. One that only a later version knows gets its default. */
export async function insertRows(
  { db }: Caller,
  table: string,
  rows: readonly Row[],
  onConflict: (columns: readonly string[]) => Sql = () => empty,
) {
  if (rows.length === 0) return
  const name = identifier(table)
  const shared = Object.keys(rows[0] ?? {}).filter((column) => rows.every((row) => column in row))
  const columns = join(shared.map(identifier))
  await execute(db)`
    INSERT INTO ${name} (${columns})
    SELECT ${columns} FROM json_populate_recordset(NULL::${name}, ${JSON.stringify(rows)}::text::json) ${onConflict(shared)}`
}

/** Replaces a stored row with the same primary key, in these columns. */
export function upsertOn(primaryKey: readonly string[], columns: readonly string[]): Sql {
  const others = columns.filter((name) => !primaryKey.includes(name)).map(identifier)
  const assignments = others.map((name) => sql`${name} = excluded.${name}`)
  return sql`ON CONFLICT (${join(primaryKey.map(identifier))}) DO UPDATE SET ${join(assignments)}`
}

export async function deleteRow({ db, store }: Caller, { table }: Resource, id: number): Promise<void> {
  await execute(db)`
    DELETE FROM ${identifier(table)} WHERE "storeId" = ${store.id}::int AND "id" = ${id}::int`
}

type ListChange = Pick<Change, 'id' | 'before' | 'after'>

/** Writes what has changed in the table lists of these records. */
export async function storeLists(caller: Caller, { fields }: Resource, changes: readonly ListChange[]): Promise<void> {
  const names = new Set(changes.flatMap(({ after }) => Object.keys(after.lists)))
  const writes = [...names].map(async (name) => {
    const field = fields.get(name)
    if (hasRows(field)) await replaceRows(caller, name, field, changes)
  })
  await Promise.all(writes)
}

async function replaceRows(caller: Caller, name: string, field: TableList, changes: readonly ListChange[]) {
  const { table, parent } = field.rows
  const column = keyColumn(field)
  const gone: Row[] = []
  const changed: Row[] = []
  for (const { id, before, after } of changes) {
    const rows = after.lists[name]
    if (rows === undefined) continue
    const stored = new Map((before?.lists[name] ?? []).map((row) => [row[column], JSON.stringify(sorted(row))]))
    changed.push(...rows.filter((row) => stored.get(row[column]) !== JSON.stringify(sorted(row))))
    for (const { [column]: key } of rows) stored.delete(key)
    gone.push(...[...stored.keys()].map((key): Row => ({ parent: id, key: key as Json })))
  }
  const primaryKey = field.keyFrom === 'counter' ? ['storeId', column] : ['storeId', parent, column]
  const deletion = async () =>
    gone.length > 0 &&
    execute(caller.db)`
      DELETE FROM ${identifier(table)} r
      USING json_to_recordset(${JSON.stringify(gone)}::text::json) AS g ("parent" int, "key" text)
      WHERE r."storeId" = ${caller.store.id}::int AND r.${identifier(parent)} = g."parent"
        AND r.${identifier(column)}::text = g."key"`
  const insertion = () => insertRows(caller, table, changed, (columns) => upsertOn(primaryKey, columns))
  // The statements of one connection run in this order.
  await Promise.all([deletion(), insertion()])
}

function sorted(row: Row): [string, unknown][] {
  return Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))
}
