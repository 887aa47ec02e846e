import { inTransaction } from '../../database/client.ts'
import type { Caller } from '../caller.ts'
import type { Resource } from '../define.ts'
import { inChange, raise } from '../events.ts'
import { hasRows, type ListField, type ListRows } from '../fields.ts'
import { ROW_COUNTER, RowIds, raiseCounter, reserveIds } from '../ids.ts'
import { cutLedger, insertLedgerRows, type Ledger, ledgerRow } from '../ledger.ts'
import { listedIds, thisStore } from '../listed.ts'
import { mergeDocument, mergeRows, type NewKey, type Row } from '../merge.ts'
import { refused } from '../refused.ts'
import { insertRows, lockRecord, newListRow, newRecordRow, type Stored, upsertOn } from '../write.ts'
import { adoptKeys } from './keys.ts'
import { isNewKey, type LedgerPiece, type TransferRecord } from './record.ts'

/**
 * Stores records of one service exactly as given, each id at most once among them, in one transaction; with `raising`, it
 * records what that changes as events. Counters are raised before it, so that no id that is stored is given out again.
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
  const keyless = records.reduce((sum, { keys }) => sum + keys.keyless, 0)
  const first = keyless > 0 ? await reserveIds(caller, ROW_COUNTER, keyless) : 0
  // In the order of their ids, as every transaction locks them.
  const ordered = [...records].sort((one, other) => one.id - other.id)
  const write = (tx: Caller) => writeRecords(tx, resource, ordered, new RowIds(first, keyless))
  if (raising && resource.raises) await inChange(caller, (tx) => writeRaising(tx, resource, ordered, write))
  else await inTransaction(caller.db, (db) => write({ ...caller, db }))
}

async function writeRaising(
  tx: Caller,
  resource: Resource,
  records: readonly TransferRecord[],
  write: (tx: Caller) => Promise<void>,
): Promise<void> {
  const before = await readStored(tx, resource, records)
  await write(tx)
  const after = await readStored(tx, resource, records)
  for (const [id, stored] of after) {
    for (const kind of resource.raises?.(before.get(id) ?? null, stored) ?? []) raise(tx, kind, id)
  }
}

/** Those that are there, by id, each locked. */
async function readStored(
  tx: Caller,
  resource: Resource,
  records: readonly TransferRecord[],
): Promise<Map<number, Stored>> {
  const found = await tx.db.$queryRawUnsafe<{ id: number }[]>(
    `SELECT t."id" FROM "${resource.table}" t WHERE t."storeId" = ${thisStore} AND t."id" = ${listedIds}
     ORDER BY t."id" FOR NO KEY UPDATE`,
    tx.store.id,
    records.map(({ id }) => id).join(','),
  )
  const lists = resource.fields.entries.filter(([, field]) => hasRows(field)).map(([name]) => name)
  const stored = new Map<number, Stored>()
  for (const { id } of found) stored.set(id, await lockRecord(tx, resource, id, lists))
  return stored
}

/** Adds what a record's later line brings of its ledger. Throws `bad-request` when the record is not there. */
export async function continueLedger(caller: Caller, resource: Resource, { id, ledger: piece }: TransferRecord) {
  const { ledger } = resource
  if (!ledger || !piece) throw new Error(`${resource.service} ${id}: nothing to continue`)
  await inTransaction(caller.db, async (db) => {
    const tx = { ...caller, db }
    const found = await db.$queryRawUnsafe<unknown[]>(
      `SELECT 1 FROM "${resource.table}" t WHERE t."storeId" = $1::int AND t."id" = $2::int FOR NO KEY UPDATE`,
      caller.store.id,
      id,
    )
    if (found.length === 0) throw refused(resource.resultKey, `There is no ${resource.typeName} ${id} to continue`)
    await cutLedger(tx, ledger, [id], piece.after)
    await insertPieces(tx, ledger, [{ id, piece }])
  })
}

async function writeRecords(tx: Caller, resource: Resource, records: readonly TransferRecord[], ids: RowIds) {
  const keyed = await adoptKeys(tx, resource, records)
  const newKey = newKeyOf(ids)
  const rows = keyed.map((record) => recordRow(tx, resource, record, newKey))
  await insertRows(tx, resource.table, rows, upsertOn(['storeId', 'id'], resource.columns))
  for (const [name, field] of resource.fields.entries) {
    if (hasRows(field)) await writeList(tx, name, field, keyed, newKey)
  }
  if (resource.ledger) await writeLedger(tx, resource.ledger, keyed)
  await resource.imported?.(tx, rows)
}

function newKeyOf(ids: RowIds): NewKey {
  return (field, patch) =>
    field.keyFrom === 'counter' && isNewKey(patch) ? ids.take() : (patch.key as number | string)
}

function recordRow(tx: Caller, resource: Resource, { id, patch }: TransferRecord, newKey: NewKey): Row {
  const row: Row = { ...newRecordRow(resource, id, tx, tx.now()), ...patch.columns }
  if (resource.hasDetails) row.details = mergeDocument(resource.storedFields, {}, patch, newKey)
  return row
}

/** The items of all the records go before the new ones come, so that an item may move from one of them to another. */
async function writeList(
  tx: Caller,
  name: string,
  field: ListField & { readonly rows: ListRows },
  records: readonly TransferRecord[],
  newKey: NewKey,
): Promise<void> {
  const { table, parent } = field.rows
  await tx.db.$executeRawUnsafe(
    `DELETE FROM "${table}" WHERE "storeId" = ${thisStore} AND "${parent}" = ${listedIds}`,
    tx.store.id,
    records.map(({ id }) => id).join(','),
  )
  const rows = records.flatMap(({ id, patch }) => {
    const items = patch.lists[name] ?? []
    return items.length > 0
      ? mergeRows(field, field.rows, [], items, newListRow(field, field.rows, tx, id), newKey)
      : []
  })
  await insertRows(tx, table, rows)
}

async function writeLedger(tx: Caller, ledger: Ledger, records: readonly TransferRecord[]): Promise<void> {
  const pieces = records.flatMap(({ id, ledger: piece }) => (piece ? [{ id, piece }] : []))
  if (pieces.length > 0) {
    const ids = pieces.map(({ id }) => id)
    await cutLedger(tx, ledger, ids, 0)
    await insertPieces(tx, ledger, pieces)
  }
  const without = records.filter((record) => record.ledger === null).map(({ id }) => id)
  if (without.length > 0) await ledger.complete(tx, without)
}

async function insertPieces(tx: Caller, ledger: Ledger, pieces: readonly { id: number; piece: LedgerPiece }[]) {
  const rows = pieces.flatMap(({ id, piece }) => piece.rows.map((columns) => ledgerRow(tx, ledger, id, columns)))
  await insertLedgerRows(tx, ledger, rows)
}
