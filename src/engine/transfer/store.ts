import { allInOrder, inTransaction } from '../../foundation/database/client.ts'
import { anyOf, identifier, sql, storeId } from '../../foundation/database/sql.ts'
import type { Caller } from '../caller.ts'
import { deleteRecord, inChange } from '../changing/change.ts'
import { mergeDocument, mergeRows, type NewKey } from '../changing/merge.ts'
import { applyReferrers, lockDeletions } from '../changing/referrers.ts'
import {
  deleteRow,
  insertRows,
  lockRecord,
  newListRow,
  newRecordRow,
  ROW_COUNTER,
  type RowIds,
  raiseCounter,
  reserveRowIds,
  upsertOn,
} from '../changing/write.ts'
import { type FieldSet, type ListField, type TableList, tableLists } from '../definition/fields.ts'
import type { Json, Patch } from '../definition/input.ts'
import { keyColumn } from '../definition/reader.ts'
import { refused } from '../definition/refused.ts'
import type { Ledger, Resource } from '../definition/resource.ts'
import type { Document, Row, Stored } from '../definition/stored-row.ts'
import { recordChanges } from '../recording/events.ts'
import { appendPieces, cutLedger } from '../recording/ledger.ts'
import { isNewKey, type TransferRecord } from './record.ts'

export interface ImportOptions {
  /** Whether changes are recorded as events. */
  readonly raising?: boolean
  /** Which of a service's records are never stored or deleted. */
  readonly passesOver?: (caller: Caller, service: string, ids: readonly number[]) => Promise<ReadonlySet<number>>
}

/**
 * Stores records of one service with distinct ids exactly as given, in one transaction; with `raising`, records their
 * changes as events. Raises the counters first, so that stored ids are not assigned again. Throws a 400 for what `passesOver` names by
 * the time that the records are locked.
 */
export async function storeRecords(
  caller: Caller,
  records: readonly TransferRecord[],
  { raising, passesOver }: Required<ImportOptions>,
) {
  const [{ resource }] = records as [TransferRecord]
  await raiseCounter(caller, resource.table, Math.max(...records.map(({ id }) => id)))
  const highest = Math.max(...records.map(({ keys }) => keys.highest))
  if (highest > 0) await raiseCounter(caller, ROW_COUNTER, highest)
  const keyless = records.reduce((sum, { keys }) => sum + keys.keyless, 0)
  const ids = await reserveRowIds(caller, keyless)
  // In the order of ids, as every transaction locks them.
  const ordered = [...records].sort((one, other) => one.id - other.id)
  const locked = ordered.map(({ id }) => id)
  const write = async (tx: Caller) => {
    await writeRecords(tx, resource, ordered, ids(), raising)
    const [passed] = await passesOver(tx, resource.service, locked)
    if (passed !== undefined) throw refused(resource.resultKey, `${resource.typeName} ${passed} is passed over`)
  }
  if (raising) await inChange(caller, write)
  else await inTransaction(caller.db, (db) => write({ ...caller, db, raised: new Map() }))
}

/**
 * Deletes a record by the rules of its referrers; with `raising`, as a change like any other. Throws a 400 for a record
 * that does not exist, or that others refer to.
 */
export async function removeRecord(caller: Caller, resource: Resource, id: number, raising: boolean): Promise<void> {
  if (raising) return deleteRecord(caller, resource, id)
  await inTransaction(caller.db, async (db) => {
    const tx = { ...caller, db, raised: new Map() }
    await lockDeletions(tx, resource)
    const found = await lockIds(tx, resource, [id])
    if (found.length === 0) throw refused(resource.resultKey, `There is no ${resource.typeName} ${id} to delete`)
    await applyReferrers(tx, resource, id)
    await deleteRow(tx, resource, id)
  })
}

/** Locks and reads the records that exist, by id. */
async function readStored(tx: Caller, resource: Resource, records: readonly TransferRecord[]) {
  const ids = records.map((record) => record.id)
  const lists = tableLists(resource.fields).map(({ name }) => name)
  const stored = new Map<number, Stored>()
  for (const { id } of await lockIds(tx, resource, ids)) stored.set(id, await lockRecord(tx, resource, id, lists))
  return stored
}

/** Locks the records that exist, in the order of ids, and returns them with their documents if `details` selects them. */
function lockIds({ db, store }: Caller, { table }: Resource, ids: readonly number[], details = sql`'{}'::json`) {
  return db.$queryRaw<{ id: number; details: Document }[]>(sql`
    SELECT t."id", ${details} AS "details" FROM ${identifier(table)} t
    WHERE t."storeId" = ${storeId(store)} AND t."id" = ${anyOf(ids)} ORDER BY t."id" FOR NO KEY UPDATE`)
}

/** Adds the ledger rows of a record's later line. Throws a 400 for an unknown record. */
export async function continueLedger(caller: Caller, { resource, id, ledger: piece }: TransferRecord): Promise<void> {
  const { ledger } = resource
  if (!ledger || !piece) throw new Error(`${resource.service} ${id}: nothing to continue`)
  await inTransaction(caller.db, async (db) => {
    const tx = { ...caller, db }
    const found = await lockIds(tx, resource, [id])
    if (found.length === 0) throw refused(resource.resultKey, `There is no ${resource.typeName} ${id} to continue`)
    await cutLedger(tx, ledger, [id], piece.after)
    await appendPieces(tx, ledger, [{ id, piece }])
  })
}

