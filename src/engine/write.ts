import { StoreFailure } from '../values/failure.ts'
import type { Caller } from './caller.ts'
import { fieldOf, refusalOf } from './constraints.ts'
import type { Resource } from './define.ts'
import { inChange, raise } from './events.ts'
import { type FieldSet, hasRows, type ListField, type ListRows, type Scalar } from './fields.ts'
import { type RowIds, reserveIds, withRowIds } from './ids.ts'
import { type Patch, readInput } from './input.ts'
import { columnDefaults, type Document, mergeDocument, mergeRows, type NewKey, type Row } from './merge.ts'
import { findByAlternateKey, getRecord, notFound, recordCondition } from './read.ts'
import { hasDocumentMember, keyColumn } from './reader.ts'
import { applyReferrers, lockDeletions } from './referrers.ts'

/** A record's row, and those of its table lists that the change touches, by wire name. */
export interface Stored {
  row: Row
  lists: Record<string, Row[]>
}

/** One change of one record, as its resource's `settle` sees it: inside the transaction, the record locked, nothing written yet. */
export interface Change {
  /** Its `db` is the transaction. */
  readonly caller: Caller
  readonly id: number
  readonly patch: Patch
  /** Null: the record is new. */
  readonly before: Stored | null
  /** What will be written; `settle` may still change it. */
  readonly after: Stored
  /** Work that needs the record to be written first; runs in the same transaction. */
  readonly afterwards: (() => Promise<void>)[]
}

/** The deletion of one record, as its resource's `settleDeletion` sees it. */
export interface Deletion {
  /** Its `db` is the transaction. */
  readonly caller: Caller
  readonly id: number
  readonly before: Row
}

/** What a caller asks of a change besides the change itself. */
export interface Terms {
  /** Given the record's JSON text as it is under the lock, before it is changed; throws to refuse the change. */
  readonly precondition?: (record: string) => void
  /** Runs in the transaction after the change, with the record's id, or the key of an item that was added. May run again. */
  readonly finish?: (tx: Caller, key: Scalar) => Promise<void>
}

/** Creates a record from a wire body and returns its id. Throws `bad-request` that names the field. */
export async function createRecord(
  caller: Caller,
  resource: Resource,
  body: unknown,
  terms: Terms = {},
): Promise<number> {
  const patch = readInput(resource.fields, body, { mode: 'create', timeZone: caller.store.timeZone })
  return addRecord(caller, resource, patch, terms)
}

/** Creates a record from what was read already, which may hold more than wire fields. Returns its id. */
export async function addRecord(
  caller: Caller,
  resource: Resource,
  patch: Patch,
  { finish }: Terms = {},
): Promise<number> {
  const id = await reserveIds(caller, resource.table, 1)
  await write(caller, resource, countItems(resource.fields, patch), async (tx, ids) => {
    const now = tx.now()
    const blank: Stored = { row: newRecordRow(resource, id, tx, now), lists: {} }
    const after = merged(resource, blank, patch, ids, tx, id)
    await settleAndStore({ caller: tx, id, patch, before: null, after, afterwards: [] }, resource)
    await finish?.(tx, id)
  })
  return id
}

/** What an update does to the stored record: a patch, or one that depends on what is stored. */
export type PatchOf = Patch | ((stored: Stored) => Patch)

export interface ComputedPatch {
  /** The table lists that the patch is computed from. */
  touches: readonly string[]
  /** How many new nested rows the patch may bring. */
  newRows: number
  /** The key that `finish` is given, out of what was stored; absent: the record's id. */
  keyOf?: (after: Stored) => Scalar
}

/**
 * Updates a record under its lock and returns its id, or the key that `computed` names. Only what the patch holds changes;
 * LastUpdate is stamped while the lock is held. Throws `not-found` for an unknown id.
 */
