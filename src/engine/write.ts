import { execute, inTurn, queryRows } from '../database/client.ts'
import { empty, identifier, join, type Sql, sql } from '../database/sql.ts'
import { StoreFailure } from '../values/failure.ts'
import { INT32_MAX } from '../values/int32.ts'
import type { Caller } from './caller.ts'
import type { Resource } from './define.ts'
import { hasRows, type ListField, type TableList } from './fields.ts'
import type { Patch } from './input.ts'
import { columnDefaults, type Document, mergeDocument, mergeRows, type NewKey, type Row } from './merge.ts'
import type { NewRows } from './plan-change.ts'
import { notFound } from './read.ts'
import { hasDocumentMember, keyColumn } from './reader.ts'

// The rows of records: ids, locks, contents after a change, and writes.

/** A record's row and the rows of the table lists that the change touches, by wire name. */
export interface Stored {
  row: Row
  lists: Record<string, Row[]>
}

/** The counter of nested row ids, shared by all lists of a store. */
export const ROW_COUNTER = 'row'

/**
 * Reserves `count` ids of a kind of record in the caller's store and returns the first. Call it outside transactions,
 * so that ids never wait for a lock; a failed transaction leaves a gap.
 */
export async function reserveIds({ db, store }: Caller, counter: string, count: number): Promise<number> {
  const reserve = async () =>
    queryRows<{ value: number }>(
      db,
      sql`
    INSERT INTO "Counter" AS c ("storeId", "name", "value") VALUES (${store.id}::int, ${counter}, ${count}::int)
    ON CONFLICT ("storeId", "name") DO UPDATE SET "value" = least(c."value"::bigint + ${count}::int, ${INT32_MAX}::int)
    RETURNING "value"`,
    )
  const [row] = await inTurn(db, store.id, reserve)
  const last = Number(row?.value)
  if (last >= INT32_MAX) throw new StoreFailure('unavailable', `The store has no ${counter} identifiers left`)
  return last - count + 1
}

/** Raises a counter so that ids up to `used` are not assigned again. */
export async function raiseCounter({ db, store }: Caller, counter: string, used: number): Promise<void> {
  await execute(
    db,
    sql`
    INSERT INTO "Counter" AS c ("storeId", "name", "value") VALUES (${store.id}::int, ${counter}, ${used}::int)
    ON CONFLICT ("storeId", "name") DO UPDATE SET "value" = greatest(c."value", excluded."value")`,
  )
}

/** Thrown in a transaction that has more new rows than reserved ids; the transaction is run again with enough ids. */
class RowIdsExhausted extends Error {}

/** Ids for the new nested rows of one write. */
export class RowIds {
  readonly #first: number
  readonly #count: number
  #taken = 0

  constructor(first: number, count: number) {
    this.#first = first
    this.#count = count
  }