/** Runs an import's steps of a change: merge, write, ledger, history and effects; with `raising`, from the stored records. */
async function writeRecords(
  tx: Caller,
  resource: Resource,
  records: readonly TransferRecord[],
  ids: RowIds,
  raising: boolean,
): Promise<void> {
  const before = raising ? await readStored(tx, resource, records) : null
  const keyed = await adoptKeys(tx, resource, records)
  const newKey: NewKey = (field, patch) =>
    field.keyFrom === 'counter' && isNewKey(patch) ? ids() : (patch.key as number | string)
  const rows = keyed.map(({ id, patch }): Row => {
    const row = { ...newRecordRow(tx, resource, id), ...patch.columns }
    return resource.hasDetails ? { ...row, details: mergeDocument(resource.storedFields, {}, patch, newKey) } : row
  })
  await insertRows(tx, resource.table, rows, () => upsertOn(['storeId', 'id'], resource.columns))
  for (const { name, field } of tableLists(resource.fields)) await writeList(tx, name, field, keyed, newKey)
  if (resource.ledger) await writeLedger(tx, resource, resource.ledger, keyed)
  if (!resource.effects && !raising) return
  const after = raising ? await readStored(tx, resource, records) : null
  const changes = keyed.map(({ id, patch }, index) => {
    const stored = { before: before?.get(id) ?? null, after: after?.get(id) ?? { row: rows[index] as Row, lists: {} } }
    return { kind: 'import', caller: tx, resource, id, patch, ...stored } as const
  })
  await allInOrder([raising ? recordChanges(changes) : undefined, resource.effects?.(changes)])
}

/** Deletes the items of all records before inserting, so that an item may move between records. */
async function writeList(
  tx: Caller,
  name: string,
  field: TableList,
  records: readonly TransferRecord[],
  newKey: NewKey,
): Promise<void> {
  const { table, parent } = field.rows
  const ids = records.map(({ id }) => id)
  await tx.db.$executeRaw(sql`
    DELETE FROM ${identifier(table)} WHERE "storeId" = ${storeId(tx.store)} AND ${identifier(parent)} = ${anyOf(ids)}`)
  const rows = records.flatMap(({ id, patch }) => {
    const items = patch.lists[name] ?? []
    return items.length > 0 ? mergeRows(field, field.rows, [], items, newListRow(tx, field, id), newKey) : []
  })
  await insertRows(tx, table, rows)
}

async function writeLedger(tx: Caller, resource: Resource, ledger: Ledger, records: readonly TransferRecord[]) {
  const pieces = records.flatMap(({ id, ledger: piece }) => (piece ? [{ id, piece }] : []))
  if (pieces.length > 0) {
    const ids = pieces.map(({ id }) => id)
    await cutLedger(tx, ledger, ids, 0)
    await appendPieces(tx, ledger, pieces)
  }
  const without = records.filter((record) => record.ledger === null).map(({ id }) => id)
  if (without.length > 0) await ledger.complete(tx, resource, without)
}

/**
 * Gives items without an id, in order, the ids of stored items that the line does not name, so that a file without ids
 * can be imported again without changes. Locks the records; call it inside the transaction.
 */
async function adoptKeys(caller: Caller, resource: Resource, records: readonly TransferRecord[]) {
  const keyless = records.filter(({ keys }) => keys.keyless > 0)
  if (keyless.length === 0) return [...records]
  const ids = keyless.map(({ id }) => id)
  const locked = await lockIds(caller, resource, ids, resource.hasDetails ? sql`t."details"` : undefined)
  const documents = new Map(locked.map(({ id, details }) => [id, details]))
  const rows = new Map<string, Map<number, Document[]>>()
  for (const { name, field } of tableLists(resource.fields)) {
    if (field.keyFrom === 'counter') rows.set(name, await storedKeys(caller, field, ids))
  }
  return records.map((record) => {
    const document = documents.get(record.id)
    if (record.keys.keyless === 0 || document === undefined) return record
    const storedOf = (name: string) => rows.get(name)?.get(record.id) ?? itemsOf(document, name)
    return { ...record, patch: withKeys(resource.fields, record.patch, storedOf) }
  })
}

/** The keys of the items of a table list, by record, in the form of items of a document list. */
async function storedKeys(caller: Caller, field: TableList, ids: readonly number[]) {
  const [parent, column] = [identifier(field.rows.parent), identifier(keyColumn(field))]
  const found = await caller.db.$queryRaw<{ parent: number; items: Document[] }[]>(sql`
    SELECT r.${parent} AS "parent", json_agg(json_build_object(${field.key}::text, r.${column}) ORDER BY r.${column}) AS "items"
    FROM ${identifier(field.rows.table)} r
    WHERE r."storeId" = ${storeId(caller.store)} AND r.${parent} = ${anyOf(ids)} GROUP BY r.${parent}`)
  return new Map(found.map(({ parent, items }) => [parent, items]))
}

function withKeys(fields: FieldSet, patch: Patch, storedOf: (name: string) => Document[]): Patch {
  const lists = Object.entries(patch.lists).map(([name, items]) => {
    const field = fields.get(name)
    return [name, field?.kind === 'list' ? keyedItems(field, items, storedOf(name)) : items] as const
  })
  return { ...patch, lists: Object.fromEntries(lists) }
}

function keyedItems(field: ListField, items: Patch[], stored: Document[]): Patch[] {
  const { key, keyFrom } = field
  if (key === undefined || keyFrom !== 'counter') return items
  const byKey = new Map(stored.map((document) => [document[key], document]))
  const named = new Set<Json | undefined>(items.map((item) => item.key))
  const free = stored.filter((document) => !named.has(document[key] as Json))
  let next = 0
  return items.map((item) => {
    const own = isNewKey(item) ? free[next++] : byKey.get(item.key as Json)
    if (own === undefined) return item
    return withKeys(field.fields, { ...item, key: own[key] as number }, (name) => itemsOf(own, name))
  })
}

function itemsOf(document: Document, name: string): Document[] {
  const items = document[name]
  return Array.isArray(items) ? (items as Document[]) : []
}