export async function changeRecord(
  caller: Caller,
  resource: Resource,
  id: number,
  patchOf: PatchOf,
  { precondition, finish }: Terms = {},
  computed: ComputedPatch = { touches: [], newRows: 0 },
): Promise<Scalar> {
  const fixed = typeof patchOf === 'function' ? null : patchOf
  const count = fixed ? countItems(resource.fields, fixed) : { keyless: computed.newRows, all: computed.newRows }
  return write(caller, resource, count, async (tx, ids) => {
    const before = await lockRecord(tx, resource, id, fixed ? Object.keys(fixed.lists) : computed.touches)
    if (precondition) precondition(await getRecord(tx, resource, id))
    const patch = typeof patchOf === 'function' ? patchOf(before) : patchOf
    const after = merged(resource, stamped(before, tx), patch, ids, tx, id)
    await settleAndStore({ caller: tx, id, patch, before, after, afterwards: [] }, resource)
    const key = computed.keyOf?.(after) ?? id
    await finish?.(tx, key)
    return key
  })
}

/** Updates a record from a wire body (rest-resources 0.8). */
export async function updateRecord(
  caller: Caller,
  resource: Resource,
  id: number,
  body: unknown,
  terms: Terms = {},
): Promise<void> {
  const patch = readInput(resource.fields, body, { mode: 'update', timeZone: caller.store.timeZone })
  await changeRecord(caller, resource, id, patch, terms)
}

/**
 * Updates the record that a wire body names: by its identifier, or where it has none by the alternate key, which then
 * finds the record and changes nothing of it (rest-resources 0.8). Returns the identifier.
 */
export async function updateNamedRecord(
  caller: Caller,
  resource: Resource,
  body: unknown,
  terms: Terms = {},
): Promise<number> {
  const patch = readInput(resource.fields, body, { mode: 'update', timeZone: caller.store.timeZone })
  const { key } = patch
  if (key !== undefined && key !== 0) {
    if (typeof key !== 'number' || key < 0) throw unnamed(resource)
    await changeRecord(caller, resource, key, patch, terms)
    return key
  }
  const { alternateKey = '' } = resource
  const { [alternateKey]: text, ...columns } = patch.columns
  if (typeof text !== 'string') throw unnamed(resource)
  const id = await findByAlternateKey(caller, resource, text)
  if (id === null) throw new StoreFailure('not-found', `There is no ${resource.typeName} "${text}"`, { field: text })
  await changeRecord(caller, resource, id, { ...patch, columns }, terms)
  return id
}

function unnamed(resource: Resource): StoreFailure {
  const field = fieldOf(resource, resource.table, 'id')
  const alternative = resource.alternateKey ? `, or ${fieldOf(resource, resource.table, resource.alternateKey)}` : ''
  return new StoreFailure('bad-request', `${field} must be a whole number from 1 to 2147483647${alternative}`, {
    field,
  })
}

/**
 * Deletes a record; who refers to it follows the rules of its definition, in the same transaction. Throws `not-found` for an
 * unknown id, `bad-request` for a record that others refer to and may not lose.
 */
export async function deleteRecord(
  caller: Caller,
  resource: Resource,
  id: number,
  { precondition, finish }: Terms = {},
): Promise<void> {
  const deletion = async (tx: Caller) => {
    await lockDeletions(tx, resource)
    const before = await lockRow(tx, resource, id, 'FOR UPDATE')
    const { deletionRaises } = resource
    const record = precondition || deletionRaises ? await getRecord(tx, resource, id) : ''
    precondition?.(record)
    if (deletionRaises) raise(tx, deletionRaises, id, record)
    await applyReferrers(tx, resource, id)
    await resource.settleDeletion?.({ caller: tx, id, before })
    await tx.db.$executeRawUnsafe(
      `DELETE FROM "${resource.table}" WHERE "storeId" = $1::int AND "id" = $2::int`,
      tx.store.id,
      id,
    )
    await finish?.(tx, id)
  }
  await write(caller, resource, { keyless: 0, all: 0 }, deletion, 'deletion')
}

/** Locks a record against other changes and reads its row and the named table lists. Throws `not-found`. */
export async function lockRecord(
  caller: Caller,
  resource: Resource,
  id: number,
  listNames: readonly string[],
): Promise<Stored> {
  const row = await lockRow(caller, resource, id, 'FOR NO KEY UPDATE')
  const lists: Record<string, Row[]> = {}
  for (const name of listNames) {
    const field = resource.fields.get(name)
    if (hasRows(field)) lists[name] = await readRows(caller, field, field.rows, id)
  }
  return { row, lists }
}

