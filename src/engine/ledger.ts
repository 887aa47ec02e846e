import type { Caller } from './caller.ts'
import { type FieldSet, type Fields, fieldSet } from './fields.ts'
import { listedIds, thisStore } from './listed.ts'
import { columnDefaults, type Row } from './merge.ts'
import { compileReader, type Reader } from './reader.ts'

/**
 * Rows that belong to a record, are only ever added to, and are no part of it on the wire: the stock movements of a
 * product. They may be many, so export and import carry them in pieces. The database numbers them, in order.
 */
export interface Ledger {
  /** What a transfer line calls it. */
  readonly name: string
  readonly table: string
  /** The column that holds the record's id. */
  readonly parent: string
  readonly fields: FieldSet
  /** Reads a row as `t`. */
  readonly reader: Reader
  /** Appends the row that is missing of each of these records. An import that brings no rows of them has just written them. */
  readonly complete: (caller: Caller, recordIds: readonly number[]) => Promise<void>
}

export function defineLedger(definition: Omit<Ledger, 'fields' | 'reader'> & { fields: Fields }): Ledger {
  const fields = fieldSet(definition.fields)
  return { ...definition, fields, reader: compileReader(fields) }
}

/** A row of a ledger for `insertLedgerRows`; `columns` are what the line gave. */
export function ledgerRow(caller: Caller, ledger: Ledger, recordId: number, columns: Row): Row {
  const defaults = columnDefaults(ledger.fields, caller.now())
  return { ...defaults, ...columns, storeId: caller.store.id, [ledger.parent]: recordId }
}

/** Appends rows; the database numbers them in this order. */
export async function insertLedgerRows(caller: Caller, ledger: Ledger, rows: readonly Row[]): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const columns = Object.keys(first)
    .map((name) => `"${name}"`)
    .join(', ')
  await caller.db.$executeRawUnsafe(
    `INSERT INTO "${ledger.table}" (${columns})
     SELECT ${columns} FROM json_populate_recordset(NULL::"${ledger.table}", $1::text::json)`,
    JSON.stringify(rows),
  )
}

/** Removes what lies behind the first `kept` rows of each of these records. */
export async function cutLedger(
  caller: Caller,
  ledger: Ledger,
  recordIds: readonly number[],
  kept: number,
): Promise<void> {
  await caller.db.$executeRawUnsafe(
    `DELETE FROM "${ledger.table}" l USING (
       SELECT t."id", row_number() OVER (PARTITION BY t."${ledger.parent}" ORDER BY t."id") AS "place"
       FROM "${ledger.table}" t
       WHERE t."storeId" = ${thisStore} AND t."${ledger.parent}" = ${listedIds}) behind
     WHERE l."id" = behind."id" AND behind."place" > $3::int`,
    caller.store.id,
    recordIds.join(','),
    kept,
  )
}
