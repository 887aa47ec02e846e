import { inTransaction } from '../../database/client.ts'
import { anyOf, identifier, sql, storeId } from '../../database/sql.ts'
import type { Caller } from '../caller.ts'
import { inChange } from '../change.ts'
import type { Resource } from '../define.ts'
import { hasRows, type ListField, type ListRows } from '../fields.ts'
import { cutLedger, insertLedgerRows, type Ledger, ledgerRow } from '../ledger.ts'
import { mergeDocument, mergeRows, type NewKey, type Row } from '../merge.ts'
import { refused } from '../refused.ts'
import {
  insertRows,
  lockRecord,
  newListRow,
  newRecordRow,
  ROW_COUNTER,
  type RowIds,
  raiseCounter,
  reserveRowIds,
  type Stored,
  upsertOn,
} from '../write.ts'
import { adoptKeys } from './keys.ts'
import { isNewKey, type LedgerPiece, type TransferRecord } from './record.ts'

/**
 * Stores records of one service with distinct ids exactly as given, in one transaction; with `raising`, records their
 * changes as events. Raises the counters first, so that stored ids are not assigned again.
 */
export async function storeRecords(
  caller: Caller,
  resource: Resource,
  records: readonly TransferRecord[],
  raising: boolean,
): Promise<void> {
  await raiseCounter(caller, resource.table, Math.max(...records.map(({ id }) => id)))
  const highest = Math.max(...records.map(({ keys }) => keys.highest))
  if (highest > 0) await raiseCounter(caller, ROW_COUNTER, highest)
  const ids = await reserveRowIds(
    caller,
    records.reduce((sum, { keys }) => sum + keys.keyless, 0),
  )
  // In the order of ids, as every transaction locks them.
  const ordered = [...records].sort((one, other) => one.id - other.id)
  if (raising && resource.effects)
    await inChange(caller, (tx) => writeRecords(tx, resource, ordered, ids.anew(), readStored))
  else
    await inTransaction(caller.db, (db) =>
      writeRecords({ ...caller, db, raised: new Map() }, resource, ordered, ids.anew()),
    )
}

/** Locks and reads the records that exist, by id. */
async function readStored(
  tx: Caller,
  resource: Resource,
  records: readonly TransferRecord[],
): Promise<Map<number, Stored>> {
  const ids = records.map(({ id }) => id)
  const found = await tx.db.$queryRaw<{ id: number }[]>(sql`
    SELECT t."id" FROM ${identifier(resource.table)} t
    WHERE t."storeId" = ${storeId(tx.store)} AND t."id" = ${anyOf(ids)} ORDER BY t."id" FOR NO KEY UPDATE`)
  const lists = resource.fields.entries.filter(([, field]) => hasRows(field)).map(([name]) => name)
  const stored = new Map<number, Stored>()
  for (const { id } of found) stored.set(id, await lockRecord(tx, resource, id, lists))
  return stored
}

/** Adds the ledger rows of a record's later line. Throws `bad-request` for an unknown record. */
export async function continueLedger(caller: Caller, resource: Resource, { id, ledger: piece }: TransferRecord) {
  const { ledger } = resource
  if (!ledger || !piece) throw new Error(`${resource.service} ${id}: nothing to continue`)
  await inTransaction(caller.db, async (db) => {
    const tx = { ...caller, db }
    const found = await db.$queryRaw<unknown[]>(sql`
      SELECT 1 FROM ${identifier(resource.table)} t
      WHERE t."storeId" = ${caller.store.id}::int AND t."id" = ${id}::int FOR NO KEY UPDATE`)
    if (found.length === 0) throw refused(resource.resultKey, `There is no ${resource.typeName} ${id} to continue`)
    await cutLedger(tx, ledger, [id], piece.after)
    await insertPieces(tx, ledger, [{ id, piece }])
  })
}

/** Runs an import's steps of a change: merge, write, ledger, effects. `read` fetches the stored records for effects. */
async function writeRecords(
  tx: Caller,
  resource: Resource,
  records: readonly TransferRecord[],
  ids: RowIds,
  read?: typeof readStored,
): Promise<void> {
  const before = await read?.(tx, resource, records)
  const keyed = await adoptKeys(tx, resource, records)
  const newKey = newKeyOf(ids)
  const rows = keyed.map((record) => recordRow(tx, resource, record, newKey))
  await insertRows(tx, resource.table, rows, upsertOn(['storeId', 'id'], resource.columns))
  for (const [name, field] of resource.fields.entries) {
    if (hasRows(field)) await writeList(tx, name, field, keyed, newKey)
  }
  if (resource.ledger) await writeLedger(tx, resource, resource.ledger, keyed)
  if (!resource.effects) return
  const after = await read?.(tx, resource, records)
  const changes = keyed.map(({ id, patch }, index) => {
    const stored = { before: before?.get(id) ?? null, after: after?.get(id) ?? { row: rows[index] as Row, lists: {} } }
    return { kind: 'import', caller: tx, resource, id, patch, ...stored } as const
  })
  await resource.effects(changes)
}

function newKeyOf(ids: RowIds): NewKey {
  return (field, patch) =>
    field.keyFrom === 'counter' && isNewKey(patch) ? ids.take() : (patch.key as number | string)
}

function recordRow(tx: Caller, resource: Resource, { id, patch }: TransferRecord, newKey: NewKey): Row {
  const row: Row = { ...newRecordRow(tx, resource, id), ...patch.columns }
  if (resource.hasDetails) row.details = mergeDocument(resource.storedFields, {}, patch, newKey)
  return row
}

/** Deletes the items of all records before inserting, so that an item may move between records. */
async function writeList(
  tx: Caller,
  name: string,
  field: ListField & { readonly rows: ListRows },
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

async function writeLedger(
  tx: Caller,
  resource: Resource,
  ledger: Ledger,
  records: readonly TransferRecord[],
): Promise<void> {
  const pieces = records.flatMap(({ id, ledger: piece }) => (piece ? [{ id, piece }] : []))
  if (pieces.length > 0) {
    const ids = pieces.map(({ id }) => id)
    await cutLedger(tx, ledger, ids, 0)
    await insertPieces(tx, ledger, pieces)
  }
  const without = records.filter((record) => record.ledger === null).map(({ id }) => id)
  if (without.length > 0) await ledger.complete(tx, resource, without)
}

async function insertPieces(tx: Caller, ledger: Ledger, pieces: readonly { id: number; piece: LedgerPiece }[]) {
  const rows = pieces.flatMap(({ id, piece }) => piece.rows.map((columns) => ledgerRow(tx, ledger, id, columns)))
  await insertLedgerRows(tx, ledger, rows)
}