/** `FOR UPDATE` also keeps others from referring to the record. */
async function lockRow(
  caller: Caller,
  resource: Resource,
  id: number,
  lock: 'FOR NO KEY UPDATE' | 'FOR UPDATE',
): Promise<Row> {
  const record = recordCondition(caller, resource, id)
  const [found] = await caller.db.$queryRawUnsafe<{ row: string }[]>(
    `SELECT to_json(t)::text AS "row" FROM "${resource.table}" t WHERE ${record.text} ${lock}`,
    ...record.values,
  )
  if (!found) throw notFound(resource, id)
  return JSON.parse(found.row) as Row
}

/** The rows of a table list of one record, in order. */
export async function readRows(caller: Caller, field: ListField, rows: ListRows, id: number): Promise<Row[]> {
  const found = await caller.db.$queryRawUnsafe<{ row: string }[]>(
    `SELECT to_json(r)::text AS "row" FROM "${rows.table}" r
     WHERE r."storeId" = $1::int AND r."${rows.parent}" = $2::int ORDER BY r."${rows.position ?? keyColumn(field)}"`,
    caller.store.id,
    id,
  )
  return found.map(({ row }) => JSON.parse(row) as Row)
}

async function write<T>(
  caller: Caller,
  resource: Resource,
  newRows: { keyless: number; all: number },
  work: (tx: Caller, ids: RowIds) => Promise<T>,
  change?: 'deletion',
): Promise<T> {
  try {
    return await withRowIds(caller, newRows.keyless, newRows.all, (ids) => inChange(caller, (tx) => work(tx, ids)))
  } catch (error) {
    throw refusalOf(error, resource, change) ?? error
  }
}

/** A new row of a record, before its fields are filled in. */
export function newRecordRow(resource: Resource, id: number, caller: Caller, now: Date): Row {
  const row: Row = { ...columnDefaults(resource.storedFields, now), ...resource.hidden }
  if (resource.hasDetails) row.details = {}
  if ('createdAt' in row) row.createdAt = now.toISOString()
  return { ...row, storeId: caller.store.id, id, ...stamps(row, caller, now) }
}

/** LastUpdate never goes back, whatever the clocks of several machines say: who asks for what changed since would miss it. */
function stamped(before: Stored, caller: Caller): Stored {
  const now = Math.max(caller.now().getTime(), Date.parse(String(before.row.updatedAt ?? 0)))
  return { ...before, row: { ...before.row, ...stamps(before.row, caller, new Date(now)) } }
}

function stamps(row: Row, caller: Caller, now: Date): Row {
  const stamped: Row = {}
  if ('updatedAt' in row) stamped.updatedAt = now.toISOString()
  if ('updatedBy' in row) stamped.updatedBy = caller.actor
  return stamped
}

function merged(resource: Resource, base: Stored, patch: Patch, ids: RowIds, caller: Caller, id: number): Stored {
  const newKey = newKeyOf(ids)
  const row: Row = { ...base.row, ...patch.columns }
  if (resource.hasDetails) {
    row.details = mergeDocument(resource.storedFields, (base.row.details ?? {}) as Document, patch, newKey)
  }
  const lists: Record<string, Row[]> = {}
  for (const [name, given] of Object.entries(patch.lists)) {
    const field = resource.fields.get(name)
    if (!hasRows(field)) continue
    const blank = newListRow(field, field.rows, caller, id)
    lists[name] = mergeRows(field, field.rows, base.lists[name] ?? [], given, blank, newKey)
  }
  return { row, lists }
}

/** A new row of a table list, before its fields and its key are filled in. */
export function newListRow(field: ListField, rows: ListRows, caller: Caller, parentId: number): Row {
  const now = caller.now()
  const row: Row = {
    ...columnDefaults(field.fields, now),
    ...rows.hidden,
    storeId: caller.store.id,
    [rows.parent]: parentId,
  }
  if (rows.position !== undefined) row[rows.position] = 0
  if (hasDocumentMember(field.fields)) row.details = {}
  return { ...row, ...stamps(row, caller, now) }
}

function newKeyOf(ids: RowIds): NewKey {
  return (field, patch, others) => {
    if (field.keyFrom === 'caller') return patch.key as number | string
    if (field.keyFrom === 'none') throw new Error(`${field.typeName} has no key`)
    if (field.keyFrom === 'record') return Math.max(0, ...others.map(Number)) + 1
    return ids.take()
  }
}