  /** The same ids from the start, for a transaction that is run again. */
  anew(): RowIds {
    return new RowIds(this.#first, this.#count)
  }

  take(): number {
    if (this.#taken >= this.#count) throw new RowIdsExhausted()
    return this.#first + this.#taken++
  }
}

export async function reserveRowIds(caller: Caller, count: number): Promise<RowIds> {
  return new RowIds(count === 0 ? 0 : await reserveIds(caller, ROW_COUNTER, count), count)
}

/** Runs a write with ids for the rows without a key; if keys turn out to be unknown, again with ids for all rows. */
export async function withRowIds<T>(caller: Caller, { keyless, all }: NewRows, write: (ids: RowIds) => Promise<T>) {
  try {
    return await write(await reserveRowIds(caller, keyless))
  } catch (error) {
    if (!(error instanceof RowIdsExhausted)) throw error
    return write(await reserveRowIds(caller, all))
  }
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
  const own = resource.owner?.(caller)
  const [found] = await queryRows<{ row: string }>(
    caller.db,
    sql`
    SELECT to_json(t)::text AS "row" FROM ${identifier(resource.table)} t
    WHERE t."storeId" = ${caller.store.id}::int AND t."id" = ${id}::int ${own ? sql`AND ${own}` : empty}
    ${kind === 'update' ? sql`FOR NO KEY UPDATE` : sql`FOR UPDATE`}`,
  )
  if (!found) throw notFound(resource, id)
  const lists: Record<string, Row[]> = {}
  for (const name of listNames) {
    const field = resource.fields.get(name)
    if (hasRows(field)) lists[name] = await readRows(caller, field, id)
  }
  return { row: JSON.parse(found.row) as Row, lists }
}

/** The rows of one record's table list, in order. */
export async function readRows({ db, store }: Caller, field: ListField, id: number): Promise<Row[]> {
  if (!hasRows(field)) throw new Error(`${field.typeName} has no table`)
  const { table, parent, position } = field.rows
  const found = await queryRows<{ row: string }>(
    db,
    sql`
    SELECT to_json(r)::text AS "row" FROM ${identifier(table)} r
    WHERE r."storeId" = ${store.id}::int AND r.${identifier(parent)} = ${id}::int
    ORDER BY r.${identifier(position ?? keyColumn(field))}`,
  )
  return found.map(({ row }) => JSON.parse(row) as Row)
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
    return field.keyFrom === 'record' ? Math.max(0, ...others.map(Number)) + 1 : ids.take()
  }
  const base = before === null ? newRecordRow(caller, resource, id) : stamped(before.row, caller)
  const row: Row = { ...base, ...patch.columns }
  if (resource.hasDetails) {
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

/** Never lowers LastUpdate, even if clocks differ: clients that ask for recent changes would miss the record. */
function stamped(row: Row, caller: Caller): Row {
  const now = Math.max(caller.now().getTime(), Date.parse(String(row.updatedAt ?? 0)))
  return { ...row, ...stamps(row, caller, new Date(now)) }
}

/** Inserts rows that have every column of the table, by name. */
export async function insertRows({ db }: Caller, table: string, rows: readonly Row[], onConflict: Sql = empty) {
  if (rows.length === 0) return
  const name = identifier(table)
  await execute(
    db,
    sql`
    INSERT INTO ${name}
    SELECT * FROM json_populate_recordset(NULL::${name}, ${JSON.stringify(rows)}::text::json) ${onConflict}`,
  )
}

/** Replaces a stored row with the same primary key. */
export function upsertOn(primaryKey: readonly string[], columns: readonly string[]): Sql {
  const others = columns.filter((name) => !primaryKey.includes(name)).map(identifier)
  const assignments = others.map((name) => sql`${name} = excluded.${name}`)
  return sql`ON CONFLICT (${join(primaryKey.map(identifier))}) DO UPDATE SET ${join(assignments)}`
}

export async function updateRow({ db }: Caller, { table, assignments }: Resource, row: Row): Promise<void> {
  const name = identifier(table)
  await execute(
    db,
    sql`
    UPDATE ${name} AS t SET ${assignments}
    FROM json_populate_record(NULL::${name}, ${JSON.stringify(row)}::text::json) n
    WHERE t."storeId" = n."storeId" AND t."id" = n."id"`,
  )
}

export async function deleteRow({ db, store }: Caller, { table }: Resource, id: number): Promise<void> {
  await execute(
    db,
    sql`
    DELETE FROM ${identifier(table)} WHERE "storeId" = ${store.id}::int AND "id" = ${id}::int`,
  )
}

export async function storeLists(
  caller: Caller,
  { fields }: Resource,
  id: number,
  before: Stored | null,
  after: Stored,
) {
  for (const [name, rows] of Object.entries(after.lists)) {
    const field = fields.get(name)
    if (hasRows(field)) await replaceRows(caller, field, id, before?.lists[name] ?? [], rows)
  }
}

async function replaceRows(caller: Caller, field: TableList, parentId: number, before: Row[], after: Row[]) {
  const { table, parent } = field.rows
  const column = keyColumn(field)
  const kept = new Set(after.map((row) => row[column]))
  const gone = before.map((row) => row[column]).filter((key) => !kept.has(key))
  if (gone.length > 0) {
    await execute(
      caller.db,
      sql`
      DELETE FROM ${identifier(table)} WHERE "storeId" = ${caller.store.id}::int AND ${identifier(parent)} = ${parentId}::int
      AND ${identifier(column)}::text IN (SELECT json_array_elements_text(${JSON.stringify(gone)}::text::json))`,
    )
  }
  const stored = new Map(before.map((row) => [row[column], JSON.stringify(sorted(row))]))
  const changed = after.filter((row) => stored.get(row[column]) !== JSON.stringify(sorted(row)))
  if (changed.length === 0) return
  const primaryKey = field.keyFrom === 'counter' ? ['storeId', column] : ['storeId', parent, column]
  await insertRows(caller, table, changed, upsertOn(primaryKey, Object.keys(changed[0] ?? {})))
}

function sorted(row: Row): [string, unknown][] {
  return Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))
}