async function settleAndStore(change: Change, resource: Resource): Promise<void> {
  await resource.settle?.(change)
  await storeRecord(change, resource)
  for (const work of change.afterwards) await work()
  const { caller, before, after, id } = change
  for (const kind of resource.raises?.(before, after) ?? []) raise(caller, kind, id)
}

async function storeRecord({ caller, before, after, id }: Change, resource: Resource): Promise<void> {
  if (before === null) await insertRows(caller, resource.table, [after.row])
  else await updateRow(caller, resource, after.row)
  for (const [name, rows] of Object.entries(after.lists)) {
    const field = resource.fields.get(name)
    if (hasRows(field)) await replaceRows(caller, field, id, before?.lists[name] ?? [], rows)
  }
}

/** Inserts rows that hold every column of the table, by name. */
export async function insertRows(caller: Caller, table: string, rows: readonly Row[], onConflict = ''): Promise<void> {
  if (rows.length === 0) return
  await caller.db.$executeRawUnsafe(
    `INSERT INTO "${table}" SELECT * FROM json_populate_recordset(NULL::"${table}", $1::text::json) ${onConflict}`,
    JSON.stringify(rows),
  )
}

async function updateRow(caller: Caller, resource: Resource, row: Row): Promise<void> {
  const assignments = resource.columns.map((column) => `"${column}" = n."${column}"`).join(', ')
  await caller.db.$executeRawUnsafe(
    `UPDATE "${resource.table}" AS t SET ${assignments}
     FROM json_populate_record(NULL::"${resource.table}", $1::text::json) n
     WHERE t."storeId" = n."storeId" AND t."id" = n."id"`,
    JSON.stringify(row),
  )
}

/** Writes what changed between two states of a table list: rows gone, new and changed. */
async function replaceRows(
  caller: Caller,
  field: ListField & { rows: ListRows },
  parentId: number,
  before: readonly Row[],
  after: readonly Row[],
): Promise<void> {
  const { table, parent } = field.rows
  const column = keyColumn(field)
  const kept = new Set(after.map((row) => row[column]))
  const gone = before.filter((row) => !kept.has(row[column])).map((row) => row[column])
  if (gone.length > 0) {
    await caller.db.$executeRawUnsafe(
      `DELETE FROM "${table}" WHERE "storeId" = $1::int AND "${parent}" = $2::int
       AND "${column}"::text IN (SELECT json_array_elements_text($3::text::json))`,
      caller.store.id,
      parentId,
      JSON.stringify(gone),
    )
  }
  const stored = new Map(before.map((row) => [row[column], JSON.stringify(sorted(row))]))
  const changed = after.filter((row) => stored.get(row[column]) !== JSON.stringify(sorted(row)))
  await insertRows(caller, table, changed, upsertClause(field, changed[0]))
}

/** ON CONFLICT on the primary key: the row as given replaces the stored one. */
export function upsertClause(
  { keyFrom, rows, ...field }: ListField & { rows: ListRows },
  row: Row | undefined,
): string {
  const column = keyColumn({ keyFrom, rows, ...field })
  const primaryKey = keyFrom === 'counter' ? ['storeId', column] : ['storeId', rows.parent, column]
  return upsertOn(primaryKey, Object.keys(row ?? {}))
}

export function upsertOn(primaryKey: readonly string[], columns: readonly string[]): string {
  const assignments = columns
    .filter((name) => !primaryKey.includes(name))
    .map((name) => `"${name}" = excluded."${name}"`)
  return `ON CONFLICT (${primaryKey.map((name) => `"${name}"`).join(', ')}) DO UPDATE SET ${assignments.join(', ')}`
}

function sorted(row: Row): [string, unknown][] {
  return Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** How many items of counted lists a patch brings: without a key (surely new), and in all. */
function countItems(fields: FieldSet, patch: Patch): { keyless: number; all: number } {
  let keyless = 0
  let all = 0
  for (const [name, items] of Object.entries(patch.lists)) {
    const field = fields.get(name)
    if (field?.kind !== 'list') continue
    for (const item of items) {
      const counted = field.key !== undefined && field.keyFrom === 'counter' ? 1 : 0
      const inner = countItems(field.fields, item)
      keyless += (item.key === undefined || item.key === 0 ? counted : 0) + inner.keyless
      all += counted + inner.all
    }
  }
  return { keyless, all }
}
